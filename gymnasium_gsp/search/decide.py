"""After the search: what it says about the root, and which action it recommends.

Scenarios decide by their own means, see `scenarios`.  Else a sweep recomputes what the root reaches, deepest first.
With the current estimator the search's own backup is swept into the graph first: its values are functions of counts
and children, so this only brings them up to date, and the next search starts from it.  A decision's own backup is swept
into working memory: caution must not feed back into the graph.  Beside learned optimistic values it sweeps the plain
ones, which exploring does not read.  Under a budget in seconds a sweep may be too dear; it then takes the nodes nearest
to the root, and those behind them are worth what they were.
"""

import math
from typing import Any, NamedTuple

from numba import njit, types

from gymnasium_gsp.abi.context import UNKNOWN, notes
from gymnasium_gsp.abi.memory import address, offset
from gymnasium_gsp.abi.signatures import call_backup
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, interval_of, is_action, make_frame, node_at, place, stats_of
from gymnasium_gsp.search.graph import AHEAD, ask_for, reach
from gymnasium_gsp.search.intervals import action_bound
from gymnasium_gsp.search.playout import read_legal, uniform_action
from gymnasium_gsp.search.scenarios import decide_by_scenarios


class Swept(NamedTuple):
    """Working memory of a sweep; pointers."""

    order: Any  # int64, the nodes that the root reaches, nearest first
    position: Any  # int64, by node: 1 + its place in `order`, or 0
    values: Any  # float64, by place: the values swept so far
    q: Any  # float64, by action: values of the node at hand
    variance: Any  # float64, by action: variances of the targets of the node at hand


@njit
def outcome_value(frame, swept, index, child):
    """Return the value of an outcome during a sweep: swept if it lies deeper than place `index`, else as stored."""
    if child < 0:
        return 0.0
    if frame.program.learned != 0:
        return interval_of(frame, child).lower
    if swept.position[child] - 1 > index:
        return swept.values[swept.position[child] - 1]
    return stats_of(frame, child).value


@njit
def swept_mean(frame, swept, index, number):
    """Return the mean of the targets r + discount * V(s') over the outcomes from edge `number` on.

    They are summed as in `graph.record_outcome`.
    """
    discount = frame.context.discount
    count, total = 0, 0.0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        n, value = edge.count, outcome_value(frame, swept, index, edge.child)
        total += edge.reward + discount * n * value
        count += n
        number = types.int64(edge.next)
    return total / count


@njit
def swept_variance(frame, swept, index, number, mean):
    """Return the variance of the same targets around their mean."""
    discount = frame.context.discount
    count, squares = 0, 0.0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        n, value = edge.count, outcome_value(frame, swept, index, edge.child)
        away = edge.reward / n + discount * value - mean
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
        if frame.program.learned != 0:  # that is its optimistic value; what found no room is worth the least seen
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
    frame.tally.updates += count
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


@njit
def sweep_plain_values(frame, swept, count):
    """Sweep the plain values beside upper bounds until they are as close as the accuracy; False on failure.

    A value that moves by x may still be x / (1 - discount) away.  Where states recur, a search of many steps reaches
    few nodes, and the sweep may go over them until it has made a quarter as many updates as the search made steps.
    """
    enough = frame.program.accuracy * (1.0 - frame.context.discount)
    passes = max(frame.program.sweep, frame.tally.model_steps // (4 * count))
    for _ in range(max(1, min(passes, frame.program.update_limit // count))):
        moved = 0.0
        frame.tally.updates += count
        for index in range(count - 1, -1, -1):
            number = swept.order[index]
            if index >= AHEAD:
                ask_for(frame, swept.order[index - AHEAD], 0)
            node = node_at(frame, number)
            if sweep_actions(frame, swept, index, node, True) == 0:
                continue
            place(frame, 0)
            value = call_backup(
                frame.program.decision_backup,
                offset(frame.params, frame.program.decision_backup_params),
                frame.context,
                node.stats.visits,
                swept.q,
                node.counts,
                swept.variance,
                node.interval.lower,
                node.interval.lower,
            )
            if not math.isfinite(value):
                return False
            moved = max(moved, abs(value - node.interval.lower))
            node.interval.lower = value
        if moved <= enough:
            break
    swept.values[0] = interval_of(frame, swept.order[0]).lower
    return True


@njit
def sweep_reached(frame, swept):
    """Sweep what the root reaches, into the graph and then with the decision's own backup; returns a status."""
    program = frame.program
    count = reach(frame, frame.tally.root, swept.order, swept.position, max(1, program.update_limit // 2))
    fine = True
    if program.learned != 0:
        fine = sweep_plain_values(frame, swept, count)
    elif program.estimator == codes.PRESENT_VALUES:
        fine = sweep(frame, swept, count, program.backup, program.backup_params, True)
    if fine and program.decision_backup != 0 and program.learned == 0:
        fine = sweep(frame, swept, count, program.decision_backup, program.decision_backup_params, False)
    if frame.context.in_flight != 0:
        return codes.RAISED
    return codes.DONE if fine else codes.BAD_BACKUP


@njit
def lower_bounds(frame, node, q):
    """Write the lower bounds of a node's tried actions to `q`; returns the largest."""
    value = frame.context.bottom
    for action in range(frame.program.actions):
        if node.counts[action] > 0:
            q[action] = action_bound(frame, node, action, -1.0)
            value = max(value, q[action])
    return value


@njit
def recommend(frame, legal, q, counts):
    """Return the root action with the best value or the most visits; a uniform one if none was tried.

    Ties are broken at random; with intervals, ties in visits by value first.
    """
    best, top, ties, visits = -1, -math.inf, 0, frame.program.recommendation != codes.BEST_VALUE
    for action in range(frame.program.actions):
        if counts[action] == 0 or not is_action(frame, action):
            continue
        score = float(counts[action]) if visits else q[action]
        if best >= 0 and score == top and visits and frame.program.bound != 0 and q[action] != q[best]:
            if q[action] > q[best]:
                best, ties = action, 1
        elif best < 0 or score > top:
            best, top, ties = action, score, 1
        elif score == top:
            ties += 1
            if below(frame.rng, ties) == 0:
                best = action
    return best if best >= 0 else uniform_action(frame, legal)


def decide(arrays, order, position, reals, counts):
    """Write the root's action values and counts, and recommend an action in `tally.detail`; returns a status.

    Args:
        arrays: the search's `Arrays`.
        order: (nodes,) int64, working memory of a sweep.
        position: (nodes,) int64, the same; all zeros.
        reals: (1 + 2 * actions + nodes,) float64, for the root's value, its action values (-inf where untried) and
            working memory.
        counts: (actions,) int64, for the root's visit counts.
    """
    frame = make_frame(arrays)
    actions = frame.program.actions
    frame.tally.updates = 0
    node, q = node_at(frame, frame.tally.root), address(reals, 1)
    if frame.allocation.phase == codes.BY_SCENARIOS:
        for action in range(actions):
            counts[action] = node.counts[action]
        frame.tally.detail = decide_by_scenarios(frame, q)
        reals[0] = q[frame.tally.detail]
        return codes.DONE
    if frame.program.sweep != 0:
        variance, values = address(reals, 1 + actions), address(reals, 1 + 2 * actions)
        status = sweep_reached(frame, Swept(address(order, 0), address(position, 0), values, q, variance))
        if status != codes.DONE:
            return status
        reals[0] = values[0]
    elif frame.program.bound != 0:
        reals[0] = lower_bounds(frame, node, q)
    else:
        reals[0] = node.stats.value
        for action in range(actions):
            q[action] = node.q[action]
    for action in range(actions):
        counts[action] = node.counts[action]
        if counts[action] == 0:
            q[action] = -math.inf
    legal = read_legal(frame, frame.root_state)
    if legal <= 0:
        return codes.NO_ACTION
    frame.tally.detail = recommend(frame, legal, q, address(counts, 0))
    return codes.DONE
