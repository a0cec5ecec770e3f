import pytest

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.grid import (
    PAPER_AGENTS,
    PAPER_BUDGETS,
    Grid,
    arguments_text,
    budget_text,
    options_text,
    paper_grids,
    series_of,
)
from gymnasium_gsp.bench.grid_flags import Flags, grids_of
from gymnasium_gsp.bench.settings import parse_settings
from gymnasium_gsp.bench.store import Cell
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.ingredients import FixedHorizon
from gymnasium_gsp.search.budget import Budget

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
budgets = [16]
episodes = 30
seed = 3
options = { horizon = "FixedHorizon(10)", discount = 0.95 }
env_options = { slip = 0.1 }
"""


def write(tmp_path, text):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return str(path)


def refused(match, what=None, **flags):
    with pytest.raises(RecipeError, match=match):
        grids_of(what, Flags(**flags))


def test_the_papers_protocol():
    (grid,) = grids_of("paper", Flags())[0]
    assert grid.envs == [benchmark.id for benchmark in BENCHMARKS]
    assert set(grid.agents) == set(PAPER_AGENTS)
    assert grid.budgets == PAPER_BUDGETS == tuple(2**power for power in range(4, 12))
    series = series_of([grid])
    assert len(series) == 5 * 6 * 8
    assert {(one.cell.preset, one.run.episodes, one.cell.seed) for one in series} == {("paper", 200, 0)}


def test_the_quick_protocol_has_all_environments_and_algorithms():
    series = series_of(paper_grids(quick=True))
    assert {one.cell.env for one in series} == {benchmark.id for benchmark in BENCHMARKS}
    assert {one.cell.algorithm for one in series} == set(PAPER_AGENTS)
    assert all(one.run.episodes > 1 and one.cell.preset == "paper" for one in series)


def test_flags_change_the_papers_protocol():
    given = Flags(agents=["gbop,uct"], episodes=["1000", "gbop=20"], budgets="16, 32", seed=7, envs=["FourRooms"])
    for quick in (False, True):
        series = series_of(grids_of("paper", Flags(**{**vars(given), "quick": quick}))[0])
        assert {(one.cell.algorithm, one.run.episodes) for one in series} == {("gbop", 20), ("uct", 1000)}
        assert {one.cell.budget for one in series} == {16, 32}
        assert {(one.cell.env, one.cell.seed) for one in series} == {("GSP/FourRooms-v0", 7)}
    assert {one.run.episodes for one in series_of(grids_of("paper", Flags(episodes=["gbop=20"]))[0])} == {20, 200}


def test_flags_alone():
    flags = Flags(["FrozenLake"], ["uct,gbop"], "8", ["4"], 1, ["paper", "uct=none"], ["discount=0.9"], ["slip=0.1"])
    found = {one.cell for one in series_of(grids_of(None, flags)[0])}
    same = {"env": "GSP/FrozenLake-v0", "budget": 8, "seed": 1, "options": "discount=0.9"}
    arguments = '{"slip": 0.1}'
    assert found == {
        Cell(algorithm="uct", preset=None, env_options=arguments, **same),
        Cell(algorithm="gbop", preset="paper", env_options=arguments, **same),
    }


def test_a_file_of_grids(tmp_path):
    grids, modules = grids_of(write(tmp_path, FILE), Flags())
    assert modules == []
    series = {one.cell: one for one in series_of(grids)}
    assert len(series) == 2 * 2 * 2 + 1
    lake = Cell("GSP/FrozenLake-v0", "uct", None, 16, 3)
    assert series[lake].run.episodes == 20
    assert series[Cell("GSP/FourRooms-v0", "gbop", "paper", 64, 3)].run.episodes == 2
    other = Cell(
        "GSP/FrozenLake-v0", "uct", None, 16, 3, "discount=0.95, horizon=FixedHorizon(depth=10)", '{"slip": 0.1}'
    )
    assert series[other].run.episodes == 30
    assert "FixedHorizon(depth=10)" in series[other].recipe


def test_a_cell_in_two_grids_is_played_once_with_the_most_episodes():
    grids = [Grid(["FrozenLake"], ["uct"], (8, 16), {"*": number}) for number in (5, 9, 7)]
    grids.append(Grid(["gymnasium_gsp:GSP/FrozenLake-v0"], ["uct"], (8,), {"*": 2}))
    assert [one.run.episodes for one in series_of(grids)] == [9, 9]


def test_canonical_texts_do_not_depend_on_the_order_and_read_back():
    options = {"horizon": FixedHorizon(10), "discount": 0.95}
    assert options_text(options) == options_text(dict(reversed(options.items())))
    assert parse_settings(["horizon=FixedHorizon(depth=10)", "discount=0.95"]) == options
    assert options_text({}) == arguments_text({}) == ""
    assert arguments_text({"b": 1, "a": None}) == '{"a": null, "b": 1}'
    assert options_text({"f": refused}) == options_text({"f": refused}).partition(" at ")[0]
    assert budget_text(Budget(simulations=5)) == 5
    assert budget_text(Budget(seconds=0.5, nodes=3)) == "Budget(seconds=0.5, nodes=3)"


@pytest.mark.parametrize("text", ["", "16,x", "64,16", "16,16", "0,16", "-4", "1.5", "16,,32"])
def test_budgets_are_ascending_whole_numbers(text):
    refused("ascending order", "paper", budgets=text)


@pytest.mark.parametrize("value", ['"16"', "[]", "[16.0]", "[true]", "[32, 16]", '["16"]', "16"])
def test_budgets_of_a_file_are_ascending_whole_numbers(tmp_path, value):
    refused("budgets (are|is)", write(tmp_path, FILE.replace("[16, 64]", value)))


def test_misspelt_words_get_the_nearest(tmp_path):
    refused("'paper'", "papre")
    refused("'power-uct'", "paper", agents=["powr-uct"])
    refused("'power-uct'", None, envs=["FrozenLake"], agents=["powr-uct"])
    refused("'gbop'", "paper", episodes=["200", "gbob=20"])
    refused("'gbop'", "paper", preset=["gbob=paper"])
    refused("grid 1: .*'episodes'", write(tmp_path, FILE.replace("episodes =", "episode =", 1)))
    refused("'grid'", write(tmp_path, FILE.replace("[[grid]]", "[[grids]]")))
    refused("grid 2: .*'FixedHorizon'", write(tmp_path, FILE.replace("FixedHorizon", "FixedHorizn")))
    refused("grid 1: .*'uct'", write(tmp_path, FILE.replace("uct = ", "ucct = ", 1)))
    grids, _ = grids_of(write(tmp_path, FILE.replace("discount", "discont")), Flags())
    with pytest.raises(RecipeError, match="'discount'"):
        series_of(grids)


def test_other_bad_input_says_what_to_do(tmp_path):
    refused("say what to play")
    refused("say what to play", None, agents=["uct"])
    refused("--quick belongs to", None, envs=["FrozenLake"], agents=["uct"], quick=True)
    refused("the paper's algorithms are", "paper", agents=["olop"])
    refused("write --seed into it", write(tmp_path, FILE), seed=3)
    refused("is no number", "paper", episodes=["many"])
    refused("given twice", "paper", episodes=["5", "6"])
    refused("whole number of at least 1", "paper", episodes=["0"])
    refused("cannot be read", str(tmp_path / "missing.toml"))
    refused("is no TOML", write(tmp_path, "a = = b"))
    refused("has no episodes", write(tmp_path, '[[grid]]\nenvs=["FrozenLake"]\nagents=["uct"]\nbudgets=[4]'))
    refused("holds no grid", write(tmp_path, ""))
    refused("holds no grid", write(tmp_path, "grid = 5"))
    refused("at least one of envs", write(tmp_path, FILE.replace('envs = "FrozenLake"', "envs = []")))
    refused("list of names", write(tmp_path, FILE.replace('["uct"]', "[5]")))
    refused("is a number or a table", write(tmp_path, FILE.replace("= 30", "= 3.5")))
    refused("is a table", write(tmp_path, FILE.replace("{ slip = 0.1 }", "5")))
    refused("--import no_such_module", write(tmp_path, 'import = ["no_such_module"]\n' + FILE))
    for seed in ("-1", "true", '"x"'):
        grids, _ = grids_of(write(tmp_path, FILE.replace("seed = 3", f"seed = {seed}")), Flags())
        with pytest.raises(RecipeError, match="seed"):
            series_of(grids)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"episodes": {"*": 10**30}}, "episodes may be at most 10,000,000"),
        ({"seed": 10**30}, "seed may be at most"),
        ({"budgets": (10**30,)}, "ascending"),
    ],
)
def test_numbers_that_no_store_holds_are_refused(change, words):
    with pytest.raises(RecipeError, match=words):
        Grid(**{"envs": ["FourRooms"], "agents": ["uct"], "budgets": (8,), "episodes": {"*": 1}, **change})
