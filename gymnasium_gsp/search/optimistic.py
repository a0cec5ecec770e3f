"""The loop of bounds: trajectories that follow the upper bound, and partial value iteration after each of them.

Graph-Based Optimistic Planning: a node is a state, whatever its depth, and keeps an interval (see `intervals`).  The
functions take the same arrays as those of `kernel` and `decision` and end with the same statuses.
"""

import math

import numpy as np
from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import address, as_reals, offset
from gymnasium_gsp.search import intervals as has
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.bounds import PAIR
from gymnasium_gsp.search.decision import recommend
from gymnasium_gsp.search.graph import add, edge_child, find, next_edge
from gymnasium_gsp.search.playout import read_legal
from gymnasium_gsp.search.rounds import enter_root, is_full, limit_reached, settle, take_step


@njit
def find_or_make(program, tally, params, rows, table, state):
    """The node of a state, made if it is new; UNSTORED where there is no room."""
    found = find(program, tally[at.GENERATION], rows, table, 0, state)
    if found >= 0:
        return found
    if tally[at.NODES] >= program[at.ROW_CAPACITY]:
        tally[at.CAPPED] = 1
        return at.UNSTORED
    if tally[at.NEW_NODES] >= program[at.NODE_LIMIT]:
        return at.UNSTORED
    node = add(program, tally, rows, table, -1 - found, 0, state)
    tally[at.NEW_NODES] += 1
    has.initialise(program, tally, params, offset(rows, node * program[at.STRIDE]))
    return node


@njit
def trajectory(
    program, tally, params, model_params, context, rows, table, edges, trail, root_state, state, rng, outcomes
):
    """One trajectory from the root and what follows from it; on failure `state` is where it happened."""
    for i in range(program[at.WIDTH]):
        state[i] = root_state[i]
    stride, bounds_at = program[at.STRIDE], program[at.BOUNDS_AT]
    node, visited, depth = tally[at.ROOT], 0, 0
    # The cell behind the visited nodes is free for the reward.
    reward = as_reals(offset(trail, program[at.HORIZON] + 1))
    while depth < program[at.HORIZON] and tally[at.MODEL_STEPS] < program[at.STEP_LIMIT]:
        row = offset(rows, node * stride)
        own = offset(row, bounds_at)
        if own[has.OPENED] == 0 and not has.open_node(program, params, model_params, context, row, state):
            return at.NO_ACTION
        if own[has.QUEUED] == 0:
            own[has.QUEUED] = -1
            trail[visited] = node
            visited += 1
        action = has.optimistic_action(program, params, context, rows, edges, row, outcomes, rng)
        ends_here = params[has.ENDS_ON_NEW] != 0.0 and offset(row, program[at.COUNTS_AT])[action] == 0
        status = take_step(program, tally, model_params, state, action, rng, reward)
        if status == abi.FAILED:
            return at.STEP_FAILED
        if not has.within_bounds(params, reward[0]):
            return at.BAD_REWARD
        depth += 1
        child = at.TERMINAL
        if status != abi.TERMINATED:
            child = find_or_make(program, tally, params, rows, table, state)
        has.record(program, tally, params, rows, edges, node, action, child, reward[0])
        if child < 0 or ends_here:
            break
        node = child
    has.spread(program, params, context, rows, edges, trail, visited, outcomes)
    return at.DONE


@njit
def lacks_links(program, tally):
    """Whether there may be too few edges for a whole trajectory: each step can add one to and one back."""
    return program[at.GROWABLE] == at.GROWING and tally[at.EDGES] + 2 * program[at.LONGEST] > program[at.EDGE_CAPACITY]


def search(program, tally, params, model_params, context, rows, table, edges, trail, states, rng, fresh_root):
    """Run trajectories until a limit of `program` is reached, or something goes wrong; see `kernel.search`."""
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    model_at, context_at, trail_at = address(model_params, 0), address(context, 0), address(trail, 0)
    rows_at, table_at, edges_at = address(rows, 0), address(table, 0), address(edges, 0)
    root_state, state, rng_at = address(states, 0), address(states, program[at.WIDTH]), address(rng, 0)
    if fresh_root:
        if tally[at.ROOT_CHANGE] == at.RESTARTED:
            tally[at.BIRTHS] = tally[at.WIDEST] = 0
        if enter_root(program_at, tally_at, rows_at, table_at, root_state) != at.DONE:
            return at.NO_ROOM_FOR_ROOT
        row = offset(rows_at, tally[at.ROOT] * program[at.STRIDE])
        if offset(row, program[at.BOUNDS_AT])[has.BIRTH] == 0:
            has.initialise(program_at, tally_at, params_at, row)
    outcomes = np.empty(0, np.float64)
    while tally[at.SIMULATIONS] < program[at.SIMULATION_LIMIT]:
        limit = limit_reached(program_at, tally_at)
        if limit != at.DONE:
            return limit
        if is_full(program_at, tally_at) or lacks_links(program_at, tally_at):
            return at.FULL
        widest = PAIR * (tally[at.WIDEST] + program[at.LONGEST] + 1)
        if len(outcomes) < widest:
            outcomes = np.empty(2 * widest, np.float64)
        words, steps = rng[1], tally[at.MODEL_STEPS]
        status = trajectory(
            program_at,
            tally_at,
            params_at,
            model_at,
            context_at,
            rows_at,
            table_at,
            edges_at,
            trail_at,
            root_state,
            state,
            rng_at,
            address(outcomes, 0),
        )
        status = settle(tally_at, context_at, status, rng[1] - words, steps)
        if status != at.DONE:
            return status
    return at.DONE


def decide(program, tally, params, model_params, context, rows, edges, states, rng, order, position, reals, counts):
    """Write the root's lower bounds and counts, and recommend the tried action whose lower bound is largest.

    Arguments as for `decision.decide`; an action that was never tried has the smallest lower bound there is, and is
    left out.
    """
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    context_at, rows_at, edges_at = address(context, 0), address(rows, 0), address(edges, 0)
    row = offset(rows_at, tally[at.ROOT] * program[at.STRIDE])
    visits, q = offset(row, program[at.COUNTS_AT]), address(reals, 1)
    outcomes = np.empty(PAIR * (tally[at.WIDEST] + 1), np.float64)
    reals[0] = params[has.BOTTOM]
    for action in range(program[at.ACTIONS]):
        counts[action] = visits[action]
        q[action] = -math.inf
        if visits[action] > 0:
            q[action] = has.action_bound(
                program_at, params_at, context_at, rows_at, edges_at, row, action, -1.0, address(outcomes, 0)
            )
            reals[0] = max(reals[0], q[action])
    outcomes[0] = 0.0  # so that it lives as long as its address is in use
    legal = read_legal(program_at, address(model_params, 0), context_at, address(states, 0))
    if legal <= 0:
        return at.NO_ACTION
    tally_at[at.DETAIL] = recommend(program_at, context_at, legal, q, address(counts, 0), address(rng, 0))
    return at.DONE


def relink(program, tally, rows, edges):
    """Write the lists of predecessors anew, from the edges."""
    program_at, tally_at, rows_at, edges_at = (
        address(program, 0),
        address(tally, 0),
        address(rows, 0),
        address(edges, 0),
    )
    stride, bounds_at = program[at.STRIDE], program[at.BOUNDS_AT]
    for node in range(tally[at.NODES]):
        offset(rows_at, node * stride + bounds_at)[has.PREDECESSORS] = at.NO_EDGE
    for node in range(tally[at.NODES]):
        row = offset(rows_at, node * stride)
        for action in range(program[at.ACTIONS]):
            number = row[program[at.HEADS_AT] + action]
            while number != at.NO_EDGE:
                edge = offset(edges_at, number * at.EDGE_SIZE)
                child, number = edge_child(edge), next_edge(edge)
                if child < 0:
                    continue
                head = offset(rows_at, child * stride + bounds_at)[has.PREDECESSORS]
                # Nodes come one after the other, so if this one is in the list, it is at its head.
                if head == at.NO_EDGE or edge_child(offset(edges_at, head * at.EDGE_SIZE)) != node:
                    has.prepend(program_at, tally_at, rows_at, edges_at, node, child)
