"""UCT and its relatives: search on a tree.

UCT: L. Kocsis and C. Szepesvari, Bandit based Monte-Carlo planning, ECML 2006.  A tree over action-outcome paths; each
simulation descends by UCB1, adds one node and plays it out; an action's value is the mean of the sampled returns.

Stochastic-Power-UCT: T. Dam, O. Maillard and E. Kaufmann, Power mean estimation in stochastic Monte-Carlo tree search,
UAI 2024.  The same tree; the bonus is polynomial, an action's value averages reward + discount * V(child), and a
node's value is the power mean of its actions' values.

MaxUCT: T. Keller and M. Helmert, Trial-based heuristic tree search for finite horizon MDPs, ICAPS 2013.
Fixed-Depth MCTS: D. Shah, Q. Xie and Z. Xu, Non-asymptotic analysis of Monte Carlo tree search, SIGMETRICS 2020; under
the same title in Operations Research, 2022.
"""

import math
from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients.selection import UCB1, PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

_RAW = {"discount": 1.0, "scale": "raw"}
_POWER_UCT_C = (1.5, 1.5, 1.5, 0.5, 1.0)
_POWER_UCT_P = (2.0, 2.5, 1.0, 3.0, 2.0)
_UCT_PAPER = on_benchmarks(_RAW, c=(1.5, 1.5, 0.5, 1.5, 1.0))
_POWER_UCT_PAPER = on_benchmarks({**_RAW, "target": "return"}, c=_POWER_UCT_C, p=_POWER_UCT_P)
_FIXED_DEPTH = on_benchmarks({"scale": "raw"}, c=_POWER_UCT_C)
_POWER_UCT_PRINTED = on_benchmarks({**_RAW, "weights": "printed"}, c=_POWER_UCT_C, p=_POWER_UCT_P)


@algorithm("uct", "Kocsis and Szepesvari 2006", {"paper": _UCT_PAPER, "printed": _UCT_PAPER})
def uct(*, c: float = 1.0 / math.sqrt(2.0), scale: str = "range", **slots: Any) -> Recipe:
    """UCT: UCB1 on a tree, means of sampled returns, leaf expansion with one rollout.

    Departures:
        1. The default C is 1 / sqrt(2) times the observed range of returns; the original has C_p = 1 / sqrt(2) in
           2 C_p sqrt(log N / n), for rewards in [0, 1].  The presets have the raw constants of the GS-Power-UCT paper.

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=UCB1(c, scale),  # type: ignore[arg-type]
        target="return",
        backup=PowerMean(1.0),
    ).changed(**slots)


@algorithm("power-uct", "Dam, Maillard and Kaufmann 2024", {"paper": _POWER_UCT_PAPER, "printed": _POWER_UCT_PRINTED})
def power_uct(
    *, c: float = 0.5, scale: str = "range", p: float = 2.0, weights: str = "normalised", **slots: Any
) -> Recipe:
    """Stochastic-Power-UCT: polynomial bonus and power mean on a tree, leaf expansion with one rollout.

    Departures:
        1. Weights of the power mean are N(s,a) / sum_b N(s,b), which preserve constants, where the paper divides by
           N(s); `weights="printed"` keeps the paper's.
        2. The default C is scaled by the observed range of returns.
        3. The preset "paper" averages sampled returns, because the published figures do (docs/results.md); the preset
           "printed" averages reward + discount * V(child), as the algorithm is printed.

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        p: power of the mean, 1 to infinity.
        weights: "normalised" or "printed".
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=PolynomialBonus(c, scale),  # type: ignore[arg-type]
        backup=PowerMean(p, weights),  # type: ignore[arg-type]
    ).changed(**slots)


@algorithm("uct-max", "Keller and Helmert 2013", {"paper": _UCT_PAPER})
def uct_max(*, c: float = 1.0 / math.sqrt(2.0), scale: str = "range", **slots: Any) -> Recipe:
    """UCT with the maximum as backup: UCB1 on a tree, and a node is worth its best action.

    As UCT it descends by UCB1, adds one node a simulation and plays it out.  But an action's value is computed from the
    values that its outcomes have now, weighted by how often they came, and a node's value is that of its best action.
    Bad actions tried for exploration then no longer pull their parent down.

    Departures:
        1. The default C is 1 / sqrt(2) times the observed range of returns, as for `uct`; Keller and Helmert scale by
           the node's value.
        2. Untried actions are taken first, and new nodes are played out, where PROST initialises all successors by a
           heuristic.
        3. The preset "paper" has the constants that the GS-Power-UCT paper selected for UCT, and discount 1.

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=UCB1(c, scale),  # type: ignore[arg-type]
        backup=PowerMean(math.inf),
        estimator="current",
    ).changed(**slots)


@algorithm("fixed-depth-mcts", "Shah, Xie and Xu 2022", {"paper": _FIXED_DEPTH})
def fixed_depth_mcts(*, c: float = 0.5, scale: str = "range", depth: int | None = 10, **slots: Any) -> Recipe:
    """Fixed-Depth MCTS: the polynomial bonus N(s)^(1/4) / N(s,a)^(1/2) on a tree of fixed depth.

    Every simulation selects actions down to the same depth, adding the nodes that are missing, and asks there for a
    value.  An action's value is the mean of the sampled returns.  The bonus is polynomial, because the logarithm of
    UCT does not cover the returns of a tree, which are not independent and whose means move.

    Departures:
        1. The paper has deterministic transitions; here a node is a path of actions and outcomes.
        2. Its value function at the leaves is a playout with uniform actions, unless `evaluation` says otherwise.
        3. The paper's exponents are alpha / xi and 1 - eta with eta in [1/2, 1); here eta = 1/2, and its constant
           beta^(1/xi), one per depth, is C at every depth.  The default C is scaled by the observed range of returns.
        4. Depth 10; with playouts behind it the returns hardly depend on it (docs/algorithms.md).
        5. The preset "paper" has the constants that the GS-Power-UCT paper selected for Power-UCT, whose bonus it is;
           that paper gives no figures for this planner.

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        depth: steps from the root; None for the steps that are left.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=PolynomialBonus(c, scale),  # type: ignore[arg-type]
        target="return",
        backup=PowerMean(1.0),
        expansion="path",
        horizon=StepsLeft() if depth is None else FixedHorizon(depth),
    ).changed(**slots)
