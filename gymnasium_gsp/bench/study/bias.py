"""`gsp study bias`: what sharing a state between depths costs.

On a chain where s is met at depths 1 and 2 (`chain`) nothing is random and every limit is known.  On random processes
F+'s error is set beside the paper's terms (`adaptive`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.bench.report.table import Column, Table, fixed
from gymnasium_gsp.bench.study.adaptive import Decline, decline, decline_plot, decline_table
from gymnasium_gsp.bench.study.chain import HORIZON, IN_TURN, MEAN_OF_TARGETS, S, chain
from gymnasium_gsp.bench.study.fresh_search import FreshSearch
from gymnasium_gsp.bench.study.outcome import Curve, Plot, Study
from gymnasium_gsp.bench.study.sizes import Sizes
from gymnasium_gsp.exact import (
    backward_induction,
    depth_mixture,
    enumerate_model,
    state_keyed_limit,
    uniform_policy,
    visits_by_depth,
)
from gymnasium_gsp.models.tabular import tabular_model_from_arrays
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.recipe import Recipe

QUESTION = "Which error stays where a graph shares a state between depths, and does F+ lose it?"
ACTIONS = 8  # of the chain, so many shares of going straight less one
SHOWN = (0.25, 0.5, 0.75)  # shares in the table; the plot and the data have all
INFINITE = "\N{INFINITY}"


@dataclass(frozen=True)
class BiasSizes(Sizes):
    """How much is measured.

    Attributes:
        budgets: simulations; the largest stands for the limit.
        processes: random processes for F+.
        replicates: independent searches of each.
    """

    budgets: tuple[int, ...] = tuple(2**k for k in range(6, 17))
    processes: int = 6
    replicates: int = 4


FULL = BiasSizes()
QUICK = BiasSizes((64, 512, 4096), 2, 2)


@dataclass(frozen=True)
class Backup:
    """A backup on the chain, with what computes its limit.

    Attributes:
        name: for tables.
        backup: the ingredient.
        p, weights: as `state_keyed_limit` takes them.
    """

    name: str
    backup: Any
    p: float
    weights: Any


BACKUPS = (
    Backup("targets", MEAN_OF_TARGETS, 1.0, "targets"),
    Backup("p = 1, printed", PowerMean(1.0, "printed"), 1.0, "printed"),
    Backup("p = 2, printed", PowerMean(2.0, "printed"), 2.0, "printed"),
    Backup("p = 1, normalised", PowerMean(1.0), 1.0, "normalised"),
    Backup("p = 2, normalised", PowerMean(2.0), 2.0, "normalised"),
    Backup(f"p = {INFINITE}", PowerMean(), math.inf, "normalised"),
)


def value_of_s(straight: int, backup: Any, budget: int, key: str = "state", leaf_value: float = 0.0) -> float:
    """V(s) after a search on the chain, at depth 1 where depths are kept apart."""
    recipe = Recipe(
        key=key,  # type: ignore[arg-type]
        selection=IN_TURN,
        backup=backup,
        horizon=FixedHorizon(HORIZON),
        evaluation=Constant(leaf_value),
        discount=1.0,
    )
    search = FreshSearch(tabular_model_from_arrays(*chain(straight, actions=ACTIONS)), recipe)
    search.plan(budget, 0)
    (value,) = (node["value"] for node in search.nodes() if node["key"] == (S,) and node["tag"] in (0, 1))
    return float(value)


def chain_limits(straight: int, backup: Backup) -> tuple[float, float, float, float]:
    """Of s on the chain: V(s, 1), V(s, 2), the mixture that the Proposition gives, and the backup's own limit."""
    model = tabular_model_from_arrays(*chain(straight, actions=ACTIONS))
    space = enumerate_model(model, 0)
    policy, truth = uniform_policy(space), backward_induction(space, HORIZON)
    mixture = depth_mixture(truth, visits_by_depth(space, policy, HORIZON))
    limit = state_keyed_limit(space, policy, HORIZON, backup.p, backup.weights)
    number = space.number(S)
    return truth.value(S, 1), truth.value(S, 2), float(mixture[number]), float(limit[number])


def _chain_rows(budget: int) -> list[tuple[Any, ...]]:
    rows = []
    for backup in BACKUPS:
        for straight in range(1, ACTIONS):
            first, second, mixture, limit = chain_limits(straight, backup)
            measured = value_of_s(straight, backup.backup, budget)
            share = straight / ACTIONS
            worst = max(abs(measured - first), abs(measured - second))
            rows.append((backup.name, share, measured, limit, mixture, measured - limit, measured - mixture, worst))
    return rows


def _chain_table(name: str, rows: Sequence[tuple[Any, ...]]) -> Table:
    columns = [
        Column("backup", "backup"),
        Column("share", "share", fixed(3), number=True),
        Column("V(s)", "measured", fixed(4), number=True),
        Column("own limit", "limit", fixed(4), number=True),
        Column("mixture", "mixture", fixed(4), number=True),
        Column("off limit", "off_limit", fixed(4), number=True),
        Column("off mixture", "off_mixture", fixed(4), number=True),
        Column("worst bias", "worst", fixed(4), number=True),
    ]
    note = (
        "V(s, 1) = 3 and V(s, 2) = 2. Share: of the visits at depth 1. Own limit: the fixed point of the backup, "
        "computed; mixture: the Proposition's formula. Worst bias: the larger distance of V(s) from V(s, 1) and V(s, "
        "2). Targets: the mean of all targets, which the Proposition treats. Nothing here is random."
    )
    return Table(name, "The chain: V(s) at the largest budget", columns, rows, [note], headers=2)


def _floor_rows(budgets: Sequence[int]) -> list[tuple[Any, ...]]:
    straight = ACTIONS // 2
    first, _, mixture, _ = chain_limits(straight, BACKUPS[0])
    rows = []
    for budget in budgets:
        shared = abs(value_of_s(straight, MEAN_OF_TARGETS, budget) - first)
        printed = abs(value_of_s(straight, PowerMean(2.0, "printed"), budget) - first)
        apart = abs(value_of_s(straight, MEAN_OF_TARGETS, budget, "state_elapsed") - first)
        rows.append((budget, shared, abs(mixture - first), printed, apart))
    return rows


def _floor_table(rows: Sequence[tuple[Any, ...]]) -> Table:
    columns = [
        Column("n", "budget", number=True),
        Column("shared", "shared", fixed(4), number=True),
        Column("formula", "floor", fixed(4), number=True),
        Column("p = 2, printed", "printed", fixed(4), number=True),
        Column("depths apart", "apart", fixed(4), number=True),
    ]
    note = (
        "Distance of V(s) from V(s, 1), half of the visits at depth 1: with one mean of targets for both depths, by "
        "the Proposition's formula, with a power mean, and with a node for each depth."
    )
    return Table("floor", "The chain: the error floor", columns, rows, [note])


def run(sizes: BiasSizes, seed: int, watch: Callable[[str], None] = lambda words: None) -> Study:
    """Measure the study."""
    watch("the chain")
    chain_rows, floor_rows = _chain_rows(sizes.budgets[-1]), _floor_rows(sizes.budgets)
    found = decline(sizes.budgets, sizes.processes, sizes.replicates, seed, watch)
    return Study(
        name="bias",
        question=QUESTION,
        seed=seed,
        sizes=sizes.as_dict(),
        tables=[
            _chain_table("chain", [row for row in chain_rows if row[1] in SHOWN]),
            _floor_table(floor_rows),
            decline_table(found, sizes.budgets),
        ],
        data=[_chain_table("all-shares", chain_rows)],
        plots=[
            _chain_plot(chain_rows),
            _floor_plot(floor_rows),
            decline_plot(found, sizes.budgets),
        ],
        findings=_findings(chain_rows, floor_rows, found, sizes.budgets),
    )


def _chain_plot(rows: Sequence[tuple[Any, ...]]) -> Plot:
    curves = []
    for number, backup in enumerate(BACKUPS):
        here = [row for row in rows if row[0] == backup.name]
        curves.append(Curve(backup.name, [row[1] for row in here], [row[2] for row in here], number))
    here = [row for row in rows if row[0] == BACKUPS[0].name]
    curves.append(Curve("mixture formula", [row[1] for row in here], [row[4] for row in here], 0, "theory"))
    return Plot("V(s) on the chain", "share of visits at depth 1", "V(s)", curves, "linear", "linear")


def _floor_plot(rows: Sequence[tuple[Any, ...]]) -> Plot:
    budgets = [row[0] for row in rows]
    curves = [
        Curve("states, mean of targets", budgets, [row[1] for row in rows], 0),
        Curve("floor by the formula", budgets, [row[2] for row in rows], 0, "theory"),
        Curve("states, p = 2 printed", budgets, [row[3] for row in rows], 2),
        Curve("(state, depth)", budgets, [row[4] for row in rows], 1),
    ]
    return Plot("The error floor on the chain", "simulations n", "|V(s) - V(s, 1)|", curves)


def _findings(
    chain_rows: Sequence[tuple[Any, ...]], floor_rows: Sequence[tuple[Any, ...]], found: Decline, budgets: Sequence[int]
) -> list[str]:
    said = []
    for backup in BACKUPS:
        here = [row for row in chain_rows if row[0] == backup.name]
        off = max(abs(row[5]) for row in here)
        apart = max(abs(row[3] - row[4]) for row in here)
        words = "is the mixture" if apart < 1e-9 else f"is not the mixture, from which it is up to {apart:.3f} away"
        said.append(f"{backup.name}: the limit {words}; measured, V(s) is within {off:.4f} of the limit.")
    last = floor_rows[-1]
    said.append(f"At n = {last[0]:,} the shared average is {last[1]:.4f} off V(s, 1), the formula says {last[2]:.4f}.")
    for name, errors in found.errors.items():
        said.append(f"{name}: error {errors[0]:.4f} at n = {budgets[0]:,}, {errors[-1]:.4f} at n = {budgets[-1]:,}.")
    said.append(f"The empirical cross-depth gap is {found.gaps[0]:.4f} there and {found.gaps[-1]:.4f} here.")
    return said
