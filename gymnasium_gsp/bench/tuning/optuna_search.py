"""Candidates that Optuna asks for (Akiba et al. 2019), with bad ones given up early.

A trial plays its episodes in parts, and after each part the mean is reported; the median pruner gives up what lies
below the median of earlier trials at the same part.  Trials live in an SQLite file of Optuna's own, episodes in the
store.

A search that was killed goes on with the trial that it was at, whose episodes are there already; and the sampler is
seeded anew for each trial, so that what is asked for depends on earlier trials alone and not on interruptions.
"""

import sqlite3
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gymnasium_gsp.bench.store import Store, StoreError
from gymnasium_gsp.bench.tuning.candidates import Candidate, Choices
from gymnasium_gsp.bench.tuning.search import Score, Task, check_values, try_all
from gymnasium_gsp.bench.workers import Workers
from gymnasium_gsp.errors import RecipeError

PARTS = 5  # of the episodes of a trial, after each of which it may be given up


def search(
    task: Task,
    choices: Choices,
    trials: int,
    storage: Path,
    store: Store,
    workers: Workers,
    watch: Callable[[int, Score | None], Any] = lambda number, score: None,
) -> list[Score]:
    """Go on until so many trials are complete or given up, those of earlier calls counted.

    Args:
        task: what is tuned for.
        choices: values as text by option.
        trials: how many.
        storage: SQLite file of Optuna's, made if it is not there.
        store: where episodes are kept.
        workers: who plays.
        watch: called with the number of finished trials and the score of the last one, None where it was given up.

    Returns:
        The scores of the complete trials.

    Raises:
        RecipeError: if Optuna is missing, the storage cannot be used, or the algorithm refuses a value, which is seen
            before anything is played, or a combination of them, which the next call leaves out.
    """
    try:
        import optuna
    except ImportError:
        raise RecipeError("--optuna needs Optuna; install with: pip install 'gymnasium-gsp[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    check_values(task, choices)
    _check_storage(storage)
    study = _study(optuna, task, choices, storage)
    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    done = len(study.get_trials(states=finished))
    found: dict[Candidate, Score] = {}
    while done < trials:
        trial = _next(optuna, study, task.seed)
        candidate = tuple((name, trial.suggest_categorical(name, list(values))) for name, values in choices.items())
        result = _play(optuna, study, trial, task, candidate, store, workers)
        if result is not None:
            found[candidate] = result
        done += 1
        watch(done, result)
    complete = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    candidates = dict.fromkeys(tuple((name, trial.params[name]) for name in choices) for trial in complete)
    earlier = [candidate for candidate in candidates if candidate not in found]
    return [*found.values(), *try_all(task, earlier, store, workers)]


def _next(optuna: Any, study: Any, seed: int) -> Any:
    """The trial that a killed process was at, or a new one."""
    known = study.get_trials(deepcopy=False)
    lost = [trial for trial in known if trial.state == optuna.trial.TrialState.RUNNING]
    number = lost[0].number if lost else len(known)
    study.sampler = optuna.samplers.TPESampler(seed=int(np.random.SeedSequence((seed, number)).generate_state(1)[0]))
    return optuna.trial.Trial(study, lost[0]._trial_id) if lost else study.ask()


def _play(
    optuna: Any, study: Any, trial: Any, task: Task, candidate: Candidate, store: Store, workers: Workers
) -> Score | None:
    """Play a trial part by part; None if it was given up."""
    result = None
    for part in range(1, PARTS + 1):
        runs = max(1, task.runs * part // PARTS)
        try:
            (result,) = try_all(task, [candidate], store, workers, runs=runs)
        except StoreError:
            raise
        except RecipeError:
            study.tell(trial, state=optuna.trial.TrialState.FAIL, skip_if_finished=True)
            raise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a killed process has reported this part already
            trial.report(result.mean, part)
        if part < PARTS and trial.should_prune():
            study.tell(trial, state=optuna.trial.TrialState.PRUNED, skip_if_finished=True)
            return None
    assert result is not None
    study.tell(trial, result.mean, skip_if_finished=True)
    return result


def _check_storage(storage: Path) -> None:
    """Refuse an SQLite file of another program, which Optuna would add its tables to."""
    if not storage.exists():
        return
    try:  # mode rw, as only that can undo what a killed process has left half written
        connection = sqlite3.connect(f"{storage.absolute().as_uri()}?mode=rw", uri=True, timeout=30.0)
        try:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise RecipeError(f"{storage} cannot be used as Optuna's storage: {error}; give another --store") from None
    if names and "studies" not in names:
        raise RecipeError(
            f"{storage} cannot be used as Optuna's storage: it is an SQLite file of another program, and was left as "
            "it was; give another --store"
        )


def _study(optuna: Any, task: Task, choices: Choices, storage: Path) -> Any:
    """The study of this task in the storage; another task or other choices are another study."""
    told = repr((task.env, task.algorithm, tuple(task.budgets), task.runs, task.seed, sorted(choices.items())))
    if task.preset or task.settings or task.env_options:
        told += repr((task.preset, sorted(task.settings.items()), sorted(task.env_options.items())))
    try:
        return optuna.create_study(
            study_name=f"{task.algorithm} {task.env} {zlib.crc32(told.encode()):08x}",
            storage=f"sqlite:///{storage}",
            direction="maximize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
            load_if_exists=True,
        )
    except Exception as error:  # whatever SQLAlchemy and Optuna say of a foreign, broken or locked file
        words = str(error).partition("\n")[0]
        raise RecipeError(f"{storage} cannot be used as Optuna's storage: {words}; give another --store") from None
