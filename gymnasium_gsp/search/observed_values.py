"""Which values there are, where no bounds on rewards are declared: a baseline, the range of returns, the largest value.

Simulations teach all three, and each episode learns them anew.
"""

import math

import numpy as np
from numba import njit

from gymnasium_gsp.search.frame import hop_at, interval_of, stats_of
from gymnasium_gsp.search.intervals import end_value
from gymnasium_gsp.search.propagate import renew_all
from gymnasium_gsp.search.trail import observe_return

PASSES, MOST_PASSES = 2, 60  # over all bounds, where the largest value has changed or they are due
SMALLEST_VALUE = 1e-200  # the largest value, where nothing but 0 was seen


@njit
def set_baseline(frame, length):
    """Read rewards less the median one of the first `length` steps of the episode's first simulation; 0 for no step.

    Then no choice depends on a constant that is paid at every step: a simulation that is cut counts as if the median
    reward were paid for ever, and the range of returns does not mix what is paid for many steps with that for few.
    """
    if length == 0:
        frame.program.baseline = 0.0
        return
    rewards = np.empty(length)
    for depth in range(length):
        rewards[depth] = hop_at(frame, depth).reward
    frame.program.baseline = np.sort(rewards)[(length - 1) // 2]


@njit
def observe_values(frame, length, value, ended):
    """Learn from the returns-to-go of a simulation which values there are.

    A node that was met for the first time begins with its return as plain value.

    Args:
        frame: the search.
        length: steps of the simulation.
        value: what lies behind its last step, unless the process has ended there.
        ended: whether it has.
    """
    context, low, high = frame.context, frame.context.smallest_return, frame.context.largest_return
    if context.root_returns == 0:
        # What the end of the process pays is not paid at every step.
        set_baseline(frame, length - 1 if ended else length)
        low, high = math.inf, -math.inf
    if ended:
        value = end_value(frame)
    for depth in range(length - 1, -1, -1):
        hop = hop_at(frame, depth)
        value = hop.reward - frame.program.baseline + context.discount * value
        low, high = min(low, value), max(high, value)
        if stats_of(frame, hop.node).visits <= 1:
            interval_of(frame, hop.node).lower = value
    observe_return(context, value)
    context.smallest_return, context.largest_return = low, high


@njit
def observe_playout(context, value):
    """Let the range of returns hold that of a playout from the root."""
    if context.root_returns == 0:
        context.smallest_return = context.largest_return = value
    context.root_returns += 1
    context.smallest_return = min(context.smallest_return, value)
    context.largest_return = max(context.largest_return, value)


@njit
def largest_value(frame):
    """Return the largest value that is believed possible, see `ingredients.optimism.ImaginedOutcomes`."""
    program, seen, now = frame.program, frame.allocation, frame.context.root_returns
    low, high = frame.context.smallest_return, frame.context.largest_return
    if seen.waiting_since == 0.0:  # the first of the episode
        seen.largest, seen.waiting_since = high, now
    if high > seen.largest:
        seen.waiting_since += (high - seen.largest) / (high - low) * (now - seen.waiting_since)
    seen.smallest, seen.largest = low, high
    if high == low:
        return high + abs(high) if high != 0.0 else SMALLEST_VALUE
    if program.patience == 0.0:
        return high + program.margin * (high - low)
    waited = (now - seen.waiting_since) / (program.patience * (1.0 + frame.context.root_returns_a_node))
    return high + program.margin / (1.0 + waited) * (high - low)


@njit
def renew_if_due(frame):
    """Renew every bound where the range of returns has changed, or the graph's simulations have grown by a quarter."""
    context, program, seen = frame.context, frame.program, frame.allocation
    low, high = context.smallest_return, context.largest_return
    grown = 4 * (context.root_returns - seen.renewed_at) > seen.renewed_at - seen.begun_at
    if low == seen.smallest and high == seen.largest and not grown:
        return
    if grown:
        seen.renewed_at = context.root_returns
        context.root_returns_a_node = (context.root_returns - seen.begun_at) / frame.tally.nodes
    context.top = largest_value(frame)
    program.accuracy = program.relative_accuracy * (context.top - low)
    renew_all(frame, MOST_PASSES if grown else PASSES)
