"""Along the trail of a simulation: what it teaches on its way back, and simulations that wait for their leaf's value.

With a leaf batch several simulations wait at once.  Each has a trail and a leaf of its own, and counts as a visit of
every node on its trail, whose value it does not touch (A. Liu et al., Watch the unobserved: a simple approach to
parallelizing Monte Carlo tree search, ICLR 2020).  When the batch is full, or a simulation comes to a leaf that waits,
all leaves are valued in one call; the visits are withdrawn, and the simulations are backed up one after the other, in
the order in which they descended, as if they had not waited.
"""

import math

from numba import njit

from gymnasium_gsp.abi.memory import null_reals, offset
from gymnasium_gsp.abi.signatures import call_backup, call_value
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import hop_at, leaf_at, node_at, place, stats_of
from gymnasium_gsp.search.graph import record_outcome
from gymnasium_gsp.search.ingredients.switching import switching_depth
from gymnasium_gsp.search.prior import keep_weights


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


@njit(forceinline=True)
def finish(frame, depth, node, value):
    """Let a leaf's node learn its value, and back that up along the trail; returns a status.

    Args:
        frame: the search.
        depth: steps from the root to the leaf.
        node: its node, TERMINAL, UNSTORED, or CUT_SHORT where the simulation ended for want of model steps.
        value: what it is worth.
    """
    present = value
    if node >= 0:
        stats = stats_of(frame, node)
        stats.visits += 1
        stats.value += (value - stats.value) / stats.visits
        present = stats.value
    sampled = back_up(frame, depth, present, value)
    if math.isnan(sampled):
        return frame.tally.detail
    if node != codes.CUT_SHORT:
        observe_return(frame.context, sampled)
    return codes.DONE


@njit
def turn_to(frame, trail):
    """Let `hop_at` read this one of the trails."""
    frame.tally.first_hop = trail * (frame.program.horizon + 2)


@njit
def visit(frame, depth):
    """Count the trail at hand as visits; an action that it is the first to try shows the value of its node.

    Args:
        frame: the search.
        depth: length of the trail.
    """
    for step in range(depth):
        hop = hop_at(frame, step)
        node = node_at(frame, hop.node)
        if node.counts[hop.action] == 0:
            node.q[hop.action] = node.stats.value
        node.stats.visits += 1
        node.counts[hop.action] += 1


@njit
def withdraw(frame, depth):
    """Undo `visit`."""
    for step in range(depth):
        hop = hop_at(frame, step)
        node = node_at(frame, hop.node)
        node.stats.visits -= 1
        node.counts[hop.action] -= 1
        if node.counts[hop.action] == 0:
            node.q[hop.action] = 0.0


@njit
def wait(frame, depth, node, value, asked):
    """Let the simulation at hand wait for its leaf's value, and value all leaves if the batch is full.

    Args:
        frame: the search.
        depth: steps from the root to the leaf.
        node: as in `finish`.
        value: what the leaf is worth, if that is known.
        asked: whether it is not.

    Returns:
        A status.
    """
    tally = frame.tally
    leaf = leaf_at(frame, tally.trail)
    leaf.depth, leaf.node, leaf.value, leaf.asked = depth, node, value, asked
    visit(frame, depth)
    tally.waiting += 1
    tally.trail = (tally.trail + 1) % frame.program.leaf_batch
    turn_to(frame, tally.trail)
    return finish_waiting(frame) if tally.waiting == frame.program.leaf_batch else codes.DONE


@njit
def finish_waiting(frame):
    """Value all leaves that wait in one call, and back them up; returns a status.

    The trail at hand, of a simulation that is still descending, is left as it is.
    """
    program, tally = frame.program, frame.tally
    if tally.waiting == 0:
        return codes.DONE
    if math.isnan(call_value(program.answer, frame.params, frame.context, frame.state, frame.rng)):
        return codes.BAD_VALUE
    first, row = tally.trail - tally.waiting + program.leaf_batch, frame.answers
    for number in range(first, first + tally.waiting):
        turn_to(frame, number % program.leaf_batch)
        withdraw(frame, leaf_at(frame, number % program.leaf_batch).depth)
    for number in range(first, first + tally.waiting):
        leaf = leaf_at(frame, number % program.leaf_batch)
        value = leaf.value
        if leaf.asked != 0:
            value = row[0]
            if program.prior_answered != 0 and leaf.node >= 0:
                keep_weights(frame, leaf.node, offset(row, 1))
            row = offset(row, 1 + program.actions)
        turn_to(frame, number % program.leaf_batch)
        status = finish(frame, leaf.depth, leaf.node, value)
        if status != codes.DONE:
            return status
    tally.waiting = 0
    turn_to(frame, tally.trail)
    return codes.DONE
