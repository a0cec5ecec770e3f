"""The ablation: every part and constant makes a recipe, and all recipes play the same episode."""

import numpy as np

import gymnasium_gsp as gsp
from benchmarks.ablation import CONSTANTS, WITHOUT, Case, play_all, variants
from gymnasium_gsp.search.budget import Budget


def test_each_variant_differs_from_the_whole():
    (_, whole), *others = variants(list(WITHOUT), list(CONSTANTS))
    assert whole == gsp.make_recipe("graft")
    assert len({name for name, _ in others}) == len(others)
    assert all(recipe != whole for _, recipe in others)


def test_the_recipes_of_a_case_play_the_same_episode():
    whole, fresh = gsp.make_recipe("graft"), gsp.make_recipe("graft", retention="decision")
    for world in ("FactoredRiverSwim", 0):
        scores = play_all(Case(world, [whole, fresh, whole], Budget(8), 1, 0))
        assert scores[0] == scores[2]
        assert np.max(scores) <= 1.0
