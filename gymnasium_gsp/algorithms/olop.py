"""OLOP and KL-OLOP: optimistic planning among sequences of actions.

OLOP: S. Bubeck and R. Munos, Open loop optimistic planning, COLT 2010.  KL-OLOP: E. Leurent and O. Maillard, Practical
open-loop optimistic planning, ECML PKDD 2019.  Each sequence of actions keeps an upper bound on the mean reward of its
last step; a trajectory follows the sequence whose smallest bound over prefixes is largest; the first action that was
played most is executed.  KL-OLOP bounds rewards by Kullback-Leibler divergence, which keeps them below 1, where OLOP's
bounds exceed it and make all sequences alike for long.

Departures from the papers:
    1. Sequences are stored as they are met (Leurent and Maillard show that this changes nothing), and among sequences
       with equal bounds one with actions never played is taken, then chance decides step by step.
    2. After the end of the process all rewards are 0, without model steps; rewards lie between the declared bounds, 0
       among them.
    3. M and L come from the budget in steps as in the papers, or M is the budget in simulations; if ends leave steps
       over, more trajectories are run.  Sequences are no longer than the steps that are left.
    4. Where states differ in their legal actions, a step takes the best legal one of the state that it is in.
    5. Of first actions played equally often the one with the best mean sampled return is taken.
    6. The papers give no discount for these environments; the default is 0.9.  The preset "tuned" has the one of 0.5,
       0.7, 0.8, 0.9, 0.95 and 0.99 that scored best over the five benchmarks (docs/experiments.md).
"""

from typing import Any, Literal

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks, options_of
from gymnasium_gsp.search.ingredients.horizon import AdaptiveHorizon
from gymnasium_gsp.search.ingredients.optimism import RewardBound
from gymnasium_gsp.search.recipe import Recipe


@algorithm("olop", "Bubeck and Munos 2010", {"tuned": on_benchmarks({"discount": 0.95})})
def olop(*, bound: Literal["hoeffding", "kl"] = "hoeffding", **slots: Any) -> Recipe:
    """Open-loop optimistic planning with Hoeffding's bounds.

    Args:
        bound: on the mean reward of a step, "hoeffding" or "kl".
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="actions",
        expansion="path",
        horizon=AdaptiveHorizon(),
        discount=0.9,
        optimism=RewardBound(bound),
        recommendation="most_visits",
    ).changed(**slots)


@algorithm("kl-olop", "Leurent and Maillard 2019", {"tuned": on_benchmarks({"discount": 0.99})})
@options_of(olop)
def kl_olop(**options: Any) -> Recipe:
    """Open-loop optimistic planning with bounds by Kullback-Leibler divergence; options as for `olop`."""
    return olop(**{"bound": "kl", **options})
