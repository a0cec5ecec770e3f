"""The arrays behind a graph: their sizes, growth, and what is dropped when memory runs out.

Growing never moves a node to another number, so results do not depend on the starting size.  At the cap, nodes of
the past go first: what lies before the root's time, what no longer hangs from it, or what it no longer reaches.
"""

from typing import Any

import numpy as np
from numba import types

from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.signatures import address, as_reals, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.graph import edge_child, key_hash, next_edge, reach, stamp_of

MEMORY = 2 << 30  # bytes that a graph may take by default
SMALLEST_MEMORY = 1 << 16  # bytes; less would hold no graph worth keeping
EDGES_PER_NODE = 4  # how many outcome edges a node is reckoned to have when memory is turned into a number of nodes
SMALLEST = 256  # rows to start with


def fill_table(program, tally, rows, table):
    """Enter every node into an empty table."""
    rows_at, key_size, stride = address(rows, 0), program[at.KEY_SIZE], program[at.STRIDE]
    mask, generation = program[at.TABLE_MASK], tally[at.GENERATION]
    for node in range(tally[at.NODES]):
        row = offset(rows_at, node * stride)
        h = key_hash(row[at.TAG], offset(row, at.FIRST_KEY), key_size)
        slot = types.int64(h & types.uint64(mask))
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = (stamp_of(generation, h) << 32) | node


def mark_future(program, tally, rows, edges, order, position):
    """Write 1 to `position` for each node worth keeping now that the root has moved on."""
    rows_at, root, actions = address(rows, 0), tally[at.ROOT], program[at.ACTIONS]
    if program[at.KEY] == at.BY_STATE:
        reach(address(program, 0), rows_at, address(edges, 0), root, address(order, 0), address(position, 0))
    for node in range(tally[at.NODES]):
        tag = rows_at[node * program[at.STRIDE] + at.TAG]
        if program[at.KEY] == at.BY_STATE:
            keep = position[node] != 0
        elif program[at.KEY] == at.BY_STATE_ELAPSED:
            keep = tag >= program[at.ROOT_ELAPSED]
        else:  # parents have lower numbers than their children
            keep = node == root or (tag >= 0 and position[tag // actions] != 0)
        position[node] = 1 if keep else 0


def compact(program, tally, rows, edges, kept_edges, position):
    """Move the marked nodes to the front, and their edges to `kept_edges`."""
    rows_at, stride, actions = address(rows, 0), program[at.STRIDE], program[at.ACTIONS]
    kept = 0
    for node in range(tally[at.NODES]):
        if position[node] != 0:
            kept += 1
            position[node] = kept
    count, old = 1, address(edges, 0)
    for node in range(tally[at.NODES]):
        if position[node] == 0:
            continue
        source, row = offset(rows_at, node * stride), offset(rows_at, (position[node] - 1) * stride)
        for i in range(stride):
            row[i] = source[i]
        if program[at.KEY] == at.BY_PATH:
            parent = row[at.TAG] // actions
            if node == tally[at.ROOT] or row[at.TAG] < 0:
                row[at.TAG] = -1
            else:
                row[at.TAG] = (position[parent] - 1) * actions + row[at.TAG] % actions
        if program[at.EDGES_KEPT] == 0:
            continue
        for action in range(actions):
            head = program[at.HEADS_AT] + action
            number, last = row[head], at.NO_EDGE
            row[head] = at.NO_EDGE
            while number != at.NO_EDGE:
                edge, new = offset(old, number * at.EDGE_SIZE), offset(address(kept_edges, 0), count * at.EDGE_SIZE)
                child = edge_child(edge)
                new[at.EDGE_LINK] = (position[child] - 1 if child >= 0 else child) + at.CHILD_OFFSET
                new[at.EDGE_COUNT] = edge[at.EDGE_COUNT]
                as_reals(new)[at.EDGE_REWARD] = as_reals(edge)[at.EDGE_REWARD]
                if last == at.NO_EDGE:
                    row[head] = count
                else:
                    kept_edges[last * at.EDGE_SIZE + at.EDGE_LINK] |= count << 32
                last, count = count, count + 1
                number = next_edge(edge)
    tally[at.ROOT] = position[tally[at.ROOT]] - 1
    tally[at.NODES], tally[at.EDGES] = kept, count


class Store:
    """Rows, table and edges of one graph, and the program cells that describe them.

    Args:
        program: the search's program; its size cells are kept up to date here.
        tally: the search's tally.
        max_nodes: cap on the number of nodes, or None for what fits into `memory`.
        memory: bytes for rows, table and edges.
        first_rows: rows to start with.
    """

    def __init__(
        self,
        program: np.ndarray,
        tally: np.ndarray,
        max_nodes: int | None = None,
        memory: int = MEMORY,
        first_rows: int = SMALLEST,
    ) -> None:
        self.program, self.tally = program, tally
        self.edges_kept = bool(program[at.EDGES_KEPT])
        self.max_nodes = max(1, memory // self.bytes_per_node) if max_nodes is None else max_nodes
        self.max_edges = EDGES_PER_NODE * self.max_nodes if max_nodes is None else 1 << 31
        self.max_edges = min(self.max_edges, max(1, memory // (8 * at.EDGE_SIZE)), (1 << 31) - 1)
        self.rows, self.table, self.edges = (np.zeros(0, np.int64) for _ in range(3))
        self._resize_rows(min(first_rows, self.max_nodes))
        self._resize_edges(4 * SMALLEST if self.edges_kept else 1)
        tally[at.GENERATION], tally[at.EDGES], tally[at.ROOT] = 1, 1, -1

    @property
    def bytes_per_node(self) -> int:
        """Bytes of one node: its row, its share of the table, and the edges it is reckoned to have."""
        edges = EDGES_PER_NODE * 8 * at.EDGE_SIZE if self.edges_kept else 0
        return int(self.program[at.STRIDE]) * 8 + 4 * 8 + edges

    def _resize_rows(self, rows: int) -> None:
        self.rows.resize(rows * int(self.program[at.STRIDE]), refcheck=False)  # in place: no second copy at the cap
        size = 1 << (2 * rows - 1).bit_length()
        self.program[at.ROW_CAPACITY] = rows
        if size != len(self.table):
            self.program[at.TABLE_MASK] = size - 1
            self.table = np.zeros(size, np.int64)
            if self.tally[at.NODES]:
                self._fill_table()

    def _resize_edges(self, edges: int) -> None:
        self.edges.resize(edges * at.EDGE_SIZE, refcheck=False)
        self.program[at.EDGE_CAPACITY] = edges

    def _fill_table(self) -> None:
        compiled_entry(fill_table, True)(self.program, self.tally, self.rows, self.table)

    def make_room(self, needed: int) -> bool:
        """Grow what is too small for `needed` more rows and edges; False if something is and may not grow."""
        room = True
        rows, nodes = int(self.program[at.ROW_CAPACITY]), int(self.tally[at.NODES])
        if nodes + needed > rows:
            wanted = min(max(2 * rows, nodes + needed), self.max_nodes)
            if wanted > rows:
                self._resize_rows(wanted)
            room = nodes + needed <= wanted
        edges, used = int(self.program[at.EDGE_CAPACITY]), int(self.tally[at.EDGES])
        if self.edges_kept and used + needed > edges:
            wanted = min(max(2 * edges, used + needed), self.max_edges)
            if wanted > edges:
                self._resize_edges(wanted)
            room = room and used + needed <= wanted
        return room

    def drop_past(self) -> None:
        """Forget the nodes that the present root will not meet again."""
        nodes = int(self.tally[at.NODES])
        order, position = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
        compiled_entry(mark_future, True)(self.program, self.tally, self.rows, self.edges, order, position)
        kept = np.empty_like(self.edges)
        compiled_entry(compact, True)(self.program, self.tally, self.rows, self.edges, kept, position)
        if self.edges_kept:
            self.edges = kept
        self.table[:] = 0
        self._fill_table()

    def first_key_cells(self) -> np.ndarray:
        """The first cell of each node's key."""
        stride, nodes = int(self.program[at.STRIDE]), int(self.tally[at.NODES])
        return self.rows[: nodes * stride].reshape(nodes, stride)[:, at.FIRST_KEY]

    def forget(self) -> None:
        """Let go of every node, keeping the memory."""
        self.tally[at.ROOT_CHANGE] = at.RESTARTED

    def arrays(self) -> tuple[Any, Any, Any]:
        """Rows, table and edges, as the kernel takes them."""
        return self.rows, self.table, self.edges
