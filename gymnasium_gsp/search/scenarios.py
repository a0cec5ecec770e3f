"""Paired scenarios at the root: every action meets the same luck, and the better half of the actions goes on.

A scenario fixes the draws of the model and of a uniform playout at every depth, so that actions are compared under
common random numbers (Ng and Jordan 2000, PEGASUS).  No choice below the root depends on what its scenario will draw,
so a mean over a fixed number of scenarios is an unbiased estimate of the value of an action that uniform ones follow.
Which actions go on is settled by sequential halving (Karnin, Koren and Somekh 2013); an action that it drops keeps its
mean, which is then a little too low.  Two playouts of a scenario that meet in a state go on alike, so the rest of one
of them need not be played; in `docs/experiments.md`, 15, this saves most of the steps.

Scenarios decide where exploring the graph cannot: where actions that were tried before mostly lead to something new and
not well known otherwise, unless hardly anything is left that is not.  Both are counted while the graph is explored.
"""

import math

from numba import njit, types

from gymnasium_gsp.abi.memory import as_reals, offset
from gymnasium_gsp.abi.signatures import FAILED, RUNNING, TERMINATED
from gymnasium_gsp.abi.stream import below, next_word
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import arm_at, hop_at, is_action, node_at, stats_of
from gymnasium_gsp.search.halving import halve, set_goal, share_spent
from gymnasium_gsp.search.intervals import end_value, open_actions
from gymnasium_gsp.search.observed_values import observe_playout, renew_if_due
from gymnasium_gsp.search.optimistic import count_outcome, next_node
from gymnasium_gsp.search.playout import copy_state, read_allowed, read_legal, take_step, uniform_action
from gymnasium_gsp.search.propagate import propagate
from gymnasium_gsp.search.recurrence import hardly_recurs

PLAYOUT_NUMBERS = 3  # beside a state, see `playout_at`

# Odd constants that keep the streams of scenarios, depths and choices apart.
_SCENARIO, _DEPTH, _CHOICE = map(types.uint64, (0x8CB92BA72F3D8DD7, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F))


@njit
def next_arm(frame):
    """Return the place of the root action that the next simulation plays, or -1 if it explores the graph."""
    allocation = frame.allocation
    if frame.program.pairing == 0:
        return -1
    begun = frame.tally.simulations > 0  # the first one explores, however long it took to begin
    if allocation.phase == codes.EXPLORING and begun and share_spent(frame) > allocation.exploring:
        allocation.phase = codes.BY_GRAPH
        if hardly_recurs(frame):
            allocation.phase = codes.BY_SCENARIOS
            begin_halving(frame)
    if allocation.phase != codes.BY_SCENARIOS:
        return -1
    if allocation.next == allocation.alive:
        end_scenario(frame)
    return allocation.next


@njit
def begin_halving(frame):
    """Enter the root's legal actions, in random order."""
    allocation, count = frame.allocation, 0
    read_allowed(frame, frame.root_state, frame.tally.root)
    for action in range(frame.program.actions):
        if not is_action(frame, action):
            continue
        place = below(frame.rng, count + 1)
        arm_at(frame, count).action = arm_at(frame, place).action
        arm_at(frame, place).action = action
        count += 1
    for place in range(count):
        arm = arm_at(frame, place)
        arm.scenarios, arm.total, arm.spread, arm.pending = 0, 0.0, 0.0, math.nan
    allocation.legal = allocation.alive = count
    allocation.rounds = math.ceil(math.log2(count))
    allocation.next = allocation.scenario = 0
    allocation.salt = next_word(frame.rng)
    set_goal(frame)


@njit
def end_scenario(frame):
    """Book a scenario that every action still alive has met, and halve them if the round's share is spent."""
    allocation = frame.allocation
    for place in range(allocation.alive):
        arm = arm_at(frame, place)
        before = arm.pending - arm.total / max(arm.scenarios, 1)
        arm.scenarios += 1
        arm.total += arm.pending
        arm.spread += before * (arm.pending - arm.total / arm.scenarios) if arm.scenarios > 1 else 0.0
        arm.pending = math.nan
    allocation.scenario += 1
    allocation.next = 0
    if allocation.alive > 1 and share_spent(frame) >= allocation.goal:
        sort_arms(frame)
        halve(frame)


@njit
def pooled_variance(frame):
    """Return the mean over the actions alive of the variance of their returns; 0 after a single scenario."""
    variance, alive = 0.0, frame.allocation.alive
    for place in range(alive):
        variance += arm_at(frame, place).spread / max(arm_at(frame, place).scenarios - 1, 1)
    return variance / alive


@njit
def cautious_mean(frame, arm, pooled):
    """Return an action's mean less its standard errors, for which the pooled variance counts as one more deviation."""
    if arm.scenarios == 0:
        return arm.pending
    error = math.sqrt((pooled + arm.spread) / arm.scenarios / arm.scenarios)
    return arm.total / arm.scenarios - frame.program.caution * error


@njit
def sort_arms(frame):
    """Sort the actions that are alive by their cautious means, the largest first; equal ones keep their order."""
    pooled = pooled_variance(frame)
    for place in range(1, frame.allocation.alive):
        moving, at = arm_at(frame, place), place
        action, total, spread, mean = moving.action, moving.total, moving.spread, cautious_mean(frame, moving, pooled)
        while at > 0 and cautious_mean(frame, arm_at(frame, at - 1), pooled) < mean:
            above, here = arm_at(frame, at - 1), arm_at(frame, at)
            here.action, here.total, here.spread = above.action, above.total, above.spread
            at -= 1
        here = arm_at(frame, at)
        here.action, here.total, here.spread = action, total, spread


@njit
def set_streams(frame, depth):
    """Set both streams to what the scenario at hand fixes for a depth."""
    allocation = frame.allocation
    word = allocation.salt + types.uint64(allocation.scenario) * _SCENARIO + types.uint64(depth) * _DEPTH
    frame.model_rng[0], frame.rng[0] = word, word ^ _CHOICE
    frame.model_rng[0] = next_word(frame.model_rng)
    frame.rng[0] = next_word(frame.rng)


@njit
def playout_at(frame, depth):
    """Return what is kept of playouts at a depth: a state, and three numbers.

    The state is that of the scenario's first playout.  The numbers are its return from there on, the same discounted as
    the search does, and the reward of the present playout's step.
    """
    state = offset(frame.playout, depth * (frame.program.width + PLAYOUT_NUMBERS))
    return state, as_reals(offset(state, frame.program.width))


@njit
def meets_first_playout(frame, depth):
    """Return whether the scenario's first playout was in the present state, too, so that both go on alike."""
    if depth >= frame.allocation.playout:
        return False
    state, _ = playout_at(frame, depth)
    for i in range(frame.program.width):  # noqa: SIM110, numba compiles no generator expressions
        if state[i] != frame.state[i]:
            return False
    return True


@njit
def add_up(frame, length, total, discounted, first):
    """Return the return of a playout of `length` steps and what lies behind them, and the same discounted.

    The last steps are added first, so that playouts that pay the same have equal returns, whether they met or not.
    """
    for depth in range(length - 1, -1, -1):
        _, numbers = playout_at(frame, depth)
        total = numbers[2] + frame.program.return_discount * total
        discounted = numbers[2] - frame.program.baseline + frame.context.discount * discounted
        if first:
            numbers[0], numbers[1] = total, discounted
    if first:
        frame.allocation.playout = length
    return total, discounted


@njit
def simulate_scenario(frame, place):
    """Play the scenario at hand from the root with the action at a place; returns a status, see `trial.simulate`.

    The graph learns the outcomes up to the first state that is new to it.  Beyond that, a playout that meets the
    scenario's first one would go on as that one did, and ends.
    """
    program, tally = frame.program, frame.tally
    copy_state(frame, frame.root_state, frame.state)
    stream, choices, drawn = frame.model_rng[0], frame.rng[0], types.uint64(0)
    number, depth, length, status = tally.root, 0, 0, RUNNING
    total, discounted, first = 0.0, 0.0, place == 0
    while depth < program.horizon and status == RUNNING and (depth == 0 or tally.model_steps < program.step_limit):
        legal = read_legal(frame, frame.state)
        if legal <= 0:
            return codes.NO_ACTION
        state, numbers = playout_at(frame, depth)
        if first:
            copy_state(frame, frame.state, state)
        elif number < 0 and meets_first_playout(frame, depth):
            total, discounted = numbers[0], numbers[1]
            break
        set_streams(frame, depth)
        action = arm_at(frame, place).action if depth == 0 else uniform_action(frame, legal)
        if number >= 0 and node_at(frame, number).interval.opened == 0:
            open_actions(frame, number)
        word = frame.model_rng[0]
        status = take_step(frame, action, offset(numbers, 2))
        if status == FAILED:
            return codes.STEP_FAILED
        drawn += frame.model_rng[0] - word
        depth += 1
        if number >= 0:
            hop, length = hop_at(frame, length), depth
            hop.node, hop.action = number, action
            child = codes.TERMINAL if status == TERMINATED else next_node(frame, number, action, depth)
            count_outcome(frame, number, action, child, numbers[2], False)
            number = child if child >= 0 and stats_of(frame, child).visits > 0 else -1
    frame.model_rng[0], frame.rng[0] = stream + drawn, choices
    if status == TERMINATED:
        discounted = end_value(frame)
    total, discounted = add_up(frame, depth, total, discounted, first)
    arm_at(frame, place).pending = total
    frame.allocation.next += 1
    propagate(frame, length)
    observe_playout(frame.context, discounted)
    renew_if_due(frame)
    return codes.DONE


@njit
def decide_by_scenarios(frame, q):
    """Write the mean of each action to `q`, -infinity where it has none; returns the best that is still alive.

    Actions that are alive have met the same scenarios; before the first is over, its returns count.  Standard errors
    are taken off before they are compared.
    """
    allocation = frame.allocation
    if allocation.next == allocation.alive:
        end_scenario(frame)
    for action in range(frame.program.actions):
        q[action] = -math.inf
    best, largest, ties, pooled = -1, -math.inf, 0, pooled_variance(frame)
    for place in range(allocation.legal):
        arm = arm_at(frame, place)
        mean = arm.total / arm.scenarios if arm.scenarios > 0 else arm.pending
        if math.isnan(mean):
            continue
        q[arm.action] = mean
        if place >= allocation.alive:
            continue
        mean = cautious_mean(frame, arm, pooled)
        if mean > largest:
            best, largest, ties = arm.action, mean, 1
        elif mean == largest:
            ties += 1
            if below(frame.rng, ties) == 0:
                best = arm.action
    return best
