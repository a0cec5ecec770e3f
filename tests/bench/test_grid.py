import sys

import gymnasium as gym
import pytest

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.grid import Grid, grids_of, runs_of
from gymnasium_gsp.envs import BENCHMARKS

FILE = """
[[grid]]
envs = ["FrozenLake", "GSP/FourRooms-v0"]
algorithms = ["uct", "gbop"]
budgets = [16, 64]
episodes = 20
preset = "paper"
seed = 3

[[grid]]
envs = "FrozenLake"
algorithms = ["uct"]
budgets = [16, "Budget(seconds=0.1)"]
episodes = 30
seed = 3
options = { horizon = "FixedHorizon(10)", discount = 0.95 }
env_options = { slip = 0.1 }
"""


def write(tmp_path, text):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return str(path)


def refused(match, what=None, quick=False, **flags):
    with pytest.raises(RecipeError, match=match):
        played(what, flags, quick)


def played(what, flags, quick=False):
    return runs_of(grids_of(what, flags, quick).grid)


PAPER_AGENTS = {"uct", "power-uct", "ments", "gbop", "gs-power-uct", "gs-power-uct-f+"}


def test_the_papers_protocol():
    runs = played("paper", {})
    assert len(runs) == 5 * 6 * 8
    assert {run.cell.env for run in runs} == {benchmark.id for benchmark in BENCHMARKS}
    assert {run.cell.algorithm for run in runs} == PAPER_AGENTS
    assert {run.cell.budget for run in runs} == {2**power for power in range(4, 12)}
    assert {(run.cell.preset, run.episodes, run.cell.seed) for run in runs} == {("paper", 200, 0)}


def test_the_quick_protocol_has_all_environments_and_algorithms():
    runs = played("paper", {}, quick=True)
    assert {(run.cell.env, run.cell.algorithm) for run in runs} == {
        (benchmark.id, algorithm) for benchmark in BENCHMARKS for algorithm in PAPER_AGENTS
    }
    assert all(run.episodes > 1 and run.cell.preset == "paper" for run in runs)
    assert {run.cell.budget for run in runs if run.cell.algorithm == "gbop"} == {16, 64}


def test_flags_change_the_papers_protocol():
    flags = {"algorithms": ["gbop,uct"], "budgets": "16, 32", "seed": 7, "envs": ["FourRooms"], "episodes": 9}
    for quick in (False, True):
        runs = played("paper", flags, quick)
        assert {run.cell.algorithm for run in runs} == {"gbop", "uct"}
        assert {run.cell.budget for run in runs} == {16, 32}
        assert {(run.cell.env, run.cell.seed, run.episodes) for run in runs} == {("GSP/FourRooms-v0", 7, 9)}
    assert {run.episodes for run in played("paper", {"algorithms": ["uct"]}, quick=True)} == {20}
    assert {run.cell.budget for run in played("paper", {"algorithms": ["gbop"]}, quick=True)} == {16, 64}
    without = played("paper", {"preset": "none", "algorithms": ["uct"], "envs": ["FourRooms"]})
    assert {(run.cell.algorithm, run.cell.preset) for run in without} == {("uct", "")}


def test_patterns_stand_for_registered_environments():
    grid = Grid(envs=["IPPC/SysAdmin_MDP_ippc2011-*,FrozenLake"], algorithms="uct", budgets=4)
    assert grid.envs == (*(f"IPPC/SysAdmin_MDP_ippc2011-{number}" for number in range(1, 11)), "FrozenLake")
    refused("no registered environment matches 'IPPC/SysAdmn", None, envs=["IPPC/SysAdmn*"], algorithms=["uct"])


def test_the_competitions():
    """The protocol is that of 30 episodes of every instance; the quick one plays the first of each domain."""
    (grid,) = grids_of("ippc", {}).grid
    assert (len(grid.envs), grid.episodes, grid.budgets) == (160, 30, ("Budget(seconds=0.06)",))
    (quick,) = grids_of("ippc", {}, quick=True).grid
    assert len(quick.envs) == 16
    assert all(env.startswith("IPPC/") and env.endswith("-1") for env in quick.envs)


def test_the_curve_of_sailing():
    runs = played("sailing", {"episodes": 3})
    assert {(run.cell.env, run.cell.options, run.episodes) for run in runs} == {("GSP/Sailing-v0", "discount=0.95", 3)}
    assert {run.cell.budget for run in runs} == {10, 100, 1000}


def test_flags_alone():
    flags = {
        "envs": ["FrozenLake"],
        "algorithms": ["uct,gbop"],
        "budgets": "8,Budget(seconds=0.1, nodes=3)",
        "episodes": 4,
        "seed": 1,
        "preset": "paper",
        "options": ["discount=0.9"],
        "env_options": ["slip=0.1"],
    }
    runs = played(None, flags)
    same = {"env": "FrozenLake", "preset": "paper", "seed": 1, "options": "discount=0.9"}
    assert {run.episodes for run in runs} == {4}
    assert {run.cell for run in runs} == {
        Cell(algorithm=algorithm, budget=budget, env_options='{"slip": 0.1}', **same)
        for algorithm in ("uct", "gbop")
        for budget in (8, "Budget(seconds=0.1, nodes=3)")
    }


def test_a_file_of_grids(tmp_path):
    file = grids_of(write(tmp_path, FILE), {})
    assert file.modules == ()
    runs = {run.cell: run for run in runs_of(file.grid)}
    assert len(runs) == 2 * 2 * 2 + 2
    lake = Cell(env="FrozenLake", algorithm="uct", budget=16, seed=3)
    assert runs[Cell(env="FourRooms", algorithm="gbop", preset="paper", budget=64, seed=3)].episodes == 20
    other = lake.changed(options="discount=0.95, horizon=FixedHorizon(depth=10)", env_options='{"slip": 0.1}')
    assert runs[other].episodes == 30
    assert runs[other.changed(budget="Budget(seconds=0.1)")].episodes == 30
    assert "FixedHorizon(depth=10)" in runs[other].recipe


def test_flags_change_a_file_of_grids(tmp_path):
    file = grids_of(write(tmp_path, FILE), {"episodes": 7, "algorithms": ["gbop"]})
    assert {(run.cell.algorithm, run.cell.budget, run.episodes) for run in runs_of(file.grid)} == {
        ("gbop", 16, 7),
        ("gbop", 64, 7),
    }


def test_modules_of_a_file_are_imported(tmp_path, monkeypatch):
    (tmp_path / "lake_of_mine.py").write_text("SEEN = True")
    monkeypatch.syspath_prepend(tmp_path)
    assert grids_of(write(tmp_path, 'import = ["lake_of_mine"]' + FILE), {"seed": 4}).modules == ("lake_of_mine",)
    assert sys.modules.pop("lake_of_mine").SEEN


def test_a_pattern_finds_what_a_module_of_the_file_registers(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    lines = (
        "import gymnasium as gym\ngym.register('Patterns/Lake-v0', 'gymnasium_gsp.envs.frozen_lake:FrozenLakeEnv')\n"
    )
    (tmp_path / "lakes_by_pattern.py").write_text(lines)
    text = 'import = ["lakes_by_pattern"]\n[[grid]]\nenvs = ["Patterns/*"]\nalgorithms = ["uct"]\n'
    try:
        assert grids_of(write(tmp_path, text), {}).grid[0].envs == ("Patterns/Lake-v0",)
    finally:
        del gym.registry["Patterns/Lake-v0"], sys.modules["lakes_by_pattern"]


def test_a_recipe_as_text_is_an_algorithm():
    recipe = "Recipe(horizon=FixedHorizon(depth=3))"
    grid = Grid(envs="FrozenLake", algorithms=["uct", recipe], budgets=4, episodes=2)
    assert [run.cell.algorithm.partition("(")[0] for run in runs_of([grid])] == ["uct", "Recipe"]


def test_a_cell_in_two_grids_is_played_once_with_the_most_episodes():
    grids = [Grid(envs=["FrozenLake"], algorithms=["uct"], budgets=(8, 16), episodes=number) for number in (5, 9, 7)]
    grids.append(Grid(envs=["gymnasium_gsp:GSP/FrozenLake-v0"], algorithms=["uct"], budgets=8, episodes=2))
    assert [run.episodes for run in runs_of(grids)] == [9, 9]


@pytest.mark.parametrize("text", ["16,x", "0,16", "-4", "1.5", "16,,32", str(10**30)])
def test_budgets_of_flags_are_whole_numbers_or_limits(text):
    refused("budget: simulations m|empty value", "paper", budgets=text)


@pytest.mark.parametrize("value", ["[]", "[16.0]", "[true]", '["x"]', '["Budget()"]', "{ uct = [] }"])
def test_budgets_of_a_file_are_whole_numbers_or_limits(tmp_path, value):
    refused("grid 1: .*budget", write(tmp_path, FILE.replace("[16, 64]", value)))


def test_a_budget_given_twice_is_one():
    assert Grid(envs="FrozenLake", algorithms="uct", budgets="64,16,Budget(64)").budgets == (64, 16)


def test_misspelt_words_get_the_nearest(tmp_path):
    refused("'paper'", "papre")
    refused("'power-uct'", "paper", algorithms=["powr-uct"])
    refused("'power-uct'", None, envs=["FrozenLake"], algorithms=["powr-uct"])
    refused("unknown preset of uct 'papr'. Did you mean 'paper'", "paper", preset="papr")
    refused("grid 1: .*'episodes'", write(tmp_path, FILE.replace("episodes =", "episode =", 1)))
    refused("'grid'", write(tmp_path, FILE.replace("[[grid]]", "[[grids]]")))
    refused("grid 2: .*'FixedHorizon'", write(tmp_path, FILE.replace("FixedHorizon", "FixedHorizn")))
    refused("'uct'", write(tmp_path, FILE.replace('"uct"', '"ucct"', 1)))
    refused("'discount'", write(tmp_path, FILE.replace("discount", "discont")))


def test_other_bad_input_says_what_to_do(tmp_path):
    refused("say what to play")
    refused("say what to play", None, algorithms=["uct"])
    refused("--quick belongs to gsp bench ippc and paper;", "sailing", True)
    refused("--quick belongs to", None, True, envs=["FrozenLake"], algorithms=["uct"])
    refused("unknown algorithm of paper 'olop'.*Allowed: gbop, ", "paper", algorithms=["olop"])
    refused("episodes: input should be greater than or equal to 1, not 0", "paper", episodes=0)
    refused("cannot be read", str(tmp_path / "missing.toml"))
    refused("is no TOML", write(tmp_path, "a = = b"))
    refused("there is no grid", write(tmp_path, ""))
    refused("grid: .* not 5", write(tmp_path, "grid = 5"))
    refused("there is no algorithms", write(tmp_path, '[[grid]]\nenvs = ["FrozenLake"]'))
    no_envs = write(tmp_path, FILE.replace('envs = "FrozenLake"', "envs = []"))
    refused("grid 2: envs: a list of at least one name", no_envs)
    refused("grid 2: algorithms: a list of at least one name", write(tmp_path, FILE.replace('["uct"]', "[5]")))
    refused("grid 2: .*valid integer.*not 3.5", write(tmp_path, FILE.replace("= 30", "= 3.5")))
    refused("table of names and values, not 5", write(tmp_path, FILE.replace("{ slip = 0.1 }", "5")))
    refused("No module named 'no_such_module'", write(tmp_path, 'import = ["no_such_module"]\n' + FILE))
    for seed in ("-1", "true", '"x"'):
        refused("grid 1: a seed must be", write(tmp_path, FILE.replace("seed = 3", f"seed = {seed}", 1)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"episodes": 10**30}, "episodes: input should be .*not 1000"),
        ({"seed": 10**30}, "seed: input should be less than or equal to 9223372036854775807"),
        ({"budgets": 10**30}, "may be at most"),
    ],
)
def test_numbers_that_no_store_holds_are_refused(change, words):
    with pytest.raises(RecipeError, match=words):
        Grid(**{"envs": ["FourRooms"], "algorithms": ["uct"], "budgets": 8, "episodes": 1, **change})
