"""Tests of a measured mean: against a published one, and against the exact optimum."""

import math

import numpy as np

from gymnasium_gsp.bench.intervals import FEW, FEWEST
from gymnasium_gsp.bench.published import ROUNDING, Published
from gymnasium_gsp.bench.summary import standard_error

SIGMAS = 4.9  # two-sided 1e-6 of a normal distribution
REPRODUCED, BETTER, NOT_REPRODUCED, TOO_FEW = "reproduced", "better", "not reproduced", "too few episodes"
FLOOR_EPISODES = 4  # see `above_optimum`


def difference(returns: np.ndarray, published: Published) -> float | None:
    """The distance of a mean from the published one, in combined standard errors; positive if ours is better.

    Below 5 episodes there is none.  Below 30 episodes, and where all returns are equal, the published spread of an
    episode stands in for ours if it is larger: six failures out of six do not show that an algorithm never succeeds.
    The rounding of the published figure counts as one more error.

    Args:
        returns: of our episodes, at least one.
        published: the paper's cell.
    """
    if len(returns) < FEWEST:
        return None
    count, error = len(returns), standard_error(returns) or 0.0
    if count < FEW or error == 0.0:
        error = max(error, published.standard_error * math.sqrt(published.runs / count))
    return (float(returns.mean()) - published.mean) / math.hypot(error, published.standard_error, ROUNDING)


def verdict(z: float | None) -> str:
    """A difference in words, for a planner with the paper's settings.

    Args:
        z: the value of `difference`.
    """
    if z is None:
        return TOO_FEW
    if abs(z) <= SIGMAS:
        return REPRODUCED
    return BETTER if z > 0.0 else NOT_REPRODUCED


def above_optimum(excess: np.ndarray, floor: float) -> bool:
    """Test for a mean significantly above the exact optimum, which only a planner that sees the future can have.

    Four episodes at the lowest excess are added before the mean is compared with its standard error, because a sample
    that happened to meet no failure has a spread that says nothing of failures.  For n episodes that all reach the
    top of a scale, where the optimum is a share p of it, n (1 - p) > 4.9 sqrt(4) + 4 is then asked for, which is the
    exact binomial condition p^n < 1e-6.

    Args:
        excess: return minus optimum of each episode; where a reset draws a layout, minus the optimum of that layout.
        floor: the lowest excess that any planner had in this environment; below 0, or the sample is taken for one that
            cannot fail.
    """
    padded = np.append(excess, np.full(FLOOR_EPISODES, floor))
    error = standard_error(padded) or 0.0
    return float(padded.mean()) > SIGMAS * error + 1e-9 * max(1.0, abs(floor))
