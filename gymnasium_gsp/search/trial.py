"""One simulation: descend from the root, evaluate where the known part ends, and back up, or wait for the value."""

import math

from numba import njit, types

from gymnasium_gsp.abi.context import UNKNOWN, notes
from gymnasium_gsp.abi.memory import offset, prefetch
from gymnasium_gsp.abi.signatures import FAILED, TERMINATED, call_select, call_value
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, is_action, node_at, place, reward_of, stats_of
from gymnasium_gsp.search.graph import add_if_room, child_tag, find
from gymnasium_gsp.search.halving import next_drawn_action, share_spent
from gymnasium_gsp.search.playout import copy_state, read_allowed, read_legal, rollout, take_step, uniform_action
from gymnasium_gsp.search.prior import show_prior
from gymnasium_gsp.search.sampled_tree import tree_value
from gymnasium_gsp.search.trail import finish, finish_waiting, wait


@njit(forceinline=True)
def choose(frame, number, fresh, depth):
    """Choose the action to try at a node: what the selection says, or a uniform one where the node is new.

    Returns minus the status if that fails.
    """
    if depth == 0 and frame.program.halving != 0:  # the root draws its actions from all
        legal = read_legal(frame, frame.state)
    else:
        legal = read_allowed(frame, frame.state, number)
    if legal <= 0:
        return -codes.NO_ACTION
    if fresh:
        notes(frame.context, depth)[0] = UNKNOWN
        action = uniform_action(frame, legal)
        return action if action >= 0 else -codes.NO_ACTION
    place(frame, depth)
    program, node = frame.program, node_at(frame, number)
    if program.prior_kept != 0 and not show_prior(frame, number):
        return -codes.BAD_PRIOR
    select, params = program.select, program.select_params
    if depth == 0:
        if program.halving != 0:
            return next_drawn_action(frame)
        select, params = program.root_select, program.root_select_params
    action = call_select(
        select, offset(frame.params, params), frame.context, node.stats.visits, node.q, node.counts, frame.rng
    )
    return action if is_action(frame, action) else -codes.BAD_ACTION


@njit(forceinline=True)
def evaluate(frame, depth):
    """Return the value of the present state as a leaf; NaN with the status in `tally.detail` if that failed.

    With no steps left it is exactly 0.
    """
    program, tally, context = frame.program, frame.tally, frame.context
    if depth >= program.end:
        return 0.0
    if program.evaluation == codes.BY_ROLLOUT:
        # The reward of the hop that is not taken is free for the playout's rewards.
        return rollout(frame, reward_of(hop_at(frame, depth)), depth)
    params = offset(frame.params, program.value_params)
    if program.evaluation == codes.BY_CONSTANT:
        return params[0]
    if program.evaluation == codes.BY_SAMPLED_TREE:
        return tree_value(frame, types.int64(params[0]), min(types.int64(params[1]), program.end - depth))
    place(frame, depth)
    end = min(program.end, program.rollout_end, depth + program.rollout_steps)
    context.playout_steps = min(end - depth, program.step_limit - tally.model_steps)
    value = call_value(program.value, params, context, frame.state, frame.rng)
    tally.model_steps += context.extra_steps  # a simulation evaluates once
    if not math.isfinite(value):
        tally.detail = codes.BAD_VALUE
        return math.nan
    return value


@njit(forceinline=True)
def descend(frame):
    """Select and step from the root to a leaf, writing the trail.

    Returns:
        A status; the depth of the leaf; its node, TERMINAL, UNSTORED or CUT_SHORT; and its value, NaN where it is to be
        evaluated.  On failure `frame.state` is where it happened and `tally.detail` the action tried.
    """
    program, tally = frame.program, frame.tally
    copy_state(frame, frame.root_state, frame.state)
    node, fresh, depth = tally.root, False, 0
    while depth < program.horizon:
        if (
            tally.waiting > 0 and stats_of(frame, node).visits == 0
        ):  # a leaf that waits; what lies below it is its to say
            status = finish_waiting(frame)
            if status != codes.DONE:
                return status, depth, node, math.nan
        if tally.model_steps >= program.step_limit:
            return codes.DONE, depth, codes.CUT_SHORT, stats_of(frame, node).value
        action = choose(frame, node, fresh, depth)
        if action < 0:
            return -action, depth, node, math.nan
        if program.edges_kept != 0:  # the backup will ask for these edges, which nothing has read lately
            prefetch(edge_at(frame, node_at(frame, node).heads[action]))
        hop = hop_at(frame, depth)
        status = take_step(frame, action, reward_of(hop))
        if status == FAILED:
            return codes.STEP_FAILED, depth, node, math.nan
        depth += 1
        hop.node, hop.action = node, action
        if status == TERMINATED:
            hop.child = codes.TERMINAL
            return codes.DONE, depth, codes.TERMINAL, 0.0
        tag = child_tag(frame, node, action, depth)
        found = find(frame, tag, frame.state)
        fresh = found < 0
        node = add_if_room(frame, found, tag, frame.state) if fresh else found
        hop.child = node
        if fresh and (node == codes.UNSTORED or program.expansion == codes.LEAF):
            break
    return codes.DONE, depth, node, math.nan


@njit
def simulate(frame):
    """Run one simulation from the root, or with a leaf batch until its leaf waits; returns a status, see `descend`."""
    program, tally = frame.program, frame.tally
    if tally.waiting > 0 and program.halving != 0 and share_spent(frame) >= frame.allocation.goal:
        status = finish_waiting(frame)  # the root is about to compare its actions
        if status != codes.DONE:
            return status
    status, depth, node, value = descend(frame)
    if status != codes.DONE:
        return status
    asked = math.isnan(value) and depth < program.end
    if math.isnan(value):
        value = evaluate(frame, depth)
        if math.isnan(value):
            return tally.detail
    if program.leaf_batch != 0:
        return wait(frame, depth, node, value, asked)
    return finish(frame, depth, node, value)
