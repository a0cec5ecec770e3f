import json
import re
import shlex
import sys

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from gymnasium_gsp import ALGORITHMS, __version__, make_recipe
from gymnasium_gsp.bench import cell
from gymnasium_gsp.bench.console import distance_in_words
from gymnasium_gsp.cli.commands import app
from gymnasium_gsp.envs import BENCHMARKS, ENVIRONMENTS
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv
from gymnasium_gsp.exact import shipped_optima

SMALL = ["run", "FrozenLake", "--budget", "8", "--episodes", "3", "--seed", "1"]
KEYS = [
    "env",
    "agent",
    "preset",
    "budget",
    "episodes",
    "seed",
    "discount",
    "mean_return",
    "standard_error",
    "optimum",
    "optimum_of_all_layouts",
    "mean_regret",
    "regret_standard_error",
    "decisions",
    "simulations",
    "model_steps",
    "seconds",
    "nodes_per_decision",
    "recipe",
]


def gsp(*arguments):
    return CliRunner().invoke(app, list(arguments))


def result(*arguments):
    """The object that `--json` prints, once it is seen to be all that is printed."""
    answer = gsp(*arguments, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_json_has_exactly_the_promised_keys():
    found = result(*SMALL)
    assert sorted(found) == sorted(KEYS)
    assert (found["env"], found["agent"], found["preset"]) == ("GSP/FrozenLake-v0", "graft", None)
    assert (found["budget"], found["episodes"], found["seed"]) == (8, 3, 1)
    assert found["optimum"] == shipped_optima()["GSP/FrozenLake-v0"]
    assert found["simulations"] == 8 * found["decisions"]
    assert found["recipe"] == repr(make_recipe("graft"))


def test_defaults():
    found = result("run", "GSP/FrozenLake-v0", "--episodes", "1")
    assert (found["agent"], found["budget"], found["seed"], found["standard_error"]) == ("graft", 256, 0, None)


@pytest.mark.parametrize("spelling", ["GSP/FrozenLake-v0", "gymnasium_gsp:GSP/FrozenLake-v0"])
def test_the_same_seed_gives_the_same_numbers(spelling):
    expected = {**result(*SMALL), "seconds": 0}
    assert {**result("run", spelling, *SMALL[2:], "--jobs", "2"), "seconds": 0} == expected
    assert result(*SMALL[:-1], "2")["decisions"] != expected["decisions"]


def test_presets_and_settings_reach_the_recipe():
    arguments = ("--algorithm", "uct", "--preset", "paper", "--set", "horizon=FixedHorizon(5)", "--set", "c=inf")
    assert gsp(*SMALL, *arguments).exit_code == 2
    found = result(*SMALL, *arguments[:-1], "c=0.25")
    assert found["preset"] == "paper"
    assert "horizon=FixedHorizon(depth=5)" in found["recipe"]
    assert "UCB1(c=0.25, scale='raw')" in found["recipe"]


def test_points_of_continuous_actions():
    """One decision and one command each; the recipe shows that points which are given are no grid that refines."""
    quick = ("--algorithm", "uct", "--budget", "4", "--episodes", "1", "--set", "horizon=FixedHorizon(2)")
    quick += ("--set", "evaluation=Constant()")
    assert "widening=Widening(factor=3.0, exponent=0.33)" in result("run", "Pendulum-v1", *quick)["recipe"]
    assert "widening=None" in result("run", "Pendulum-v1", *quick, "--actions", "3")["recipe"]
    refused = gsp("run", "Pendulum-v1", *quick, "--actions", "3,3")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "has 2 numbers of points" in refused.stderr


def test_arguments_of_the_environment():
    found = result(*SMALL, "--env-set", 'desc=["SFF", "FFG"]', "--env-set", "slip=0")
    assert found["mean_return"] == 1.0
    assert found["optimum"] == pytest.approx(1.0)  # without slipping the goal is always reached


def test_a_budget_of_other_limits():
    assert result(*SMALL, "--budget", "Budget(model_steps=50)")["budget"] == {"model_steps": 50}


def test_the_table_shows_the_return_beside_the_optimum():
    answer = gsp(*SMALL, "--algorithm", "gs-power-uct", "--preset", "paper")
    assert answer.exit_code == 0
    assert answer.stderr == ""
    for words in (
        "GSP/FrozenLake-v0",
        "Cross a frozen lake",
        "preset paper",
        "8 simulations per decision",
        "mean return",
        "standard error",
        "exact optimum",
        "0.9132",
        "percent of optimum",
        "simulations per second",
        "model steps per second",
        "nodes per decision",
    ):
        assert words in answer.stdout


def test_the_table_says_where_no_optimum_is_known():
    answer = gsp("run", "SysAdminRing", "--env-set", "machines=40", "--budget", "2", "--episodes", "1")
    assert "not known for this environment" in answer.stdout
    assert "percent" not in answer.stdout


GS = ("--algorithm", "gs-power-uct")
ERRORS = [
    (["run", "FrozenLak"], "Did you mean: `FrozenLake`?"),
    (["run", "GSP/SysAdmin-v0"], "GSP/SysAdminRing"),
    (["run", "GSP/FrozenLake-v7"], "GSP/FrozenLake-v0"),
    (["run", "FrozenLake-v0"], "Did you mean GSP/FrozenLake-v0?"),
    (["run", "FourRooms-v0"], "Did you mean GSP/FourRooms-v0?"),
    (["run", "FrozenLake", "--import", "no_such_module"], "no_such_module cannot be imported"),
    (["check", "FrozenLake", "--import", "no_such_module"], "no_such_module cannot be imported"),
    (
        ["run", "FrozenLake", *GS, "--set", "backup=PowerMean(2)", "--set", "p=3"],
        "p of gs-power-uct means nothing beside",
    ),
    (["list", "utc"], "unknown environment or algorithm 'utc'. Did you mean 'uct'?"),
    (["run", "Xyzzy-v0"], "The benchmarks are GSP/FrozenLake-v0, "),
    (["run", "no_such_module:Lake-v0"], "No module named 'no_such_module'"),
    (["run", "a:b:c"], "a:b cannot be imported: ModuleNotFoundError"),
    (["run", "FrozenLake", "--algorithm", "gs-power-utc"], "Did you mean 'gs-power-uct'"),
    (["run", "FrozenLake", "--algorithm", "uct", "--preset", "papr"], "Did you mean 'paper'"),
    (["run", "FrozenLake", "--preset", "paper"], "graft has one setting and no presets"),
    (["run", "FrozenLake", "--set", "horzion=3"], "Did you mean 'horizon'"),
    (["run", "FrozenLake", "--set", "expansion=paht"], "Did you mean 'path'"),
    (["run", "FrozenLake", "--algorithm", "power-uct", "--set", "p=0.5"], "p must be between 1"),
    (["run", "FrozenLake", "--set", "p"], "a setting is written key=value, not 'p'"),
    (["run", "FrozenLake", "--set", "p=__import__('os')"], "unknown ingredient '__import__'"),
    (["run", "FrozenLake", "--set", "p=().__class__"], "cannot read '().__class__': allowed are numbers"),
    (["run", "FrozenLake", "--set", "selection=5"], "selection was given 5"),
    (["run", "FrozenLake", "--set", "discount=2"], "discount must be a finite number between 0 and 1"),
    (["run", "FrozenLake", *GS, "--set", "constants=Table1([5], [2], [3])"], "Table 1"),
    (["run", "FrozenLake", "--set", "preset=paper"], "'preset' is no option"),
    (["run", "FrozenLake", "--json", "--set", "horizon=AdaptiveHorizon()", "--budget", "Budget(nodes=9)"], "H(n)"),
    (["run", "FrozenLake", "--env-set", "slp=0"], "Did you mean 'slip'"),
    (["run", "FrozenLake", "--env-set", "slip=2"], "slip must be a number between 0 and 0.5, not 2"),
    (["run", "FrozenLake", "--budget", "0"], "budget: simulations must be a whole number of at least 1, not 0"),
    (["run", "FrozenLake", "--budget", "-5"], "not -5"),
    (["run", "FrozenLake", "--budget", "many"], "not 'many'"),
    (["run", "FrozenLake", "--budget", "2.5"], "not 2.5"),
    (["run", "FrozenLake", "--budget", "Budget()"], "an empty budget"),
    (["run", "FrozenLake", "--episodes", "0"], "--episodes"),
    (["run", "FrozenLake", "--episodes", "few"], "--episodes"),
    (["run", "FrozenLake", "--jobs", "0"], "--jobs"),
    (["run", "FrozenLake", "--seed", "-1"], "a seed must be a whole number of at least 0"),
    (["run", "FrozenLake", "--bugdet", "8"], "--budget"),
    (["run"], "ENV"),
    (["rnu"], "No such command 'rnu'"),
]


def without_compilation(text):
    """Lines without the one that the first test in an empty cache meets."""
    return [line for line in text.splitlines() if not line.startswith("gymnasium_gsp: compiling")]


FAMILIES = [
    ("MiniGrid-Nowhere-5x5-v0", "minigrid", "minigrid"),
    ("BabyAI-Nowhere-v0", "minigrid", "minigrid"),
    ("highway-nowhere-v0", "highway", "highway_env"),
    ("ALE/Nowhere-v5", "atari", "ale_py"),
    ("NowhereNoFrameskip-v4", "atari", "ale_py"),
]


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize(("env", "extra", "module"), FAMILIES)
@pytest.mark.parametrize("command", ["run", "check", "watch", "inspect", "evaluate"])
def test_an_id_without_its_module_gets_the_one_that_registers_it(command, env, extra, module, installed, monkeypatch):
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(cell, "find_spec", lambda name: installed or None)
    answer = gsp(command, env)
    install = f"Install its package with the extra {extra}: pip install 'gymnasium-gsp[{extra}]'; then"
    before = f"The module {module} registers it:" if installed else install
    assert answer.exit_code == 2
    assert answer.stderr.endswith(f" {before} give {module}:{env}\n")


@pytest.mark.parametrize("installed", [True, False])
def test_what_gymnasium_registers_itself_needs_no_module_and_is_installed_once(installed, monkeypatch):
    monkeypatch.delitem(sys.modules, "Box2D", raising=False)
    monkeypatch.setattr(cell, "find_spec", lambda name: installed or None)
    assert ("pip install 'gymnasium-gsp[box2d]'" in gsp("run", "LunarLander-v0").stderr) is not installed


@pytest.mark.parametrize(("arguments", "message"), ERRORS, ids=lambda value: " ".join(value)[:50])
def test_an_error_is_one_line_and_exit_code_2(arguments, message):
    answer = gsp(*arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert message in answer.stderr
    (line,) = without_compilation(answer.stderr)
    assert line.startswith("gsp: ")


def test_check_times_a_decision_and_recommends_a_command_that_runs():
    answer = gsp("check", "gymnasium_gsp:GSP/FrozenLake-v0", "--budget", "12", "--set", "horizon=FixedHorizon(9)")
    assert answer.exit_code == 0, answer.output
    default, asked, recommended = answer.stdout.splitlines()[-3:]
    assert re.fullmatch(r"a decision takes \S+ s by default, with --budget 256", default)
    assert re.fullmatch(r"a decision takes \S+ s as asked, with --budget 12", asked)
    command = shlex.split(recommended.removeprefix("recommended: "))
    assert command[:5] == ["gsp", "run", "GSP/FrozenLake-v0", "--algorithm", "graft"]
    assert "horizon=FixedHorizon(depth=9)" in command
    assert gsp(*command[1:], "--episodes", "1").exit_code == 0


def test_the_budget_that_was_chosen_is_printed_as_a_command_that_runs():
    shown = gsp("run", "FrozenLake", "--episodes", "1", "--env-set", "horizon=9").stdout
    (again,) = (line for line in shown.splitlines() if line.startswith("again with"))
    command = shlex.split(again.removeprefix("again with"))
    assert result(*command[1:], "--episodes", "1")["decisions"] == 9
    assert "again with" not in gsp(*SMALL).stdout


class FailingLake(FrozenLakeEnv):
    def reset(self, *, seed=None, options=None):
        raise gym.error.Error("the lake\nis closed")


class LyingLake(FrozenLakeEnv):
    def step(self, action):
        observation, *rest = super().step(action)
        return (observation + 1) % 64, *rest


class NoActions(gym.Env):
    action_space = gym.spaces.Text(3)
    observation_space = gym.spaces.Discrete(1)


@pytest.mark.parametrize(
    ("entry_point", "code", "message"),
    [
        (NoActions, 2, "planning needs actions that can be numbered"),
        (FailingLake, 2, "the lake is closed"),
        (LyingLake, 1, "is not that of the environment this agent is bound to"),
    ],
)
def test_environments_that_cannot_be_planned_in(entry_point, code, message):
    gym.register("Unfit-v0", entry_point)
    try:
        answer = gsp("run", "Unfit-v0")
    finally:
        del gym.registry["Unfit-v0"]
    assert answer.exit_code == code
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        (0.8, 0.1, "1.1 standard errors below"),
        (1.0, 0.05, "1.7 standard errors above: luck"),
        (1.0, 0.0, "above: luck"),
        (0.0, None, "below"),
    ],
)
def test_the_distance_from_the_optimum_is_said_in_words(mean, error, words):
    assert distance_in_words(mean, error, 0.9132).startswith(words)


def test_list_shows_everything_in_the_registries():
    answer = gsp("list")
    assert answer.exit_code == 0
    for benchmark in ENVIRONMENTS:
        assert benchmark.id in answer.stdout
        assert f"{shipped_optima()[benchmark.id]:.7g}" in answer.stdout
    for algorithm in ALGORITHMS.values():
        assert f"\n{algorithm.name}  {algorithm.citation}\n" in answer.stdout
        assert all(preset in answer.stdout for preset in algorithm.presets)


def test_list_of_one_algorithm_describes_it_with_its_options():
    shown = gsp("list", "power-uct").stdout
    assert shown.startswith("\npower-uct  ")
    assert "c: exploration constant." in shown
    words = shown.replace("\n", " ")
    assert all(option in words for option in ALGORITHMS["power-uct"].options())
    assert "gbop" not in shown
    entries = json.loads(gsp("list", "GSP/FourRooms-v0", "--json").stdout)
    assert [entry["name"] for entry in entries["environments"]] == ["FourRooms"]
    assert entries["algorithms"] == []


def test_an_optimum_of_drawn_layouts_is_explained():
    command = ("run", "FourRooms", "--budget", "4", "--episodes", "2")
    found = json.loads(gsp(*command, "--json").stdout)
    assert found["optimum_of_all_layouts"] == shipped_optima()["GSP/FourRooms-v0"] != found["optimum"]
    words = " ".join(gsp(*command).stdout.split())
    assert "mean over the layouts that were drawn; over all that can be drawn it is 0.5919" in words
    assert json.loads(gsp("run", "FrozenLake", *command[2:], "--json").stdout)["optimum_of_all_layouts"] is None


def test_list_as_json():
    answer = gsp("list", "--json")
    found = json.loads(answer.stdout)
    assert {entry["id"]: entry["optimum"] for entry in found["environments"]} == shipped_optima()
    assert all(entry["title"] and "gymnasium_gsp.exact" in entry["optimum_source"] for entry in found["environments"])
    assert [entry["name"] for entry in found["algorithms"]] == list(ALGORITHMS)
    for entry in found["algorithms"]:
        recipe = make_recipe(entry["name"])
        assert entry["recipe"] == repr(recipe)
        assert entry["guarantee"]["not_covered_because"] == list(recipe.guarantee)
        assert set(entry["presets"]) == set(ALGORITHMS[entry["name"]].presets)
        assert all(names == [benchmark.name for benchmark in BENCHMARKS] for names in entry["presets"].values())


def test_version_and_help():
    assert gsp("--version").stdout == f"gymnasium-gsp {__version__}\n"
    for arguments in ((), ("--help",)):
        answer = gsp(*arguments)
        assert answer.exit_code == 0
        assert answer.stdout.count("Usage") == 1
        assert "list" in answer.stdout
        assert "run" in answer.stdout


@pytest.mark.parametrize("command", ["run", "inspect"])
@pytest.mark.parametrize("place", ["in a simulation, while step 1 was planned", "in step 1 of the real environment"])
def test_an_error_in_a_step_is_one_line_with_its_place(command, place, tmp_path, monkeypatch):
    simulated = "simulation" in place
    module = f"broken_{command}_{simulated}"
    (tmp_path / f"{module}.py").write_text(
        "import traceback, gymnasium as gym\n"
        "class Broken(gym.Env):\n"
        "    observation_space, action_space = gym.spaces.Discrete(30), gym.spaces.Discrete(2)\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        super().reset(seed=seed); self.x = 0; return 0, {}\n"
        "    def step(self, action):\n"
        "        self.x += 1\n"
        "        simulated = 'simulator.py' in str(traceback.extract_stack())\n"
        f"        if self.x > {4 if simulated else 0} and simulated is {simulated}: 1 / 0\n"
        "        return self.x, 0.0, False, False, {}\n"
        f"gym.register('{module}-v0', '{module}:Broken', max_episode_steps=30)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    count = ["--episodes", "1"] if command == "run" else []
    answer = CliRunner().invoke(app, [command, f"{module}:{module}-v0", "--algorithm", "uct", "--budget", "20", *count])
    assert answer.exit_code == 1, answer.output
    last = answer.stderr.splitlines()[-1]
    assert last == f"gsp: ZeroDivisionError: division by zero, {place}, at {tmp_path / module}.py:9"
