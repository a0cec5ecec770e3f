"""One simulation: descend from the root, evaluate where the known part ends, back up along the trail."""

import math

from numba import njit, types

from gymnasium_gsp.abi.context import UNKNOWN, notes
from gymnasium_gsp.abi.memory import null_reals, offset, prefetch
from gymnasium_gsp.abi.signatures import FAILED, TERMINATED, call_backup, call_select, call_value
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, is_action, node_at, place, reward_of, stats_of
from gymnasium_gsp.search.graph import add_if_room, child_tag, find, record_outcome
from gymnasium_gsp.search.halving import next_drawn_action
from gymnasium_gsp.search.ingredients.switching import switching_depth
from gymnasium_gsp.search.playout import copy_state, read_allowed, read_legal, rollout, take_step, uniform_action
from gymnasium_gsp.search.prior import show_prior
from gymnasium_gsp.search.sampled_tree import tree_value


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
def learn(frame, node, hop, depth, value, sampled):
    """Count one step of a trail at its node and return the node's new value; NaN if the backup failed.

    Args:
        frame: the search.
        node: where the step began.
        hop: the step.
        depth: steps from the root to the node.
        value: present value of what the step led to.
        sampled: sampled return from the node on.
    """
    program, context = frame.program, frame.context
    action, reward, discount = hop.action, hop.reward, context.discount
    target = sampled if program.target == codes.SAMPLED_RETURN else reward + discount * value
    node.stats.visits += 1
    node.counts[action] += 1
    before = node.q[action]
    if program.edges_kept != 0:
        # What was not stored has no value of its own, so its target is booked as reward.
        booked = target if hop.child == codes.UNSTORED else reward
        present = record_outcome(frame, node.heads, action, hop.child, booked, discount)
        if program.estimator == codes.PRESENT_VALUES:
            node.q[action] = present
    if program.estimator == codes.RUNNING_MEAN:
        node.q[action] = before + (target - before) / node.counts[action]
    variance = null_reals()
    if program.variance_kept != 0:
        variance = node.variance
        spread = (target - before) * (target - node.q[action]) if node.counts[action] > 1 else 0.0
        variance[action] += (max(spread, 0.0) - variance[action]) / node.counts[action]
    place(frame, depth)
    context.lower = frame.params[program.lower_bounds + depth]
    return call_backup(
        program.backup,
        offset(frame.params, program.backup_params),
        context,
        node.stats.visits,
        node.q,
        node.counts,
        variance,
        node.stats.value,
        target,
    )


@njit(forceinline=True)
def back_up(frame, length, value, sampled):
    """Carry a leaf's value and the sampled return up the trail; returns the return from the root, or NaN."""
    switch = -1
    if frame.program.learning == codes.AT_THE_SWITCH:
        switch = switching_depth(frame.context.simulation, frame.program.horizon)
    for depth in range(length - 1, -1, -1):
        hop = hop_at(frame, depth)
        sampled = hop.reward + frame.context.discount * sampled
        if switch >= 0 and depth != switch:
            continue
        node = node_at(frame, hop.node)
        value = learn(frame, node, hop, depth, value, sampled)
        if not math.isfinite(value):
            frame.tally.detail = codes.BAD_BACKUP
            return math.nan
        node.stats.value = value
    return sampled


@njit(forceinline=True)
def observe_return(context, sampled):
    """Keep count, mean, variance and range of the returns of this episode's simulations."""
    count = context.root_returns + 1
    before = sampled - context.root_mean
    context.root_returns = count
    context.root_mean += before / count
    after = sampled - context.root_mean
    context.root_variance += (before * after - context.root_variance) / count
    if count == 1:
        context.smallest_return = context.largest_return = sampled
    context.smallest_return = min(context.smallest_return, sampled)
    context.largest_return = max(context.largest_return, sampled)
    spread = context.largest_return - context.smallest_return
    context.range = spread if spread > 0.0 else 1.0


@njit
def simulate(frame):
    """Run one simulation from the root.

    Returns a status; on failure `frame.state` is where it happened and `tally.detail` the action tried.
    """
    program, tally = frame.program, frame.tally
    copy_state(frame, frame.root_state, frame.state)
    node, fresh, depth = tally.root, False, 0
    value, sampled, cut = 0.0, 0.0, False
    while True:
        if depth >= program.horizon:
            sampled = evaluate(frame, depth)
            if math.isnan(sampled):
                return tally.detail
            stats = stats_of(frame, node)
            stats.visits += 1
            stats.value += (sampled - stats.value) / stats.visits
            value = stats.value
            break
        if tally.model_steps >= program.step_limit:
            value, cut = stats_of(frame, node).value, True
            sampled = value
            break
        action = choose(frame, node, fresh, depth)
        if action < 0:
            return -action
        if program.edges_kept != 0:  # the backup will ask for these edges, which nothing has read lately
            prefetch(edge_at(frame, node_at(frame, node).heads[action]))
        hop = hop_at(frame, depth)
        status = take_step(frame, action, reward_of(hop))
        if status == FAILED:
            return codes.STEP_FAILED
        depth += 1
        hop.node, hop.action = node, action
        if status == TERMINATED:
            hop.child = codes.TERMINAL
            break
        tag = child_tag(frame, node, action, depth)
        found = find(frame, tag, frame.state)
        fresh = found < 0
        node = add_if_room(frame, found, tag, frame.state) if fresh else found
        hop.child = node
        if fresh and (node == codes.UNSTORED or program.expansion == codes.LEAF):
            sampled = evaluate(frame, depth)
            if math.isnan(sampled):
                return tally.detail
            value = sampled
            if node != codes.UNSTORED:
                stats = stats_of(frame, node)
                stats.visits, stats.value = 1, value
            break
    sampled = back_up(frame, depth, value, sampled)
    if math.isnan(sampled):
        return tally.detail
    if not cut:
        observe_return(frame.context, sampled)
    return codes.DONE
