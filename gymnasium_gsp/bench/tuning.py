"""Tuning: choosing an algorithm's options for an environment, by a grid or as Optuna asks (Akiba et al. 2019).

All candidates play the same episodes, so they are compared in pairs: a candidate is given up early where Wilcoxon's
signed-rank test finds it worse than the best one so far.

Every episode goes into a store, and Optuna's choices depend on their seed and on the returns alone.  So a search that
was killed is simply begun again: it asks for the same candidates, whose episodes are there already, and goes on.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import tomli_w

from gymnasium_gsp.agents.preset_file import ENDING, read_preset
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import find_algorithm, preset_options
from gymnasium_gsp.bench.benchmark import Benchmark, UnplayedError, check_origins, compile_all, missing
from gymnasium_gsp.bench.executors import Workers
from gymnasium_gsp.bench.files import check_place, replace_file
from gymnasium_gsp.bench.grid import Grid, Run, runs_of
from gymnasium_gsp.bench.provenance import versions
from gymnasium_gsp.bench.store import Store, StoreError
from gymnasium_gsp.bench.summary import standard_error
from gymnasium_gsp.bench.texts import options_of, split_values
from gymnasium_gsp.errors import RecipeError, unknown_name

# The GS-Power-UCT paper does not give its grid; this one holds every value that it selected.
GRID = {
    "c": ("0.25", "0.5", "0.75", "1.0", "1.25", "1.5"),
    "p": ("1", "1.5", "2", "2.5", "3", "4", "inf"),
    "temperature": ("0.01", "0.1", "0.25", "0.5", "0.99"),
}
_PARTS = 5  # of the episodes of a candidate, after each of which it may be given up
_DOUBT = 0.05  # largest p-value at which a candidate counts as worse than the best one
_SHOWN = 10  # candidates of a ranking
_CLEAR = 2.0  # standard errors of a gain

Choices = Mapping[str, Sequence[str]]
"""Values to try as text, by option."""

Candidate = Mapping[str, str]
"""One value as text for each option that is tried."""


def choices_of(algorithm: str, tries: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """The values to try for each option.

    Args:
        algorithm: name of a registered algorithm.
        tries: texts `option=value,value,...`; none for those options of `GRID` that the algorithm takes.

    Raises:
        RecipeError: for an unknown algorithm or option (names the nearest), a value that cannot be read, an option
            given twice, or one without values.
    """
    options = find_algorithm(algorithm).options()
    choices: dict[str, tuple[str, ...]] = {}
    for text in tries:
        name, sign, values = text.partition("=")
        name = name.strip()
        if not sign or not values.strip():
            raise RecipeError(f"what to try is written option=value,value,..., as in p=1,2,inf; not {text!r}")
        if name not in options:
            raise RecipeError(unknown_name(f"option of {algorithm}", name, options))
        if name in choices:
            raise RecipeError(f"{name} is given twice")
        by_value: dict[Any, str] = {}  # 1 and 1.0 are the same
        for value in split_values(values):
            by_value.setdefault(parse_value(value), value)
        choices[name] = tuple(by_value.values())
    choices = choices or {name: values for name, values in GRID.items() if name in options}
    if not choices:
        raise RecipeError(
            f"{algorithm} has none of the options {', '.join(GRID)}: say what to try, as in --try 'discount=0.9,0.99'; "
            f"its options are {', '.join(options)}"
        )
    return choices


@dataclass(frozen=True)
class Score:
    """Returns of a candidate.

    Attributes:
        candidate: what was tried; empty for the algorithm's defaults.
        returns: of each episode, averaged over the budgets.  They are independent: at every budget an episode has the
            same layout and luck, so that its returns go up and down together.
    """

    candidate: Candidate
    returns: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean return, averaged over the budgets."""
        return float(np.mean(self.returns))

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean; None for a single episode."""
        return standard_error(np.array(self.returns))

    def gain(self, other: "Score") -> "Score":
        """The differences to another candidate, episode by episode."""
        return Score(self.candidate, tuple(np.subtract(self.returns, other.returns)))

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ({self.standard_error:.4f})"
        return f"{self.mean:.4f}{error}"


@dataclass(frozen=True)
class Tuning:
    """A search for options.

    Attributes:
        grid: one environment, one algorithm, the budgets over which a score is the mean, the episodes of a candidate,
            and all that stands below what is tried.
        store: where episodes are kept.
        workers: who plays.
        modules: imported by every worker first.
    """

    grid: Grid
    store: Store
    workers: Workers
    modules: Sequence[str] = ()

    def runs(self, candidate: Candidate, episodes: int | None = None, seed: int | None = None) -> list[Run]:
        """The runs of a candidate, one a budget.

        Raises:
            RecipeError: for an option that is both set and tried, or values that make no sense.
        """
        fixed = options_of(self.grid.options)
        for name in candidate:
            if name in fixed:
                raise RecipeError(f"{name} is both set and tried; leave one out")
        options = {**fixed, **options_of(candidate)}
        episodes, seed = episodes or self.grid.episodes, self.grid.seed if seed is None else seed
        try:
            return runs_of([self.grid.changed(options=options, episodes=episodes, seed=seed)])
        except RecipeError as error:
            raise RecipeError(f"{named(candidate)}: {error}") from None

    def score(self, candidate: Candidate, episodes: int | None = None, seed: int | None = None) -> Score:
        """The score of a candidate, once the store has its episodes.

        Args:
            candidate: what to play with.
            episodes: how many at each budget; None for all.
            seed: of the episodes; None for that of the grid.

        Raises:
            RecipeError: if the algorithm refuses the candidate.
            UnplayedError: if it could not be played to its end.
        """
        runs = self.runs(candidate, episodes, seed)
        check_origins(runs, self.store)
        if any(missing(runs, self.store)):
            compile_all(runs, self.workers, self.modules)
            Benchmark(runs, self.store, self.workers, self.modules).play()
        returns = [self.store.returns(run.cell) for run in runs]
        means = [float(np.mean([by_index[index] for by_index in returns])) for index in range(runs[0].episodes)]
        if not np.isfinite(means).all():
            raise RecipeError(f"{named(candidate)}: a return is not a finite number")
        return Score(candidate, tuple(means))


def named(candidate: Candidate) -> str:
    """A candidate as people read it."""
    return ", ".join(f"{name}={text}" for name, text in candidate.items()) or "the defaults"


def search(
    tuning: Tuning,
    choices: Choices,
    trials: int | None = None,
    watch: Callable[[int, int, str], Any] = lambda number, total, outcome: None,
) -> list[Score]:
    """Try candidates.

    Args:
        tuning: what is tuned for.
        choices: values to try by option.
        trials: how many candidates Optuna may ask for; None for all of the grid.
        watch: called after each with its number, their total, and the outcome in words.

    Returns:
        The scores of the candidates that played all their episodes.

    Raises:
        RecipeError: if the algorithm refuses a value, which is seen before anything is played.
    """
    first = {name: values[0] for name, values in choices.items()}
    for name, values in choices.items():
        for value in values:
            tuning.runs({**first, name: value})
    seed = tuning.grid.seed % 2**32
    scores: dict[str, Score] = {}
    total = trials or math.prod(map(len, choices.values()))

    def objective(trial: optuna.Trial) -> float:
        candidate = {name: trial.suggest_categorical(name, list(values)) for name, values in choices.items()}
        outcome = _play(tuning, trial, candidate)
        watch(trial.number + 1, total, f"{named(candidate)}: {outcome}")
        if isinstance(outcome, str):
            raise optuna.TrialPruned
        scores[named(candidate)] = outcome
        return outcome.mean

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        grid = {name: list(values) for name, values in choices.items()}
        sampler = optuna.samplers.TPESampler(seed=seed) if trials else optuna.samplers.GridSampler(grid, seed=seed)
        pruner = optuna.pruners.WilcoxonPruner(p_threshold=_DOUBT)
        study = optuna.create_study(sampler=sampler, pruner=pruner, direction="maximize")
        study.optimize(objective, n_trials=total)
    return list(scores.values())


def _play(tuning: Tuning, trial: optuna.Trial, candidate: Candidate) -> Score | str:
    """Play a candidate part by part; its score, or the reason why it was given up."""
    reported = 0
    for part in range(1, _PARTS + 1):
        episodes = max(1, tuning.grid.episodes * part // _PARTS)
        try:
            score = tuning.score(candidate, episodes)
        except StoreError:
            raise
        except (RecipeError, UnplayedError) as error:
            return f"given up, {error}"
        for index in range(reported, episodes):
            trial.report(score.returns[index], index)
        reported = episodes
        if episodes < tuning.grid.episodes and trial.should_prune():
            return f"given up at {score.mean:.4g} after {episodes} of {tuning.grid.episodes} episodes a budget"
    return score


def best(scores: Sequence[Score]) -> Score:
    """The candidate with the largest mean; the first of equals."""
    return max(scores, key=lambda score: score.mean)


def ranked(scores: Iterable[Score]) -> list[str]:
    """Every candidate with its score, a line each, the best first."""
    return [f"{score}  {named(score.candidate)}" for score in sorted(scores, key=lambda score: -score.mean)]


def verdict(scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score) -> list[str]:
    """The best candidates, and what the winner gains on fresh episodes, by which it was not chosen."""
    lines = ranked(scores)
    gain = fresh.gain(defaults)
    clear = math.inf if gain.standard_error is None else _CLEAR * gain.standard_error
    kind = "a loss: the choice was luck" if gain.mean < -clear else "no clear gain: the choice may be luck"
    return [
        *lines[:_SHOWN],
        *([f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []),
        f"best: {named(winner.candidate)}",
        f"on fresh episodes: {fresh}; without what was tried: {defaults}",
        f"gain there, episode by episode: {gain}",
        *([] if gain.mean > clear else [f"that is {kind}; keep the defaults, or give more --runs"]),
    ]


def check_preset(path: Path) -> Path:
    """The place of a preset file, where none is yet or one is.

    Raises:
        RecipeError: for another ending, a place that cannot be written, or a file of something else.
    """
    if path.suffix != ENDING:
        raise RecipeError(f"a preset file ends in {ENDING}, not {path.name!r}; give another -o")
    if check_place(path).exists():
        try:
            read_preset(path)
        except RecipeError as error:
            raise RecipeError(f"{path} is there and was left as it was; give another -o: {error}") from error
    return path


def write_preset(
    path: Path, tuning: Tuning, command: str, scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score
) -> None:
    """Write the winner, with all that stands below it, as a preset file.

    Raises:
        RecipeError: if the place cannot be written.
    """
    cell = tuning.runs(winner.candidate)[0].cell
    below = preset_options(find_algorithm(cell.algorithm), cell.preset, cell.env) if cell.preset else {}
    means = {"score": winner, "fresh_score": fresh, "default_score": defaults, "gain": fresh.gain(defaults)}
    found: dict[str, Any] = {
        "command": command,
        "candidates": ranked(scores),
        "budgets": ", ".join(map(str, tuning.grid.budgets)),
        "runs": tuning.grid.episodes,
        "seed": tuning.grid.seed,
        "env_options": tuning.grid.env_options,
        **{name: score.mean for name, score in means.items()},
        **{f"{name}_standard_error": score.standard_error for name, score in means.items()},
        "versions": versions(),
    }
    options = {name: repr(value) for name, value in {**below, **options_of(cell.options)}.items()}
    known = {name: value for name, value in found.items() if value is not None}
    replace_file(path, preset_text(cell.algorithm, cell.env, options, known).encode())


def preset_text(algorithm: str, env: str, options: Mapping[str, str], found: Mapping[str, Any]) -> str:
    """A preset file with an algorithm's options as text for an environment's full id, and how they were found."""
    about = "# Options found by `gsp tune`; `gsp run --preset FILE` and `gsp bench --preset FILE` take them.\n"
    return about + tomli_w.dumps({"algorithm": algorithm, "env": env, "options": options, "found": found})
