"""After the search: what it says about the root, and which action it recommends.

Scenarios decide by their own means, see `scenarios`.  Else a sweep recomputes what the root reaches, see `sweep`, and
where values are learned `plain_values`.  Under a budget in seconds a sweep may be too dear; it then takes the nodes
nearest to the root, and those behind them are worth what they were.
"""

import math

from numba import njit

from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import is_action, make_frame, node_at
from gymnasium_gsp.search.graph import reach
from gymnasium_gsp.search.halving import best_drawn_action
from gymnasium_gsp.search.intervals import action_bound, end_value
from gymnasium_gsp.search.plain_values import sweep_plainly
from gymnasium_gsp.search.playout import read_legal, uniform_action
from gymnasium_gsp.search.prior import show_prior
from gymnasium_gsp.search.scenarios import decide_by_scenarios
from gymnasium_gsp.search.sweep import Swept, is_cut, sweep
from gymnasium_gsp.search.trail import finish_waiting


@njit
def sweep_reached(frame, swept, behind):
    """Sweep what the root reaches; returns a status.

    Where values are not learned, that is into the graph and then with the decision's own backup.  `behind` is working
    memory as large as `swept.values`.
    """
    program = frame.program
    # Where not all can be swept: a node that was visited once is worth the return of its one simulation, swept or not.
    least = 2 if is_cut(frame) else 0
    count = reach(frame, frame.tally.root, swept.order, swept.position, program.update_limit, least)
    fine = True
    if swept.source == codes.PLAIN:
        fine = sweep_plainly(frame, swept, count, behind)
    else:
        if program.estimator == codes.PRESENT_VALUES:
            fine = sweep(frame, swept, count, program.backup, program.backup_params, True)
        if fine and program.decision_backup != 0:
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
        reals: (1 + 2 * actions + 2 * nodes,) float64, for the root's value, its action values (-inf where untried) and
            working memory.
        counts: (actions,) int64, for the root's visit counts.
    """
    frame = make_frame(arrays)
    actions = frame.program.actions
    frame.tally.updates = 0
    status = finish_waiting(frame)
    if status != codes.DONE:
        return status
    node, q = node_at(frame, frame.tally.root), address(reals, 1)
    if frame.allocation.phase == codes.BY_SCENARIOS:
        for action in range(actions):
            counts[action] = node.counts[action]
        frame.tally.detail = decide_by_scenarios(frame, q)
        reals[0] = q[frame.tally.detail]
        return codes.DONE
    if frame.program.sweep != 0:
        variance, values = address(reals, 1 + actions), address(reals, 1 + 2 * actions)
        discount, end = frame.context.discount, end_value(frame)
        source = codes.PLAIN if frame.program.learned != 0 else codes.STORED
        swept = Swept(address(order, 0), address(position, 0), values, q, variance, discount, end, source)
        status = sweep_reached(frame, swept, address(reals, 1 + 2 * actions + frame.tally.nodes))
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
    if frame.allocation.phase == codes.BY_HALVING and show_prior(frame, frame.tally.root):
        frame.tally.detail = best_drawn_action(frame, q, address(counts, 0))
        reals[0] = q[frame.tally.detail]  # the mean over all visits would count those that the halving spent
        return codes.DONE
    scores = q
    if frame.program.caution > 0.0:
        scores = address(reals, 1 + actions)  # squared standard errors, see `sweep_errors`
        for action in range(actions):
            if counts[action] > 0:
                scores[action] = q[action] - frame.program.caution * math.sqrt(scores[action])
    frame.tally.detail = recommend(frame, legal, scores, address(counts, 0))
    return codes.DONE
