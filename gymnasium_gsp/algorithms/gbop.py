"""GBOP: optimistic planning on a graph of states that keep an upper and a lower bound.

E. Leurent and O. Maillard, Monte-Carlo graph search: the value of merging similar states, ACML 2020.  A node is a
state, whatever its depth, and keeps an upper and a lower bound on its discounted value, from KL balls around the
observed frequencies.  Trajectories follow the largest upper bound, and after each of them the bounds of the states that
lead there are renewed wherever one has moved.  The action with the largest lower bound is executed.

Departures from the paper and from its public version (rl-agents, StochasticGraphBasedPlanner):
    1. A state where the process has ended is worth exactly 0 and ends a trajectory; the public version steps on after
       the end.  A time limit stops a trajectory but fixes no value, so values are those of the endless process.
    2. All next states that were never seen are one implicit outcome, so nobody has to give their largest number.
    3. The lower bound takes the lower end of a reward, and an unseen outcome counts the least possible value in it; the
       public version takes the upper end and 1.
    4. Bounds are solved to 1e-9, not 1e-2.
    5. Rewards lie between the model's declared bounds, of either sign, not in [0, 1]; the accuracy is in units of
       their range.
    6. A node waits in the queue of partial value iteration once, however often it is called for.
    7. The action is chosen among those that were tried.
    8. What is known is dropped between episodes, as the GS-Power-UCT paper's figures were made.
    9. Trajectories are no longer than the steps that are left.
    10. gbop-d is the same loop with the frequencies observed as the law, and a trajectory ends with the first action
        that it tries anew.  So it steps forward from the root, as every model can, where the original clones a state
        inside the graph, and trying all actions of a node takes as many trajectories.
"""

from typing import Any

from gymnasium_gsp.algorithms.registry import algorithm, on_benchmarks, options_of
from gymnasium_gsp.search.ingredients.horizon import AdaptiveHorizon, FixedHorizon
from gymnasium_gsp.search.ingredients.optimism import KullbackLeibler, Propagation
from gymnasium_gsp.search.recipe import Recipe

# The paper gives no values for FrozenLake; these are the ones it gives for all other environments.
_PAPER = on_benchmarks({"discount": 0.99, "accuracy": 0.001, "threshold": "published"})
_PRESETS = {"paper": _PAPER, "printed": _PAPER}
_PAPER_D = on_benchmarks({"discount": 0.99, "accuracy": 0.001})


@algorithm("gbop", "Leurent and Maillard 2020", _PRESETS)
def gbop(
    *, accuracy: float = 0.001, threshold: Any = "published", reward_threshold: float = 0.0, **slots: Any
) -> Recipe:
    """Graph-Based Optimistic Planning for stochastic processes.

    Args:
        accuracy: a bound that moves by more than this, in units of the range of one reward, is told to the states that
            lead there.
        threshold: how far the law of an action may lie from the frequencies observed: "published", 0.1 log M for M
            trajectories; `Confidence(delta)`; "none", the frequencies are the law.
        reward_threshold: the same for mean rewards, as a multiple of log M; 0 for the mean observed.
        **slots: other choices for slots of the recipe.
    """
    return Recipe(
        key="state",
        expansion="path",
        horizon=AdaptiveHorizon(),
        discount=0.99,
        optimism=KullbackLeibler(threshold, reward_threshold),
        propagation=Propagation(accuracy),
        retention="episode",
    ).changed(**slots)


@algorithm("gbop-d", "Leurent and Maillard 2020, deterministic", {"paper": _PAPER_D, "printed": _PAPER_D})
@options_of(gbop)
def gbop_d(**options: Any) -> Recipe:
    """Graph-Based Optimistic Planning where nothing is random; elsewhere its bounds mean nothing; options as `gbop`."""
    return gbop(**{"threshold": "none", "expansion": "leaf", "horizon": FixedHorizon(100), **options})
