"""After the search: what it says about the root, by its own values or after a backward sweep, and which action.

A sweep recomputes what the root reaches, deepest first.  With the current estimator the search's own backup is swept
into the graph first: its values are functions of counts and children, so this only brings them up to date, and the
next search starts from it.  A decision's own backup is swept into scratch: caution must not feed back into the graph.
"""

import math

from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import address, as_reals, below, call_backup, notes, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.graph import AHEAD, ask_for, edge_child, next_edge, reach
from gymnasium_gsp.search.playout import place, read_legal, uniform_action


@njit
def outcome_value(program, rows, position, swept, index, child):
    """Value of an outcome during a sweep: swept if the child lies deeper than place `index`, else as stored."""
    if child < 0:
        return 0.0
    if position[child] - 1 > index:
        return swept[position[child] - 1]
    return as_reals(rows)[child * program[at.STRIDE] + at.NODE_VALUE]


@njit
def swept_mean(program, context, rows, edges, head, position, swept, index):
    """Mean of the targets r + discount * V(s') over the observed outcomes, summed as in `graph.record_outcome`."""
    discount = context[abi.DISCOUNT]
    count, total, number = 0, 0.0, head
    while number != at.NO_EDGE:
        edge = offset(edges, number * at.EDGE_SIZE)
        n = edge[at.EDGE_COUNT]
        value = outcome_value(program, rows, position, swept, index, edge_child(edge))
        total += as_reals(edge)[at.EDGE_REWARD] + discount * n * value
        count += n
        number = next_edge(edge)
    return total / count


@njit
def swept_variance(program, context, rows, edges, head, position, swept, index, mean):
    """Variance of the same targets around their mean."""
    discount = context[abi.DISCOUNT]
    count, squares, number = 0, 0.0, head
    while number != at.NO_EDGE:
        edge = offset(edges, number * at.EDGE_SIZE)
        n = edge[at.EDGE_COUNT]
        value = outcome_value(program, rows, position, swept, index, edge_child(edge))
        away = as_reals(edge)[at.EDGE_REWARD] / n + discount * value - mean
        squares += n * away * away
        count += n
        number = next_edge(edge)
    return squares / count


@njit
def node_depth(program, rows, root, node):
    """Steps from the root to a node; 0 for state keys, whose nodes lie at no one depth."""
    if program[at.KEY] == at.BY_STATE_ELAPSED:
        return rows[node * program[at.STRIDE] + at.TAG] - program[at.ROOT_ELAPSED]
    depth = 0
    if program[at.KEY] == at.BY_PATH:
        while node != root:
            node = rows[node * program[at.STRIDE] + at.TAG] // program[at.ACTIONS]
            depth += 1
    return depth


@njit
def sweep(program, params, context, rows, edges, count, order, position, swept, q, variance, backup, in_place):
    """Recompute the first `count` nodes of `order`, last first; leaves the root's action values in `q`.

    `backup` is the cell of the backup to use, BACKUP or DECISION_BACKUP.  False if it failed.
    """
    actions, stride = program[at.ACTIONS], program[at.STRIDE]
    backup_at = at.BACKUP_AT if backup == at.BACKUP else at.DECISION_BACKUP_AT
    for index in range(count - 1, -1, -1):
        if index >= AHEAD:
            ask_for(program, rows, order[index - AHEAD], 0)
        row = offset(rows, order[index] * stride)
        counts, searched = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
        tried = 0
        for action in range(actions):
            q[action], variance[action] = 0.0, 0.0
            if counts[action] == 0:
                continue
            tried += counts[action]
            q[action], head = searched[action], row[program[at.HEADS_AT] + action]
            if head != at.NO_EDGE:
                q[action] = swept_mean(program, context, rows, edges, head, position, swept, index)
                if not in_place or program[at.VARIANCE_KEPT] != 0:
                    variance[action] = swept_variance(
                        program, context, rows, edges, head, position, swept, index, q[action]
                    )
        here = as_reals(row)
        swept[index] = here[at.NODE_VALUE]
        if tried == 0:
            continue
        depth = node_depth(program, rows, order[0], order[index])
        place(program, context, depth)
        context[abi.LOWER] = params[program[at.LOWER_AT] + depth]
        if depth > 0:
            notes(context, depth - 1)[0] = abi.UNKNOWN  # a sweep follows no trajectory
        swept[index] = call_backup(
            program[backup],
            offset(params, program[backup_at]),
            context,
            row[at.VISITS],
            q,
            counts,
            variance,
            here[at.NODE_VALUE],
            here[at.NODE_VALUE],
        )
        if not math.isfinite(swept[index]):
            return False
        if in_place:
            here[at.NODE_VALUE] = swept[index]
            for action in range(actions):
                if counts[action] > 0:
                    searched[action] = q[action]
    return True


@njit
def recommend(program, context, legal, q, counts, rng):
    """The root action with the best value or the most visits, ties at random; a uniform one if none was tried."""
    best, top, ties = -1, -math.inf, 0
    for action in range(program[at.ACTIONS]):
        if counts[action] == 0 or (context[abi.MASKED] != 0.0 and context[abi.CONTEXT_SIZE + action] == 0.0):
            continue
        score = q[action] if program[at.RECOMMENDATION] == at.BEST_VALUE else float(counts[action])
        if best < 0 or score > top:
            best, top, ties = action, score, 1
        elif score == top:
            ties += 1
            if below(rng, ties) == 0:
                best = action
    return best if best >= 0 else uniform_action(program, context, legal, rng)


def decide(program, tally, params, model_params, context, rows, edges, states, rng, order, position, reals, counts):
    """Write the root's action values and counts, and recommend an action; returns a status, the action in DETAIL.

    Besides the arrays of `kernel.search` it takes (nodes,) int64 scratch for the sweep, `order` and `position`, the
    latter all zeros; `reals`, (1 + 2 * actions + nodes,) float64, for the root's value, its action values (-inf where
    untried) and scratch; and `counts`, (actions,) int64, for the root's visit counts.
    """
    program_at, context_at, rows_at, rng_at = (
        address(program, 0),
        address(context, 0),
        address(rows, 0),
        address(rng, 0),
    )
    actions, root = program[at.ACTIONS], tally[at.ROOT]
    q, variance, swept = address(reals, 1), address(reals, 1 + actions), address(reals, 1 + 2 * actions)
    row = offset(rows_at, root * program[at.STRIDE])
    visits, searched = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
    reals[0] = as_reals(row)[at.NODE_VALUE]
    if program[at.SWEEP] != 0:
        edges_at, order_at, position_at = address(edges, 0), address(order, 0), address(position, 0)
        params_at = address(params, 0)
        count = reach(program_at, rows_at, edges_at, root, order_at, position_at)
        fine = True
        for backup in (at.BACKUP, at.DECISION_BACKUP):
            in_place = backup == at.BACKUP
            if program[at.ESTIMATOR] != at.PRESENT_VALUES if in_place else program[at.DECISION_BACKUP] == 0:
                continue
            fine = fine and sweep(
                program_at,
                params_at,
                context_at,
                rows_at,
                edges_at,
                count,
                order_at,
                position_at,
                swept,
                q,
                variance,
                backup,
                in_place,
            )
        if context[abi.IN_FLIGHT] != 0.0:
            return at.RAISED
        if not fine:
            return at.BAD_BACKUP
        reals[0] = swept[0]
    else:
        for action in range(actions):
            q[action] = searched[action]
    for action in range(actions):
        counts[action] = visits[action]
        if visits[action] == 0:
            q[action] = -math.inf
    legal = read_legal(program_at, address(model_params, 0), context_at, address(states, 0))
    if legal <= 0:
        return at.NO_ACTION
    tally[at.DETAIL] = recommend(program_at, context_at, legal, q, address(counts, 0), rng_at)
    return at.DONE
