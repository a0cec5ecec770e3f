"""What the statistical tests share: bounds that follow from a false-alarm probability.

A test fails only where its claim is *significantly* violated: if the claim holds, a run with fresh seeds fails with a
probability of at most FALSE_ALARM.  Where a test makes several comparisons, they share that probability equally.
"""

import math

import numpy as np
from kinds import averages
from scipy import stats

import gymnasium_gsp as gsp

FALSE_ALARM = 1e-6
SIGMAS = 4.9  # two-sided 1e-6 of a normal distribution

# Entropy-regularised planners tend to the regularised value; those that average no samples have limits of their own.
_REGULARISED = ("ments", "rents", "tents")
TRUNCATED_OPTIMUM = [name for name in gsp.ALGORITHMS if name not in _REGULARISED and averages(name)]
"""Algorithms whose root value tends to the truncated optimum where every state has one depth."""


def standard_error(samples):
    """Standard error of the mean of independent samples."""
    return float(np.std(samples, ddof=1) / math.sqrt(len(samples)))


def margin(samples, comparisons=1):
    """By how much a mean of independent samples may lie on the wrong side of the truth: Student's t, one-sided."""
    return float(stats.t.isf(FALSE_ALARM / comparisons, len(samples) - 1)) * standard_error(samples)
