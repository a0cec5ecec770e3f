"""The competitions' instances as environments of a benchmark: registered ids, `gsp bench ippc`, and bad input."""

import sys

import gymnasium as gym
import pytest
from typer.testing import CliRunner

import gymnasium_gsp  # noqa: F401  registers the instances
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.published import competition
from gymnasium_gsp.bench.summary import known_optimum
from gymnasium_gsp.cli.commands import app
from gymnasium_gsp.errors import RecipeError

NAVIGATION = "IPPC/Navigation_MDP_ippc2011-1"
SMALL = ["bench", "ippc", "--envs", NAVIGATION, "--budgets", "8", "--episodes", "2", "--jobs", "1"]


def gsp(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_a_competition_is_played_resumed_and_reported(instance, tmp_path):
    store, page = tmp_path / "ippc.sqlite", tmp_path / "report.md"
    first, second = gsp(*SMALL, "--store", store), gsp(*SMALL, "--store", store)
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert "1 cell, 2 episodes, 0 of them" in first.output
    assert "1 cell, 2 episodes, 2 of them" in second.output
    assert gsp("report", "--store", store, "-o", page).exit_code == 0
    text = page.read_text()
    assert "Score of the planning competitions" in text
    assert "PROST 2014" in text
    assert "9.5669" in text


def test_an_instance_that_is_registered_is_planned_in_compiled(instance):
    env = gym.make(NAVIGATION)
    agent = Cell(env=NAVIGATION, budget=4).make_agent(env)
    assert agent.describe()["model"] == "the RDDL instance, compiled by LLVM"
    assert known_optimum(env) == competition()[NAVIGATION].optimum
    assert known_optimum(gym.make(NAVIGATION, instance=2)) is None


@pytest.mark.parametrize(
    ("env", "nearest"),
    [
        ("IPPC/Navigaton_MDP_ippc2011-1", "Did you mean: `Navigation_MDP_ippc2011-1`"),
        ("IPPC/Navigation_MDP_ippc2011-11", "Did you mean: `Navigation_MDP_ippc2011-1`"),
        ("IPC/Navigation_MDP_ippc2011-1", "Did you mean: `IPPC`"),
    ],
)
def test_a_misspelt_instance_gets_the_nearest(env, nearest):
    with pytest.raises(RecipeError, match=nearest):
        Cell(env=env).make_env()


def test_a_missing_package_ends_the_command_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyRDDLGym", None)
    answer = gsp(*SMALL, "--store", tmp_path / "ippc.sqlite")
    assert answer.exit_code == 2
    assert f"{NAVIGATION} cannot be made: RDDL needs pyRDDLGym, which is missing: pip install" in answer.output
    assert not (tmp_path / "ippc.sqlite").exists()
