"""Candidates that Optuna asks for (Akiba et al. 2019), with bad ones given up early.

A trial plays its episodes in parts, and after each part the mean is reported; the median pruner gives up what lies
below the median of earlier trials at the same part.  Trials live in an SQLite file of Optuna's own, episodes in the
store.

A search that was killed goes on with the trial that it was at, whose episodes are there already; and the sampler is
seeded anew for each trial, so that what is asked for depends on earlier trials alone and not on interruptions.

A combination of values that the algorithm refuses, or that cannot be played to its end, is a trial that was given up
without a mean, which Optuna takes for the worst there is and keeps away from.
"""

import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gymnasium_gsp.bench.store import Store, StoreError
from gymnasium_gsp.bench.tuning.candidates import Candidate, Choices
from gymnasium_gsp.bench.tuning.search import Score, Task, check_candidate, check_values, try_all
from gymnasium_gsp.bench.tuning.trials_file import opened
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
    watch: Callable[[int, Score | str], Any] = lambda number, score: None,
) -> list[Score]:
    """Go on until so many trials are complete or given up, those of earlier calls counted.

    Args:
        task: what is tuned for.
        choices: values as text by option.
        trials: how many.
        storage: SQLite file of Optuna's, made if it is not there.
        store: where episodes are kept.
        workers: who plays.
        watch: called with the number of finished trials and the score of the last one, or why it has none.

    Returns:
        The scores of the complete trials.

    Raises:
        RecipeError: if Optuna is missing, the storage cannot be used or is used by another search, or the algorithm
            refuses a value, which is seen before anything is played.
    """
    try:
        import optuna
    except ImportError:
        raise RecipeError("--optuna needs Optuna; install with: pip install 'gymnasium-gsp[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    check_values(task, choices)
    with opened(storage) as trials_file:
        study = _study(optuna, task, choices, trials_file)
        return _go_on(optuna, study, task, choices, trials, store, workers, watch)


def _go_on(
    optuna: Any,
    study: Any,
    task: Task,
    choices: Choices,
    trials: int,
    store: Store,
    workers: Workers,
    watch: Callable[[int, Score | str], Any],
) -> list[Score]:
    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    done = len(study.get_trials(states=finished))
    found: dict[Candidate, Score] = {}
    while done < trials:
        trial = _next(optuna, study, task.seed)
        candidate = tuple((name, trial.suggest_categorical(name, list(values))) for name, values in choices.items())
        result = _play(optuna, study, trial, task, candidate, store, workers)
        if isinstance(result, Score):
            found[candidate] = result
        done += 1
        watch(done, result)
    complete = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    candidates = dict.fromkeys(tuple((name, trial.params[name]) for name in choices) for trial in complete)
    earlier = [candidate for candidate in candidates if candidate not in found]
    again = try_all(task, earlier, store, workers)
    return [*found.values(), *(score for score in again if isinstance(score, Score))]


def _next(optuna: Any, study: Any, seed: int) -> Any:
    """The trial that a killed process was at, or a new one."""
    known = study.get_trials(deepcopy=False)
    lost = [trial for trial in known if trial.state == optuna.trial.TrialState.RUNNING]
    number = lost[0].number if lost else len(known)
    study.sampler = optuna.samplers.TPESampler(seed=int(np.random.SeedSequence((seed, number)).generate_state(1)[0]))
    return optuna.trial.Trial(study, lost[0]._trial_id) if lost else study.ask()


def _play(
    optuna: Any, study: Any, trial: Any, task: Task, candidate: Candidate, store: Store, workers: Workers
) -> Score | str:
    """Play a trial part by part; why it was given up, if it was."""
    pruned = optuna.trial.TrialState.PRUNED
    try:
        check_candidate(task, candidate)
    except RecipeError as error:
        study.tell(trial, state=pruned)
        return f"refused, {error}"
    score: Score | str = ""
    for part in range(1, PARTS + 1):
        runs = max(1, task.runs * part // PARTS)
        try:
            (score,) = try_all(task, [candidate], store, workers, runs=runs)
        except StoreError:
            raise
        except RecipeError:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            raise
        if isinstance(score, str):
            study.tell(trial, state=pruned)
            return score
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a killed process has reported this part already
            trial.report(score.mean, part)
        if part < PARTS and trial.should_prune():
            study.tell(trial, state=pruned)
            return f"given up at {score.mean:.4g} after {runs} of {task.runs} episodes a budget"
    assert not isinstance(score, str)
    study.tell(trial, score.mean)
    return score


def _study(optuna: Any, task: Task, choices: Choices, trials_file: Any) -> Any:
    """The study of this task in the storage; another task or other choices are another study."""
    told = repr((task.env, task.algorithm, tuple(task.budgets), task.runs, task.seed, sorted(choices.items())))
    if task.preset or task.settings or task.env_options:
        told += repr((task.preset, sorted(task.settings.items()), sorted(task.env_options.items())))
    return optuna.create_study(
        study_name=f"{task.algorithm} {task.env} {zlib.crc32(told.encode()):08x}",
        storage=trials_file,
        direction="maximize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        load_if_exists=True,
    )
