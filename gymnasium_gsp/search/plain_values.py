"""Plain values beside optimistic ones: what a decision believes, and how sure of it it is.

Greedy simulations follow them, optimistic ones do not read them.  A sweep recomputes them for what the root reaches.
Where some simulations are greedy, or a budget in seconds cuts the sweep, each simulation renews those of its trail.
"""

import math

from numba import njit, types

from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.signatures import call_backup
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, interval_of, node_at, place
from gymnasium_gsp.search.graph import AHEAD, ask_for
from gymnasium_gsp.search.intervals import end_value
from gymnasium_gsp.search.sweep import Swept, sweep_actions, swept_mean


@njit
def error_behind(frame, swept, number):
    """Return the squared standard error that the values behind the outcomes from edge `number` on bring along."""
    count, squares = 0, 0.0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        if edge.child >= 0:
            weight = swept.discount * edge.count
            squares += weight * weight * interval_of(frame, edge.child).error
        count += edge.count
        number = types.int64(edge.next)
    return squares / max(count * count, 1)


@njit
def sweep_errors(frame, swept, node):
    """Turn the variances of a node's actions into squared standard errors, its own that of its best action.

    One action's is that of its mean, which counts the variance of root returns as one more outcome's (see `Cautious`),
    and what comes from the states behind its outcomes, whose errors are taken to be independent.
    """
    best = -1
    for action in range(frame.program.actions):
        n = node.counts[action]
        if n == 0:
            continue
        spread = (frame.context.root_variance + n * swept.variance[action]) / (n + 1.0)
        swept.variance[action] = spread / n + error_behind(frame, swept, node.heads[action])
        if best < 0 or swept.q[action] > swept.q[best]:
            best = action
    node.interval.error = swept.variance[best]


@njit
def plain_value(frame, swept, index, before, with_errors):
    """Return the plain value of a node at a place from those behind its outcomes; `before` where none was tried.

    Errors take longer than values; without them those of the node stay as they were.
    """
    node, with_errors = node_at(frame, swept.order[index]), with_errors and frame.program.caution > 0.0
    if sweep_actions(frame, swept, index, node, with_errors or frame.program.decision_variance != 0) == 0:
        return before
    place(frame, 0)
    value = call_backup(
        frame.program.decision_backup,
        offset(frame.params, frame.program.decision_backup_params),
        frame.context,
        node.stats.visits,
        swept.q,
        node.counts,
        swept.variance,
        before,
        before,
    )
    if with_errors:
        sweep_errors(frame, swept, node)
    return value


@njit
def keep_action_values(frame, swept, number):
    """Let a node keep the plain values of its actions, which were just swept."""
    node = node_at(frame, number)
    for action in range(frame.program.actions):
        if node.counts[action] > 0:
            node.lower[action] = swept.q[action]


@njit
def sweep_plain_values(frame, swept, count, passes):
    """Sweep the plain values beside upper bounds until they are as close as the accuracy; False on failure.

    A value that moves by x may still be x / (1 - discount) away.  Errors are those of the first pass, the root's of the
    last.
    """
    enough = frame.program.accuracy * (1.0 - swept.discount)
    for number in range(passes):
        moved = 0.0
        frame.tally.updates += frame.tally.reached
        for index in range(count - 1, -1, -1):
            if index >= AHEAD:
                ask_for(frame, swept.order[index - AHEAD], 0)
            interval = interval_of(frame, swept.order[index])
            value = plain_value(frame, swept, index, interval.lower, number == 0 or index == 0)
            if not math.isfinite(value):
                return False
            moved = max(moved, abs(value - interval.lower))
            interval.lower = value
            keep_action_values(frame, swept, swept.order[index])
        if moved <= enough:
            break
    swept.values[0] = interval_of(frame, swept.order[0]).lower
    return True


@njit
def sweep_steps_left(frame, swept, count, behind):
    """Backward induction over the steps that are left, with the discount of the return; returns the end's value.

    That is NaN on failure.

    Args:
        frame: the search.
        swept: working memory.
        count: how many nodes the root reaches.
        behind: working memory as large as `swept.values`.
    """
    here, discount, end = swept.values, frame.program.return_discount, 0.0
    if frame.allocation.follows_clock != 0:  # stored rewards are means over the clock, so nothing else says "sooner"
        discount = frame.context.discount
    for index in range(count):
        behind[index] = 0.0
    for _ in range(frame.program.end):
        frame.tally.updates += frame.tally.reached
        stage = Swept(swept.order, swept.position, behind, swept.q, swept.variance, discount, end, codes.ONE_STEP_LESS)
        for index in range(count - 1, -1, -1):
            if index >= AHEAD:
                ask_for(frame, swept.order[index - AHEAD], 0)
            here[index] = plain_value(frame, stage, index, 0.0, index == 0)
            if not math.isfinite(here[index]):
                return math.nan
        here, behind, end = behind, here, discount * end - frame.program.baseline
    swept.values[0] = behind[0]
    return end


@njit
def sweep_plainly(frame, swept, count, behind):
    """Bring plain values up to date and leave the root's, without a baseline, in `swept`; False on failure.

    A sweep goes over the nodes as often as the recipe says, or until it has made a quarter as many updates as the
    search made steps: where states recur, a search of many steps reaches few nodes.  Where that is enough for backward
    induction over the steps left, too, the decision is made by its values.
    """
    passes = max(frame.program.sweep, frame.tally.model_steps // (4 * count))
    passes = max(1, min(passes, frame.program.update_limit // (2 * frame.tally.reached)))
    if not sweep_plain_values(frame, swept, count, passes):
        return False
    end = swept.end
    if frame.program.end <= passes:
        end = sweep_steps_left(frame, swept, count, behind)
    swept.values[0] -= end
    for action in range(frame.program.actions):
        swept.q[action] -= end
    return not math.isnan(end)


@njit
def plain_action_value(frame, swept, node, action):
    """Return the plain value of an action that was tried, from the present ones behind its outcomes."""
    head = node.heads[action]
    if head == codes.NO_EDGE:  # what found no room is worth the least seen
        return frame.context.smallest_return
    return swept_mean(frame, swept, 0, head)


@njit
def renew_trail(frame, length):
    """Bring the plain values of a trail up to date, the last first; False on failure.

    At each node that is the value of the action taken; its other actions are worth what they were.
    """
    program, unread = frame.program, offset(frame.rows, 0)
    q, variance = frame.scratch, offset(frame.scratch, program.actions)
    swept = Swept(unread, unread, q, q, variance, frame.context.discount, end_value(frame), codes.PLAIN)
    for depth in range(length - 1, -1, -1):
        hop = hop_at(frame, depth)
        node = node_at(frame, hop.node)
        for action in range(program.actions):
            q[action] = variance[action] = 0.0
            if node.counts[action] == 0:
                continue
            if action == hop.action or node.lower[action] == -math.inf:
                node.lower[action] = plain_action_value(frame, swept, node, action)
            q[action] = node.lower[action]
        place(frame, 0)
        before, params = node.interval.lower, offset(frame.params, program.decision_backup_params)
        value = call_backup(
            program.decision_backup, params, frame.context, node.stats.visits, q, node.counts, variance, before, before
        )
        if not math.isfinite(value):
            return False
        node.interval.lower = value
    return True
