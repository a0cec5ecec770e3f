"""Comparisons of planners: paired on the same episodes, and as one score over all environments."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gymnasium_gsp.bench.report.cells import (
    CONFIDENCE,
    Environment,
    Limit,
    Measurement,
    Planner,
    budgets_of,
    environments_of,
    planners_of,
)
from gymnasium_gsp.bench.report.judgement import FEW, FEWEST

RESAMPLES = 2000
SEED = 0  # of the bootstrap, so that a report is the same each time it is written


@dataclass(frozen=True)
class Paired:
    """Two planners on the episodes that both played: same layouts, same luck.

    Attributes:
        environment, budget: where.
        first, second: the planners.
        episodes: how many both played.
        mean: mean difference in return, first minus second.
        low, high: bootstrap interval of that mean at 95 %; None for fewer than 5 episodes.
    """

    environment: Environment
    budget: Limit
    first: Planner
    second: Planner
    episodes: int
    mean: float
    low: float | None
    high: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out, and rests on enough episodes to be believed."""
        if self.low is None or self.high is None or self.episodes < FEW:
            return False
        return not self.low <= 0.0 <= self.high


def paired(measured: Sequence[Measurement]) -> Iterator[Paired]:
    """Every pair of planners in every environment at every budget where both played some of the same episodes."""
    groups: dict[tuple[Environment, Limit], list[Measurement]] = {}
    for cell in measured:
        groups.setdefault((cell.environment, cell.budget), []).append(cell)
    for (environment, budget), cells in groups.items():
        for one, other in combinations(cells, 2):
            shared = [key for key in one.episodes if key in other.episodes]
            if shared:
                differences = np.array(
                    [one.episodes[key].total_reward - other.episodes[key].total_reward for key in shared]
                )
                low, high = bootstrap_interval(differences) or (None, None)
                mean = float(differences.mean())
                yield Paired(environment, budget, one.planner, other.planner, len(shared), mean, low, high)


def bootstrap_interval(differences: np.ndarray) -> tuple[float, float] | None:
    """SciPy's bootstrap interval of a mean at 95 %, by percentiles; None for fewer than 5 numbers.

    The bias-corrected method is not taken: where most differences are 0 it leaves 0 out too soon, as in [0.05, 0.35]
    for 3 differences of 1 among 20, which a fair coin gives every fourth time.
    """
    from scipy.stats import bootstrap

    if len(differences) < FEWEST:
        return None
    if np.ptp(differences) == 0.0:
        return float(differences[0]), float(differences[0])
    found = bootstrap(
        (differences,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 1_000_000 // len(differences)),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(found.low), float(found.high)


@dataclass(frozen=True)
class Score:
    """Mean over environments of return / optimum, for one planner at one budget.

    Attributes:
        planner, budget: which.
        mean: the score; None where an environment is missing.
        standard_error: of the score; None where it is not known.
        published: the same of the published returns; None where one is missing.
        missing: environments that the planner has not played at this budget.
    """

    planner: Planner
    budget: Limit
    mean: float | None
    standard_error: float | None
    published: float | None
    missing: tuple[Environment, ...]


def scored_environments(measured: Sequence[Measurement]) -> tuple[list[Environment], list[Environment]]:
    """The environments that count in the score, and those that cannot: optimum unknown, or not above 0."""
    without = {cell.environment for cell in measured if cell.share is None}
    found = environments_of(measured)
    return [item for item in found if item not in without], [item for item in found if item in without]


def scores(measured: Sequence[Measurement]) -> list[Score]:
    """The normalised score of every planner at every budget where it played one of the environments that count."""
    counted, _ = scored_environments(measured)
    cells = {(cell.environment, cell.planner, cell.budget): cell for cell in measured}
    found = []
    for planner in planners_of(measured):
        for budget in budgets_of(measured):
            here = [cells[key] for item in counted if (key := (item, planner, budget)) in cells]
            if here:
                missing = tuple(item for item in counted if (item, planner, budget) not in cells)
                found.append(Score(planner, budget, *_score([] if missing else here), missing))
    return found


def _score(cells: Sequence[Measurement]) -> tuple[float | None, float | None, float | None]:
    """Score, standard error and published score over some cells, of different environments."""
    known = [(cell, cell.optimum) for cell in cells if cell.optimum is not None]
    if not known:
        return None, None, None
    shares = [cell.mean / optimum for cell, optimum in known]
    errors = [cell.standard_error / optimum for cell, optimum in known if cell.standard_error is not None]
    published = [cell.published.mean / optimum for cell, optimum in known if cell.published is not None]
    count = len(known)
    return (
        sum(shares) / count,
        math.hypot(*errors) / count if len(errors) == count else None,
        sum(published) / count if len(published) == count else None,
    )
