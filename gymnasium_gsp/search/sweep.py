"""A sweep: the values of what the root reaches, recomputed from stored outcomes, deepest first.

With the current estimator the search's own backup is swept into the graph: its values are functions of counts and
children, so this only brings them up to date, and the next search starts from it.  A decision's own backup is swept
into working memory: caution must not feed back into the graph.
"""

import math
from typing import Any, NamedTuple

from numba import njit, types

from gymnasium_gsp.abi.context import UNKNOWN, notes
from gymnasium_gsp.abi.memory import address, offset
from gymnasium_gsp.abi.signatures import call_backup
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, interval_of, make_frame, node_at, place, stats_of
from gymnasium_gsp.search.graph import AHEAD, ask_for, reach


class Swept(NamedTuple):
    """Working memory of a sweep; pointers."""

    order: Any  # int64, the nodes that the root reaches, nearest first
    position: Any  # int64, by node: 1 + its place in `order`, or 0
    values: Any  # float64, by place: the values swept so far
    q: Any  # float64, by action: values of the node at hand
    variance: Any  # float64, by action: variances of the targets of the node at hand
    discount: float  # per step
    end: float  # what the end of the process is worth
    source: int  # where values behind outcomes are read: STORED, PLAIN or ONE_STEP_LESS


@njit
def is_cut(frame):
    """Return whether a budget in seconds may end a sweep before it has seen to every node."""
    return frame.program.update_limit < frame.tally.nodes + frame.tally.edges


@njit
def outcome_value(frame, swept, index, child):
    """Return the value behind an outcome; among stored ones a swept one, if it lies deeper than place `index`."""
    if child < 0:
        return swept.end
    if swept.source == codes.PLAIN:
        return interval_of(frame, child).lower
    at = swept.position[child] - 1
    if swept.source == codes.ONE_STEP_LESS and at < 0:
        return interval_of(frame, child).lower
    if swept.source == codes.ONE_STEP_LESS or at > index:
        return swept.values[at]
    return stats_of(frame, child).value


@njit
def swept_mean(frame, swept, index, number):
    """Return the mean of the targets r + discount * V(s') over the outcomes from edge `number` on.

    They are summed as in `graph.record_outcome`.
    """
    discount = swept.discount
    count, total = 0, 0.0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        n, value = edge.count, outcome_value(frame, swept, index, edge.child)
        total += edge.reward - n * frame.program.baseline + discount * n * value
        count += n
        number = types.int64(edge.next)
    return total / count


@njit
def swept_variance(frame, swept, index, number, mean):
    """Return the variance of the same targets around their mean."""
    discount = swept.discount
    count, squares = 0, 0.0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        n, value = edge.count, outcome_value(frame, swept, index, edge.child)
        away = edge.reward / n - frame.program.baseline + discount * value - mean
        squares += n * away * away
        count += n
        number = types.int64(edge.next)
    return squares / count


@njit
def node_depth(frame, root, number):
    """Return the steps from the root to a node; 0 for state keys, whose nodes lie at no one depth."""
    tag, depth = stats_of(frame, number).tag, 0
    if frame.program.key == codes.BY_STATE_ELAPSED:
        return tag - frame.program.root_elapsed
    if frame.program.key == codes.BY_PATH or frame.program.key == codes.BY_ACTIONS:
        while number != root:
            number = stats_of(frame, number).tag // frame.program.actions
            depth += 1
    return depth


@njit
def sweep_actions(frame, swept, index, node, with_variance):
    """Recompute the values of a node's actions into `swept`; returns how often they were tried."""
    tried = 0
    for action in range(frame.program.actions):
        swept.q[action], swept.variance[action] = 0.0, 0.0
        if node.counts[action] == 0:
            continue
        tried += node.counts[action]
        swept.q[action], head = node.q[action], node.heads[action]
        if swept.source != codes.STORED:  # that is its optimistic value; what found no room is worth the least seen
            swept.q[action] = frame.context.smallest_return
        if head != codes.NO_EDGE:
            swept.q[action] = swept_mean(frame, swept, index, head)
            if with_variance:
                swept.variance[action] = swept_variance(frame, swept, index, head, swept.q[action])
    return tried


@njit
def sweep(frame, swept, count, backup, backup_params, in_place):
    """Recompute the first `count` nodes of the order, last first; leaves the root's action values in `swept.q`.

    Args:
        frame: the search.
        swept: working memory.
        count: how many nodes the root reaches.
        backup: address of the backup to use.
        backup_params: where its parameters begin.
        in_place: whether values are written into the graph, too.

    Returns:
        False if the backup failed.
    """
    with_variance = not in_place or frame.program.variance_kept != 0
    frame.tally.updates += frame.tally.reached
    for index in range(count - 1, -1, -1):
        if index >= AHEAD:
            ask_for(frame, swept.order[index - AHEAD], 0)
        node = node_at(frame, swept.order[index])
        tried = sweep_actions(frame, swept, index, node, with_variance)
        value = node.stats.value
        swept.values[index] = value
        if tried == 0:
            continue
        depth = node_depth(frame, swept.order[0], swept.order[index])
        place(frame, depth)
        frame.context.lower = frame.params[frame.program.lower_bounds + depth]
        if depth > 0:
            notes(frame.context, depth - 1)[0] = UNKNOWN  # a sweep follows no trajectory
        params = offset(frame.params, backup_params)
        swept.values[index] = call_backup(
            backup, params, frame.context, node.stats.visits, swept.q, node.counts, swept.variance, value, value
        )
        if not math.isfinite(swept.values[index]):
            return False
        if in_place:
            node.stats.value = swept.values[index]
            for action in range(frame.program.actions):
                if node.counts[action] > 0:
                    node.q[action] = swept.q[action]
    return True


def bring_up_to_date(arrays, order, position, reals):
    """Sweep the search's own backup into what the root reaches, in the middle of a search; returns a status.

    Args:
        arrays: the search's `Arrays`, with present values.
        order: (nodes,) int64, working memory.
        position: (nodes,) int64, the same; all zeros.
        reals: (2 * actions + nodes,) float64, the same.
    """
    frame = make_frame(arrays)
    program, values = frame.program, address(reals, 2 * frame.program.actions)
    q, variance, discount = address(reals, 0), address(reals, program.actions), frame.context.discount
    swept = Swept(address(order, 0), address(position, 0), values, q, variance, discount, 0.0, codes.STORED)
    count = reach(frame, frame.tally.root, swept.order, swept.position, codes.NO_LIMIT, 0)
    if sweep(frame, swept, count, program.backup, program.backup_params, True):
        return codes.DONE
    return codes.RAISED if frame.context.in_flight != 0 else codes.BAD_BACKUP
