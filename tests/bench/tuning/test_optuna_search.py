"""Optuna's trials: a search that was stopped goes on, and what cannot be used is refused and left as it was."""

import contextlib
import sqlite3
import subprocess
import sys

import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.tuning import optuna_search, trials_file
from gymnasium_gsp.bench.tuning.candidates import named
from gymnasium_gsp.bench.tuning.search import Task
from gymnasium_gsp.bench.workers import start_workers

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'gymnasium-gsp[tune]'")

NOBODY = None  # workers that must not be asked, as everything is in the store
TASK = Task("FourRooms", "uct", (4, 8), runs=3)


def refused(words, call, *arguments):
    with pytest.raises(gsp.RecipeError, match=words):
        call(*arguments)


def test_a_search_that_was_stopped_goes_on(tmp_path, monkeypatch):
    """Two trials are played, a third is cut in the middle; then four in all, of which two are new and none is lost."""
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


def test_what_cannot_be_played_is_given_up_and_the_search_goes_on(tmp_path, failing_lake):
    task, choices, said = Task(failing_lake, "uct", (4,), runs=8), {"c": ("0.1", "0.5", "1.0", "2.0")}, []
    with Store(tmp_path / "t.sqlite") as store, contextlib.closing(start_workers("local", 1)) as workers:
        scores = optuna_search.search(
            task, choices, 3, tmp_path / "o.sqlite", store, workers, lambda done, result: said.append((done, result))
        )
        assert scores == []
        assert [done for done, _ in said] == [1, 2, 3]
        assert all("the ice is broken" in words for _, words in said)
        again = optuna_search.search(task, choices, 3, tmp_path / "o.sqlite", store, workers)
        assert again == []


def test_an_interrupted_search_asks_for_what_an_unbroken_one_asks_for(tmp_path, monkeypatch):
    """Stopped after two trials, and again in the middle of the fourth: the same trials with the same values follow."""
    task = Task("FourRooms", "uct", (4,), runs=5)
    choices = {"c": ("0.1", "0.2", "0.5", "1.0"), "horizon": ("FixedHorizon(5)", "FixedHorizon(9)", "StepsLeft()")}
    workers, whole, calls = start_workers("local", 1), optuna_search.try_all, []

    def cut(*arguments, **more):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return whole(*arguments, **more)

    def trials(name, *ends):
        with Store(tmp_path / f"{name}.sqlite") as store:
            for end in ends:
                try:
                    optuna_search.search(task, choices, end, tmp_path / f"{name}.optuna", store, workers)
                except KeyboardInterrupt:
                    monkeypatch.setattr(optuna_search, "try_all", whole)
        study = optuna.load_study(study_name=None, storage=f"sqlite:///{tmp_path / name}.optuna")
        return [(trial.params, trial.state, trial.value, trial.intermediate_values) for trial in study.trials]

    unbroken = trials("unbroken", 6)
    monkeypatch.setattr(optuna_search, "try_all", cut)
    assert trials("broken", 2, 5, 6) == unbroken
    assert len(calls) == 8
    assert len(unbroken) == 6


def test_what_the_algorithm_refuses_does_not_stop_a_search_for_good(tmp_path, monkeypatch):
    """A value alone is refused before anything is played; a combination once, and the next call goes on without it."""
    storage, whole = tmp_path / "optuna", optuna_search.try_all
    with Store(tmp_path / "t.sqlite") as store:
        refused("c=-1", optuna_search.search, TASK, {"c": ("1", "-1")}, 1, storage, store, NOBODY)
        assert not storage.exists()
        arguments = TASK, {"c": ("1", "2")}, 1, storage, store, start_workers("local", 1)

        def refuse(*_, **__):
            raise gsp.RecipeError("these do not go together")

        monkeypatch.setattr(optuna_search, "try_all", refuse)
        refused("do not go together", optuna_search.search, *arguments)
        monkeypatch.setattr(optuna_search, "try_all", whole)
        assert len(optuna_search.search(*arguments)) == 1
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{storage}")
    assert [trial.state.name for trial in study.trials] == ["FAIL", "COMPLETE"]


def test_a_combination_that_is_refused_is_given_up_and_the_search_goes_on(tmp_path):
    """A fixed horizon does not go with a graph that is kept and keyed by time, which only planning finds out."""
    task, storage, told = Task("FourRooms", "gs-power-uct", (4,), 2), tmp_path / "optuna", []
    choices = {"horizon": ("StepsLeft()", "FixedHorizon(5)")}
    with Store(tmp_path / "t.sqlite") as store:
        workers = start_workers("local", 1)
        scores = optuna_search.search(task, choices, 8, storage, store, workers, lambda _, result: told.append(result))
    assert [named(one.candidate) for one in scores] == ["horizon=StepsLeft()"]
    assert sum(isinstance(one, str) and one.startswith("refused, a graph keyed by") for one in told) >= 1
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{storage}")
    assert {trial.params["horizon"]: trial.state.name for trial in study.trials} == {
        "StepsLeft()": "COMPLETE",
        "FixedHorizon(5)": "PRUNED",
    }


def test_a_storage_that_another_holds_is_refused_in_words(tmp_path, monkeypatch):
    """By another search from the beginning, or by anybody between two trials; the same call goes on afterwards."""
    storage, choices, workers = tmp_path / "optuna", {"c": ("1", "2")}, start_workers("local", 1)
    monkeypatch.setattr(trials_file, "BUSY_SECONDS", 0.1)
    with Store(tmp_path / "t.sqlite") as store:
        with trials_file.opened(storage):
            refused("another search is using it", optuna_search.search, TASK, choices, 1, storage, store, workers)
        with contextlib.closing(sqlite3.connect(storage, isolation_level=None)) as other:

            def lock(done, _):
                if done == 1:
                    other.execute("BEGIN IMMEDIATE")

            refused("database is locked", optuna_search.search, TASK, choices, 3, storage, store, workers, lock)
        assert optuna_search.search(TASK, choices, 2, storage, store, workers)


@pytest.mark.parametrize("name", ["is?it", "half%41", "a{b}"])
def test_a_name_that_optuna_would_misread_is_refused(tmp_path, name):
    with Store(tmp_path / "t.sqlite") as store:
        refused("in a name", optuna_search.search, TASK, {"c": ("1",)}, 1, tmp_path / name, store, NOBODY)
    assert {path.name for path in tmp_path.iterdir()} == {"t.sqlite"}


HALF_WRITTEN = """
import os, sqlite3, sys
trials = sqlite3.connect(sys.argv[1], isolation_level=None)
trials.execute("PRAGMA cache_size = 1")
trials.execute("BEGIN")
for _ in range(200):
    trials.execute("INSERT INTO studies (study_name) VALUES (hex(randomblob(200)))")
os._exit(9)
"""


def test_what_a_killed_process_left_half_written_is_undone(tmp_path):
    """A process ends in a transaction of which the file has a part already: the trials before it are as they were."""
    storage, choices, workers = tmp_path / "optuna", {"c": ("1", "2")}, start_workers("local", 1)
    with Store(tmp_path / "t.sqlite") as store:
        scores = optuna_search.search(TASK, choices, 2, storage, store, workers)
        assert subprocess.run([sys.executable, "-c", HALF_WRITTEN, storage], check=False).returncode == 9
        assert storage.with_name("optuna-journal").stat().st_size > 0
        assert optuna_search.search(TASK, choices, 2, storage, store, NOBODY) == scores
    assert not storage.with_name("optuna-journal").exists()


def test_a_database_of_another_program_is_left_as_it_was(tmp_path):
    path = tmp_path / "mine.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as mine:
        mine.execute("CREATE TABLE mine (x)")
        mine.commit()
    before = path.read_bytes()
    with Store(tmp_path / "t.sqlite") as store:
        refused("another program", optuna_search.search, TASK, {"c": ("1",)}, 1, path, store, NOBODY)
    assert path.read_bytes() == before
