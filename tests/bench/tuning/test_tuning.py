"""Candidates, their scores, preset files, and the command."""

import math
import tomllib

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.preset_file import preset_text, read_preset
from gymnasium_gsp.agents.registry import preset_options
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.bench.protocol import Run
from gymnasium_gsp.bench.runner import play
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.tuning.candidates import GRID, choices_of, combinations, named, options_of
from gymnasium_gsp.bench.tuning.result import ranking, write_preset
from gymnasium_gsp.bench.tuning.search import Score, Task, best, try_afresh, try_all
from gymnasium_gsp.bench.workers import start_workers
from gymnasium_gsp.cli import app
from gymnasium_gsp.ingredients import Cautious, FixedHorizon, Sweep

NOBODY = None  # workers that must not be asked, as everything is in the store
TASK = Task("FourRooms", "uct", (4, 8), runs=3)


def refused(words, call, *arguments):
    with pytest.raises(gsp.RecipeError, match=words):
        call(*arguments)


def test_the_default_grid_has_the_options_that_the_algorithm_takes():
    assert choices_of("gs-power-uct") == {"c": GRID["c"], "p": GRID["p"]}
    assert choices_of("ments") == {"temperature": GRID["temperature"]}
    assert len(combinations(choices_of("gs-power-uct"))) == len(GRID["c"]) * len(GRID["p"])
    refused("none of the options", choices_of, "olop")


def test_values_are_read_as_settings_are_and_calls_are_not_cut():
    choices = choices_of("gs-power-uct", ["p=1, inf, 1.0"])
    assert [options_of(candidate) for candidate in combinations(choices)] == [{"p": 1}, {"p": math.inf}]
    choices = choices_of("gs-power-uct", ["horizon=FixedHorizon(3),FixedHorizon(5)", "decision=Sweep(Cautious(0.3))"])
    assert options_of(combinations(choices)[1]) == {"horizon": FixedHorizon(5), "decision": Sweep(Cautious(0.3))}
    assert named(combinations(choices)[0]) == "horizon=FixedHorizon(3), decision=Sweep(Cautious(0.3))"


def test_a_candidate_that_cannot_be_played_has_a_reason_and_no_score(tmp_path, failing_lake):
    task, candidates = Task(failing_lake, "uct", (4,), runs=8), combinations({"c": ("0.1", "1.0")})
    with Store(tmp_path / "t.sqlite") as store:
        found = try_all(task, candidates, store, start_workers("local", 1))
        assert all("episode" in words and "the ice is broken" in words for words in found)
        with pytest.raises(gsp.PlanningError, match=r"c=0\.1: episode .*the ice is broken"):
            try_afresh(task, candidates, store, start_workers("local", 1))
    command = [
        "tune",
        failing_lake,
        "--agent",
        "uct",
        "--budgets",
        "4",
        "--runs",
        "8",
        "--try",
        "c=0.1,1",
        "--jobs",
        "1",
    ]
    answer = CliRunner().invoke(app, [*command, "--store", str(tmp_path / "u.sqlite"), "-o", str(tmp_path / "p.toml")])
    assert answer.exit_code == 2
    assert answer.stderr.count("given up, episode") == 2
    assert "no candidate was complete" in answer.stderr
    assert not (tmp_path / "p.toml").exists()


def test_a_gain_that_may_be_luck_is_called_so():
    defaults = Score((), 0.5, 0.1, 3, (0.4, 0.5, 0.6))
    clear = Score((("c", "1"),), 0.8, 0.1, 3, (0.7, 0.8, 0.9))
    lucky = Score((("c", "1"),), 0.6, 0.3, 3, (0.3, 0.5, 1.0))
    assert not any("no clear gain" in line for line in ranking([clear], clear, clear, defaults))
    for found in (lucky, defaults):
        assert "no clear gain" in ranking([clear], clear, found, defaults)[-1]


@pytest.mark.parametrize(
    ("tries", "words"),
    [
        (["cc=1"], "Did you mean 'c'"),
        (["c"], "written option=value"),
        (["c="], "written option=value"),
        (["c=1,,2"], "empty value"),
        (["c=1", "c=2"], "given twice"),
        (["c=__import__('os')"], "unknown ingredient '__import__'"),
    ],
)
def test_what_makes_no_sense_is_refused(tries, words):
    refused(words, choices_of, "uct", tries)


def test_scores_are_means_of_the_episodes_that_run_plays(tmp_path):
    candidates = combinations({"c": ("0.1", "1.0")})
    with Store(tmp_path / "t.sqlite") as store:
        scores = try_all(TASK, candidates, store, start_workers("local", 1))
        for found in scores:
            means = []
            for budget in TASK.budgets:
                run = Run("FourRooms", "uct", budget, TASK.runs, options=options_of(found.candidate))
                means.append(np.mean([episode.total_reward for episode in play(run)]))
            assert found.mean == np.mean(means)
            assert found.episodes == 6
        assert best(scores).mean == max(one.mean for one in scores)
        before = len(store.rows())
        assert try_all(TASK, candidates, store, NOBODY) == scores
        (fresh,) = try_afresh(TASK, candidates[:1], store, start_workers("local", 1))
        assert len(store.rows()) == before + fresh.episodes


def test_a_standard_error_is_that_of_episodes_and_a_gain_is_paired(tmp_path):
    """At both budgets an episode has the same layout, so the returns of its budgets are one sample and not two."""
    task = Task("FourRooms", "uct", (4, 8), runs=6)
    with Store(tmp_path / "t.sqlite") as store:
        one, other = try_all(task, combinations({"c": ("0.1", "1.0")}), store, start_workers("local", 1))
    by_budget = np.array(
        [
            [episode.total_reward for episode in play(Run("FourRooms", "uct", budget, 6, options={"c": 0.1}))]
            for budget in (4, 8)
        ]
    )
    samples = by_budget.mean(axis=0)
    assert one.returns == tuple(samples)
    assert one.standard_error == pytest.approx(samples.std(ddof=1) / math.sqrt(6))
    differences = np.array(one.returns) - np.array(other.returns)
    assert one.gain(other) == pytest.approx((one.mean - other.mean, differences.std(ddof=1) / math.sqrt(6)))
    assert one.gain(one) == (0.0, 0.0)


def test_every_preset_can_be_written_as_text():
    for found in gsp.ALGORITHMS.values():
        for preset, by_env in found.presets.items():
            for env in by_env:
                task = Task("FrozenLake" if env == "*" else env, found.name, (4,), 1, preset=preset)
                expected = preset_options(found, preset, task.env_id)
                assert {name: parse_value(text) for name, text in task.below().items()} == expected


def test_what_stands_below_is_played_and_written(tmp_path):
    """A preset and settings below: the episodes are those of a run with all of them, and the file holds all of them."""
    task = Task("FrozenLake", "power-uct", (4,), 2, preset="paper", settings={"p": "2.5"}, env_options={"slip": 0.0})
    with Store(tmp_path / "t.sqlite") as store:
        (found,) = try_all(task, combinations({"c": ("0.75",)}), store, start_workers("local", 1))
        refused("p is both set and tried", try_all, task, combinations({"p": ("1",)}), store, NOBODY)
    options = {"p": 2.5, "c": 0.75}
    run = Run("FrozenLake", "power-uct", 4, 2, preset="paper", options=options, env_options={"slip": 0.0})
    assert found.returns == tuple(episode.total_reward for episode in play(run))
    path = tmp_path / "p.toml"
    write_preset(path, task, "gsp tune", [found], found, found, found)
    assert read_preset(path, "power-uct", "GSP/FrozenLake-v0") == {
        **preset_options(gsp.ALGORITHMS["power-uct"], "paper", "GSP/FrozenLake-v0"),
        **options,
    }
    again = Task("FrozenLake", "power-uct", (4,), 2, preset=str(path))
    assert parse_value(again.below()["c"]) == 0.75


def test_an_agent_takes_a_preset_file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        preset_text("gs-power-uct", "GSP/FourRooms-v0", {"c": "0.25", "p": "2"}, {"candidates": ["a", "b"]})
    )
    env = gymnasium.make("GSP/FourRooms-v0")
    expected = gsp.make_recipe("gs-power-uct", c=0.25, p=3.0)
    for given in (path, str(path)):
        assert gsp.make_agent(env, "gs-power-uct", preset=given, p=3.0).recipe == expected
    refused("for the algorithm gs-power-uct", lambda: gsp.make_agent(env, "uct", preset=path))
    other = gymnasium.make("GSP/FrozenLake-v0")
    refused("for the environment GSP/FourRooms-v0", lambda: gsp.make_agent(other, "gs-power-uct", preset=path))
    refused("belongs to a named algorithm", lambda: gsp.make_agent(env, expected, preset=path))


def test_a_preset_file_holds_options_as_they_are_typed(tmp_path):
    options = {"c": "0.25", "p": "inf", "decision": "Sweep(Cautious(0.3))"}
    path = tmp_path / "p.toml"
    path.write_text(preset_text("gs-power-uct", "GSP/FourRooms-v0", options, {"score": 0.5, "command": 'say "x"\\'}))
    found = read_preset(path, "gs-power-uct", "GSP/FourRooms-v0")
    assert found == gsp.read_preset(path) == {"c": 0.25, "p": math.inf, "decision": Sweep(Cautious(0.3))}
    run = Run("FourRooms", "gs-power-uct", preset=str(path), options={"c": 0.5})
    assert (run.preset, run.options) == (None, {**found, "c": 0.5})
    refused("for the environment GSP/FourRooms-v0", Run, "FrozenLake", "gs-power-uct", 8, 1, 0, str(path))
    refused("for the algorithm gs-power-uct", Run, "FourRooms", "uct", 8, 1, 0, str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("algorithm = ", "no TOML"),
        ("algorithm = 'uct'", "must have texts"),
        ("algorithm = 'uct'\nenv = 'x'\n[optoins]\nc = 1", "Did you mean 'options'"),
        ("algorithm = 'uct'\nenv = 'x'\n[options]\ncc = 1", "Did you mean 'c'"),
        ("algorithm = 'uct'\nenv = 'x'\n[options]\nc = [1]", "a number or a text"),
        ("algorithm = 'uctt'\nenv = 'x'\n[options]\nc = 1", "Did you mean 'uct'"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, words):
    path = tmp_path / "p.toml"
    path.write_text(text)
    refused(words, read_preset, path)
    refused("cannot be read", read_preset, tmp_path / "absent.toml")


def test_the_command_writes_a_preset_that_run_takes(tmp_path):
    store, preset = str(tmp_path / "t.sqlite"), tmp_path / "p.toml"
    tune = ["tune", "FourRooms", "--agent", "uct", "--budgets", "4", "--runs", "2", "--try", "c=0.5,1", "--jobs", "1"]
    answer = CliRunner().invoke(app, [*tune, "--store", store, "-o", str(preset)])
    assert answer.exit_code == 0, answer.output
    misspelt = CliRunner().invoke(app, ["tune", "FourRoms", *tune[2:], "--store", store])
    assert misspelt.exit_code == 2
    assert "nearest benchmark is GSP/FourRooms-v0" in misspelt.output
    assert "on fresh episodes" in answer.output
    assert read_preset(preset, "uct")["c"] in (0.5, 1)
    found = tomllib.loads(preset.read_text())["found"]
    assert len(found["candidates"]) == 2
    assert found["gain"] == pytest.approx(found["fresh_score"] - found["default_score"])
    (tmp_path / "grid.toml").write_text("[[grid]]")
    run = ["run", "FourRooms", "--agent", "uct", "--budget", "4", "--episodes", "1", "--preset", str(preset)]
    assert CliRunner().invoke(app, run).exit_code == 0
    for wrong, words in (
        (["-o", "p.json"], "ends in .toml"),
        (["--env-set", "slipp=1"], "unknown argument of GSP/FourRooms-v0 'slipp'"),
        (["--budgets", "8,4"], "ascending"),
        (["--try", "x=1"], "unknown"),
        (["--set", "c=1"], "c is both set and tried"),
        (["--preset", "papper"], "Did you mean 'paper'"),
        (["--import", "no_such_module"], "no_such_module"),
        (["-o", str(tmp_path / "grid.toml")], "is there and was left as it was"),
    ):
        answer = CliRunner().invoke(app, [*tune, "--store", store, *wrong])
        assert answer.exit_code == 2
        assert words in answer.output
    assert (tmp_path / "grid.toml").read_text() == "[[grid]]"
