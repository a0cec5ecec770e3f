"""The ablation: every part and constant makes a recipe, and all variants play the same episodes."""

import gymnasium_gsp as gsp
from benchmarks.ablation import CONSTANTS, WITHOUT, main, play_scores, variants
from gymnasium_gsp.bench.executors import start_workers
from gymnasium_gsp.search.budget import Budget


def test_each_variant_differs_from_the_whole():
    (_, whole), *others = variants(list(WITHOUT), list(CONSTANTS))
    assert whole == {}
    assert len({name for name, _ in others}) == len(others)
    recipes = [gsp.make_recipe("graft", **options) for _, options in others]
    assert all(recipe != gsp.make_recipe("graft") for recipe in recipes)


def test_the_variants_play_the_same_episodes():
    fresh = {"retention": "decision"}
    with start_workers(1) as workers:
        for env in ("GSP/FactoredRiverSwim-v0", "Development/Random10-v0"):
            scores = play_scores(env, [{}, fresh, {}], Budget(8), 3, 1, workers)
            assert (scores[0] == scores[2]).all()
            assert scores.shape == (3, 3)
            assert scores.max() <= 1.0


def test_the_table_has_a_row_for_each_variant(capsys):
    main(
        ["--without", "memory", "--envs", "Development/Random10-v0", "--budgets", "4", "--episodes", "2", "--jobs", "1"]
    )
    rows = capsys.readouterr().out.strip().splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| graft", "| without memory"]
