"""Trying candidates: all of a grid, or those that Optuna asks for.  Every episode goes into a store.

All candidates play the same episodes, so they are compared in pairs; what is in the store is not played again, so a
search that was killed goes on, and one that is repeated costs nothing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gymnasium_gsp.bench.benchmark import State, check_origins, missing, play_missing, warm_up
from gymnasium_gsp.bench.grid import ALL, Grid, Series, series_of
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.tuning.candidates import Candidate, named, options_of
from gymnasium_gsp.bench.workers import Workers
from gymnasium_gsp.errors import RecipeError


@dataclass(frozen=True)
class Task:
    """What is tuned for.

    Attributes:
        env: id of the environment.
        algorithm: whose options are chosen.
        budgets: simulations per decision; the score is the mean over them.
        runs: episodes of each candidate at each budget.
        seed: of the episodes.
    """

    env: str
    algorithm: str
    budgets: Sequence[int]
    runs: int
    seed: int = 0

    def series(self, options: dict[str, Any], runs: int | None = None) -> list[Series]:
        """The cells of one candidate, with all its runs or the first of them."""
        episodes = {ALL: self.runs if runs is None else runs}
        return series_of([Grid([self.env], [self.algorithm], self.budgets, episodes, self.seed, options=options)])


@dataclass(frozen=True)
class Score:
    """How well a candidate plays.

    Attributes:
        candidate: its options; empty for the algorithm's defaults.
        mean: mean return, averaged over the budgets.
        standard_error: of that; None where a budget has a single episode.
        episodes: played.
    """

    candidate: Candidate
    mean: float
    standard_error: float | None
    episodes: int


def score(candidate: Candidate, series: Sequence[Series], store: Store) -> Score:
    """The score of a candidate from the episodes that its cells ask for and the store has."""
    means, variances, episodes = [], [], 0
    for one in series:
        found = [row.episode.total_reward for row in _rows(store, one) if row.episode.index < one.run.episodes]
        means.append(float(np.mean(found)))
        variances.append(float(np.var(found, ddof=1)) / len(found) if len(found) > 1 else math.nan)
        episodes += len(found)
    error = math.sqrt(sum(variances)) / len(means)
    return Score(candidate, float(np.mean(means)), None if math.isnan(error) else error, episodes)


def try_all(
    task: Task,
    candidates: Sequence[Candidate],
    store: Store,
    workers: Workers,
    watch: Callable[[State], Any] = lambda state: None,
    runs: int | None = None,
) -> list[Score]:
    """Play what the store lacks of some candidates, and score them in their order.

    Raises:
        RecipeError: for options or values that make no sense, before anything is played.
        StoreError: if the store cannot be written, or holds episodes of another version.
    """
    series = [_series(task, candidate, runs) for candidate in candidates]
    everything = [one for cells in series for one in cells]
    check_origins(everything, store)
    if any(missing(everything, store)):
        warm_up([one for one, left in zip(everything, missing(everything, store), strict=True) if left])
        play_missing(everything, store, workers, watch=watch)
    return [score(candidate, cells, store) for candidate, cells in zip(candidates, series, strict=True)]


def try_afresh(task: Task, candidates: Sequence[Candidate], store: Store, workers: Workers) -> list[Score]:
    """The same with episodes of another seed: what a winner is worth, which its own selection flatters."""
    return try_all(replace(task, seed=task.seed + 1), candidates, store, workers)


def best(scores: Sequence[Score]) -> Score:
    """The candidate with the largest mean; the first of equals."""
    return max(scores, key=lambda one: one.mean)


def _series(task: Task, candidate: Candidate, runs: int | None) -> list[Series]:
    try:
        return task.series(options_of(candidate), runs)
    except RecipeError as error:
        raise RecipeError(f"{named(candidate) or 'the defaults'}: {error}") from None


def _rows(store: Store, one: Series) -> list[Any]:
    cell = one.cell
    named = ("env", "algorithm", "preset", "budget", "seed", "options", "env_options")
    return store.rows(**{name: getattr(cell, name) for name in named})
