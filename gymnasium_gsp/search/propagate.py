"""Values that travel beyond the trail: predecessors, the queue of nodes to renew, and an accuracy to stop at."""

import math

from numba import njit, types

from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, interval_of, node_at
from gymnasium_gsp.search.intervals import action_bound, stale_bit


@njit
def link_predecessor(frame, number, child):
    """Note that a node leads to `child`, unless one of its edges says so already or there is no room."""
    node = node_at(frame, number)
    for action in range(frame.program.actions):
        edge_number = node.heads[action]
        while edge_number != codes.NO_EDGE:
            edge = edge_at(frame, edge_number)
            if edge.child == child:
                return
            edge_number = types.int64(edge.next)
    prepend_predecessor(frame, number, 0, child)


@njit
def prepend_predecessor(frame, number, action, child):
    """Put a node and its action at the head of the list of predecessors of `child`."""
    if frame.tally.edges >= frame.program.edge_capacity:
        frame.tally.capped = 1
        return
    interval, edge_number = interval_of(frame, child), frame.tally.edges
    frame.tally.edges = edge_number + 1
    edge = edge_at(frame, edge_number)
    edge.child, edge.next, edge.count = number, interval.predecessors, action
    interval.predecessors = edge_number


@njit
def renew(frame, node):
    """Recompute a node's interval; returns whether one of its ends has moved by more than the accuracy."""
    if frame.program.learned != 0:
        return renew_upper(frame, node)
    upper, lower, total = -math.inf, -math.inf, 0.0
    for action in range(frame.program.actions):
        if node.q[action] == -math.inf:
            continue
        node.q[action] = action_bound(frame, node, action, 1.0)
        node.lower[action] = action_bound(frame, node, action, -1.0)
        upper, lower = max(upper, node.q[action]), max(lower, node.lower[action])
        total += node.counts[action] * node.lower[action]
    if frame.program.lower_is_mean != 0:
        lower = total / max(node.stats.visits, 1)
    moved = max(abs(upper - node.stats.value), abs(lower - node.interval.lower))
    node.stats.value, node.interval.lower = upper, lower
    return moved > frame.program.accuracy


@njit
def renew_upper(frame, node):
    """Recompute the upper bound on a node's value; returns whether it has moved by more than the accuracy."""
    upper = renew_stale(frame, node)
    moved = abs(upper - node.stats.value)
    node.stats.value = upper
    return moved > frame.program.accuracy


@njit
def renew_stale(frame, node):
    """Recompute the stale upper bounds of a node's actions; returns the largest of all."""
    upper, stale = -math.inf, node.interval.stale
    for action in range(frame.program.actions):
        if node.q[action] == -math.inf:
            continue
        if node.counts[action] == 0:
            node.q[action] = frame.context.top
        elif stale & stale_bit(action):
            node.q[action] = action_bound(frame, node, action, 1.0)
        upper = max(upper, node.q[action])
    node.interval.stale = 0
    return upper


@njit
def queue_trail(frame, length):
    """Queue the nodes of a trail, the last first met at the front; returns the first of them."""
    first = hop_at(frame, 0).node
    interval_of(frame, first).queued = -1
    for depth in range(1, length):
        number = hop_at(frame, depth).node
        interval = interval_of(frame, number)
        if interval.queued == 0:
            interval.queued = 1 + first
            first = number
    return first


@njit
def propagate(frame, length):
    """Partial value iteration from the nodes of a trail of `length` steps.

    A node whose interval moved sends its predecessors to the end of the queue, unless they wait there already.  Where
    the number of backups is limited, what then still waits is left for a later simulation.
    """
    first, last = queue_trail(frame, length), hop_at(frame, 0).node
    allowed = frame.program.backups * length if frame.program.backups != 0 else codes.NO_LIMIT
    while first >= 0:
        node = node_at(frame, first)
        interval = node.interval
        first = interval.queued - 1 if interval.queued > 0 else -1
        interval.queued = 0
        if not renew(frame, node):
            continue
        number = interval.predecessors
        while number != codes.NO_EDGE:
            edge = edge_at(frame, number)
            waiting = interval_of(frame, edge.child)
            waiting.stale |= stale_bit(edge.count)
            if waiting.queued == 0 and allowed > 0:
                allowed -= 1
                waiting.queued = -1
                if first < 0:
                    first = types.int64(edge.child)
                else:
                    interval_of(frame, last).queued = 1 + edge.child
                last = types.int64(edge.child)
            number = types.int64(edge.next)


@njit
def renew_all(frame, passes):
    """Recompute all upper bounds, newest node first, until they move by no more than the accuracy.

    Under a budget in seconds these may be too many; old ones then stay as they are until a simulation comes by.
    """
    limit = frame.program.update_limit // (1 + frame.tally.edges // frame.tally.nodes)
    nodes = max(1, min(frame.tally.nodes, limit))
    oldest = frame.tally.nodes - nodes
    for _ in range(max(1, min(passes, limit // nodes))):
        moved = False
        for number in range(frame.tally.nodes - 1, oldest - 1, -1):
            node = node_at(frame, number)
            if node.interval.opened == 0:
                node.stats.value = frame.context.top
                continue
            node.interval.stale = -1
            moved |= renew_upper(frame, node)
        if not moved:
            break


@njit
def link_all(frame):
    """Write the lists of predecessors anew, from the outcome edges."""
    for number in range(frame.tally.nodes):
        interval_of(frame, number).predecessors = codes.NO_EDGE
    for number in range(frame.tally.nodes):
        node = node_at(frame, number)
        for action in range(frame.program.actions):
            edge_number = node.heads[action]
            while edge_number != codes.NO_EDGE:
                edge = edge_at(frame, edge_number)
                child, edge_number = types.int64(edge.child), types.int64(edge.next)
                if child < 0:
                    continue
                # Nodes come one after the other, so if this one is in the list, it is at its head.
                head = interval_of(frame, child).predecessors
                known = head != codes.NO_EDGE and edge_at(frame, head).child == number
                if not known or frame.program.learned != 0:
                    prepend_predecessor(frame, number, action, child)
