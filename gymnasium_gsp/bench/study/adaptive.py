"""F+ on random processes: what becomes of its error as its horizon H(n) = ceil(log n / (2 log 1/discount)) grows.

The paper bounds that error by three terms: sampling, the empirical cross-depth gap, and truncation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.bench.report.table import Column, Table, fixed
from gymnasium_gsp.bench.study.chain import MEAN_OF_TARGETS
from gymnasium_gsp.bench.study.fresh_search import FreshSearch
from gymnasium_gsp.bench.study.outcome import Curve, Plot
from gymnasium_gsp.bench.study.processes import random_process
from gymnasium_gsp.exact import backward_induction, cross_depth_gap, enumerate_model, value_iteration
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import AdaptiveHorizon, FixedHorizon
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

DISCOUNT = 0.7
SHORT = 3  # the fixed horizon beside the adaptive one
ADAPTIVE, FIXED, MEAN, TARGETS, APART = "f+", f"f, H = {SHORT}", "f+ p = 1", "f+ targets", "gs, H(n)"


def adaptive_recipes() -> dict[str, Recipe]:
    """The planners whose root value is set beside the discounted value without end."""
    plus = Recipe(
        key="state",
        selection=PolynomialBonus(0.5),
        horizon=AdaptiveHorizon(),
        evaluation=Constant(0.0),
        discount=DISCOUNT,
    )
    return {
        ADAPTIVE: plus,
        FIXED: plus.changed(horizon=FixedHorizon(SHORT)),
        MEAN: plus.changed(backup=PowerMean(1.0)),
        TARGETS: plus.changed(backup=MEAN_OF_TARGETS),
        APART: plus.changed(key="state_elapsed"),
    }


@dataclass(frozen=True)
class Decline:
    """What the adaptive horizon does, per budget, means over processes and replicates.

    Attributes:
        horizons: H(n).
        errors: of each planner's root value against the discounted value without end.
        gaps: the cross-depth gap over the depths that the search visited.
        truncation: discount^H(n) times the largest |V - V_0|.
    """

    horizons: list[int]
    errors: dict[str, NDArray[np.float64]]
    gaps: NDArray[np.float64]
    truncation: NDArray[np.float64]


def decline(
    budgets: Sequence[int], processes: int, replicates: int, seed: int, watch: Callable[[str], None]
) -> Decline:
    """Measure F+ on random processes."""
    recipes = adaptive_recipes()
    horizons = [AdaptiveHorizon().steps(None, DISCOUNT, budget) for budget in budgets]
    errors = {name: np.zeros(len(budgets)) for name in recipes}
    gaps, truncation = np.zeros(len(budgets)), np.zeros(len(budgets))
    for number in range(processes):
        watch(f"random process {number + 1} of {processes}")
        space = enumerate_model(random_process(seed * 1000 + number), 0)
        truth = value_iteration(space, DISCOUNT)
        searches = {name: FreshSearch(space.model, recipe) for name, recipe in recipes.items()}
        for column, (budget, horizon) in enumerate(zip(budgets, horizons, strict=True)):
            truncation[column] += DISCOUNT**horizon * float(np.abs(truth.values).max()) / processes
            values = backward_induction(space, horizon, DISCOUNT)
            for replicate in range(replicates):
                stream = (seed * processes + number) * replicates + replicate
                for name, search in searches.items():
                    off = abs(search.plan(budget, stream, column).value - truth.value(0))
                    errors[name][column] += off / (processes * replicates)
                gap = cross_depth_gap(values, depths_met(searches[APART])).largest
                gaps[column] += gap / (processes * replicates)
    return Decline(horizons, errors, gaps, truncation)


def depths_met(search: FreshSearch) -> dict[tuple[int, ...], set[int]]:
    """The depths at which a graph of (state, depth) met each state."""
    met: dict[tuple[int, ...], set[int]] = {}
    for node in search.nodes():
        met.setdefault(node["key"], set()).add(node["tag"])
    return met


def decline_table(found: Decline, budgets: Sequence[int]) -> Table:
    """The table of the decline."""
    columns = [
        Column("n", "budget", number=True),
        Column("H(n)", "horizon", number=True),
        *(Column(name, name, fixed(4), number=True) for name in found.errors),
        Column("gap", "gap", fixed(4), number=True),
        Column("trunc.", "truncation", fixed(4), number=True),
        Column("n^-1/2", "rate", fixed(4), number=True),
    ]
    measured = zip(*found.errors.values(), found.gaps, found.truncation, strict=True)
    rows = [
        (budget, horizon, *map(float, row), budget**-0.5)
        for budget, horizon, row in zip(budgets, found.horizons, measured, strict=True)
    ]
    note = (
        f"Error of the root's value against the discounted value without end, discount {DISCOUNT}, V_0 = 0, of F+, F "
        "with a short horizon, F+ with p = 1, F+ with the mean of targets, and GS-Power-UCT with depths apart. Gap: "
        "the empirical cross-depth gap over the depths that a search with the same horizon met. Truncation: "
        "discount^H(n) times the largest |V - V_0|."
    )
    return Table("adaptive", "Random processes: F+ with the adaptive horizon", columns, rows, [note], headers=1)


def decline_plot(found: Decline, budgets: Sequence[int]) -> Plot:
    """The plot of the decline."""
    curves = [
        Curve(name, budgets, errors.tolist(), number) for number, (name, errors) in enumerate(found.errors.items())
    ]
    curves.append(Curve("cross-depth gap", budgets, found.gaps.tolist(), 5, "theory"))
    curves.append(Curve("truncation", budgets, found.truncation.tolist(), 0, "theory"))
    return Plot("F+ on random processes", "simulations n", "error of the root's value", curves)
