"""GRAFT: optimism that travels through the graph of states, and a cautious decision.

Exploration is that of optimistic initial models (Szita and Lorincz 2008) inside the search: a node is a state, whatever
its depth, and every action is believed to have led to the largest value a few times more often than it was tried.
After a simulation the optimistic values that moved are told to the states that lead there, as in prioritised sweeping
(Moore and Atkeson 1993) and GBOP (Leurent and Maillard 2020).  Every second simulation follows the
largest plain value instead, as those of RTDP do (Barto, Bradtke and Singh 1995).  The decision is made by plain values,
after sweeps over what the root reaches, less a part of their standard errors.  Where hardly anything
recurs, the root's actions are compared in paired scenarios instead, see `search.scenarios`.

Departures from these sources:
    1. The largest value follows from the returns of this episode's simulations, so no reward bounds are needed.  It
       lies the less above them the longer no simulation returned more.
       Rewards are read less a baseline, the median one of the first simulation, see `search.observed_values`.
    2. The number of imagined outcomes grows with the simulations in the graph, which makes the search consistent; see
       `ImaginedOutcomes`.
    3. A simulation renews only the actions that it took and those that lead to a value that moved, and at most
       `backups` nodes beyond its trail for each of its steps.
    4. States hold no clock.  With H steps in an episode the discount is 1 - 1/H, so that a value looks about as far as
       an episode does.  Where few steps are left, or the search was long, the decision is made by backward induction
       over the steps left, without discount, unless rewards follow the clock: the graph holds their means, in
       which nothing is lost by being late.
    5. A greedy simulation tells no state of optimistic values that it made stale; the next optimistic one that comes
       by, or the renewal of all of them, does.
"""

import math
from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.optimism import ImaginedOutcomes, Propagation
from gymnasium_gsp.search.recipe import GreedySimulations, PairedScenarios, Recipe, Sweep


@algorithm("graft", "this package; exploration after Szita and Lorincz 2008", {})
def graft(
    *,
    weight: float = 0.3,
    margin: float = 1.0,
    patience: float | None = 300.0,
    floor: float = 0.05,
    accuracy: float = 0.001,
    backups: int | None = 2,
    caution: float = 0.5,
    **slots: Any,
) -> Recipe:
    """Search the graph of states with optimism, decide with caution.

    Args:
        weight: imagined outcomes of each action at the start of an episode.
        margin: by how much of the range of returns seen the largest value lies above it, at first.
        patience: simulations without a larger return after which half of the margin is left; None if it stays.
        floor: imagined outcomes of each action more, where there is one more simulation in the graph for each state.
        accuracy: an optimistic value that moves by more than this, in units of the range of values, is told to the
            states that lead there.
        backups: states that may be renewed beyond the trail for each of its steps; None for as many as it takes.
        caution: how many standard errors the decision takes off an action of the root.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="state",
        expansion="path",
        discount="from_horizon",
        optimism=ImaginedOutcomes(weight, margin, floor, patience),
        propagation=Propagation(accuracy, backups),
        greedy_simulations=GreedySimulations(),
        root_allocation=PairedScenarios(),
        retention="episode",
        decision=Sweep(PowerMean(math.inf), 8, caution),
    ).changed(**slots)
