"""Slopes of lines through points on a log-log plot, and intervals: a bootstrap for a slope, Student's for a mean."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

SMALLEST = 1e-15  # an error of 0 has no logarithm
RESAMPLES = 2000


def fitted_slopes(errors: ArrayLike, budgets: Sequence[int]) -> NDArray[np.float64]:
    """Fit the slope of log error over log budget by least squares, for each row of errors (replicates, budgets)."""
    x = np.log(budgets) - np.mean(np.log(budgets))
    slopes: NDArray[np.float64] = np.log(np.maximum(errors, SMALLEST)) @ x / (x @ x)
    return slopes


def slope_interval(
    units: ArrayLike, budgets: Sequence[int], level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """Fit the slope of the mean error, with a percentile bootstrap interval.

    Args:
        units: errors of at least two independent units, shape (units, budgets); units are drawn with replacement, each
            with its errors at all budgets.
        budgets: ascending, shape (budgets,).
        level: confidence level of the interval.
        seed: of the draws.

    Returns:
        Slope, lower end and upper end.
    """
    errors = np.asarray(units, np.float64)

    def slope(drawn: NDArray[np.int64], axis: int = -1) -> NDArray[np.float64]:
        return fitted_slopes(errors[drawn].mean(axis=-2), budgets)

    indices = np.arange(len(errors))
    interval = stats.bootstrap(
        (indices,), slope, n_resamples=RESAMPLES, confidence_level=level, method="percentile", rng=seed
    ).confidence_interval
    return float(slope(indices)), float(interval.low), float(interval.high)


def student_interval(samples: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for the mean of at least two independent samples, as (low, high)."""
    values = np.asarray(samples, np.float64)
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(stats.t.isf((1.0 - level) / 2.0, len(values) - 1)) * error
    return float(values.mean()) - half, float(values.mean()) + half
