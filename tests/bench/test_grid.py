import pytest

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.grid import (
    PAPER_AGENTS,
    PAPER_BUDGETS,
    Grid,
    by_algorithm,
    grids_of,
    paper_grid,
    runs_of,
)
from gymnasium_gsp.envs import BENCHMARKS

FILE = """
[[grid]]
envs = ["FrozenLake", "GSP/FourRooms-v0"]
agents = ["uct", "gbop"]
budgets = [16, 64]
episodes = { "*" = 20, gbop = 2 }
preset = { "*" = "paper", uct = "none" }
seed = 3

[[grid]]
envs = "FrozenLake"
agents = ["uct"]
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
        runs_of(grids_of(what, flags, quick)[0])


def test_the_papers_protocol():
    (grid,) = grids_of("paper", {})[0]
    assert grid.envs == tuple(benchmark.id for benchmark in BENCHMARKS)
    assert set(grid.agents) == set(PAPER_AGENTS)
    assert tuple(2**power for power in range(4, 12)) == PAPER_BUDGETS
    runs = runs_of([grid])
    assert len(runs) == 5 * 6 * 8
    assert {run.cell.budget for run in runs} == set(PAPER_BUDGETS)
    assert {(run.cell.preset, run.episodes, run.cell.seed) for run in runs} == {("paper", 200, 0)}


def test_the_quick_protocol_has_all_environments_and_algorithms():
    runs = runs_of([paper_grid(quick=True)])
    assert {run.cell.env for run in runs} == {benchmark.id for benchmark in BENCHMARKS}
    assert {run.cell.algorithm for run in runs} == set(PAPER_AGENTS)
    assert all(run.episodes > 1 and run.cell.preset == "paper" for run in runs)
    assert {run.cell.budget for run in runs if run.cell.algorithm == "gbop"} == {16, 64}


def test_flags_change_the_papers_protocol():
    flags = {"agents": ["gbop,uct"], "budgets": "16, 32", "seed": 7, "envs": ["FourRooms"]}
    flags["episodes"] = by_algorithm("episodes", ["1000", "gbop=20"])
    for quick in (False, True):
        runs = runs_of(grids_of("paper", flags, quick)[0])
        assert {(run.cell.algorithm, run.episodes) for run in runs} == {("gbop", 20), ("uct", 1000)}
        assert {run.cell.budget for run in runs} == {16, 32}
        assert {(run.cell.env, run.cell.seed) for run in runs} == {("GSP/FourRooms-v0", 7)}
    assert {run.episodes for run in runs_of(grids_of("paper", {"episodes": {"gbop": "20"}})[0])} == {20, 200}
    assert {run.episodes for run in runs_of(grids_of("paper", {"agents": ["uct"]}, quick=True)[0])} == {20}
    without = runs_of(grids_of("paper", {"preset": {"uct": "none"}, "envs": ["FourRooms"]})[0])
    assert {run.cell.preset for run in without if run.cell.algorithm == "uct"} == {""}
    assert {run.cell.preset for run in without if run.cell.algorithm != "uct"} == {"paper"}


def test_flags_alone():
    flags = {
        "envs": ["FrozenLake"],
        "agents": ["uct,gbop"],
        "budgets": "8,Budget(seconds=0.1, nodes=3)",
        "episodes": by_algorithm("episodes", ["4"]),
        "seed": 1,
        "preset": by_algorithm("preset", ["paper", "uct=none"]),
        "options": ["discount=0.9"],
        "env_options": ["slip=0.1"],
    }
    runs = runs_of(grids_of(None, flags)[0])
    same = {"env": "FrozenLake", "seed": 1, "options": "discount=0.9", "env_options": '{"slip": 0.1}'}
    assert {run.episodes for run in runs} == {4}
    assert {run.cell for run in runs} == {
        Cell(algorithm=algorithm, preset=preset, budget=budget, **same)
        for algorithm, preset in (("uct", ""), ("gbop", "paper"))
        for budget in (8, "Budget(seconds=0.1, nodes=3)")
    }


def test_a_file_of_grids(tmp_path):
    grids, modules = grids_of(write(tmp_path, FILE), {})
    assert modules == []
    runs = {run.cell: run for run in runs_of(grids)}
    assert len(runs) == 2 * 2 * 2 + 2
    lake = Cell(env="FrozenLake", algorithm="uct", budget=16, seed=3)
    assert runs[lake].episodes == 20
    assert runs[Cell(env="FourRooms", algorithm="gbop", preset="paper", budget=64, seed=3)].episodes == 2
    other = lake.changed(options="discount=0.95, horizon=FixedHorizon(depth=10)", env_options='{"slip": 0.1}')
    assert runs[other].episodes == 30
    assert runs[other.changed(budget="Budget(seconds=0.1)")].episodes == 30
    assert "FixedHorizon(depth=10)" in runs[other].recipe


def test_a_grid_is_as_a_file_gives_it():
    """Budgets by algorithm, and a recipe as text among the algorithms."""
    recipe = "Recipe(horizon=FixedHorizon(depth=3))"
    grid = Grid(envs="FrozenLake", agents=["uct", recipe], budgets={"*": [4, 8], "uct": 4}, episodes=2)
    found = [(run.cell.algorithm.partition("(")[0], run.cell.budget) for run in runs_of([grid])]
    assert found == [("uct", 4), ("Recipe", 4), ("Recipe", 8)]


def test_a_cell_in_two_grids_is_played_once_with_the_most_episodes():
    grids = [Grid(envs=["FrozenLake"], agents=["uct"], budgets=(8, 16), episodes=number) for number in (5, 9, 7)]
    grids.append(Grid(envs=["gymnasium_gsp:GSP/FrozenLake-v0"], agents=["uct"], budgets=8, episodes=2))
    assert [run.episodes for run in runs_of(grids)] == [9, 9]


@pytest.mark.parametrize("text", ["16,x", "64,16", "16,16", "0,16", "-4", "1.5", "16,,32", str(10**30)])
def test_budgets_of_flags_are_ascending_whole_numbers_or_limits(text):
    refused("ascending order", "paper", budgets=text)


@pytest.mark.parametrize("value", ["[]", "[16.0]", "[true]", "[32, 16]", '["x"]', '["Budget()"]', "{ uct = [] }"])
def test_budgets_of_a_file_are_ascending_whole_numbers_or_limits(tmp_path, value):
    refused("grid 1: budgets are", write(tmp_path, FILE.replace("[16, 64]", value)))


def test_misspelt_words_get_the_nearest(tmp_path):
    refused("'paper'", "papre")
    refused("'power-uct'", "paper", agents=["powr-uct"])
    refused("'power-uct'", None, envs=["FrozenLake"], agents=["powr-uct"])
    refused("'gbop'", "paper", episodes={"*": "200", "gbob": "20"})
    refused("'gbop'", "paper", preset={"gbob": "paper"})
    refused("grid 1: .*'episodes'", write(tmp_path, FILE.replace("episodes =", "episode =", 1)))
    refused("'grid'", write(tmp_path, FILE.replace("[[grid]]", "[[grids]]")))
    refused("grid 2: .*'FixedHorizon'", write(tmp_path, FILE.replace("FixedHorizon", "FixedHorizn")))
    refused("grid 1: .*'uct'", write(tmp_path, FILE.replace("uct = ", "ucct = ", 1)))
    refused("'discount'", write(tmp_path, FILE.replace("discount", "discont")))


def test_other_bad_input_says_what_to_do(tmp_path):
    refused("say what to play")
    refused("say what to play", None, agents=["uct"])
    refused("--quick belongs to", None, True, envs=["FrozenLake"], agents=["uct"])
    refused("the paper's algorithms are", "paper", agents=["olop"])
    refused("write --seed, --set into it", write(tmp_path, FILE), seed=3, options=["p=1"])
    refused("'many' is no number", "paper", episodes={"*": "many"})
    refused("whole number of at least 1", "paper", episodes={"*": "0"})
    refused("cannot be read", str(tmp_path / "missing.toml"))
    refused("is no TOML", write(tmp_path, "a = = b"))
    refused("nothing is given for uct", write(tmp_path, FILE.replace('"*" = 20, ', "")))
    refused("there is no grid", write(tmp_path, ""))
    refused("grid: .* not 5", write(tmp_path, "grid = 5"))
    refused("there is no agents", write(tmp_path, '[[grid]]\nenvs = ["FrozenLake"]'))
    refused("at least one of envs", write(tmp_path, FILE.replace('envs = "FrozenLake"', "envs = []")))
    refused("grid 2: agents: a list of names", write(tmp_path, FILE.replace('["uct"]', "[5]")))
    refused("grid 2: episodes must be a whole number", write(tmp_path, FILE.replace("= 30", "= 3.5")))
    refused("table of names and values, not 5", write(tmp_path, FILE.replace("{ slip = 0.1 }", "5")))
    refused("No module named 'no_such_module'", write(tmp_path, 'import = ["no_such_module"]\n' + FILE))
    for seed in ("-1", "true", '"x"'):
        refused("grid 1: a seed is", write(tmp_path, FILE.replace("seed = 3", f"seed = {seed}", 1)))
    with pytest.raises(RecipeError, match="episodes is given twice for all algorithms"):
        by_algorithm("episodes", ["5", "6"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"episodes": 10**30}, "episodes may be at most 10,000,000"),
        ({"seed": 10**30}, "seed may be at most"),
        ({"budgets": 10**30}, "ascending"),
    ],
)
def test_numbers_that_no_store_holds_are_refused(change, words):
    with pytest.raises(RecipeError, match=words):
        Grid(**{"envs": ["FourRooms"], "agents": ["uct"], "budgets": 8, "episodes": 1, **change})
