"""From rows to numbers: every planner in every environment at every budget, beside published figures and optimum."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.registry import ALGORITHMS
from gymnasium_gsp.bench.protocol import Episode, Run, known_optimum, standard_error
from gymnasium_gsp.bench.published import Published, PublishedCost, published_costs, published_rewards
from gymnasium_gsp.bench.report.judgement import above_optimum, difference, verdict
from gymnasium_gsp.bench.store import Row
from gymnasium_gsp.envs import BENCHMARKS

CONFIDENCE = 0.95

Limit = int | str  # a number of simulations, or another budget as the call that makes it


@dataclass(frozen=True)
class Environment:
    """One environment with its arguments.

    Attributes:
        id: as it is registered.
        options: arguments of `gymnasium.make`, as a store has them; empty for none.
    """

    id: str
    options: str = ""

    @property
    def benchmark(self) -> str | None:
        """Its short name if it is one of the five as they are registered; else None."""
        return None if self.options else {item.id: item.name for item in BENCHMARKS}.get(self.id)

    @property
    def label(self) -> str:
        """What people read."""
        name = {item.id: item.name for item in BENCHMARKS}.get(self.id, self.id)
        return f"{name} ({self.options})" if self.options else name


@dataclass(frozen=True)
class Planner:
    """One algorithm with its preset and options: a line of the figure.

    Attributes:
        algorithm: its registered name, or that of a recipe.
        preset: a named set of options; None for none.
        options: other options, as a store has them; empty for none.
        label: what people read: the name, with preset and options where the name alone is not clear.
    """

    algorithm: str
    preset: str | None = None
    options: str = ""
    label: str = field(default="", compare=False)

    @property
    def reproduces(self) -> bool:
        """Whether it is meant to be the published algorithm as its tables came out."""
        return self.preset == "paper" and not self.options


@dataclass(frozen=True)
class Measurement:
    """One planner in one environment at one budget.

    Attributes:
        environment, planner, budget: which.
        episodes: by (seed of the run, number of the episode).
        optimum: exact optimum of the environment, or its mean over the layouts played; None where it is not known.
        alarm: whether the mean lies significantly above the optimum.
    """

    environment: Environment
    planner: Planner
    budget: Limit
    episodes: Mapping[tuple[int, int], Episode]
    optimum: float | None
    alarm: bool

    @cached_property
    def returns(self) -> np.ndarray:
        """The undiscounted returns, in the order of `episodes`."""
        return _returns(self.episodes.values())

    @cached_property
    def mean(self) -> float:
        """Mean return of an episode."""
        return float(self.returns.mean())

    @cached_property
    def standard_error(self) -> float | None:
        """Standard error of the mean; None for a single episode."""
        return standard_error(self.returns)

    @property
    def share(self) -> float | None:
        """Mean return over optimum; None where the optimum is not known or not positive."""
        return None if self.optimum is None or self.optimum <= 0.0 else self.mean / self.optimum

    @property
    def published(self) -> Published | None:
        """The paper's cell; None where it has none."""
        return None if self._cell is None else published_rewards().get(self._cell)

    @property
    def published_cost(self) -> PublishedCost | None:
        """The paper's cell of its table of overhead; None where it has none."""
        return None if self._cell is None else published_costs().get(self._cell)

    @cached_property
    def z(self) -> float | None:
        """Distance from the published mean in combined standard errors; None where nothing can be said."""
        return None if self.published is None else difference(self.returns, self.published)

    @property
    def verdict(self) -> str | None:
        """That distance in words; None where nothing was published."""
        return None if self.published is None else verdict(self.z, self.planner.reproduces)

    @property
    def ms_per_decision(self) -> float:
        """Milliseconds of planning per decision."""
        return 1e3 * self._per_decision("seconds")

    @property
    def nodes_per_decision(self) -> float:
        """Nodes added by a decision."""
        return self._per_decision("nodes")

    @property
    def _cell(self) -> tuple[str, str, int] | None:
        name = self.environment.benchmark
        if name is None or isinstance(self.budget, str):
            return None
        return name, self.planner.algorithm, self.budget

    def _per_decision(self, spent: str) -> float:
        decisions = sum(episode.decisions for episode in self.episodes.values())
        return sum(getattr(episode, spent) for episode in self.episodes.values()) / max(decisions, 1)


def half_width(measured: Measurement) -> float | None:
    """Half of Student's interval for the mean, at 95 %; None for a single episode."""
    from scipy.stats import t

    if measured.standard_error is None:
        return None
    return float(t.ppf((1.0 + CONFIDENCE) / 2.0, len(measured.returns) - 1)) * measured.standard_error


def measure(rows: Iterable[Row]) -> list[Measurement]:
    """Every cell that the rows hold, ordered by environment, planner and budget as the paper has them.

    Rows of the same environment, planner and budget under several seeds are episodes of one cell; episodes without a
    finite return are left out.
    """
    played: dict[Environment, dict[tuple[Planner, Limit], dict[tuple[int, int], Episode]]] = {}
    for row in rows:
        if not has_return(row.episode):
            continue
        cell = row.cell
        here = played.setdefault(Environment(cell.env, cell.env_options), {})
        found = here.setdefault((Planner(cell.algorithm, cell.preset, cell.options), cell.budget), {})
        found[cell.seed, row.episode.index] = row.episode
    labels = _labels({planner for here in played.values() for planner, _ in here})
    measured: list[Measurement] = []
    for environment in sorted(played, key=_environment_order):
        measured += _measure_environment(environment, played[environment], labels)
    return measured


def has_return(episode: Episode) -> bool:
    """Whether an episode has a return that can be counted; a store keeps NaN as nothing."""
    return episode.total_reward is not None and math.isfinite(episode.total_reward)


def _measure_environment(
    environment: Environment,
    played: Mapping[tuple[Planner, Limit], Mapping[tuple[int, int], Episode]],
    labels: Mapping[Planner, Planner],
) -> Iterator[Measurement]:
    of_layouts = any(episode.optimum is not None for found in played.values() for episode in found.values())
    known = None if of_layouts else _optimum(environment)
    optima = {key: _optima(found.values(), known) for key, found in played.items()}
    excess = {key: _returns(played[key].values()) - best for key, best in optima.items() if best is not None}
    floor = min((float(found.min()) for found in excess.values()), default=0.0)
    for key in sorted(played, key=lambda key: (_planner_order(key[0]), budget_order(key[1]))):
        best = optima[key]
        optimum = None if best is None else float(best.mean())
        alarm = key in excess and above_optimum(excess[key], floor)
        yield Measurement(environment, labels[key[0]], key[1], dict(sorted(played[key].items())), optimum, alarm)


def budget_order(budget: Limit) -> tuple[Any, ...]:
    """What budgets are sorted by: numbers of simulations first."""
    return (1, 0, budget) if isinstance(budget, str) else (0, budget, "")


def _returns(episodes: Iterable[Episode]) -> np.ndarray:
    return np.array([episode.total_reward for episode in episodes])


def _optima(episodes: Iterable[Episode], known: float | None) -> np.ndarray | None:
    """The optimum that each episode is held against: of its layout where one was drawn; None where one is not known."""
    optima = [known if episode.optimum is None else episode.optimum for episode in episodes]
    return None if None in optima else np.array(optima, dtype=float)


def _optimum(environment: Environment) -> float | None:
    """The optimum of an environment that is registered here; a module that only the store names is not imported."""
    if environment.id not in gym.registry:
        return None
    try:
        options = json.loads(environment.options or "{}")
        env = Run(environment.id, env_options=options).make_env()
    except Exception:  # whatever a constructor raises: the rows are there, only the optimum is not
        return None
    try:
        return known_optimum(env)
    finally:
        env.close()


def _environment_order(environment: Environment) -> tuple[Any, ...]:
    ids = [benchmark.id for benchmark in BENCHMARKS]
    known = environment.id in ids
    return (not known, ids.index(environment.id) if known else 0, environment.id, environment.options)


def _planner_order(planner: Planner) -> tuple[Any, ...]:
    published = list(dict.fromkeys(algorithm for _, algorithm, _ in published_rewards()))
    names = [*published, *(name for name in ALGORITHMS if name not in published)]
    place = names.index(planner.algorithm) if planner.algorithm in names else len(names)
    return (place, planner.algorithm, not planner.reproduces, planner.preset or "", planner.options)


def _labels(planners: set[Planner]) -> dict[Planner, Planner]:
    """The same planners with the words that tell them apart; a preset is named where there are several."""
    several = len({planner.preset for planner in planners}) > 1
    labelled = {}
    for planner in planners:
        words = [planner.preset or "defaults"] * several + [planner.options] * bool(planner.options)
        label = f"{planner.algorithm} ({', '.join(words)})" if words else planner.algorithm
        labelled[planner] = replace(planner, label=label)
    return labelled


def environments_of(measured: Sequence[Measurement]) -> list[Environment]:
    """The environments, in order."""
    return list(dict.fromkeys(cell.environment for cell in measured))


def planners_of(measured: Sequence[Measurement]) -> list[Planner]:
    """The planners, in order."""
    return sorted(dict.fromkeys(cell.planner for cell in measured), key=_planner_order)


def budgets_of(measured: Sequence[Measurement]) -> list[Limit]:
    """The budgets, ascending."""
    return sorted({cell.budget for cell in measured}, key=budget_order)
