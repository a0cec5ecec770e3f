"""The loop of BRUE: explore uniformly to a switching point, estimate greedily behind it, and learn at that point alone.

A node is a state at a number of steps from the root; its row keeps per action how often it was the switching point and
the mean of the returns that followed.  Only switching points become nodes, so a simulation adds one at most.
"""

import math

from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import address, as_reals, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.decision import recommend
from gymnasium_gsp.search.graph import add, find
from gymnasium_gsp.search.playout import evaluate, read_legal, uniform_action
from gymnasium_gsp.search.rounds import enter_root, is_full, limit_reached, settle, take_step


@njit
def switching_depth(simulation, horizon):
    """Where a simulation switches: at the root, then at the deepest step, and from there up, over and over."""
    return (horizon - simulation % horizon) % horizon


@njit
def find_node(program, tally, rows, table, depth, state):
    """The node of a state at this depth, or -1 - (the free slot where it belongs)."""
    return find(program, tally[at.GENERATION], rows, table, program[at.ROOT_ELAPSED] + depth, state)


@njit
def make_node(program, tally, rows, table, depth, state):
    """The node of a state at this depth, added where there is none; UNSTORED where there is no room."""
    node = find_node(program, tally, rows, table, depth, state)
    if node >= 0:
        return node
    if tally[at.NODES] >= program[at.ROW_CAPACITY]:
        tally[at.CAPPED] = 1
        return at.UNSTORED
    if tally[at.NEW_NODES] >= program[at.NODE_LIMIT]:
        return at.UNSTORED
    tally[at.NEW_NODES] += 1
    return add(program, tally, rows, table, -1 - node, program[at.ROOT_ELAPSED] + depth, state)


@njit
def estimated_action(program, tally, context, rows, table, depth, state, legal, rng):
    """The action with the best estimate so far, ties at random; a uniform one where nothing is known."""
    node = find_node(program, tally, rows, table, depth, state)
    if node < 0:
        return uniform_action(program, context, legal, rng)
    row = offset(rows, node * program[at.STRIDE])
    q = as_reals(offset(row, program[at.Q_AT]))
    return recommend(program, context, legal, q, offset(row, program[at.COUNTS_AT]), rng)


@njit
def learn(program, rows, node, action, sampled):
    """Count one return at the switching point; False if the mean is no finite number."""
    row = offset(rows, node * program[at.STRIDE])
    counts, q = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
    row[at.VISITS] += 1
    counts[action] += 1
    q[action] += (sampled - q[action]) / counts[action]
    best = -math.inf
    for a in range(program[at.ACTIONS]):
        if counts[a] > 0:
            best = max(best, q[a])
    as_reals(row)[at.NODE_VALUE] = best
    return math.isfinite(q[action])


@njit
def simulate(program, tally, params, model_params, context, rows, table, trail, root_state, state, rng):
    """One simulation from the root.  On failure `state` is where it happened and DETAIL the action tried."""
    for i in range(program[at.WIDTH]):
        state[i] = root_state[i]
    horizon = program[at.HORIZON]
    switch = switching_depth(tally[at.SIMULATIONS], horizon)
    node, tried, depth, status = at.UNSTORED, -1, 0, abi.RUNNING
    sampled, factor, reward = 0.0, 1.0, as_reals(offset(trail, at.HOP_REWARD))
    while depth < horizon and status != abi.TERMINATED and tally[at.MODEL_STEPS] < program[at.STEP_LIMIT]:
        legal = read_legal(program, model_params, context, state)
        if legal <= 0:
            return at.NO_ACTION
        if depth <= switch:
            action = uniform_action(program, context, legal, rng)
        else:
            action = estimated_action(program, tally, context, rows, table, depth, state, legal, rng)
        if depth == switch:
            node, tried = make_node(program, tally, rows, table, depth, state), action
        status = take_step(program, tally, model_params, state, action, rng, reward)
        if status == abi.FAILED:
            return at.STEP_FAILED
        if depth >= switch:
            sampled += factor * reward[0]
            factor *= context[abi.DISCOUNT]
        depth += 1
    if depth == horizon and status != abi.TERMINATED:
        leaf = evaluate(program, tally, params, model_params, context, state, reward, rng, depth)
        if math.isnan(leaf):
            return tally[at.DETAIL]
        sampled += factor * leaf
    if node != at.UNSTORED and not learn(program, rows, node, tried, sampled):
        return at.BAD_BACKUP
    return at.DONE


def search(program, tally, params, model_params, context, rows, table, edges, trail, states, rng, fresh_root):
    """Run simulations until a limit of `program` is reached, or something goes wrong; see `kernel.search`."""
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    model_at, context_at, trail_at = address(model_params, 0), address(context, 0), address(trail, 0)
    rows_at, table_at, rng_at = address(rows, 0), address(table, 0), address(rng, 0)
    root_state, state = address(states, 0), address(states, program[at.WIDTH])
    if fresh_root and enter_root(program_at, tally_at, rows_at, table_at, root_state) != at.DONE:
        return at.NO_ROOM_FOR_ROOT
    while tally_at[at.SIMULATIONS] < program_at[at.SIMULATION_LIMIT]:
        limit = limit_reached(program_at, tally_at)
        if limit != at.DONE:
            return limit
        if is_full(program_at, tally_at):
            return at.FULL
        context_at[abi.EXTRA_STEPS] = 0.0
        words, steps = rng_at[1], tally_at[at.MODEL_STEPS]
        status = simulate(
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
        status = settle(tally_at, context_at, status, rng_at[1] - words, steps)
        if status != at.DONE:
            return status
    return at.DONE
