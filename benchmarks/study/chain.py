"""The two-depth chain, on which sharing a state between depths has a bias that can be computed by hand.

The root leads to s directly or by a detour, so s is met at depths 1 and 2.  From s a corridor x1, x2, x3 follows, which
the horizon 4 cuts.  With reward 1 per step in the corridor and V_0 = 0, the truncated values are V(s, 1) = 3 and
V(s, 2) = 2.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.search.ingredients.ingredient import Custom

ROOT, DETOUR, S, X1, X2, X3 = range(6)
HORIZON = 4


def least_tried(params, context, visits, q, counts, rng):
    """Choose the action tried least often, without chance."""
    fewest = 0
    for action in range(context.actions):
        if counts[action] < counts[fewest]:
            fewest = action
    return fewest


def mean_of_targets(params, context, visits, q, counts, variance, value, target):
    """Average the targets of all visits, evaluations of the node included: the Proposition's shared average."""
    return value + (target - value) / visits


IN_TURN = Custom(least_tried, kind="select")
MEAN_OF_TARGETS = Custom(mean_of_targets, kind="backup")

Tables = tuple[NDArray[np.float64], NDArray[np.float64]]


def chain(
    straight: int = 2, corridor: Sequence[float] | None = None, chance: float | None = None, actions: int = 4
) -> Tables:
    """Make the chain's transitions, shape (6, actions, 6), and rewards, shape (6, actions).

    Args:
        straight: number of the root's actions that go straight to s.
        corridor: reward of each action in s, x1 and x2; 1 for all if not given.
        chance: instead of `straight`, the probability that any action goes straight to s.
        actions: number of actions.
    """
    transitions, rewards = np.zeros((6, actions, 6)), np.zeros((6, actions))
    for action in range(actions):
        share = float(action < straight) if chance is None else chance
        transitions[ROOT, action, [S, DETOUR]] = share, 1.0 - share
    for state, after in ((DETOUR, S), (S, X1), (X1, X2), (X2, X3), (X3, X3)):
        transitions[state, :, after] = 1.0
    rewards[S:X3] = 1.0 if corridor is None else corridor
    return transitions, rewards
