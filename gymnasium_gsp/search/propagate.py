"""Values that travel beyond the trail: predecessors, the queue of nodes to renew, and an accuracy to stop at."""

import math

from numba import njit, types

from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, interval_of, node_at
from gymnasium_gsp.search.intervals import action_bound


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
    prepend_predecessor(frame, number, child)


@njit
def prepend_predecessor(frame, number, child):
    """Put a node at the head of the list of predecessors of `child`."""
    if frame.tally.edges >= frame.program.edge_capacity:
        frame.tally.capped = 1
        return
    interval, edge_number = interval_of(frame, child), frame.tally.edges
    frame.tally.edges = edge_number + 1
    edge = edge_at(frame, edge_number)
    edge.child, edge.next = number, interval.predecessors
    interval.predecessors = edge_number


@njit
def renew(frame, node):
    """Recompute a node's interval; returns whether one of its ends has moved by more than the accuracy."""
    upper, lower, total = -math.inf, -math.inf, 0.0
    for action in range(frame.program.actions):
        if node.q[action] == -math.inf:
            continue
        node.q[action] = action_bound(frame, node, action, 1.0)
        node.variance[action] = action_bound(frame, node, action, -1.0)
        upper, lower = max(upper, node.q[action]), max(lower, node.variance[action])
        total += node.counts[action] * node.variance[action]
    if frame.program.lower_is_mean != 0:
        lower = total / max(node.stats.visits, 1)
    moved = max(abs(upper - node.stats.value), abs(lower - node.interval.lower))
    node.stats.value, node.interval.lower = upper, lower
    return moved > frame.program.accuracy


@njit
def propagate(frame, visited):
    """Partial value iteration from the nodes that a simulation visited, the last first met at the front of the queue.

    A node whose interval moved sends its predecessors to the end of the queue, unless they wait there already.
    """
    first, last = hop_at(frame, visited - 1).node, hop_at(frame, 0).node
    for i in range(visited):
        interval_of(frame, hop_at(frame, i).node).queued = -1 if i == 0 else 1 + hop_at(frame, i - 1).node
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
            if waiting.queued == 0:
                waiting.queued = -1
                if first < 0:
                    first = types.int64(edge.child)
                else:
                    interval_of(frame, last).queued = 1 + edge.child
                last = types.int64(edge.child)
            number = types.int64(edge.next)


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
                if head == codes.NO_EDGE or edge_at(frame, head).child != number:
                    prepend_predecessor(frame, number, child)
