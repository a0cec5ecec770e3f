"""The loop of sparse sampling: below each sampled state a tree in which every action is tried equally often.

A simulation is one sample of an action of the root with its whole tree below it, walked depth first on a stack; nothing
is kept of it but the value it gives.  The functions take the same arrays as those of `kernel` and `decision`.
"""

import math

import numpy as np
from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import address, as_reals, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.decision import recommend
from gymnasium_gsp.search.graph import add, clear, find
from gymnasium_gsp.search.playout import is_action, read_legal, uniform_action
from gymnasium_gsp.search.rounds import limit_reached, note_inherited, settle, take_step

WIDTH = 0  # params: how often each action of a sampled state is tried

# A level of the stack: the action under way, how often it was tried, whether another was before, and as float64 the sum
# of its targets, the best mean so far and the reward that led to the next level.
ACTION, TRIED, ANY, SUM, BEST, REWARD = range(6)
LEVEL = 6


@njit
def next_action(program, context, action):
    """The first legal action after `action`, or -1."""
    for following in range(action + 1, program[at.ACTIONS]):
        if is_action(program, context, following):
            return following
    return -1


@njit
def close_action(level):
    """Take the mean of the action under way into the best."""
    if level[TRIED] > 0:
        reals = as_reals(level)
        mean = reals[SUM] / level[TRIED]
        if level[ANY] == 0 or mean > reals[BEST]:
            reals[BEST] = mean
        level[ANY] = 1
        level[TRIED], reals[SUM] = 0, 0.0


@njit
def may_go_on(program, tally):
    """Whether model steps and nodes are left."""
    return tally[at.MODEL_STEPS] < program[at.STEP_LIMIT] and tally[at.NEW_NODES] < program[at.NODE_LIMIT]


@njit
def tree_value(program, tally, params, model_params, context, levels, states, state, rng, value):
    """Estimate the value of states[1], `depth` 1, into value[0]; a tree that the budget cuts counts what it has."""
    width, top = program[at.WIDTH], 1
    levels_at = offset(levels, 0)
    entering, value[0] = True, 0.0
    while top >= 1:
        here, level = offset(states, top * width), offset(levels_at, top * LEVEL)
        if read_legal(program, model_params, context, here) <= 0:
            for i in range(width):
                state[i] = here[i]
            return at.NO_ACTION
        if entering:
            for cell in range(LEVEL):
                level[cell] = 0
            level[ACTION] = next_action(program, context, -1)
            entering = False
        elif level[TRIED] >= int(params[WIDTH]):
            close_action(level)
            level[ACTION] = next_action(program, context, level[ACTION])
        reals = as_reals(level)
        if level[ACTION] < 0 or not may_go_on(program, tally):
            close_action(level)
            top -= 1
            value[0] = reals[BEST]
            if top >= 1:
                above = offset(levels_at, top * LEVEL)
                as_reals(above)[SUM] += as_reals(above)[REWARD] + context[abi.DISCOUNT] * value[0]
                above[TRIED] += 1
            continue
        for i in range(width):
            state[i] = here[i]
        status = take_step(program, tally, model_params, state, level[ACTION], rng, offset(reals, REWARD))
        if status == abi.FAILED:
            return at.STEP_FAILED
        if status == abi.TERMINATED or top + 1 >= program[at.HORIZON]:
            reals[SUM] += reals[REWARD]
            level[TRIED] += 1
            continue
        tally[at.NEW_NODES] += 1
        top += 1
        for i in range(width):
            offset(states, top * width)[i] = state[i]
        entering = True
    return at.DONE


@njit
def simulate(
    program, tally, params, model_params, context, rows, levels, states, root_state, state, rng, reward, value
):
    """One sample of the root's action that has the fewest, with the tree below it."""
    for i in range(program[at.WIDTH]):
        state[i] = root_state[i]
    row = offset(rows, tally[at.ROOT] * program[at.STRIDE])
    counts, q = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
    legal = read_legal(program, model_params, context, state)
    if legal <= 0:
        return at.NO_ACTION
    fewest = at.NO_LIMIT
    for action in range(program[at.ACTIONS]):
        if is_action(program, context, action):
            fewest = min(fewest, counts[action])
    action = uniform_action(program, context, legal, rng)
    while counts[action] != fewest:
        action = uniform_action(program, context, legal, rng)
    status = take_step(program, tally, model_params, state, action, rng, reward)
    if status == abi.FAILED:
        return at.STEP_FAILED
    value[0] = 0.0
    if status != abi.TERMINATED and program[at.HORIZON] > 1:
        tally[at.NEW_NODES] += 1
        for i in range(program[at.WIDTH]):
            offset(states, program[at.WIDTH])[i] = state[i]
        below_it = tree_value(program, tally, params, model_params, context, levels, states, state, rng, value)
        if below_it != at.DONE:
            return below_it
    row[at.VISITS] += 1
    counts[action] += 1
    q[action] += (reward[0] + context[abi.DISCOUNT] * value[0] - q[action]) / counts[action]
    return at.DONE


def search(program, tally, params, model_params, context, rows, table, edges, trail, states, rng, fresh_root):
    """Run simulations until a limit of `program` is reached, or something goes wrong; see `kernel.search`."""
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    model_at, context_at, rows_at = address(model_params, 0), address(context, 0), address(rows, 0)
    root_state, state, rng_at = address(states, 0), address(states, program[at.WIDTH]), address(rng, 0)
    levels = np.zeros((program[at.HORIZON] + 2) * LEVEL, np.int64)
    stack = np.zeros((program[at.HORIZON] + 2) * program[at.WIDTH], np.int64)
    reals = np.zeros(2)
    if fresh_root and (tally[at.ROOT_CHANGE] != at.SAME_ROOT or tally[at.ROOT] < 0):
        table_at = address(table, 0)
        clear(program_at, tally_at, table_at)
        slot = find(program_at, tally[at.GENERATION], rows_at, table_at, -1, root_state)
        tally[at.ROOT] = add(program_at, tally_at, rows_at, table_at, -1 - slot, -1, root_state)
    if fresh_root:
        note_inherited(program_at, tally_at, rows_at)
    while tally[at.SIMULATIONS] < program[at.SIMULATION_LIMIT]:
        limit = limit_reached(program_at, tally_at)
        if limit != at.DONE:
            return limit
        words, steps = rng[1], tally[at.MODEL_STEPS]
        status = simulate(
            program_at,
            tally_at,
            params_at,
            model_at,
            context_at,
            rows_at,
            address(levels, 0),
            address(stack, 0),
            root_state,
            state,
            rng_at,
            address(reals, 0),
            address(reals, 1),
        )
        status = settle(tally_at, context_at, status, rng[1] - words, steps)
        if status != at.DONE:
            return status
    reals[0], levels[0], stack[0] = 0.0, 0, 0  # so that they live as long as their addresses are in use
    return at.DONE


def decide(program, tally, params, model_params, context, rows, edges, states, rng, order, position, reals, counts):
    """Write the root's action values and counts, and recommend; arguments as for `decision.decide`."""
    program_at, tally_at, context_at = address(program, 0), address(tally, 0), address(context, 0)
    row = offset(address(rows, 0), tally[at.ROOT] * program[at.STRIDE])
    visits, values = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
    q = address(reals, 1)
    reals[0] = -math.inf
    for action in range(program[at.ACTIONS]):
        counts[action] = visits[action]
        q[action] = values[action] if visits[action] > 0 else -math.inf
        reals[0] = max(reals[0], q[action])
    legal = read_legal(program_at, address(model_params, 0), context_at, address(states, 0))
    if legal <= 0:
        return at.NO_ACTION
    tally_at[at.DETAIL] = recommend(program_at, context_at, legal, q, address(counts, 0), address(rng, 0))
    return at.DONE
