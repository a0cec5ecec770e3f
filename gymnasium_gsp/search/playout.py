"""Below the graph: which actions are legal, playouts, and what a leaf is worth."""

import math

from numba import njit, types

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import below, call_legal, call_policy, call_step, call_value, offset
from gymnasium_gsp.search import layout as at


@njit
def read_legal(program, model_params, context, state):
    """Write the legal mask of `state` into the context; returns the number of legal actions."""
    if program[at.LEGAL] == 0:
        return program[at.ACTIONS]
    return call_legal(program[at.LEGAL], model_params, state, offset(context, abi.CONTEXT_SIZE))


@njit
def uniform_action(program, context, legal, rng):
    """One of the legal actions, each equally likely."""
    choice = below(rng, legal)
    if context[abi.MASKED] == 0.0:
        return choice
    for action in range(program[at.ACTIONS]):
        if context[abi.CONTEXT_SIZE + action] != 0.0:
            if choice == 0:
                return action
            choice -= 1
    return -1


@njit
def place(program, context, depth):
    """Tell the ingredients where the simulation stands."""
    context[abi.DEPTH] = depth
    context[abi.ELAPSED] = program[at.ROOT_ELAPSED] + depth
    context[abi.STEPS_LEFT] = program[at.END] - depth


@njit
def is_action(program, context, action):
    """Whether an ingredient's answer is a legal action."""
    if action < 0 or action >= program[at.ACTIONS]:
        return False
    return context[abi.MASKED] == 0.0 or context[abi.CONTEXT_SIZE + action] != 0.0


@njit
def rollout(program, tally, params, model_params, context, state, reward, rng, depth):
    """Discounted return of playing on from `state` to the end; NaN with the status in DETAIL if that failed."""
    end = min(program[at.END], program[at.ROLLOUT_END], depth + program[at.ROLLOUT_STEPS])
    steps_limit = program[at.STEP_LIMIT]
    total, factor, steps = 0.0, 1.0, tally[at.MODEL_STEPS]
    search_stream, model_stream = rng, offset(rng, 1)
    while depth < end and steps < steps_limit:
        legal = read_legal(program, model_params, context, state)
        if legal <= 0:
            tally[at.DETAIL] = at.NO_ACTION
            return math.nan
        if program[at.POLICY] == 0:
            action = uniform_action(program, context, legal, search_stream)
        else:
            place(program, context, depth)
            action = call_policy(
                program[at.POLICY], offset(params, program[at.POLICY_AT]), context, state, search_stream
            )
            if not is_action(program, context, action):
                tally[at.DETAIL] = at.BAD_ACTION
                return math.nan
        reward[0] = math.nan
        status = call_step(program[at.STEP], model_params, state, action, model_stream, reward)
        steps += 1
        if status == abi.FAILED or not math.isfinite(reward[0]):
            tally[at.DETAIL] = at.STEP_FAILED
            return math.nan
        total += factor * reward[0]
        factor *= context[abi.DISCOUNT]
        depth += 1
        if status == abi.TERMINATED:
            break
    tally[at.MODEL_STEPS] = steps
    return total


@njit
def evaluate(program, tally, params, model_params, context, state, reward, rng, depth):
    """Value of a leaf; NaN with the status in DETAIL if that failed.  With no steps left it is exactly 0."""
    if depth >= program[at.END]:
        return 0.0
    if program[at.EVALUATION] == at.BY_ROLLOUT:
        return rollout(program, tally, params, model_params, context, state, reward, rng, depth)
    if program[at.EVALUATION] == at.BY_CONSTANT:
        return params[program[at.VALUE_AT]]
    place(program, context, depth)
    end = min(program[at.END], program[at.ROLLOUT_END], depth + program[at.ROLLOUT_STEPS])
    context[abi.PLAYOUT_STEPS] = min(end - depth, program[at.STEP_LIMIT] - tally[at.MODEL_STEPS])
    value = call_value(program[at.VALUE], offset(params, program[at.VALUE_AT]), context, state, rng)
    tally[at.MODEL_STEPS] += types.int64(context[abi.EXTRA_STEPS])  # a simulation evaluates once
    if not math.isfinite(value):
        tally[at.DETAIL] = at.BAD_VALUE
        return math.nan
    return value
