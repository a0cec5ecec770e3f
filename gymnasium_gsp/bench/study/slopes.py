"""Lines through points on a log-log plot, and Student's interval of a mean."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST = 1e-15  # an error of 0 has no logarithm


def fitted_slopes(errors: ArrayLike, budgets: Sequence[int]) -> NDArray[np.float64]:
    """Slope of log error over log budget by least squares, one for each row of errors (replicates, budgets)."""
    x = np.log(budgets) - np.mean(np.log(budgets))
    slopes: NDArray[np.float64] = np.log(np.maximum(errors, SMALLEST)) @ x / (x @ x)
    return slopes


def student_interval(samples: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Student's interval for the mean of at least two independent samples, as (low, high)."""
    from scipy import stats

    values = np.asarray(samples, np.float64)
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(stats.t.isf((1.0 - level) / 2.0, len(values) - 1)) * error
    return float(values.mean()) - half, float(values.mean()) + half
