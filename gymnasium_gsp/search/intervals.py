"""Nodes that keep intervals: an upper and a lower bound on a state's value and on each action's, in place of means.

A row's values are the upper bounds, the place of its variances holds the lower ones; where values are learned, these
are plain values, -infinity until they are computed.  An action's bounds come from its outcomes by the recipe's `bound`
function.
"""

import math

from numba import njit, types

from gymnasium_gsp.abi.context import legal_mask
from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.signatures import call_bound
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import OUTCOME_CELLS, edge_at, interval_of, node_at, stats_of
from gymnasium_gsp.search.playout import read_allowed


@njit
def set_up(frame, number):
    """Give a new node the widest interval there is; where the lower end is a mean, nothing was sampled yet."""
    node = node_at(frame, number)
    frame.tally.created += 1
    node.interval.order = frame.tally.created
    node.stats.value = frame.context.top
    node.interval.lower = 0.0 if frame.program.lower_is_mean != 0 else frame.context.bottom


@njit
def stale_bit(action):
    """Return the bit of `INTERVAL.stale` that stands for an action."""
    return types.int64(1) << (action & 63)


@njit
def open_actions(frame, number):
    """Set up the actions of a node; returns False if it has none.  Both bounds of an illegal one are -infinity.

    A sequence of actions leads to states that may differ in their legal actions: with masks, none counts there before
    it was legal once, see `optimistic.optimistic_action`.
    """
    program, context, mask, node = frame.program, frame.context, legal_mask(frame.context), node_at(frame, number)
    by_actions = program.key == codes.BY_ACTIONS
    legal = 1 if by_actions else read_allowed(frame, frame.state, number)
    for action in range(program.actions):
        allowed = context.masked == 0 or (not by_actions and mask[action] != 0.0)
        node.q[action] = context.top if allowed else -math.inf
        node.lower[action] = context.bottom if allowed else -math.inf
    node.interval.opened = legal
    return legal > 0


@njit
def end_value(frame):
    """Return what the end of the process is worth where rewards are read less a baseline: 0 a step, without end."""
    baseline = frame.program.baseline
    return -baseline / (1.0 - frame.context.discount) if baseline != 0.0 else 0.0


@njit
def action_bound(frame, node, action, side):
    """Return the upper (side 1) or lower (side -1) bound on an action's value, from the present bounds behind it."""
    program, context = frame.program, frame.context
    visits = node.counts[action]
    if visits == 0:
        return context.top if side > 0.0 else context.bottom
    number, count, outcomes = node.heads[action], 0, frame.scratch
    baseline, end = program.baseline, end_value(frame)
    while number != codes.NO_EDGE:
        edge, outcome = edge_at(frame, number), offset(outcomes, OUTCOME_CELLS * count)
        outcome[0], outcome[1], outcome[2] = edge.count, edge.reward - edge.count * baseline, end
        if edge.child >= 0:
            outcome[2] = stats_of(frame, edge.child).value if side > 0.0 else interval_of(frame, edge.child).lower
        count += 1
        number = types.int64(edge.next)
    context.node_order = node.interval.order
    bound = call_bound(
        program.bound, offset(frame.params, program.bound_params), context, visits, outcomes, count, side
    )
    return min(max(bound, context.bottom), context.top)


@njit
def within_bounds(context, reward):
    """Return whether a reward lies within the declared bounds, up to rounding."""
    slack = 1e-9 * max(abs(context.lowest_reward), abs(context.highest_reward))
    return context.lowest_reward - slack <= reward <= context.highest_reward + slack
