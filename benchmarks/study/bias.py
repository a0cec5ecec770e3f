"""The cost of sharing a state between depths: `python -m benchmarks.study bias`.

On a chain where s is met at depths 1 and 2 (`chain`) nothing is random and every limit is known.  On random processes
the error of F+ is set beside the paper's terms (`adaptive`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmarks.searches import FreshSearch
from benchmarks.study.adaptive import adaptive_findings, adaptive_plot, adaptive_table, measure_adaptive
from benchmarks.study.chain import HORIZON, IN_TURN, MEAN_OF_TARGETS, S, chain
from benchmarks.study.result import Plot, Study, Table, describe
from benchmarks.study.state_keyed import depth_mixture, state_keyed_limit, uniform_policy, visits_by_depth
from gymnasium_gsp.exact import backward_induction, enumerate_model
from gymnasium_gsp.models.tabular import tabular_model_from_arrays
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.recipe import Recipe

QUESTION = "Which error remains where a graph shares a state between depths, and does F+ lose it?"
ACTIONS = 8  # of the chain; between 1 and 7 of them go straight to s
SHOWN = (0.25, 0.5, 0.75)  # shares on the page; plot and CSV have all


@dataclass(frozen=True)
class Sizes:
    """Sizes of the study.

    Attributes:
        budgets: simulations; the largest stands for the limit.
        processes: random processes for F+.
        replicates: independent searches of each.
    """

    budgets: tuple[int, ...] = tuple(2**k for k in range(6, 17))
    processes: int = 6
    replicates: int = 4


FULL = Sizes()
QUICK = Sizes((64, 512, 4096), 2, 2)


@dataclass(frozen=True)
class Backup:
    """A backup on the chain, with the arguments that compute its limit.

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
    Backup("p = \N{INFINITY}", PowerMean(), math.inf, "normalised"),
)


def value_of_s(straight: int, backup: Any, budget: int, key: str = "state") -> float:
    """Search the chain and return V(s), that of depth 1 where depths are kept apart."""
    recipe = Recipe(
        key=key,  # type: ignore[arg-type]
        selection=IN_TURN,
        backup=backup,
        horizon=FixedHorizon(HORIZON),
        evaluation=Constant(0.0),
        discount=1.0,
    )
    search = FreshSearch(tabular_model_from_arrays(*chain(straight, actions=ACTIONS)), recipe)
    search.plan(budget, 0)
    (value,) = (node["value"] for node in search.nodes() if node["key"] == (S,) and node["tag"] in (0, 1))
    return float(value)


def chain_limits(straight: int, backup: Backup) -> tuple[float, float, float, float]:
    """Compute V(s, 1), V(s, 2), the mixture by the Proposition, and the backup's own limit."""
    model = tabular_model_from_arrays(*chain(straight, actions=ACTIONS))
    space = enumerate_model(model, 0)
    policy, truth = uniform_policy(space), backward_induction(space, HORIZON)
    mixture = depth_mixture(truth, visits_by_depth(space, policy, HORIZON))
    limit = state_keyed_limit(space, policy, HORIZON, backup.p, backup.weights)
    number = space.number(S)
    return truth.value(S, 1), truth.value(S, 2), float(mixture[number]), float(limit[number])


def measure_chain(budget: int) -> pd.DataFrame:
    """Measure V(s) for every backup and share of straight actions."""
    rows = []
    for backup in BACKUPS:
        for straight in range(1, ACTIONS):
            first, second, mixture, limit = chain_limits(straight, backup)
            value = value_of_s(straight, backup.backup, budget)
            row = {"backup": backup.name, "share": straight / ACTIONS, "V(s)": value, "own_limit": limit}
            off = {"off_limit": value - limit, "off_mixture": value - mixture}
            rows.append(row | {"mixture": mixture} | off | {"worst_bias": max(abs(value - first), abs(value - second))})
    return pd.DataFrame(rows)


def measure_floor(budgets: Sequence[int]) -> pd.DataFrame:
    """Measure |V(s) - V(s, 1)| at each budget, half of the actions going straight to s."""
    straight = ACTIONS // 2
    first, _, mixture, _ = chain_limits(straight, BACKUPS[0])
    rows = []
    for n in budgets:
        shared = abs(value_of_s(straight, MEAN_OF_TARGETS, n) - first)
        printed = abs(value_of_s(straight, PowerMean(2.0, "printed"), n) - first)
        apart = abs(value_of_s(straight, MEAN_OF_TARGETS, n, "state_elapsed") - first)
        rows.append(
            {
                "n": n,
                "shared": shared,
                "formula": abs(mixture - first),
                "p = 2, printed": printed,
                "depths apart": apart,
            }
        )
    return pd.DataFrame(rows)


def run(sizes: Sizes, seed: int, progress: Callable[[str], None] = lambda words: None) -> Study:
    """Measure and summarise."""
    progress("the chain")
    values, floor = measure_chain(sizes.budgets[-1]), measure_floor(sizes.budgets)
    adaptive = measure_adaptive(sizes.budgets, sizes.processes, sizes.replicates, seed, progress)
    chain_notes = [
        "V(s, 1) = 3 and V(s, 2) = 2. Share: of the visits that are at depth 1. Own limit: the fixed point of the "
        "backup, computed. Mixture: the Proposition's formula. Worst bias: the larger distance of V(s) from V(s, 1) "
        "and V(s, 2). Targets: the mean of all targets, which the Proposition is about. Nothing here is random."
    ]
    floor_notes = [
        "Distance of V(s) from V(s, 1), half of the visits being at depth 1: with one mean of targets for both depths, "
        "by the Proposition's formula, with a power mean, and with a node for each depth."
    ]
    four = dict.fromkeys(("V(s)", "own_limit", "mixture", "off_limit", "off_mixture", "worst_bias"), "{:z.4f}".format)
    shown = values[values["share"].isin(SHOWN)]
    return Study(
        "bias",
        QUESTION,
        tables=[
            Table("chain", "The chain: V(s) at the largest budget", shown, four, chain_notes),
            Table(
                "floor",
                "The chain: the error floor",
                floor,
                dict.fromkeys(floor.columns[1:], "{:z.4f}".format),
                floor_notes,
            ),
            adaptive_table(adaptive),
            Table("all-shares", "The chain: V(s) at every share", values, on_page=False),
        ],
        plots=[chain_plot(values), floor_plot(floor), adaptive_plot(adaptive)],
        findings=[*chain_findings(values, floor), *adaptive_findings(adaptive)],
        settings=describe(seed, sizes),
    )


def chain_plot(values: pd.DataFrame) -> Plot:
    """Plot V(s) against the share of visits at depth 1."""
    lines = values.pivot(index="share", columns="backup", values="V(s)")[[backup.name for backup in BACKUPS]]
    lines["mixture formula"] = values.groupby("share")["mixture"].first()
    return Plot("V(s) on the chain", "share of visits at depth 1", "V(s)", lines, computed=["mixture formula"], log="")


def floor_plot(floor: pd.DataFrame) -> Plot:
    """Plot the error floor."""
    labels = {"shared": "states, mean of targets", "formula": "floor by the formula"}
    labels |= {"p = 2, printed": "states, p = 2 printed", "depths apart": "(state, depth)"}
    lines = floor.set_index("n").rename(columns=labels)
    return Plot(
        "The error floor on the chain", "simulations n", "|V(s) - V(s, 1)|", lines, computed=["floor by the formula"]
    )


def chain_findings(values: pd.DataFrame, floor: pd.DataFrame) -> list[str]:
    """Compare limits with the mixture, and measured values with limits."""
    said = []
    for name, here in values.groupby("backup", sort=False):
        off, apart = here["off_limit"].abs().max(), (here["own_limit"] - here["mixture"]).abs().max()
        words = "is the mixture" if apart < 1e-9 else f"is not the mixture, from which it is up to {apart:.3f} away"
        said.append(f"{name}: the limit {words}; measured, V(s) is within {off:.4f} of the limit.")
    last = floor.iloc[-1]
    said.append(
        f"At n = {last['n']:,.0f} the shared average is {last['shared']:.4f} off V(s, 1), the formula says "
        f"{last['formula']:.4f}."
    )
    return said
