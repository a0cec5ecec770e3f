"""What GBOP refuses, in words."""

import math

import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import Confidence


def test_rewards_outside_declared_bounds_are_an_error_with_a_name():
    law = np.ones((1, 2, 1))
    honest = gsp.tabular_model_from_arrays(law, [[0.0, 2.0]])
    liar = gsp.CompiledModel(honest.step_pointer, 2, params=honest.params, reward_bounds=(0.0, 1.0), name="liar")
    with pytest.raises(gsp.PlanningError, match=r"liar: action 1 .*outside the declared bounds 0 \.\. 1"):
        gsp.plan(liar, 0, "gbop", 50, seed=0)
    silent = gsp.CompiledModel(honest.step_pointer, 2, params=honest.params, name="silent")
    for name in ("gbop", "gbop-d"):
        with pytest.raises(gsp.RecipeError, match=r"silent declares no reward bounds.*reward_bounds="):
            gsp.plan(silent, 0, name, 50, seed=0)


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ({"accuracy": 0.0}, "accuracy must be above 0"),
        ({"accuracy": -0.1}, "accuracy must be above 0"),
        ({"accuracy": math.nan}, "accuracy"),
        ({"discount": 1.0}, "below 1"),
        ({"discount": 1}, "below 1"),
        ({"discount": -0.1}, "discount"),
        ({"discount": None}, "discount"),
        ({"threshold": "publishd"}, "published"),
        ({"threshold": 0.1}, "threshold"),
        ({"reward_threshold": -1.0}, "reward_threshold"),
        ({"reward_threshold": 1.0, "threshold": Confidence(0.1)}, "reward_threshold"),
        ({"horizon": 5}, "FixedHorizon"),
        ({"retention": "decisions"}, "decision"),
        ({"expansion": "tree"}, "leaf"),
    ],
)
def test_bad_recipes_are_refused_in_words(slots, words):
    for name in ("gbop", "gbop-d"):
        with pytest.raises(gsp.RecipeError, match=words):
            gsp.make_recipe(name, **slots)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, "small", math.nan, True])
def test_bad_confidences_are_refused(delta):
    with pytest.raises(gsp.RecipeError, match="delta"):
        Confidence(delta)
