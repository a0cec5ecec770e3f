"""Search with a prior: PUCT as in AlphaZero, and Gumbel MuZero's search.  They plan in a model that is given.

PUCT: C. D. Rosin, Multi-armed bandits with episode context, Annals of Mathematics and Artificial Intelligence 61, 2011;
D. Silver et al., Mastering the game of Go without human knowledge, Nature 550, 2017.  A tree; the bonus of an action is
in proportion to its prior; an action's value is the mean of what was backed up through it.

Gumbel: I. Danihelka, A. Guez, J. Schrittwieser and D. Silver, Policy improvement by planning with Gumbel, ICLR 2022.
The same tree; the root's actions are drawn by the prior and halved, and below the root visits follow the improved
policy.

Prior and leaf values are those of `make_agent(prior=..., value_function=...)`.  Without a prior all actions count the
same, and without a value function a leaf is worth a playout, so that both are planners of their own.

Departures from the papers:
    1. C and the scale of values are relative to the range of the returns in this episode; AlphaZero's values lie
       between -1 and 1, and MuZero takes the range of the values in the tree.
    2. An untried action's value in PUCT is the mean of the tried ones', where Silver et al. take 0.
    3. No noise: PUCT mixes none into the root's prior, and Gumbel noise draws the root's actions but counts nothing in
       their scores unless `noise` says so.  It is for exploring while a network is trained.
    4. Rounds of the halving end at equal shares of the budget, so that it may be one in seconds or model steps.
"""

from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.prior import PUCT, GumbelHalving, ImprovedPolicy
from gymnasium_gsp.search.recipe import Recipe


@algorithm("puct", "Silver et al. 2017", {})
def puct(*, c: float = 0.5, scale: str = "range", **slots: Any) -> Recipe:
    """PUCT on a tree, means of sampled returns; the action with the most visits.

    Args:
        c: exploration constant.
        scale: "raw", or "range" to multiply it by the observed range of returns.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=PUCT(c, scale),  # type: ignore[arg-type]
        target="return",
        backup=PowerMean(1.0),
        recommendation="most_visits",
    ).changed(**slots)


@algorithm("gumbel", "Danihelka et al. 2022", {})
def gumbel(
    *, considered: int = 16, noise: float = 0.0, c_visit: float = 50.0, c_scale: float = 1.0, **slots: Any
) -> Recipe:
    """Sequential halving over actions drawn by the prior, and visits by the improved policy below.

    Args:
        considered: most actions that the root draws.
        noise: weight of the Gumbel noise in the scores.
        c_visit: what a value counts for beside the prior grows with this plus the most visits of an action.
        c_scale: the same is multiplied by this.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="path",
        selection=ImprovedPolicy(c_visit, c_scale),
        root_allocation=GumbelHalving(considered, noise, c_visit, c_scale),
        target="return",
        backup=PowerMean(1.0),
    ).changed(**slots)
