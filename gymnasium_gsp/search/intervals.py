"""Nodes that keep intervals: an upper and a lower bound on a state's discounted value and on each action's.

Both bounds of an action come from a ball around the outcomes observed (`bounds.extreme_mean`); all outcomes that were
never seen are one, worth the most or the least that is possible.  Nodes, table and edges are those of `graph`: a row's
values are the upper bounds, the place of its variances holds the lower ones, and edges also list predecessors.
"""

import math

from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import as_reals, below, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.bounds import PAIR, extreme_mean, extreme_reward
from gymnasium_gsp.search.graph import edge_child, next_edge
from gymnasium_gsp.search.playout import read_legal

# A node's cells from program[BOUNDS_AT] on.
LOWER_VALUE = 0  # float64; the upper bound is NODE_VALUE
PREDECESSORS = 1  # first edge of the list of nodes that have led here
QUEUED = 2  # 0, or in the queue: -1 where it is the last, else 1 + the next node
BIRTH = 3  # which node of this graph it is, from 1
OPENED = 4  # whether its actions have been set up
BOUND_CELLS = 5

# params: what is known beforehand.
TOP, BOTTOM = 0, 1  # largest and smallest value that a state can have
LOW, HIGH = 2, 3  # reward bounds
ACCURACY = 4  # a bound that moves by more is told to the predecessors
BASE, PER_VISIT, PER_BIRTH = 5, 6, 7  # threshold: BASE + PER_VISIT log(1 + n) + PER_BIRTH log((k + 1)(k + 2))
REWARD_THRESHOLD = 8  # of the bounds on mean rewards; 0 for the mean itself
GROUPED = 9  # 1 if an outcome is a next state with its mean reward, 0 if it is a next state and a reward
ENDS_ON_NEW = 10  # 1 if a trajectory ends with the first action that was never tried before
PARAMS = 11


@njit
def within_bounds(params, reward):
    """Whether a reward lies within the declared bounds, up to rounding."""
    slack = 1e-9 * max(abs(params[LOW]), abs(params[HIGH]))
    return params[LOW] - slack <= reward <= params[HIGH] + slack


@njit
def initialise(program, tally, params, row):
    """A node of which nothing is known."""
    own = offset(row, program[at.BOUNDS_AT])
    tally[at.BIRTHS] += 1
    own[BIRTH] = tally[at.BIRTHS]
    as_reals(row)[at.NODE_VALUE] = params[TOP]
    as_reals(own)[LOWER_VALUE] = params[BOTTOM]


@njit
def open_node(program, params, model_params, context, row, state):
    """Set up a node's actions; False if it has none.  An action that is not legal has both bounds at -infinity."""
    legal = read_legal(program, model_params, context, state)
    upper, lower = as_reals(offset(row, program[at.Q_AT])), as_reals(offset(row, program[at.VARIANCE_AT]))
    for action in range(program[at.ACTIONS]):
        allowed = program[at.LEGAL] == 0 or context[abi.CONTEXT_SIZE + action] != 0.0
        upper[action] = params[TOP] if allowed else -math.inf
        lower[action] = params[BOTTOM] if allowed else -math.inf
    offset(row, program[at.BOUNDS_AT])[OPENED] = 1
    return legal > 0


@njit
def bounded_reward(params, mean, count, side):
    """A mean reward moved to the end of its interval; side is 1 for the upper end and -1 for the lower."""
    span = params[HIGH] - params[LOW]
    if params[REWARD_THRESHOLD] == 0.0 or span == 0.0:
        return mean
    scaled = min(max((mean - params[LOW]) / span, 0.0), 1.0)
    end = 1.0 if side > 0.0 else 0.0
    return params[LOW] + span * extreme_reward(scaled, params[REWARD_THRESHOLD] / count, end)


@njit
def radius(program, params, row, n):
    """How far in divergence an action's law may lie from the frequencies of n samples."""
    threshold = params[BASE]
    if params[PER_VISIT] != 0.0:
        birth = offset(row, program[at.BOUNDS_AT])[BIRTH]
        threshold += params[PER_VISIT] * math.log(1.0 + n)
        threshold += params[PER_BIRTH] * (math.log(birth + 1.0) + math.log(birth + 2.0))
    return threshold / n


@njit
def action_bound(program, params, context, rows, edges, row, action, side, outcomes):
    """Upper (side 1) or lower (side -1) bound on an action's value, from the outcomes and their present bounds.

    Outcomes that found no room in memory are one more that was seen, of extreme value.  The solver gets values between
    0 and 1, so that no choice depends on the unit of rewards.
    """
    extreme = params[TOP] if side > 0.0 else params[BOTTOM]
    n = offset(row, program[at.COUNTS_AT])[action]
    if n == 0:
        return extreme
    stride, value_at = program[at.STRIDE], at.NODE_VALUE
    if side < 0.0:
        value_at = program[at.BOUNDS_AT] + LOWER_VALUE
    span = params[TOP] - params[BOTTOM]
    number, count, unstored, mean = row[program[at.HEADS_AT] + action], 0, n, 0.0
    while number != at.NO_EDGE:
        edge = offset(edges, number * at.EDGE_SIZE)
        times, child = edge[at.EDGE_COUNT], edge_child(edge)
        reward = as_reals(edge)[at.EDGE_REWARD]
        if params[GROUPED] != 0.0:
            reward = bounded_reward(params, reward / times, times, side)
        value = reward
        if child >= 0:
            value += context[abi.DISCOUNT] * as_reals(rows)[child * stride + value_at]
        outcomes[PAIR * count], outcomes[PAIR * count + 1] = side * (value - extreme) / span, times / n
        mean += value * (times / n)
        unstored -= times
        count += 1
        number = next_edge(edge)
    if unstored > 0:
        outcomes[PAIR * count], outcomes[PAIR * count + 1] = 0.0, unstored / n
        mean += extreme * (unstored / n)
        count += 1
    allowed = radius(program, params, row, n)
    if allowed > 0.0 and span > 0.0:
        mean = extreme + side * span * extreme_mean(outcomes, count, 0.0, allowed)
    return min(max(mean, params[BOTTOM]), params[TOP])


@njit
def optimistic_action(program, params, context, rows, edges, row, outcomes, rng):
    """An action never tried, or else the one with the largest upper bound, recomputed now; ties at random.

    The bound of an action never tried is the largest there is, so it is only ever tied with.
    """
    upper, counts = as_reals(offset(row, program[at.Q_AT])), offset(row, program[at.COUNTS_AT])
    best, largest, ties = -1, -math.inf, 0
    for action in range(program[at.ACTIONS]):
        if upper[action] == -math.inf:
            continue
        bound = math.inf
        if counts[action] > 0:
            bound = action_bound(program, params, context, rows, edges, row, action, 1.0, outcomes)
            upper[action] = bound
        if best < 0 or bound > largest:
            best, largest, ties = action, bound, 1
        elif bound == largest:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best


@njit
def link(program, tally, rows, edges, node, child):
    """Note that `node` leads to `child`, unless one of its edges says so already or there is no room."""
    row = offset(rows, node * program[at.STRIDE])
    for action in range(program[at.ACTIONS]):
        number = row[program[at.HEADS_AT] + action]
        while number != at.NO_EDGE:
            edge = offset(edges, number * at.EDGE_SIZE)
            if edge_child(edge) == child:
                return
            number = next_edge(edge)
    prepend(program, tally, rows, edges, node, child)


@njit
def prepend(program, tally, rows, edges, node, child):
    """Put `node` at the head of the list of predecessors of `child`."""
    if tally[at.EDGES] >= program[at.EDGE_CAPACITY]:
        tally[at.CAPPED] = 1
        return
    own = offset(rows, child * program[at.STRIDE] + program[at.BOUNDS_AT])
    number = tally[at.EDGES]
    tally[at.EDGES] = number + 1
    edges[number * at.EDGE_SIZE + at.EDGE_LINK] = (own[PREDECESSORS] << 32) | (node + at.CHILD_OFFSET)
    own[PREDECESSORS] = number


@njit
def record(program, tally, params, rows, edges, node, action, child, reward):
    """Count one outcome of (node, action)."""
    row = offset(rows, node * program[at.STRIDE])
    head = program[at.HEADS_AT] + action
    row[at.VISITS] += 1
    offset(row, program[at.COUNTS_AT])[action] += 1
    if child == at.UNSTORED:
        return
    number, last, width = row[head], at.NO_EDGE, 1
    while number != at.NO_EDGE:
        edge = offset(edges, number * at.EDGE_SIZE)
        if edge_child(edge) == child and (params[GROUPED] != 0.0 or as_reals(edge)[at.EDGE_REWARD] == reward):
            edge[at.EDGE_COUNT] += 1
            if params[GROUPED] != 0.0:
                as_reals(edge)[at.EDGE_REWARD] += reward
            return
        last, number, width = number, next_edge(edge), width + 1
    if child >= 0:
        link(program, tally, rows, edges, node, child)
    if tally[at.EDGES] >= program[at.EDGE_CAPACITY]:
        tally[at.CAPPED] = 1
        return
    number = tally[at.EDGES]
    tally[at.EDGES] = number + 1
    edge = offset(edges, number * at.EDGE_SIZE)
    edge[at.EDGE_LINK], edge[at.EDGE_COUNT] = child + at.CHILD_OFFSET, 1
    as_reals(edge)[at.EDGE_REWARD] = reward
    if last == at.NO_EDGE:
        row[head] = number
    else:
        edges[last * at.EDGE_SIZE + at.EDGE_LINK] |= number << 32
    tally[at.WIDEST] = max(tally[at.WIDEST], width)


@njit
def refresh(program, params, context, rows, edges, row, outcomes):
    """Recompute a node's bounds; whether one of them has moved by more than the accuracy."""
    upper, lower = as_reals(offset(row, program[at.Q_AT])), as_reals(offset(row, program[at.VARIANCE_AT]))
    largest, safest = -math.inf, -math.inf
    for action in range(program[at.ACTIONS]):
        if upper[action] == -math.inf:
            continue
        upper[action] = action_bound(program, params, context, rows, edges, row, action, 1.0, outcomes)
        lower[action] = action_bound(program, params, context, rows, edges, row, action, -1.0, outcomes)
        largest, safest = max(largest, upper[action]), max(safest, lower[action])
    here, own = as_reals(row), as_reals(offset(row, program[at.BOUNDS_AT]))
    moved = max(abs(largest - here[at.NODE_VALUE]), abs(safest - own[LOWER_VALUE]))
    here[at.NODE_VALUE], own[LOWER_VALUE] = largest, safest
    return moved > params[ACCURACY]


@njit
def spread(program, params, context, rows, edges, trail, visited, outcomes):
    """Partial value iteration from the visited nodes, the last first met at the front of the queue.

    A node whose bounds moved sends its predecessors to the end of the queue, unless they wait there already.
    """
    stride, bounds_at = program[at.STRIDE], program[at.BOUNDS_AT]
    first, last = trail[visited - 1], trail[0]
    for i in range(visited):
        offset(rows, trail[i] * stride + bounds_at)[QUEUED] = -1 if i == 0 else 1 + trail[i - 1]
    while first >= 0:
        row = offset(rows, first * stride)
        own = offset(row, bounds_at)
        first = own[QUEUED] - 1 if own[QUEUED] > 0 else -1
        own[QUEUED] = 0
        if not refresh(program, params, context, rows, edges, row, outcomes):
            continue
        number = own[PREDECESSORS]
        while number != at.NO_EDGE:
            edge = offset(edges, number * at.EDGE_SIZE)
            node = edge_child(edge)
            waiting = offset(rows, node * stride + bounds_at)
            if waiting[QUEUED] == 0:
                waiting[QUEUED] = -1
                if first < 0:
                    first = node
                else:
                    offset(rows, last * stride + bounds_at)[QUEUED] = 1 + node
                last = node
            number = next_edge(edge)
