"""The part of a graph that is drawn, and where: depth is the vertical axis, parents stand above their children."""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.inspector.graph import SearchGraph

WIDE = 1.1  # width of a layout, where its height is 1


class Layout(NamedTuple):
    """A drawn part.

    Attributes:
        nodes: (drawn,) int64, the nodes, the root first.
        x, y: (drawn,) float64, their places; x in 0 .. WIDE, y in -1 .. 0, the root on top.
        edges: (shown,) int64, the outcomes between two of them.
        folded: (drawn,) int64, how many of a node's outcomes lead to nodes that are not drawn.
        ends: (drawn,) int64, how often the episode ended behind a node.
    """

    nodes: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    edges: NDArray[np.int64]
    folded: NDArray[np.int64]
    ends: NDArray[np.int64]


def lay_out(graph: SearchGraph, most: int) -> Layout:
    """Choose the most visited nodes and place them.

    Args:
        graph: a searched graph.
        most: how many nodes to draw at most.
    """
    nodes = _most_visited(graph, most)
    drawn = np.zeros(len(graph), bool)
    drawn[nodes] = True
    linked = (graph.target >= 0) & drawn[graph.source]
    edges = np.flatnonzero(linked & drawn[graph.target])
    rest = graph.source[linked & ~drawn[graph.target]]
    ended = drawn[graph.source] & (graph.target == -1)
    return Layout(
        nodes,
        *_places(graph, nodes, edges),
        edges,
        np.bincount(rest, minlength=len(graph))[nodes],
        np.bincount(graph.source[ended], graph.count[ended], minlength=len(graph))[nodes].astype(np.int64),
    )


def _most_visited(graph: SearchGraph, most: int) -> NDArray[np.int64]:
    """Nodes in the order of their numbers: from the root on, always the most visited neighbour of those chosen."""
    if len(graph) <= most:
        return np.arange(len(graph))
    stored = np.flatnonzero(graph.target >= 0)
    order = stored[np.argsort(graph.source[stored], kind="stable")]
    targets = graph.target[order]
    first = np.searchsorted(graph.source[order], np.arange(len(graph) + 1))
    waiting, met, chosen = [(0.0, 0)], {0}, list[int]()
    while waiting and len(chosen) < most:
        _, node = heapq.heappop(waiting)
        chosen.append(node)
        for child in targets[first[node] : first[node + 1]].tolist():
            if child not in met:
                met.add(child)
                heapq.heappush(waiting, (-float(graph.visits[child]), child))
    return np.array(sorted(chosen))


def _places(
    graph: SearchGraph, nodes: NDArray[np.int64], edges: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows by depth; in a row, nodes in the order of the mean place of their parents in the row above."""
    depth, x = graph.depth, np.zeros(len(graph))
    source, target = graph.source[edges], graph.target[edges]
    widest = int(np.bincount(depth[nodes]).max())
    rows = np.split(nodes, np.searchsorted(depth[nodes], np.arange(1, depth[nodes].max() + 1)))
    into = np.argsort(target, kind="stable")
    source, target = source[into], target[into]
    for row in rows:
        mine = slice(*np.searchsorted(target, [row[0], row[-1] + 1])) if len(row) else slice(0)
        above = depth[source[mine]] < depth[target[mine]]
        who = target[mine][above] - row[0] if len(row) else target[mine]
        sums = np.bincount(who, x[source[mine][above]], minlength=row[-1] - row[0] + 1)
        means = sums / np.maximum(np.bincount(who, minlength=len(sums)), 1)
        order = np.argsort(means[row - row[0]], kind="stable")
        x[row[order]] = (np.arange(len(row)) - (len(row) - 1) / 2.0) / max(widest - 1, 1)
    deepest = max(1, int(depth[nodes].max()))
    return WIDE * (x[nodes] + 0.5), -depth[nodes] / deepest
