"""The node store: one row of cells per node, an open-addressing table over (tag, key), and outcome edges.

A node's tag is 0 for state keys, the elapsed steps for (state, elapsed) keys, and parent * actions + action for paths
and for action sequences (whose key has no cells), so that one table serves trees and graphs.  Keys are compared in
full; a hash only says where to look.  A cell of the table is a node's number under a stamp of 32 bits: the generation,
by which tables are cleared, and some bits of the hash, so that hardly ever a row is read, which lies far away in
memory, only to find another key in it.
"""

from numba import njit, types

from gymnasium_gsp.abi.memory import offset, prefetch
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import FIRST_KEY, as_stats, edge_at, node_at, row_of, stats_of

u64 = types.uint64
_LOW = 0xFFFFFFFF
_HASH_BITS = 12
_CACHE_LINE = 8  # cells that memory hands over at once
AHEAD = 8  # how many nodes before it is read a row is asked for
LAST_GENERATION = (1 << (31 - _HASH_BITS)) - 1  # what a stamp has room for


@njit(forceinline=True)
def key_hash(tag, key, key_size):
    """Return 64 well-mixed bits of a tag and a key."""
    h = u64(tag) * u64(0x9E3779B97F4A7C15)
    for i in range(key_size):
        h = (h ^ u64(key[i])) * u64(0xFF51AFD7ED558CCD)
        h ^= h >> u64(32)
    return h


@njit(forceinline=True)
def same_key(row, tag, key, key_size):
    """Return whether a row holds exactly this tag and key."""
    if as_stats(row).tag != tag:
        return False
    for i in range(key_size):  # noqa: SIM110, numba compiles no generator expressions
        if row[FIRST_KEY + i] != key[i]:
            return False
    return True


@njit
def stamp_of(generation, h):
    """Return the upper half of a cell of the table: the generation, and the bits of the hash that choose no slot."""
    return (generation << _HASH_BITS) | types.int64(h >> u64(64 - _HASH_BITS))


@njit(forceinline=True)
def find(frame, tag, key):
    """Return the node with this tag and key, or -1 - (the free slot where it belongs)."""
    mask, key_size, generation = frame.program.table_mask, frame.program.key_size, frame.tally.generation
    h = key_hash(tag, key, key_size)
    slot, stamp = types.int64(h & u64(mask)), stamp_of(generation, h)
    while True:
        found = frame.table[slot] >> 32
        if found >> _HASH_BITS != generation:
            return -1 - slot
        if found == stamp:
            node = frame.table[slot] & _LOW
            if same_key(row_of(frame, node), tag, key, key_size):
                return node
        slot = (slot + 1) & mask


@njit
def add(frame, slot, tag, key):
    """Add a node without visits in a free slot; the caller has made sure that there is a row for it."""
    program, tally = frame.program, frame.tally
    node = tally.nodes
    tally.nodes = node + 1
    frame.table[slot] = (stamp_of(tally.generation, key_hash(tag, key, program.key_size)) << 32) | node
    row = row_of(frame, node)
    for i in range(program.stride):
        row[i] = 0
    as_stats(row).tag = tag
    for i in range(program.key_size):
        row[FIRST_KEY + i] = key[i]
    return node


@njit
def add_if_room(frame, found, tag, key):
    """Add the node that `find` did not find, or return codes.UNSTORED where memory or the budget has no room for it."""
    if frame.tally.nodes >= frame.program.row_capacity:
        frame.tally.capped = 1
        return codes.UNSTORED
    if frame.tally.new_nodes >= frame.program.node_limit:
        return codes.UNSTORED
    frame.tally.new_nodes += 1
    return add(frame, -1 - found, tag, key)


@njit
def clear(frame):
    """Forget every node and edge, and that simulations have been counted for them."""
    tally = frame.tally
    frame.allocation.begun_at = frame.allocation.renewed_at = frame.context.root_returns
    frame.context.root_returns_a_node = 0.0
    if tally.generation == LAST_GENERATION:
        for slot in range(frame.program.table_mask + 1):
            frame.table[slot] = 0
        tally.generation = 0
    tally.generation += 1
    tally.nodes = 0
    tally.edges = 1
    tally.root = -1
    tally.created = tally.widest = 0


@njit
def child_tag(frame, node, action, depth):
    """Return the tag of what `action` at `node` leads to, at `depth`."""
    key = frame.program.key
    if key == codes.BY_STATE_ELAPSED:
        return frame.program.root_elapsed + depth
    if key in (codes.BY_PATH, codes.BY_ACTIONS):
        return node * frame.program.actions + action
    return 0


@njit
def enter_root(frame):
    """Find or add the root's node and note what it inherits.

    Returns NO_ROOM_FOR_ROOT, having changed nothing, if there is no row for it.
    """
    tally = frame.tally
    if tally.root_change != codes.SAME_ROOT or tally.root < 0:
        root = find_root(frame)
        if root < 0:
            if tally.nodes >= frame.program.row_capacity:
                return codes.NO_ROOM_FOR_ROOT
            root = add(frame, -1 - root, root_tag(frame), frame.root_state)
        tally.root = root
    tally.inherited = stats_of(frame, tally.root).visits
    return codes.DONE


@njit
def root_tag(frame):
    """Return the tag of a root that no step led to."""
    by_path = frame.program.key in (codes.BY_PATH, codes.BY_ACTIONS)
    return -1 if by_path else child_tag(frame, 0, 0, 0)


@njit
def find_root(frame):
    """Return the root's node, or -1 - (the free slot where it belongs), having cleared what it cannot go on from.

    A tree goes on from the child of its root that fits the new state.  A tree of action sequences cannot tell which
    child fits and starts anew.
    """
    change, previous = frame.tally.root_change, frame.tally.root
    if change == codes.RESTARTED:
        clear(frame)
    elif previous >= 0 and frame.program.key == codes.BY_PATH:
        child = fitting_child(frame, previous)
        if child >= 0:
            return child
        clear(frame)
    elif previous >= 0 and frame.program.key == codes.BY_ACTIONS:
        clear(frame)
    return find(frame, root_tag(frame), frame.root_state)


@njit
def fitting_child(frame, root):
    """Return the child of a tree's root that holds the new root's state, or -1.

    Which action was executed is not known, so several may fit: the one behind the recommended action comes first, then
    the one with the most visits.
    """
    fitting, most = -1, -1
    for action in range(frame.program.actions):
        child = find(frame, root * frame.program.actions + action, frame.root_state)
        if child < 0:
            continue
        if action == frame.tally.recommended:
            return child
        visits = stats_of(frame, child).visits
        if visits > most:
            fitting, most = child, visits
    return fitting


@njit
def child_value(frame, child):
    """Return the present value of what an edge leads to; 0 where the episode ended or nothing was stored."""
    if child < 0:
        return 0.0
    return stats_of(frame, child).value


@njit
def append_edge(frame, heads, action, last, child, reward):
    """Store a new outcome behind edge `last` of an action's list; returns its number, or codes.NO_EDGE without room."""
    if frame.tally.edges >= frame.program.edge_capacity:
        frame.tally.capped = 1
        return codes.NO_EDGE
    number = frame.tally.edges
    frame.tally.edges = number + 1
    edge = edge_at(frame, number)
    edge.child, edge.next, edge.count, edge.reward = child, codes.NO_EDGE, 1, reward
    if last == codes.NO_EDGE:
        heads[action] = number
    else:
        edge_at(frame, last).next = number
    return number


@njit(forceinline=True)
def record_outcome(frame, heads, action, child, reward, discount):
    """Count one outcome of an action and return the action's value from counts and children's present values.

    Q(s,a) = sum over outcomes of n(s,a,s') / n(s,a) * (mean reward + discount * V(s')): the estimator that the
    paper's Lemma on Q-value concentration analyses (its eq. Q_graph).  Outcomes are summed in the order in which
    they were first met.  Without room for another edge a new outcome is left out of the sum.
    """
    number, last, met = heads[action], codes.NO_EDGE, codes.NO_EDGE
    total, count = 0.0, 0
    while number != codes.NO_EDGE:
        edge = edge_at(frame, number)
        outcome, rewards = edge.child, edge.reward
        # Chosen, not branched on: chance decided which outcome it was, so the processor could only guess.
        same = outcome == child
        n = edge.count + same
        rewards = rewards + reward if same else rewards
        met = number if same else met
        total += rewards + discount * n * child_value(frame, outcome)
        count += n
        last, number = number, types.int64(edge.next)
    if met != codes.NO_EDGE:
        edge = edge_at(frame, met)
        edge.count += 1
        edge.reward += reward
    elif append_edge(frame, heads, action, last, child, reward) != codes.NO_EDGE:
        total += reward + discount * child_value(frame, child)
        count += 1
    if count == 0:
        return reward + discount * child_value(frame, child)
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
def ask_for(frame, node, first):
    """Ask for a node's row, from its cell `first` on; the rows of a graph's order lie anywhere in memory."""
    row = row_of(frame, node)
    for cell in range(first, frame.program.stride, _CACHE_LINE):
        prefetch(offset(row, cell))


@njit
def reach(frame, root, order, position, most, least):
    """Write the nodes that `root` reaches over edges to `order`, nearest first; return how many there are.

    They have at most `most` outcomes, themselves counted in, which `tally.reached` says afterwards; the root may have
    more.  Beside the root there are none with fewer than `least` visits.

    `position` must hold zeros for all nodes; afterwards it holds 1 + the place in `order` of each node reached.  Nodes
    equally far away stand in the order of their numbers where edges may join them (state keys), so that the result does
    not depend on how the actions are numbered.
    """
    program = frame.program
    order[0] = root
    position[root] = 1
    level, count, read = 0, 1, 0
    while level < count:
        end = count
        for index in range(level, end):
            if index + AHEAD < count:
                ask_for(frame, order[index + AHEAD], program.heads_at)
            heads, before = node_at(frame, order[index]).heads, read
            read += 1
            for action in range(program.actions):
                number = heads[action]
                while number != codes.NO_EDGE:
                    edge = edge_at(frame, number)
                    child = types.int64(edge.child)
                    read += 1
                    if child >= 0 and position[child] == 0 and stats_of(frame, child).visits >= least:
                        order[count] = child
                        count += 1
                        position[child] = count
                    number = types.int64(edge.next)
            if read > most and index > 0:
                for left_out in range(index, count):
                    position[order[left_out]] = 0
                frame.tally.reached = before
                return index
        if program.key == codes.BY_STATE:
            sort_cells(offset(order, end), count - end)
            for index in range(end, count):
                position[order[index]] = index + 1
        level = end
    frame.tally.reached = read
    return count
