"""BRUE: best recommendation with uniform exploration.

Z. Feldman and C. Domshlak, Simple regret optimization in online planning for Markov decision processes, Journal of
Artificial Intelligence Research 51, 2014 (first: Online planning in MDPs: rationality and optimization, 2012).  Finding
out which action is best and finding out how good it is are separated.  Each simulation explores uniformly up to a
switching point and from there follows the best estimates so far; the return from there is an estimate for the action at
the switching point and for nothing else, so no estimate is spoilt by exploration below it.  The switching points take
turns over the steps of the horizon, and the probability of recommending a bad action falls exponentially.

Departures from the paper:
    1. The first simulation switches at the root, the others go up from the deepest step, as printed; printed, the root
       would learn nothing before the turn is over, and 200 steps are many for a budget of 64.
    2. The default horizon is 3 steps, and the return behind it that of a playout with uniform actions; in the paper
       the process ends there.  `horizon=StepsLeft()` and the preset "paper" look to the end as printed.
    3. A simulation that ends before its switching point teaches nothing, as printed.
    4. Every state of a trajectory becomes a node, though only switching points learn; values are the same, more are
       stored.
    5. The preset "paper" is the algorithm as printed with discount 1.  The paper measures other environments, and the
       algorithm has no constants to select.
"""

from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients.switching import Switching
from gymnasium_gsp.search.recipe import Recipe

_PAPER = on_benchmarks({"horizon": StepsLeft(), "discount": 1.0})


@algorithm("brue", "Feldman and Domshlak 2014", {"paper": _PAPER})
def brue(**slots: Any) -> Recipe:
    """BRUE on states at the same time of the episode.

    Args:
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="state_elapsed",
        selection=Switching(),
        target="return",
        expansion="path",
        learning="at_the_switch",
        horizon=FixedHorizon(3),
    ).changed(**slots)
