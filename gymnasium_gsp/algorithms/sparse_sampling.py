"""Sparse sampling: a tree in which every action of every state is tried equally often.

M. Kearns, Y. Mansour and A. Ng, A sparse sampling algorithm for near-optimal planning in large Markov decision
processes, Machine Learning 49, 2002.  Each action of each state is sampled C times, to a depth of H steps.  An action's
value is the mean of reward + discount * value of the sampled next states, a state's value the largest of its actions',
and 0 at depth H.  The cost does not depend on the number of states, but grows like (actions * C)^H.

Departures from the paper:
    1. At the root the budget decides how often each action is sampled, in turn; C holds below it.  One simulation is
       one such sample with the whole tree below it.
    2. C and H are chosen by the user, not from the accuracy wanted; H is never more than the steps that are left.
    3. A tree that the budget cuts counts what was sampled so far.
    4. The preset "tuned" has the C and H of nine pairs that scored best on each benchmark (docs/experiments.md): one
       sample an action, as deep as 4 or 21 actions let it look.
    5. The tree is walked, not kept: `nodes` and `graph_size` count the root and the states next to it.
"""

from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks
from gymnasium_gsp.errors import RecipeError, check_count
from gymnasium_gsp.search.ingredients.evaluation import SampledTree
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.ingredients.selection import Balanced
from gymnasium_gsp.search.recipe import Recipe

_TUNED = on_benchmarks({"width": 1}, depth=(4, 4, 4, 2, 4))


@algorithm("sparse-sampling", "Kearns, Mansour and Ng 2002", {"tuned": _TUNED})
def sparse_sampling(*, width: int = 2, depth: int = 3, **slots: Any) -> Recipe:
    """Sparse sampling.

    Args:
        width: C, how often each action of a state below the root is tried; at the root the budget decides.
        depth: H, how many steps the tree looks ahead, at least 1.
        **slots: other choices for slots of the recipe.
    """
    if "horizon" in slots or "evaluation" in slots:
        raise RecipeError("sparse-sampling looks ahead by its own tree, not by a horizon: give width= and depth=3")
    return Recipe(
        key="path",
        selection=Balanced(),
        target="return",
        evaluation=SampledTree(width, check_count("depth", depth) - 1),
        horizon=FixedHorizon(1),
        discount=0.99,
    ).changed(**slots)
