"""The root's value tends to the truncated optimum of backward induction, on random processes.

Run with `-s` to see the measured errors and slopes.
"""

import math

import numpy as np
import pytest
from statistical.claims import TRUNCATED_OPTIMUM, margin

from benchmarks.searches import FreshSearch
from benchmarks.study.random_processes import layered_process, random_process, return_range
from benchmarks.study.slopes import fitted_slopes, student_interval
from gymnasium_gsp import make_recipe
from gymnasium_gsp.exact import truncated_value
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

HORIZON = 3
BUDGETS = [2**k for k in range(10, 17)]
PROCESSES = 6

MAXIMA = {
    "graph, as printed": Recipe(key="state_elapsed", selection=PolynomialBonus(0.5)),
    "graph, default gs-power-uct": make_recipe("gs-power-uct"),
    "tree": Recipe(key="path", selection=PolynomialBonus(0.5)),
}
MEANS = {
    "graph, p = 1": Recipe(key="state_elapsed", selection=PolynomialBonus(0.5), backup=PowerMean(1.0)),
    "tree, power-uct with p = 1, raw C": make_recipe("power-uct", p=1.0, scale="raw"),
    "tree, uct": make_recipe("uct"),
}


def errors(recipe, budgets, replicates, processes=random_process, discount=1.0):
    """Absolute error of the root's value over the range of returns, mean over processes; (replicates, budgets)."""
    total = np.zeros((replicates, len(budgets)))
    for seed in range(PROCESSES):
        model = processes(seed)
        truth, scale = truncated_value(model, 0, HORIZON, discount), return_range(model, HORIZON)
        planner = FreshSearch(model, recipe, steps_left=HORIZON)
        for replicate in range(replicates):
            for column, budget in enumerate(budgets):
                value = planner.plan(budget, seed * replicates + replicate, column).value
                total[replicate, column] += abs(value - truth) / scale
    return total / PROCESSES


def report(name, table, budgets):
    """Print the errors, and the slope of log error over log budget with its 95 % interval; returns the slopes."""
    slopes = fitted_slopes(table, budgets)
    low, high = student_interval(slopes)
    percents = ", ".join(f"{100 * error:.3f}" for error in table.mean(axis=0))
    slope = f"slope {slopes.mean():.3f} ({low:.3f}, {high:.3f})"
    print(f"\n{name}: error in % of the range {percents} at {budgets}; {slope}")
    return slopes


@pytest.mark.parametrize("name", MAXIMA)
def test_maxima_converge_fast(name):
    """Claim: with the maximum as backup the error falls with a slope of at most -0.4, to less than 1 % at 2^16.

    Sample: 6 random processes of 6 states and 3 actions, horizon 3, budgets 2^10 .. 2^16, 12 replicates.  In each
    replicate the error is averaged over the processes and a line is fitted to its logarithm; slopes and errors of
    replicates are independent and alike, so their means obey Student's t with 11 degrees of freedom.  False alarms:
    1e-6 in all, half of it for each of the two one-sided bounds.
    """
    table = errors(MAXIMA[name], BUDGETS, replicates=12)
    slopes = report(name, table, BUDGETS)
    assert slopes.mean() - margin(slopes, comparisons=2) <= -0.4
    last = table[:, -1]
    assert last.mean() - margin(last, comparisons=2) < 0.01


@pytest.mark.parametrize("name", MEANS)
def test_means_converge_slowly(name):
    """Claim: with the mean as backup the error at 2^16 is at most half of that at 2^10, and less than 4 %.

    Sample: the same processes and budgets, 8 replicates.  Halving is the claim that error(2^16) - error(2^10) / 2 has a
    mean of at most 0.  Both means obey Student's t with 7 degrees of freedom; false alarms 1e-6 in all, half of it for
    each of the two one-sided bounds.
    """
    table = errors(MEANS[name], BUDGETS, replicates=8)
    report(name, table, BUDGETS)
    excess = table[:, -1] - table[:, 0] / 2.0
    assert excess.mean() - margin(excess, comparisons=2) <= 0.0
    last = table[:, -1]
    assert last.mean() - margin(last, comparisons=2) < 0.04


@pytest.mark.parametrize("name", TRUNCATED_OPTIMUM)
def test_default_recipes_approach_their_own_optimum(name):
    """Claim: the error of every algorithm's default recipe at 2^16 is at most half of that at 2^10, and small.

    Small means below 1 % of the range of returns where the backup is the maximum, 4 % where it is the mean, and 5 %
    for power-uct, whose p is 2 and whose default C, half the range, keeps it exploring.  Sample: 6 random processes
    with 6 states of their own at each depth, so that state keys have no cross-depth gap; horizon 3, the recipe's own
    discount, 8 replicates.  error(2^16) - error(2^10) / 2, averaged over the processes, has a mean of at most 0 if the
    claim holds; Student's t with 7 degrees of freedom, false alarms 1e-6 in all, one-sided.
    """
    recipe, budgets = make_recipe(name).settled(timed=True), [BUDGETS[0], BUDGETS[-1]]
    table = errors(recipe, budgets, 8, lambda seed: layered_process(seed, HORIZON), recipe.discount)
    report(name, table, budgets)
    excess, last = table[:, -1] - table[:, 0] / 2.0, table[:, -1]
    assert excess.mean() - margin(excess, comparisons=2) <= 0.0
    assert last.mean() - margin(last, comparisons=2) < {math.inf: 0.01, 1.0: 0.04}.get(recipe.backup.p, 0.05)
