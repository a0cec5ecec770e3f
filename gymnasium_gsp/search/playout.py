"""The model as a simulation meets it: legal actions, single steps, and playouts below the graph."""

import math

from numba import njit

from gymnasium_gsp.abi.context import legal_mask
from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.signatures import FAILED, TERMINATED, call_legal, call_policy, call_step
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import is_action, place, stats_of


@njit(forceinline=True)
def copy_state(frame, source, target):
    """Copy the cells of a state."""
    for i in range(frame.program.width):
        target[i] = source[i]


@njit(forceinline=True)
def read_legal(frame, state):
    """Write the legal mask of `state` into the context; returns the number of legal actions."""
    if frame.program.legal == 0:
        if frame.context.masked != 0:
            mask = legal_mask(frame.context)
            for action in range(frame.program.actions):
                mask[action] = 1.0
        return frame.program.actions
    return call_legal(frame.program.legal, frame.model_params, state, legal_mask(frame.context))


@njit(forceinline=True)
def read_allowed(frame, state, number):
    """Write the mask of the legal actions that a node, by its number, may try in `state`; returns how many these are.

    They are the first ones, or, where the order of the actions says nothing, others at each node.
    """
    program, legal = frame.program, read_legal(frame, state)
    if program.widening_factor == 0.0:
        return legal
    visits = max(stats_of(frame, number).visits, 1)
    allowed = math.ceil(program.widening_factor * visits**program.widening_exponent)
    if allowed >= legal:
        return legal
    mask, left, stride = legal_mask(frame.context), allowed, max(program.widening_stride, 1)
    action = program.widening_stride * number % program.actions
    for _ in range(program.actions):
        if mask[action] != 0.0:
            mask[action] = 1.0 if left > 0 else 0.0
            left -= 1
        action = (action + stride) % program.actions
    return allowed


@njit(forceinline=True)
def uniform_action(frame, legal):
    """Return one of the legal actions, each equally likely; `legal` is how many there are."""
    choice = below(frame.rng, legal)
    if frame.context.masked == 0:
        return choice
    mask = legal_mask(frame.context)
    for action in range(frame.program.actions):
        if mask[action] != 0.0:
            if choice == 0:
                return action
            choice -= 1
    return -1


@njit(forceinline=True)
def take_step(frame, action, reward):
    """Step the present state; returns the model's status, FAILED also for a reward that is not finite."""
    reward[0] = math.nan
    status = call_step(frame.program.step, frame.model_params, frame.state, action, frame.model_rng, reward)
    frame.tally.model_steps += 1
    frame.tally.detail = action
    return status if math.isfinite(reward[0]) else FAILED


@njit
def rollout(frame, reward, depth):
    """Play on from the present state to the end.

    Args:
        frame: the search.
        reward: (1,) float64, where steps write their rewards.
        depth: steps from the root to the present state.

    Returns:
        The discounted return; NaN with the status in `tally.detail` if something failed.
    """
    program, tally, context = frame.program, frame.tally, frame.context
    end = min(program.end, program.rollout_end, depth + program.rollout_steps)
    total, factor, steps, step_limit = 0.0, 1.0, tally.model_steps, program.step_limit
    while depth < end and steps < step_limit:
        legal = read_legal(frame, frame.state)
        if legal <= 0:
            tally.detail = codes.NO_ACTION
            return math.nan
        if program.policy == 0:
            action = uniform_action(frame, legal)
        else:
            place(frame, depth)
            params = offset(frame.params, program.policy_params)
            action = call_policy(program.policy, params, context, frame.state, frame.rng)
            if not is_action(frame, action):
                tally.detail = codes.BAD_ACTION
                return math.nan
        reward[0] = math.nan
        status = call_step(program.step, frame.model_params, frame.state, action, frame.model_rng, reward)
        steps += 1
        if status == FAILED or not math.isfinite(reward[0]):
            tally.detail = codes.STEP_FAILED
            return math.nan
        total += factor * reward[0]
        factor *= context.discount
        depth += 1
        if status == TERMINATED:
            break
    tally.model_steps = steps
    return total
