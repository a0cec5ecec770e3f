"""GS-Power-UCT, -F and -F+: search on a graph in which trajectories that meet share what they found.

Graph-Based Stochastic Power-UCT, Algorithms 1 and 2 of the paper: nodes are keyed by (state, elapsed steps), or by the
state alone (F, F+), selection adds the bonus C N(s)^(1/4) / N(s,a)^(1/2), an action's value averages
reward + discount * V(child), and a node's value is the power mean of its actions' values.

Departures from the paper:
    1. Weights of the power mean are N(s,a) / sum_b N(s,b), which preserve constants, where the paper divides by N(s),
       which also counts the initial evaluation; `weights="printed"` keeps the paper's.
    2. The defaults are the algorithm as we would run it, not as printed: the graph is kept for the episode, every state
       of a trajectory becomes a node, an action's value is recomputed from counts and the children's present values
       (the estimator of the paper's Lemma on Q-value concentration), C is scaled by the observed range of returns, and
       a backward sweep precedes the decision.
    3. The preset "printed" is Algorithm 1 or 2 to the letter, with a fresh graph per decision.  The preset "paper" is
       how the published tables come out: the graph is kept for the episode and every state of a trajectory becomes a
       node, with the running mean.  Its constants are those that the paper selected; F takes F+'s.
    4. With discount 1, as in both presets, F+'s adaptive horizon is infinite, hence the steps left: F and F+ are then
       one planner.  Outside presets both take discount 0.99: with the current estimator and discount 1 a cycle in the
       graph of states would add its reward once more at every update, without end.
"""

import math
from typing import Any

from gymnasium_gsp.algorithms.registry import Preset, algorithm, on_benchmarks, options_of
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.horizon import AdaptiveHorizon
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus, Table1
from gymnasium_gsp.search.recipe import Recipe, Sweep

_PAPER = {
    "scale": "raw",
    "discount": 1.0,
    "estimator": "running",
    "decision": None,
    "expansion": "path",
    "retention": "episode",
}
_PRINTED = {**_PAPER, "weights": "printed", "expansion": "leaf", "retention": "decision"}


def _presets(c: tuple[float, ...], p: tuple[float, ...]) -> dict[str, Preset]:
    return {"paper": on_benchmarks(_PAPER, c=c, p=p), "printed": on_benchmarks(_PRINTED, c=c, p=p)}


_DEPTH_KEYED = _presets(c=(0.5, 0.5, 0.5, 0.5, 0.5), p=(math.inf, math.inf, math.inf, 2.5, math.inf))
_STATE_KEYED = _presets(c=(1.25, 0.5, 1.5, 0.75, 0.5), p=(math.inf, 4.0, math.inf, 2.5, 4.0))


@algorithm("gs-power-uct", "GS-Power-UCT, Algorithm 1", _DEPTH_KEYED)
def gs_power_uct(
    *,
    c: float = 0.1,
    scale: str = "range",
    p: float = math.inf,
    weights: str = "normalised",
    constants: Table1 | None = None,
    decision: Any = Sweep(),
    **slots: Any,
) -> Recipe:
    """Search on the graph of (state, elapsed steps).

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        p: power of the mean, 1 to infinity; the maximum by default.
        weights: "normalised" or "printed".
        constants: exponents per depth, a claim of Table 1; None for 1/4 and 1/2.
        decision: how the action is chosen; None for the search's own values.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        selection=PolynomialBonus(c, scale, constants),  # type: ignore[arg-type]
        backup=PowerMean(p, weights),  # type: ignore[arg-type]
        estimator="current",
        expansion="path",
        retention="episode",
    ).changed(**({} if decision is None else {"decision": decision}), **slots)


@algorithm("gs-power-uct-f", "GS-Power-UCT-F, Algorithm 2", _STATE_KEYED)
@options_of(gs_power_uct)
def gs_power_uct_f(**options: Any) -> Recipe:
    """Search on the graph of states, whatever their depth; options as for `gs_power_uct`."""
    return gs_power_uct(**{"key": "state", "discount": 0.99, **options})


@algorithm("gs-power-uct-f+", "GS-Power-UCT-F+, Algorithm 2 with eq. adaptive_H", _STATE_KEYED)
@options_of(gs_power_uct)
def gs_power_uct_f_plus(**options: Any) -> Recipe:
    """Search on the graph of states to the adaptive horizon H(n); options as for `gs_power_uct`."""
    return gs_power_uct(**{"key": "state", "horizon": AdaptiveHorizon(), "discount": 0.99, **options})
