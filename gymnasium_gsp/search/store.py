"""The arrays behind a graph: their sizes, growth, and what is dropped when memory runs out.

Growing never moves a node to another number, so results do not depend on the starting size.  At the cap, nodes of
the past go first: what lies before the root's time, what no longer hangs from it, or what it no longer reaches.
"""

from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from gymnasium_gsp.abi.compilation import compile_ahead, compiled_entry
from gymnasium_gsp.abi.memory import address, offset, record
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import (
    EDGE,
    FIRST_KEY,
    OUTCOME_CELLS,
    Arrays,
    as_stats,
    edge_at,
    make_frame,
    named,
    node_at,
    row_of,
    stats_of,
)
from gymnasium_gsp.search.graph import key_hash, reach, stamp_of
from gymnasium_gsp.search.propagate import link_all

MEMORY = 2 << 30  # bytes that a graph may take by default
SMALLEST_MEMORY = 1 << 16  # bytes; less would hold no graph worth keeping
EDGES_PER_NODE = 4  # how many outcome edges a node is reckoned to have when memory is turned into a number of nodes
SMALLEST = 256  # rows to start with
MOST_GROWTH = 1 << 16  # rows or edges added at once: doubling a large array would stop a search for too long


def fill_table(arrays):
    """Enter every node into an empty table."""
    frame = make_frame(arrays)
    mask = frame.program.table_mask
    for number in range(frame.tally.nodes):
        h = key_hash(stats_of(frame, number).tag, offset(row_of(frame, number), FIRST_KEY), frame.program.key_size)
        slot = types.int64(h & types.uint64(mask))
        while arrays.table[slot] != 0:
            slot = (slot + 1) & mask
        arrays.table[slot] = (stamp_of(frame.tally.generation, h) << 32) | number


def mark_future(arrays, order, position):
    """Write 1 to `position` for each node worth keeping now that the root has moved on; `order` is working memory."""
    frame = make_frame(arrays)
    root, actions, key = frame.tally.root, frame.program.actions, frame.program.key
    if key == codes.BY_STATE:
        reach(frame, root, address(order, 0), address(position, 0), codes.NO_LIMIT, 0)
    for number in range(frame.tally.nodes):
        tag = stats_of(frame, number).tag
        if key == codes.BY_STATE:
            keep = position[number] != 0
        elif key == codes.BY_STATE_ELAPSED:
            keep = tag >= frame.program.root_elapsed
        else:  # parents have lower numbers than their children
            keep = number == root or (tag >= 0 and position[tag // actions] != 0)
        position[number] = 1 if keep else 0


@njit
def move_edges(frame, number, kept_edges, count, position):
    """Copy a node's outcome edges behind the first `count` of `kept_edges`; returns how many there are then."""
    heads = node_at(frame, number).heads
    for action in range(frame.program.actions):
        old, last = heads[action], codes.NO_EDGE
        heads[action] = codes.NO_EDGE
        while old != codes.NO_EDGE:
            edge, new = edge_at(frame, old), record(kept_edges, count)
            new.child = position[edge.child] - 1 if edge.child >= 0 else types.int64(edge.child)
            new.next, new.count, new.reward = codes.NO_EDGE, edge.count, edge.reward
            if last == codes.NO_EDGE:
                heads[action] = count
            else:
                record(kept_edges, last).next = count
            last, count = count, count + 1
            old = types.int64(edge.next)
    return count


def compact(arrays, kept_edges, position):
    """Move the marked nodes to the front, and their edges to `kept_edges`, an array as large as `edges`."""
    frame = make_frame(arrays)
    actions, kept, count = frame.program.actions, 0, 1
    by_path = frame.program.key == codes.BY_PATH or frame.program.key == codes.BY_ACTIONS
    for number in range(frame.tally.nodes):
        if position[number] != 0:
            kept += 1
            position[number] = kept
    for number in range(frame.tally.nodes):
        if position[number] == 0:
            continue
        source, row = row_of(frame, number), row_of(frame, position[number] - 1)
        for i in range(frame.program.stride):
            row[i] = source[i]
        stats = as_stats(row)
        if by_path and (number == frame.tally.root or stats.tag < 0):
            stats.tag = -1
        elif by_path:
            stats.tag = (position[stats.tag // actions] - 1) * actions + stats.tag % actions
        if frame.program.edges_kept != 0:
            count = move_edges(frame, position[number] - 1, address(kept_edges, 0), count, position)
    frame.tally.root = position[frame.tally.root] - 1
    frame.tally.nodes, frame.tally.edges = kept, count


def relink(arrays):
    """Write the lists of predecessors anew."""
    link_all(make_frame(arrays))


class Store:
    """Every array of a search, and the graph in them.

    Attributes:
        arrays: the arrays; another value once one of them has been replaced.

    Args:
        arrays: those of the search; rows, table, edges and scratch are made here.
        max_nodes: cap on the number of nodes, or None for what fits into `memory`.
        memory: bytes for rows, table and edges.
        first_rows: rows to start with.
    """

    def __init__(
        self, arrays: Arrays, max_nodes: int | None = None, memory: int = MEMORY, first_rows: int = SMALLEST
    ) -> None:
        self.arrays = arrays
        self._program, self._tally = named(arrays.program), named(arrays.tally)
        self._edges_kept, self._has_intervals = bool(self._program.edges_kept), bool(self._program.bound)
        self.max_nodes = max(1, memory // self.bytes_per_node) if max_nodes is None else max_nodes
        self.max_edges = EDGES_PER_NODE * self.max_nodes if max_nodes is None else 1 << 31
        self.max_edges = min(self.max_edges, max(1, memory // EDGE.itemsize), (1 << 31) - 1)
        self.replace(rows=np.zeros(0, np.int64), table=np.zeros(0, np.int64), edges=np.zeros(0, EDGE))
        self._resize_rows(min(first_rows, self.max_nodes))
        self._resize_edges(4 * SMALLEST if self._edges_kept else 1)
        self._tally.generation, self._tally.edges, self._tally.root = 1, 1, -1
        compile_ahead(compiled_entry(fill_table, True), self.arrays)

    def replace(self, **arrays: NDArray[Any]) -> None:
        """Put other arrays in place of some."""
        self.arrays = self.arrays._replace(**arrays)

    @property
    def bytes_per_node(self) -> int:
        """Bytes of one node: its row, its share of the table, and the edges it is reckoned to have."""
        edges = EDGES_PER_NODE * EDGE.itemsize if self._edges_kept else 0
        return int(self._program.stride) * 8 + 4 * 8 + edges

    def _resize_rows(self, rows: int) -> None:
        # In place: there is no room for a second copy at the cap.
        self.arrays.rows.resize(rows * int(self._program.stride), refcheck=False)
        size = 1 << (2 * rows - 1).bit_length()
        self._program.row_capacity = rows
        if size != len(self.arrays.table):
            self._program.table_mask = size - 1
            self.replace(table=np.zeros(size, np.int64))
            if self._tally.nodes:
                compiled_entry(fill_table, True)(self.arrays)

    def _resize_edges(self, edges: int) -> None:
        self.arrays.edges.resize(edges, refcheck=False)
        self._program.edge_capacity = edges

    def reserve_scratch(self, cells: int) -> None:
        """Have at least so many cells of working memory."""
        if len(self.arrays.scratch) < cells:
            self.replace(scratch=np.zeros(cells))
        self._program.scratch_capacity = len(self.arrays.scratch)

    def reserve_outcomes(self, longest: int) -> bool:
        """Have working memory for the outcomes of one action after another simulation; True if it had to grow."""
        cells = OUTCOME_CELLS * (int(self._tally.widest) + longest + 1)
        if not self._has_intervals or len(self.arrays.scratch) >= cells:
            return False
        self.reserve_scratch(2 * cells)
        return True

    def make_room(self, needed: int) -> bool:
        """Grow what is too small for the rows and edges of `needed` more nodes; False if something may not grow."""
        if self._has_intervals:
            needed *= 2  # a step can add an edge to the next node and one back
        room = True
        rows, nodes = int(self._program.row_capacity), int(self._tally.nodes)
        if nodes + needed > rows:
            wanted = min(max(rows + min(rows, MOST_GROWTH), nodes + needed), self.max_nodes)
            if wanted > rows:
                self._resize_rows(wanted)
            room = nodes + needed <= wanted
        edges, used = int(self._program.edge_capacity), int(self._tally.edges)
        if self._edges_kept and used + needed > edges:
            wanted = min(max(edges + min(edges, MOST_GROWTH), used + needed), self.max_edges)
            if wanted > edges:
                self._resize_edges(wanted)
            room = room and used + needed <= wanted
        return room

    def drop_past(self) -> None:
        """Forget the nodes that the present root will not meet again."""
        nodes = int(self._tally.nodes)
        order, position = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
        compiled_entry(mark_future, True)(self.arrays, order, position)
        kept = np.empty_like(self.arrays.edges)
        compiled_entry(compact, True)(self.arrays, kept, position)
        if self._edges_kept:
            self.replace(edges=kept)
        self.arrays.table[:] = 0
        compiled_entry(fill_table, True)(self.arrays)
        if self._has_intervals:
            compiled_entry(relink, True)(self.arrays)

    def first_key_cells(self) -> NDArray[np.int64]:
        """Return the first cell of each node's key; where keys hold no state, that of the root's state."""
        stride, nodes = int(self._program.stride), int(self._tally.nodes)
        if self._program.key_size == 0:
            return self.arrays.states[:1]
        return self.arrays.rows[: nodes * stride].reshape(nodes, stride)[:, FIRST_KEY]

    def forget(self) -> None:
        """Let go of every node, keeping the memory."""
        self._tally.root_change = codes.RESTARTED
