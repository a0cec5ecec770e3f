"""Candidates, preset files, and searches that go on where they stopped."""

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import gymnasium_gsp as gsp
from gymnasium_gsp.bench.protocol import Run
from gymnasium_gsp.bench.runner import play
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.tuning import optuna_search
from gymnasium_gsp.bench.tuning.candidates import GRID, choices_of, combinations, named, options_of
from gymnasium_gsp.bench.tuning.preset_file import preset_text, read_preset
from gymnasium_gsp.bench.tuning.search import Task, best, try_afresh, try_all
from gymnasium_gsp.bench.workers import start_workers
from gymnasium_gsp.cli import app
from gymnasium_gsp.ingredients import Cautious, FixedHorizon, Sweep

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
    choices = choices_of("gs-power-uct", ["p=1, inf", "decision=Sweep(), Sweep(Cautious(0.3, 'range'))"][:1])
    assert [options_of(candidate) for candidate in combinations(choices)] == [{"p": 1}, {"p": math.inf}]
    choices = choices_of("gs-power-uct", ["horizon=FixedHorizon(3),FixedHorizon(5)", "decision=Sweep(Cautious(0.3))"])
    assert options_of(combinations(choices)[1]) == {"horizon": FixedHorizon(5), "decision": Sweep(Cautious(0.3))}
    assert named(combinations(choices)[0]) == "horizon=FixedHorizon(3), decision=Sweep(Cautious(0.3))"


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
        assert try_all(TASK, candidates, store, NobodyPlays()) == scores
        (fresh,) = try_afresh(TASK, candidates[:1], store, start_workers("local", 1))
        assert len(store.rows()) == before + fresh.episodes


class NobodyPlays:
    """Workers that must not be asked."""

    size = 1

    def submit(self, batch):
        raise AssertionError("everything is in the store")


def test_a_search_that_was_stopped_goes_on(tmp_path, monkeypatch):
    """Two trials are played, a third is cut in the middle; then four in all, of which two are new and none is lost."""
    pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'gymnasium-gsp[tune]'")
    choices = {"c": ("0.1", "0.5", "1.0", "2.0")}
    workers, storage = start_workers("local", 1), tmp_path / "optuna.sqlite"
    with Store(tmp_path / "t.sqlite") as store:
        optuna_search.search(TASK, choices, 2, storage, store, workers)
        with monkeypatch.context() as patch:
            patch.setattr(optuna_search, "try_all", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                optuna_search.search(TASK, choices, 3, storage, store, workers)
        numbers = []
        scores = optuna_search.search(TASK, choices, 4, storage, store, workers, lambda done, _: numbers.append(done))
        assert numbers == [3, 4]
        assert 1 <= len({one.candidate for one in scores}) == len(scores) <= 4
    foreign = tmp_path / "foreign"
    foreign.write_text("no database, and long enough to be none" * 99)
    with Store(tmp_path / "t.sqlite") as store:
        refused("cannot be used as Optuna's storage", optuna_search.search, TASK, choices, 1, foreign, store, workers)


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
    assert "on fresh episodes" in answer.output
    assert read_preset(preset, "uct")["c"] in (0.5, 1)
    run = ["run", "FourRooms", "--agent", "uct", "--budget", "4", "--episodes", "1", "--preset", str(preset)]
    assert CliRunner().invoke(app, run).exit_code == 0
    for wrong, words in (
        (["-o", "p.json"], "ends in .toml"),
        (["--budgets", "8,4"], "ascending"),
        (["--try", "x=1"], "unknown"),
    ):
        answer = CliRunner().invoke(app, [*tune, "--store", store, *wrong])
        assert answer.exit_code == 2
        assert words in answer.output
