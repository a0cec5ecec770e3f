"""Trying candidates: all of a grid, or those that Optuna asks for.  Every episode goes into a store.

All candidates play the same episodes, so they are compared in pairs; what is in the store is not played again, so a
search that was killed goes on, and one that is repeated costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gymnasium_gsp.agents.preset_file import is_preset_file, read_preset
from gymnasium_gsp.agents.registry import find_algorithm, preset_options
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.bench.benchmark import State, UnplayedError, check_origins, missing, play_missing, warm_up
from gymnasium_gsp.bench.grid import ALL, Grid, Series, series_of
from gymnasium_gsp.bench.protocol import full_id, standard_error
from gymnasium_gsp.bench.store import Cell, Store
from gymnasium_gsp.bench.tuning.candidates import Candidate, Choices, named, options_of
from gymnasium_gsp.bench.workers import Workers
from gymnasium_gsp.errors import PlanningError, RecipeError


@dataclass(frozen=True)
class Task:
    """What is tuned for.

    Attributes:
        env: id of the environment.
        algorithm: whose options are chosen.
        budgets: simulations per decision; the score is the mean over them.
        runs: episodes of each candidate at each budget.
        seed: of the episodes.
        preset: a named set of options that stand below those that are tried; None for the defaults.
        settings: options of every candidate, as text.
        env_options: arguments of the environment.
        modules: imported by every worker first.
    """

    env: str
    algorithm: str
    budgets: Sequence[int]
    runs: int
    seed: int = 0
    preset: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    env_options: Mapping[str, Any] = field(default_factory=dict)
    modules: Sequence[str] = ()

    @property
    def env_id(self) -> str:
        """The id that the environment is registered under."""
        return full_id(self.env).rpartition(":")[2]

    def below(self) -> dict[str, str]:
        """The options of the preset as text."""
        if self.preset is None:
            return {}
        if is_preset_file(self.preset):
            options = read_preset(self.preset, self.algorithm, self.env_id)
        else:
            options = preset_options(find_algorithm(self.algorithm), self.preset, self.env_id)
        return {name: repr(value) for name, value in options.items()}

    def series(self, options: dict[str, Any], runs: int | None = None) -> list[Series]:
        """The cells of one candidate, with all its runs or the first of them.

        Raises:
            RecipeError: for an option that is both set and tried, or values that make no sense.
        """
        for name in options:
            if name in self.settings:
                raise RecipeError(f"{name} is both set and tried; leave one out")
        fixed = {name: parse_value(text) for name, text in self.settings.items()}
        grid = Grid(
            [self.env],
            [self.algorithm],
            self.budgets,
            {ALL: self.runs if runs is None else runs},
            self.seed,
            presets={ALL: self.preset},
            options={**fixed, **options},
            env_options=self.env_options,
        )
        return series_of([grid])


@dataclass(frozen=True)
class Score:
    """How well a candidate plays.

    Attributes:
        candidate: its options; empty for the algorithm's defaults.
        mean: mean return, averaged over the budgets.
        standard_error: of that; None where a budget has a single episode.
        episodes: played.
        returns: of each episode, averaged over the budgets.  They are what is independent: at every budget an episode
            has the same layout and luck, so that its returns go up and down together.
    """

    candidate: Candidate
    mean: float
    standard_error: float | None
    episodes: int
    returns: tuple[float, ...]

    def gain(self, other: "Score") -> tuple[float, float | None]:
        """The mean difference to another candidate on the same episodes, and its standard error."""
        differences = np.array(self.returns) - np.array(other.returns)
        return float(differences.mean()), standard_error(differences)


def score(candidate: Candidate, series: Sequence[Series], store: Store) -> Score | str:
    """The score of a candidate from the episodes that its cells ask for, all of which the store has.

    If a return is no finite number, nothing can be compared, and that is what is returned, in words.
    """
    found = np.full((len(series), series[0].run.episodes), np.nan)
    for place, one in enumerate(series):
        for row in _rows(store, one):
            if row.episode.index < one.run.episodes:
                found[place, row.episode.index] = row.episode.total_reward
    if not np.isfinite(found).all():
        return "a return is not a finite number"
    returns = found.mean(axis=0)
    mean = float(found.mean(axis=1).mean())
    return Score(candidate, mean, standard_error(returns), found.size, tuple(returns.tolist()))


def try_all(
    task: Task,
    candidates: Sequence[Candidate],
    store: Store,
    workers: Workers,
    watch: Callable[[State], Any] = lambda state: None,
    runs: int | None = None,
) -> list[Score | str]:
    """Play what the store lacks of some candidates, and score them in their order, or say why one has no score.

    Raises:
        RecipeError: for options or values that make no sense, before anything is played.
        StoreError: if the store cannot be written, or holds episodes of another version.
    """
    series = [_series(task, candidate, runs) for candidate in candidates]
    everything = [one for cells in series for one in cells]
    check_origins(everything, store)
    unplayed: Mapping[Cell, PlanningError] = {}
    if any(missing(everything, store)):
        warm_up([one for one, left in zip(everything, missing(everything, store), strict=True) if left])
        try:
            play_missing(everything, store, workers, task.modules, watch)
        except UnplayedError as error:
            unplayed = error.cells
    return [
        next((str(unplayed[one.cell]) for one in cells if one.cell in unplayed), None) or score(candidate, cells, store)
        for candidate, cells in zip(candidates, series, strict=True)
    ]


def check_values(task: Task, choices: Choices) -> None:
    """Refuse values that the algorithm does not take, each beside the first ones of the other options.

    Raises:
        RecipeError: names the candidate that was refused.
    """
    first = {name: values[0] for name, values in choices.items()}
    for name, values in choices.items():
        for value in values:
            _series(task, tuple({**first, name: value}.items()), None)


def check_candidate(task: Task, candidate: Candidate) -> None:
    """Refuse a combination of values that the algorithm does not take, which some see only when they plan.

    Raises:
        RecipeError: if it does not.
    """
    warm_up(_series(task, candidate, None))


def try_afresh(
    task: Task,
    candidates: Sequence[Candidate],
    store: Store,
    workers: Workers,
    watch: Callable[[State], Any] = lambda state: None,
) -> list[Score]:
    """The same with episodes of another seed: what a winner is worth, which its own selection flatters.

    Raises:
        PlanningError: if one of them could not be played to its end.
    """
    found = []
    for candidate, result in zip(
        candidates, try_all(replace(task, seed=task.seed + 1), candidates, store, workers, watch), strict=True
    ):
        if isinstance(result, str):
            raise PlanningError(f"{named(candidate) or 'the defaults'}: {result}")
        found.append(result)
    return found


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
