"""The loop of open-loop optimistic planning: sequences of actions, whatever the states they lead through.

A node is a sequence of actions from the root; its row keeps, per action, how often it was played next, the mean of that
step's reward in units of the reward's range, an upper bound on it, the mean sampled return, and the longer sequence's
node.  A sequence is worth at most the smallest, over its prefixes, of the sum of discounted upper bounds plus what the
steps behind the prefix can pay at most.  Per node that is

    r = min(1 / (1 - discount), max over a of u(a) + discount * r(a)),

so only the nodes that a trajectory has passed need to be renewed.
"""

import math

from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import address, as_reals, below, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.bounds import extreme_reward
from gymnasium_gsp.search.graph import add, clear, find
from gymnasium_gsp.search.playout import is_action, read_legal, uniform_action
from gymnasium_gsp.search.rounds import is_full, limit_reached, note_inherited, settle, take_step

LOW, HIGH = 0, 1  # reward bounds, 0 among them, as what follows an end pays 0
SLACK = 2  # by how much a reward may miss them through rounding
LASTING = 3  # 1 / (1 - discount)
THRESHOLD = 4  # of the bounds on mean rewards
DIVERGENCE = 5  # 1 for bounds by Kullback-Leibler divergence, 0 for Hoeffding's
PARAMS = 6


@njit
def add_sequence(program, tally, params, rows, table, tag):
    """The node of a sequence that has none yet; UNSTORED where there is no room."""
    if tally[at.NODES] >= program[at.ROW_CAPACITY]:
        tally[at.CAPPED] = 1
        return at.UNSTORED
    slot = find(program, tally[at.GENERATION], rows, table, tag, offset(rows, 0))
    node = add(program, tally, rows, table, -1 - slot, tag, offset(rows, 0))
    as_reals(offset(rows, node * program[at.STRIDE]))[at.NODE_VALUE] = params[LASTING]
    return node


@njit
def score(program, params, context, rows, row, action):
    """u(a) + discount * r(a), at most 1 / (1 - discount); for an action never played, that."""
    if offset(row, program[at.COUNTS_AT])[action] == 0:
        return params[LASTING]
    behind, child = params[LASTING], offset(row, program[at.HEADS_AT])[action]
    if child > 0:
        behind = as_reals(offset(rows, (child - 1) * program[at.STRIDE]))[at.NODE_VALUE]
    bound = as_reals(offset(row, program[at.BOUNDS_AT]))[action]
    return min(bound + context[abi.DISCOUNT] * behind, params[LASTING])


@njit
def optimistic_action(program, params, context, rows, row, rng):
    """The legal action with the largest score; among equals those never played, then chance.

    Bounds by divergence come so close to 1 that rounding would decide between them, so equal is equal to 12 digits.
    """
    counts, rounding = offset(row, program[at.COUNTS_AT]), 1e-12 * params[LASTING]
    best, largest, ties = -1, -math.inf, 0
    for action in range(program[at.ACTIONS]):
        if not is_action(program, context, action):
            continue
        here = math.inf if counts[action] == 0 else score(program, params, context, rows, row, action)
        if best < 0 or here > largest + rounding:
            best, largest, ties = action, here, 1
        elif here >= largest - rounding:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best


@njit
def reward_bound(params, mean, count):
    """Upper bound on a mean reward, all in units of the reward's range."""
    radius = params[THRESHOLD] / count
    if params[DIVERGENCE] == 0.0:
        return mean + math.sqrt(radius)
    return extreme_reward(min(max(mean, 0.0), 1.0), radius, 1.0)


@njit
def back_up(program, params, context, rows, trail, length):
    """Count a trajectory's rewards, last first, and renew the bounds of the nodes it has passed."""
    span = params[HIGH] - params[LOW]
    sampled = 0.0
    for depth in range(length - 1, -1, -1):
        hop = offset(trail, depth * at.HOP_SIZE)
        action, reward = hop[at.HOP_ACTION], as_reals(hop)[at.HOP_REWARD]
        row = offset(rows, hop[at.HOP_NODE] * program[at.STRIDE])
        counts, means = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
        returns = as_reals(offset(row, program[at.VARIANCE_AT]))
        row[at.VISITS] += 1
        counts[action] += 1
        sampled = reward + context[abi.DISCOUNT] * sampled
        returns[action] += (sampled - returns[action]) / counts[action]
        scaled = (reward - params[LOW]) / span if span > 0.0 else 0.0
        means[action] += (scaled - means[action]) / counts[action]
        bounds = as_reals(offset(row, program[at.BOUNDS_AT]))
        bounds[action] = reward_bound(params, means[action], counts[action])
        largest = 0.0
        for other in range(program[at.ACTIONS]):
            largest = max(largest, score(program, params, context, rows, row, other))
        as_reals(row)[at.NODE_VALUE] = largest


@njit
def trajectory(program, tally, params, model_params, context, rows, table, trail, root_state, state, rng):
    """One trajectory; behind the end of the process it goes on without model steps, and every reward is 0."""
    for i in range(program[at.WIDTH]):
        state[i] = root_state[i]
    node, depth, ended = tally[at.ROOT], 0, False
    while depth < program[at.HORIZON] and node >= 0 and (ended or tally[at.MODEL_STEPS] < program[at.STEP_LIMIT]):
        row = offset(rows, node * program[at.STRIDE])
        if not ended and read_legal(program, model_params, context, state) <= 0:
            return at.NO_ACTION
        action = optimistic_action(program, params, context, rows, row, rng)
        hop = offset(trail, depth * at.HOP_SIZE)
        reward = as_reals(offset(hop, at.HOP_REWARD))
        reward[0] = 0.0
        if not ended:
            status = take_step(program, tally, model_params, state, action, rng, reward)
            if status == abi.FAILED:
                return at.STEP_FAILED
            if not params[LOW] - params[SLACK] <= reward[0] <= params[HIGH] + params[SLACK]:
                return at.BAD_REWARD
            ended = status == abi.TERMINATED
        hop[at.HOP_NODE], hop[at.HOP_ACTION] = node, action
        depth += 1
        children = offset(row, program[at.HEADS_AT])
        child = children[action] - 1
        if child < 0 and depth < program[at.HORIZON] and tally[at.NEW_NODES] < program[at.NODE_LIMIT]:
            child = add_sequence(program, tally, params, rows, table, node * program[at.ACTIONS] + action)
            if child >= 0:
                tally[at.NEW_NODES] += 1
                children[action] = child + 1
        node = child
    back_up(program, params, context, rows, trail, depth)
    return at.DONE


def search(program, tally, params, model_params, context, rows, table, edges, trail, states, rng, fresh_root):
    """Run trajectories until a limit of `program` is reached, or something goes wrong; see `kernel.search`."""
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    model_at, context_at, trail_at = address(model_params, 0), address(context, 0), address(trail, 0)
    rows_at, table_at, rng_at = address(rows, 0), address(table, 0), address(rng, 0)
    root_state, state = address(states, 0), address(states, program[at.WIDTH])
    if fresh_root and (tally[at.ROOT_CHANGE] != at.SAME_ROOT or tally[at.ROOT] < 0):
        clear(program_at, tally_at, table_at)
        tally[at.ROOT] = add_sequence(program_at, tally_at, params_at, rows_at, table_at, -1)
    if fresh_root:
        note_inherited(program_at, tally_at, rows_at)
    while tally[at.SIMULATIONS] < program[at.SIMULATION_LIMIT]:
        limit = limit_reached(program_at, tally_at)
        if limit != at.DONE:
            return limit
        if is_full(program_at, tally_at):
            return at.FULL
        words, steps = rng[1], tally[at.MODEL_STEPS]
        status = trajectory(
            program_at,
            tally_at,
            params_at,
            model_at,
            context_at,
            rows_at,
            table_at,
            trail_at,
            root_state,
            state,
            rng_at,
        )
        status = settle(tally_at, context_at, status, rng[1] - words, steps)
        if status != at.DONE:
            return status
    return at.DONE


@njit
def first_action(program, context, legal, q, counts, rng):
    """The action played most, among those the one with the best mean return; or just that one; then chance."""
    most, best, ties = 0, -1, 0
    for action in range(program[at.ACTIONS]):
        if is_action(program, context, action):
            most = max(most, counts[action])
    fewest = most if program[at.RECOMMENDATION] == at.MOST_VISITS else 1
    for action in range(program[at.ACTIONS]):
        if not is_action(program, context, action) or counts[action] < max(fewest, 1):
            continue
        if best < 0 or q[action] > q[best]:
            best, ties = action, 1
        elif q[action] == q[best]:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best if best >= 0 else uniform_action(program, context, legal, rng)


def decide(program, tally, params, model_params, context, rows, edges, states, rng, order, position, reals, counts):
    """Write the root's mean returns and counts, and recommend; arguments as for `decision.decide`."""
    program_at, tally_at, context_at = address(program, 0), address(tally, 0), address(context, 0)
    row = offset(address(rows, 0), tally[at.ROOT] * program[at.STRIDE])
    visits, returns = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.VARIANCE_AT]))
    q = address(reals, 1)
    for action in range(program[at.ACTIONS]):
        counts[action] = visits[action]
        q[action] = returns[action] if visits[action] > 0 else -math.inf
    legal = read_legal(program_at, address(model_params, 0), context_at, address(states, 0))
    if legal <= 0:
        return at.NO_ACTION
    action = first_action(program_at, context_at, legal, q, address(counts, 0), address(rng, 0))
    tally_at[at.DETAIL] = action
    reals[0] = q[action]
    return at.DONE
