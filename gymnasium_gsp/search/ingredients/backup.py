"""Backup: the value of a node from its actions' values and counts."""

import math
from dataclasses import dataclass
from typing import Literal

from numba import njit

from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.ingredients.ingredient import Ingredient, check_number, make_plain

_ROUNDING = 1e-9  # how far below its lower bound a value may lie before that is an error, relative to its size


@njit
def largest_tried(context, q, counts):
    """The largest value among tried actions; NaN if none was tried."""
    top = -math.inf
    for a in range(context.actions):
        value = q[a]  # read whether it counts or not: a branch could only be guessed
        value = value if counts[a] > 0 else -math.inf
        top = value if value > top else top
    return top if top > -math.inf else math.nan


@njit
def mean_over_visits(context, visits, q, counts, printed):
    """Sum N(s,a) Q(s,a) / sum N(s,a), or over N(s) as the paper prints it."""
    total, count = 0.0, 0
    for a in range(context.actions):
        total += counts[a] * q[a]
        count += counts[a]
    return total / (visits if printed else count)


@njit
def power(x, p):
    """X ** p for x >= 0; by multiplication and a square root where 2p is a small whole number."""
    doubled = int(2.0 * p)
    if 2.0 * p == doubled and doubled <= 16:
        result = 1.0
        for _ in range(doubled >> 1):
            result *= x
        return result * math.sqrt(x) if doubled & 1 else result
    return x**p


def power_mean_backup(params, context, visits, q, counts, variance, value, target):
    """V(s) = L + (sum_a w_a (Q(s,a) - L)^p)^(1/p), eq. power_mean; NaN where Q(s,a) is negative undeclared.

    params: p, and whether the weights are the printed N(s,a) / N(s) instead of N(s,a) / sum_b N(s,b).  L is the
    lower bound in the context, 0 unless rewards are declared to be negative; estimates below a declared bound are
    taken for the bound.  The largest Q - L is factored out, so that no power overflows.
    """
    p, printed = params[0], params[1] != 0.0
    if p == math.inf:
        return largest_tried(context, q, counts)
    if p == 1.0:
        return mean_over_visits(context, visits, q, counts, printed)
    low = context.lower
    top = largest_tried(context, q, counts) - low
    slack = _ROUNDING * max(1.0, abs(low))
    if top <= 0.0:
        return low if low < 0.0 or top >= -slack else math.nan
    total, count = 0.0, 0
    for a in range(context.actions):
        if counts[a] > 0:
            above = q[a] - low
            if above < -slack and low == 0.0:
                return math.nan
            total += counts[a] * power(max(above, 0.0) / top, p)
            count += counts[a]
    return low + top * (total / (visits if printed else count)) ** (1.0 / p)


def cautious_backup(params, context, visits, q, counts, variance, value, target):
    """V(s) = max(mean over visits of Q, max_a Q(s,a) - kappa sigma(s,a) / sqrt(N(s,a))).

    sigma^2(s,a) = (S^2 + N(s,a) var(s,a)) / (N(s,a) + 1), with S^2 the running variance of root returns and
    var(s,a) that of the targets.  params: kappa.
    """
    best = mean_over_visits(context, visits, q, counts, False)
    prior = context.root_variance
    for a in range(context.actions):
        n = counts[a]
        if n > 0:
            spread = (prior + n * variance[a]) / (n + 1.0)
            best = max(best, q[a] - params[0] * math.sqrt(spread / n))
    return best


@dataclass(frozen=True)
class PowerMean(Ingredient):
    """The power mean of the actions' values, weighted by visits: p = 1 is the mean, p = inf the maximum.

    Attributes:
        p: the power, from 1 to infinity.
        weights: "normalised", N(s,a) / sum_b N(s,b), which preserves constants; or "printed", the paper's
            N(s,a) / N(s), where N(s) also counts the initial evaluation.
    """

    p: float = math.inf
    weights: Literal["normalised", "printed"] = "normalised"

    kind = "backup"
    function = staticmethod(power_mean_backup)

    def __post_init__(self) -> None:
        make_plain(self)
        if self.p != math.inf:
            check_number("p", self.p)
        if not self.p >= 1.0:
            raise RecipeError(f"p must be between 1 (the mean) and infinity (the maximum), not {self.p!r}")
        if self.weights not in ("normalised", "printed"):
            raise RecipeError(unknown_name("weights", self.weights, ("normalised", "printed")))

    def params(self) -> tuple[float, ...]:
        return (float(self.p), float(self.weights == "printed"))


@dataclass(frozen=True)
class Cautious(Ingredient):
    """For a decision sweep: the maximum of values less their uncertainty, but at least the mean over visits.

    Search with optimism, decide with caution: the maximum over noisy estimates is biased upwards.

    Attributes:
        kappa: how many standard errors are taken off, at least 0.
    """

    kappa: float = 0.3

    kind = "backup"
    function = staticmethod(cautious_backup)
    needs_variance = reads_variance = True

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("kappa", self.kappa, smallest=0.0)

    def params(self) -> tuple[float, ...]:
        return (self.kappa,)
