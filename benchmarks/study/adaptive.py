"""F+ on random processes: its error as its horizon H(n) = ceil(log n / (2 log 1/discount)) grows.

The paper bounds that error by three terms: sampling, the empirical cross-depth gap, and truncation.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from benchmarks.searches import FreshSearch
from benchmarks.study.chain import MEAN_OF_TARGETS
from benchmarks.study.cross_depth import cross_depth_gap
from benchmarks.study.random_processes import random_process
from benchmarks.study.result import Plot, Table
from gymnasium_gsp.exact import backward_induction, enumerate_model, value_iteration
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import AdaptiveHorizon, FixedHorizon
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

DISCOUNT = 0.7
SHORT = 3  # the fixed horizon beside the adaptive one
APART = "gs, H(n)"
F_PLUS = Recipe(
    key="state",
    selection=PolynomialBonus(0.5),
    horizon=AdaptiveHorizon(),
    evaluation=Constant(0.0),
    discount=DISCOUNT,
)
RECIPES = {
    "f+": F_PLUS,
    f"f, H = {SHORT}": F_PLUS.changed(horizon=FixedHorizon(SHORT)),
    "f+ p = 1": F_PLUS.changed(backup=PowerMean(1.0)),
    "f+ targets": F_PLUS.changed(backup=MEAN_OF_TARGETS),
    APART: F_PLUS.changed(key="state_elapsed"),
}


def measure_adaptive(
    budgets: Sequence[int], processes: int, replicates: int, seed: int, progress: Callable[[str], None]
) -> pd.DataFrame:
    """Measure the errors of all recipes and the paper's terms, means over processes and replicates.

    Returns:
        One row a budget: n, H(n), the error of each recipe's root value against the discounted value without end, the
        cross-depth gap over the depths that the search visited, and the truncation discount^H(n) max |V - V_0|.
    """
    rows = []
    for number in range(processes):
        progress(f"random process {number + 1} of {processes}")
        space = enumerate_model(random_process(seed * 1000 + number), 0)
        truth = value_iteration(space, DISCOUNT)
        searches = {name: FreshSearch(space.model, recipe) for name, recipe in RECIPES.items()}
        for column, budget in enumerate(budgets):
            horizon = AdaptiveHorizon().steps(None, DISCOUNT, budget)
            values = backward_induction(space, horizon, DISCOUNT)
            truncation = DISCOUNT**horizon * float(np.abs(truth.values).max())
            for replicate in range(replicates):
                stream = (seed * processes + number) * replicates + replicate
                errors = {
                    name: abs(search.plan(budget, stream, column).value - truth.value(0))
                    for name, search in searches.items()
                }
                gap = cross_depth_gap(values, depths_met(searches[APART])).largest
                rows.append({"n": budget, "H(n)": horizon, **errors, "gap": gap, "truncation": truncation})
    return pd.DataFrame(rows).groupby(["n", "H(n)"], as_index=False).mean()


def depths_met(search: FreshSearch) -> dict[tuple[int, ...], set[int]]:
    """Return the depths at which a graph of (state, depth) met each state."""
    met: dict[tuple[int, ...], set[int]] = {}
    for node in search.nodes():
        met.setdefault(node["key"], set()).add(node["tag"])
    return met


def adaptive_table(measured: pd.DataFrame) -> Table:
    """Make the table."""
    note = (
        f"Error of the root's value against the discounted value without end, discount {DISCOUNT}, V_0 = 0, of F+, F "
        "with a short horizon, F+ with p = 1, F+ with the mean of targets, and GS-Power-UCT with depths apart. Gap: "
        "the empirical cross-depth gap over the depths that a search with the same horizon met. Truncation: "
        "discount^H(n) times the largest |V - V_0|."
    )
    rows = measured.assign(**{"n^-1/2": measured["n"] ** -0.5})
    formats = dict.fromkeys(rows.columns[2:], "{:z.4f}".format)
    return Table("adaptive", "Random processes: F+ with the adaptive horizon", rows, formats, [note])


def adaptive_plot(measured: pd.DataFrame) -> Plot:
    """Plot errors, gap and truncation."""
    lines = measured.set_index("n").drop(columns="H(n)").rename(columns={"gap": "cross-depth gap"})
    computed = ["cross-depth gap", "truncation"]
    return Plot("F+ on random processes", "simulations n", "error of the root's value", lines, computed)


def adaptive_findings(measured: pd.DataFrame) -> list[str]:
    """Compare the smallest with the largest budget."""
    first, last = measured.iloc[0], measured.iloc[-1]
    said = [
        f"{name}: error {first[name]:.4f} at n = {first['n']:,.0f}, {last[name]:.4f} at n = {last['n']:,.0f}."
        for name in RECIPES
    ]
    return [*said, f"The empirical cross-depth gap is {first['gap']:.4f} there and {last['gap']:.4f} here."]
