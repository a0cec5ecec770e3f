"""Candidates that Optuna asks for (Akiba et al. 2019), with bad ones given up early.

A trial plays its episodes in parts, and after each part the mean is reported; the median pruner gives up what lies
below the median of earlier trials at the same part.  Trials live in an SQLite file of Optuna's own, episodes in the
store.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.tuning.candidates import Candidate, Choices
from gymnasium_gsp.bench.tuning.search import Score, Task, try_all
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
        RecipeError: if Optuna is missing, or the storage cannot be used.
    """
    try:
        import optuna
    except ImportError:
        raise RecipeError("--optuna needs Optuna; install with: pip install 'gymnasium-gsp[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = _study(optuna, task, choices, storage)
    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    for lost in study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
        study.tell(lost.number, state=optuna.trial.TrialState.FAIL)  # its process was killed
    done = len(study.get_trials(states=finished))
    found: dict[Candidate, Score] = {}
    while done < trials:
        trial = study.ask()
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


def _play(
    optuna: Any, study: Any, trial: Any, task: Task, candidate: Candidate, store: Store, workers: Workers
) -> Score | None:
    """Play a trial part by part; None if it was given up."""
    result = None
    for part in range(1, PARTS + 1):
        runs = max(1, task.runs * part // PARTS)
        (result,) = try_all(task, [candidate], store, workers, runs=runs)
        trial.report(result.mean, part)
        if part < PARTS and trial.should_prune():
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            return None
    assert result is not None
    study.tell(trial, result.mean)
    return result


def _study(optuna: Any, task: Task, choices: Choices, storage: Path) -> Any:
    """The study of this task in the storage; another task or other choices are another study."""
    told = repr((task.env, task.algorithm, tuple(task.budgets), task.runs, task.seed, sorted(choices.items())))
    try:
        return optuna.create_study(
            study_name=f"{task.algorithm} {task.env} {zlib.crc32(told.encode()):08x}",
            storage=f"sqlite:///{storage}",
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=task.seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
            load_if_exists=True,
        )
    except Exception as error:  # whatever SQLAlchemy and Optuna say of a foreign, broken or locked file
        words = str(error).partition("\n")[0]
        raise RecipeError(f"{storage} cannot be used as Optuna's storage: {words}; give another --store") from None
