"""UCT and Stochastic-Power-UCT: search on a tree.

UCT: L. Kocsis and C. Szepesvari, Bandit based Monte-Carlo planning, ECML 2006.  A tree over action-outcome paths; each
simulation descends by UCB1, adds one node and plays it out; an action's value is the mean of the sampled returns.

Stochastic-Power-UCT: T. Dam, O. Maillard and E. Kaufmann, Power mean estimation in stochastic Monte-Carlo tree search,
UAI 2024.  The same tree; the bonus is polynomial, an action's value averages reward + discount * V(child), and a
node's value is the power mean of its actions' values.
"""

import math
from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.selection import UCB1, PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

_RAW = {"discount": 1.0, "scale": "raw"}
POWER_UCT_C = (1.5, 1.5, 1.5, 0.5, 1.0)
_POWER_UCT_P = (2.0, 2.5, 1.0, 3.0, 2.0)
UCT_PAPER = on_benchmarks(_RAW, c=(1.5, 1.5, 0.5, 1.5, 1.0))
_POWER_UCT_PAPER = on_benchmarks({**_RAW, "target": "return"}, c=POWER_UCT_C, p=_POWER_UCT_P)
_POWER_UCT_PRINTED = on_benchmarks({**_RAW, "weights": "printed"}, c=POWER_UCT_C, p=_POWER_UCT_P)


@algorithm("uct", "Kocsis and Szepesvari 2006", {"paper": UCT_PAPER, "printed": UCT_PAPER})
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
