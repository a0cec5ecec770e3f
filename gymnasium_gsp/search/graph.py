"""The node store: one row of cells per node, an open-addressing table over (tag, key), and outcome edges.

A node's tag is 0 for state keys, the elapsed steps for (state, elapsed) keys, and parent * actions + action for
path keys, so that one table serves trees and graphs.  Keys are compared in full; a hash only says where to look.
A cell of the table is a node's number under a stamp of 32 bits: the generation, by which tables are cleared, and some
bits of the hash, so that hardly ever a row is read, which lies far away in memory, only to find another key in it.
"""

from numba import njit, types

from gymnasium_gsp.abi.signatures import as_reals, offset, prefetch
from gymnasium_gsp.search import layout as at

u64 = types.uint64
_LOW = 0xFFFFFFFF
_PRINT_BITS = 12
_LINE = 8  # cells that memory hands over at once
AHEAD = 8  # how many nodes before it is read a row is asked for
LAST_GENERATION = (1 << (31 - _PRINT_BITS)) - 1  # what a stamp has room for


@njit(forceinline=True)
def key_hash(tag, key, key_size):
    """64 well-mixed bits of a tag and a key."""
    h = u64(tag) * u64(0x9E3779B97F4A7C15)
    for i in range(key_size):
        h = (h ^ u64(key[i])) * u64(0xFF51AFD7ED558CCD)
        h ^= h >> u64(32)
    return h


@njit(forceinline=True)
def same_key(row, tag, key, key_size):
    """Whether a row holds exactly this tag and key."""
    if row[at.TAG] != tag:
        return False
    for i in range(key_size):  # noqa: SIM110, numba compiles no generator expressions
        if row[at.FIRST_KEY + i] != key[i]:
            return False
    return True


@njit
def stamp_of(generation, h):
    """The upper half of a cell of the table: the generation, and the bits of the hash that choose no slot."""
    return (generation << _PRINT_BITS) | types.int64(h >> u64(64 - _PRINT_BITS))


@njit(forceinline=True)
def find(program, generation, rows, table, tag, key):
    """The node with this tag and key, or -1 - (the free slot where it belongs)."""
    mask, stride, key_size = program[at.TABLE_MASK], program[at.STRIDE], program[at.KEY_SIZE]
    h = key_hash(tag, key, key_size)
    slot, stamp = types.int64(h & u64(mask)), stamp_of(generation, h)
    while True:
        found = table[slot] >> 32
        if found >> _PRINT_BITS != generation:
            return -1 - slot
        if found == stamp:
            node = table[slot] & _LOW
            if same_key(offset(rows, node * stride), tag, key, key_size):
                return node
        slot = (slot + 1) & mask


@njit
def add(program, tally, rows, table, slot, tag, key):
    """A new node without visits in a free slot; the caller has made sure that there is a row for it."""
    node = tally[at.NODES]
    tally[at.NODES] = node + 1
    table[slot] = (stamp_of(tally[at.GENERATION], key_hash(tag, key, program[at.KEY_SIZE])) << 32) | node
    row = offset(rows, node * program[at.STRIDE])
    for i in range(program[at.STRIDE]):
        row[i] = 0
    row[at.TAG] = tag
    for i in range(program[at.KEY_SIZE]):
        row[at.FIRST_KEY + i] = key[i]
    return node


@njit
def clear(program, tally, table):
    """Forget every node and edge."""
    if tally[at.GENERATION] == LAST_GENERATION:
        for slot in range(program[at.TABLE_MASK] + 1):
            table[slot] = 0
        tally[at.GENERATION] = 0
    tally[at.GENERATION] += 1
    tally[at.NODES] = 0
    tally[at.EDGES] = 1
    tally[at.ROOT] = -1


@njit
def edge_child(edge):
    """What an edge leads to: a node, TERMINAL or UNSTORED."""
    return (edge[at.EDGE_LINK] & _LOW) - at.CHILD_OFFSET


@njit
def next_edge(edge):
    """Number of the next edge of the same state and action, or NO_EDGE."""
    return edge[at.EDGE_LINK] >> 32


@njit
def child_value(program, rows, child):
    """Present value of what an edge leads to; 0 where the episode ended or nothing was stored."""
    if child < 0:
        return 0.0
    return as_reals(rows)[child * program[at.STRIDE] + at.NODE_VALUE]


@njit(forceinline=True)
def record_outcome(program, tally, rows, edges, row, action, child, reward, discount):
    """Count one outcome of (row, action) and return the action's value from counts and children's present values.

    Q(s,a) = sum over outcomes of n(s,a,s') / n(s,a) * (mean reward + discount * V(s')): the estimator that the
    paper's Lemma on Q-value concentration analyses (its eq. Q_graph).  Outcomes are summed in the order in which
    they were first met.  Without room for another edge a new outcome is left out of the sum.
    """
    head = program[at.HEADS_AT] + action
    number, last, met = row[head], at.NO_EDGE, at.NO_EDGE
    total, count = 0.0, 0
    while number != at.NO_EDGE:
        edge = offset(edges, number * at.EDGE_SIZE)
        outcome, rewards = edge_child(edge), as_reals(edge)[at.EDGE_REWARD]
        # Chosen, not branched on: chance decided which outcome it was, so the processor could only guess.
        same = outcome == child
        n = edge[at.EDGE_COUNT] + same
        rewards = rewards + reward if same else rewards
        met = number if same else met
        total += rewards + discount * n * child_value(program, rows, outcome)
        count += n
        last, number = number, next_edge(edge)
    if met != at.NO_EDGE:
        edge = offset(edges, met * at.EDGE_SIZE)
        edge[at.EDGE_COUNT] += 1
        as_reals(edge)[at.EDGE_REWARD] += reward
    elif tally[at.EDGES] < program[at.EDGE_CAPACITY]:
        number = tally[at.EDGES]
        tally[at.EDGES] = number + 1
        edge = offset(edges, number * at.EDGE_SIZE)
        edge[at.EDGE_LINK] = child + at.CHILD_OFFSET
        edge[at.EDGE_COUNT] = 1
        as_reals(edge)[at.EDGE_REWARD] = reward
        if last == at.NO_EDGE:
            row[head] = number
        else:
            edges[last * at.EDGE_SIZE + at.EDGE_LINK] |= number << 32
        total += reward + discount * child_value(program, rows, child)
        count += 1
    else:
        tally[at.CAPPED] = 1
    if count == 0:
        return reward + discount * child_value(program, rows, child)
    return total / count


@njit
def sort_cells(cells, count):
    """Sort `count` cells upwards, in place (Shell's method)."""
    gap = count // 2
    while gap > 0:
        for i in range(gap, count):
            cell, place = cells[i], i
            while place >= gap and cells[place - gap] > cell:
                cells[place] = cells[place - gap]
                place -= gap
            cells[place] = cell
        gap //= 2


@njit
def ask_for(program, rows, node, first):
    """Ask for a node's row, from its cell `first` on; the rows of a graph's order lie anywhere in memory."""
    row = offset(rows, node * program[at.STRIDE])
    for cell in range(first, program[at.STRIDE], _LINE):
        prefetch(offset(row, cell))


@njit
def reach(program, rows, edges, root, order, position):
    """Number of nodes that `root` reaches over edges; they are written to `order`, nearest first.

    `position` must hold zeros for all nodes; afterwards it holds 1 + the place in `order` of each node reached.  Nodes
    equally far away stand in the order of their numbers where edges may join them (state keys), so that the result does
    not depend on how the actions are numbered.
    """
    actions, stride = program[at.ACTIONS], program[at.STRIDE]
    order[0] = root
    position[root] = 1
    level, count = 0, 1
    while level < count:
        end = count
        for index in range(level, end):
            if index + AHEAD < count:
                ask_for(program, rows, order[index + AHEAD], program[at.HEADS_AT])
            row = offset(rows, order[index] * stride)
            for action in range(actions):
                number = row[program[at.HEADS_AT] + action]
                while number != at.NO_EDGE:
                    edge = offset(edges, number * at.EDGE_SIZE)
                    child = edge_child(edge)
                    if child >= 0 and position[child] == 0:
                        order[count] = child
                        count += 1
                        position[child] = count
                    number = next_edge(edge)
        if program[at.KEY] == at.BY_STATE:
            sort_cells(offset(order, end), count - end)
            for index in range(end, count):
                position[order[index]] = index + 1
        level = end
    return count
