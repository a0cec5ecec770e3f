"""One simulation with optimism: follow the largest upper bound, count outcomes at once, then propagate what moved.

Where values are learned, some simulations are greedy, see `recipe.GreedySimulations`.
"""

import math

from numba import njit, types

from gymnasium_gsp.abi.signatures import FAILED, RUNNING, TERMINATED
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import edge_at, hop_at, is_action, node_at, reward_of
from gymnasium_gsp.search.graph import add_if_room, append_edge, child_tag, find
from gymnasium_gsp.search.ingredients.selection import pick_any, pick_tried
from gymnasium_gsp.search.intervals import action_bound, open_actions, set_up, stale_bit, within_bounds
from gymnasium_gsp.search.observed_values import observe_values, renew_if_due, set_baseline
from gymnasium_gsp.search.plain_values import renew_trail
from gymnasium_gsp.search.playout import copy_state, read_allowed, take_step
from gymnasium_gsp.search.propagate import link_predecessor, prepend_predecessor, propagate, renew_stale
from gymnasium_gsp.search.recurrence import is_early_try, is_well_known, note_early_try, note_step
from gymnasium_gsp.search.sweep import is_cut

_ROUNDING = 1e-9  # of a sum of equal rewards, relative to its size


@njit
def optimistic_action(frame, node, ended):
    """Return an action never tried, or else the one with the largest upper bound, recomputed now; ties at random.

    `ended` says that the process is over, so that a sequence may go on with any action.
    """
    best, largest, ties, rounding = -1, -math.inf, 0, frame.program.rounding
    by_actions = frame.program.key == codes.BY_ACTIONS
    renewed = by_actions  # in a tree nothing has moved since the node was renewed
    if frame.program.learned != 0:
        renewed = True
        if node.interval.stale != 0:  # the value follows when the trail is propagated
            renew_stale(frame, node)
    masked = frame.context.masked != 0 and not ended
    for action in range(frame.program.actions):
        if masked and not is_action(frame, action):
            continue
        if node.q[action] == -math.inf:  # legal for the first time
            node.q[action], node.lower[action] = frame.context.top, frame.context.bottom
        bound = frame.context.top if frame.program.learned != 0 else math.inf
        if node.counts[action] > 0:
            if not renewed:
                node.q[action] = action_bound(frame, node, action, 1.0)
            bound = node.q[action]
        if best < 0 or bound > largest + rounding:
            best, largest, ties = action, bound, 1
        elif bound >= largest - rounding:
            ties += 1
            if below(frame.rng, ties) == 0:
                best = action
    return best


@njit
def greedy_action(frame, node):
    """Return the action with the largest plain value among those tried, ties at random; any where none was tried."""
    action = pick_tried(frame.context, node.lower, node.counts, frame.rng)
    if action < 0:
        action = pick_any(frame.context, frame.rng)
    if node.q[action] == -math.inf:  # legal for the first time
        node.q[action] = frame.context.top
    return action


@njit
def next_node(frame, number, action, depth):
    """Return the node of the present state, which an action has led to, set up if it is new; UNSTORED without room."""
    tag = child_tag(frame, number, action, depth)
    child = find(frame, tag, frame.state)
    if child < 0:
        child = add_if_room(frame, child, tag, frame.state)
        if child >= 0:
            set_up(frame, child)
    return child


@njit
def pays_otherwise(edge, reward):
    """Return whether a reward differs, by more than rounding, from the mean of those that an outcome has paid."""
    paid = edge.count * reward
    return abs(edge.reward - paid) > _ROUNDING * (abs(edge.reward) + abs(paid))


@njit
def count_outcome(frame, number, action, child, reward, exploring):
    """Count one outcome of an action, in the edge that holds it or in a new one.

    While the graph is explored, it is noted how often an action that is tried again leads to something unknown.
    """
    node, apart, seen = node_at(frame, number), frame.program.rewards_apart != 0, frame.allocation
    again = exploring and is_early_try(node, action)
    if again:
        note_early_try(seen)
    node.stats.visits += 1
    node.counts[action] += 1
    node.interval.stale |= stale_bit(action)
    if child == codes.UNSTORED:  # nobody knows where that led
        seen.unknown += again
        return
    edge_number, last, width = node.heads[action], codes.NO_EDGE, 1
    while edge_number != codes.NO_EDGE:
        edge = edge_at(frame, edge_number)
        if edge.child == child and (not apart or edge.reward == reward):
            if frame.program.clocked != 0 and pays_otherwise(edge, reward):
                seen.follows_clock = 1
            edge.count += 1
            if not apart:
                edge.reward += reward
            return
        last, edge_number, width = edge_number, types.int64(edge.next), width + 1
    if again and not is_well_known(frame, child):
        seen.unknown += 1.0
    if child >= 0 and frame.program.learned != 0:
        prepend_predecessor(frame, number, action, child)
    elif child >= 0:
        link_predecessor(frame, number, child)
    if append_edge(frame, node.heads, action, last, child, reward) != codes.NO_EDGE:
        frame.tally.widest = max(frame.tally.widest, width)


@njit
def is_greedy(frame):
    """Return whether the simulation to come follows plain values."""
    program, tally = frame.program, frame.tally
    if program.greedy_every == 0 or (tally.simulations + 1) % program.greedy_every != 0:
        return False
    simulations = frame.context.root_returns - frame.allocation.begun_at
    return simulations >= program.greedy_after and is_well_known(frame, tally.root)


@njit
def simulate_optimistically(frame):
    """Run one simulation from the root and propagate what it changed; returns a status, see `trial.simulate`.

    Behind the end of the process a sequence of actions goes on without model steps, and every reward is 0.
    """
    program, tally = frame.program, frame.tally
    copy_state(frame, frame.root_state, frame.state)
    number, depth, status, value = tally.root, 0, RUNNING, 0.0
    greedy = is_greedy(frame)
    while depth < program.horizon:
        node = node_at(frame, number)
        if status != TERMINATED and tally.model_steps >= program.step_limit:
            value = node.interval.lower
            break
        if node.interval.opened == 0 and not open_actions(frame, number):
            return codes.NO_ACTION
        if status != TERMINATED and read_allowed(frame, frame.state, number) <= 0:
            return codes.NO_ACTION
        action = greedy_action(frame, node) if greedy else optimistic_action(frame, node, status == TERMINATED)
        hop = hop_at(frame, depth)
        ends_here = program.expansion == codes.LEAF and node.counts[action] == 0
        hop.node, hop.action, hop.reward = number, action, 0.0
        if status != TERMINATED:
            status = take_step(frame, action, reward_of(hop))
            if status == FAILED:
                return codes.STEP_FAILED
            if program.learned != 0:
                if depth == 0 and frame.context.root_returns == 0:
                    set_baseline(frame, 1)
            elif not within_bounds(frame.context, hop.reward):
                return codes.BAD_REWARD
        depth += 1
        child = codes.TERMINAL
        if status != TERMINATED or program.key == codes.BY_ACTIONS:
            child = next_node(frame, number, action, depth)
        count_outcome(frame, number, action, child, hop.reward, True)
        note_step(frame, child)
        if child < 0 or ends_here:
            break
        number = child
    if not greedy:  # whoever follows optimism next comes upon what is stale
        propagate(frame, depth)
    if program.learned != 0:
        observe_values(frame, depth, value, status == TERMINATED)
        if (program.greedy_every != 0 or is_cut(frame)) and not renew_trail(frame, depth):
            return codes.BAD_BACKUP
        renew_if_due(frame)
    return codes.DONE
