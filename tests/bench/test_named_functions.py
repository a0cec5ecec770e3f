"""Wrappers and simulators that a cell names as module:function."""

import shlex

import pytest
from typer.testing import CliRunner

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play
from gymnasium_gsp.bench.report.contents import make_report
from gymnasium_gsp.bench.store import read
from gymnasium_gsp.bench.summary import known_optimum
from gymnasium_gsp.cli.commands import app

FUNCTIONS = """
import gymnasium as gym

def short(env):
    return gym.wrappers.TimeLimit(env, 4)

def doubled(env):
    return gym.wrappers.TransformReward(env, lambda reward: 2.0 * reward)

def nothing(env):
    return None

def cliff():
    return gym.make("CliffWalking-v1")
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """The name of a module that holds them, which worker processes find, too."""
    name = f"functions_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_wrapper_is_put_around_the_environment(functions):
    cell = Cell(env="FrozenLake", budget=4, wrap=f"{functions}:short")
    assert [episode.decisions for episode in play(cell, 3)] == [4, 4, 4]
    assert known_optimum(cell.make_env()) == 0.0  # the goal is 14 steps away
    assert known_optimum(cell.changed(wrap=f"{functions}:doubled").make_env()) is None
    assert str(cell) == f"GSP/FrozenLake-v0, graft, 4 simulations, wrapped by {functions}:short"
    (episode,) = play(Cell(env="FourRooms", budget=2, wrap=f"{functions}:short"), 1)
    assert episode.optimum is None


def test_a_simulator_of_ones_own_is_planned_in(functions):
    cell = Cell(env="CliffWalking-v1", budget=4, simulator=f"{functions}:cliff")
    models = [one.make_agent(one.make_env()).describe()["model"] for one in (cell, cell.changed(simulator=""))]
    assert "simulator" in models[0]
    assert "simulator" not in models[1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"wrap": "short"}, "a function is named module:function, such as my_wrappers:with_frames, not 'short'"),
        ({"wrap": "a:b()"}, "a function is named module:function"),
        ({"simulator": 3}, "a function is named module:function"),
        ({"wrap": "no_such_module:short"}, "no_such_module cannot be imported"),
        ({"wrap": "{module}:shirt"}, "Did you mean 'short'?"),
        ({"wrap": "{module}:nothing"}, "must return the wrapped environment, not None"),
    ],
)
def test_what_is_no_such_function_is_refused(functions, fields, message):
    given = {
        name: value.format(module=functions) if isinstance(value, str) else value for name, value in fields.items()
    }
    with pytest.raises(RecipeError) as refused:
        Cell(env="FrozenLake", **given).make_env()
    assert message in str(refused.value)


def test_a_grid_takes_both_and_the_report_names_them(functions, tmp_path):
    """Worker processes find the module; the command of the report gives the same cell."""
    path, both = tmp_path / "results.sqlite", ["--wrap", f"{functions}:short", "--simulator", f"{functions}:cliff"]
    command = ["bench", "--envs", "CliffWalking-v1", "--algorithms", "uct", "--budgets", "4", "--episodes", "3", *both]
    answer = CliRunner().invoke(app, [*command, "--store", str(path), "--jobs", "2"])
    assert answer.exit_code == 0, answer.output
    rows = read(path)
    assert rows.decisions.tolist() == [4, 4, 4]
    report = make_report(rows)
    (again,) = next(
        table.frame.command for part in report.sections for table in part.tables if table.name == "commands"
    )
    assert shlex.split(again)[1:] == command
    assert report.data["cells"].environment[0] == f"CliffWalking-v1 ({functions}:short)"
    assert report.data["cells"].planner[0] == f"uct ({functions}:cliff)"
