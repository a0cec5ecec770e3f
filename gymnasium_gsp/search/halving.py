"""Sequential halving of the root's actions (Karnin, Koren and Somekh 2013), and a root that draws them by the prior.

Arms are sorted by place.  A root that draws is a `GumbelHalving` of `ingredients.prior`: the noise of an action stands
in `pending` of the arm whose place is the action's number, where no sorting moves it.
"""

import math

from numba import njit

from gymnasium_gsp.abi.context import prior, scratch
from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.stream import below, uniform
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import arm_at, node_at
from gymnasium_gsp.search.ingredients.prior import improve

_SMALLEST_DRAW = 1e-300  # of which the noise is still finite


@njit
def share_spent(frame):
    """Return which share of the decision's budget is spent, by the limit that is nearest."""
    program, tally = frame.program, frame.tally
    by_time = program.time_share + (tally.simulations - program.chunk_begun) * program.time_share_each
    by_count = max(tally.simulations / program.simulation_budget, tally.model_steps / program.step_budget)
    return max(by_time, by_count, tally.new_nodes / program.node_limit)


@njit
def set_goal(frame):
    """Share what is left of the budget evenly between the rounds to come."""
    allocation, spent = frame.allocation, share_spent(frame)
    allocation.goal = spent + (1.0 - spent) / max(allocation.rounds, 1)


@njit
def halve(frame):
    """Keep the better half of the actions that are alive, which are sorted, for the next round."""
    frame.allocation.alive = (frame.allocation.alive + 1) // 2
    frame.allocation.rounds -= 1
    set_goal(frame)


@njit
def sort_by_score(frame):
    """Sort the actions that are alive by their scores, which stand in `total`; equal ones keep their order."""
    for place in range(1, frame.allocation.alive):
        moving, at = arm_at(frame, place), place
        action, score = moving.action, moving.total
        while at > 0 and arm_at(frame, at - 1).total < score:
            above, here = arm_at(frame, at - 1), arm_at(frame, at)
            here.action, here.total = above.action, above.total
            at -= 1
        here = arm_at(frame, at)
        here.action, here.total = action, score


@njit
def next_drawn_action(frame):
    """Return the action that the next simulation tries at the root, whose prior is shown."""
    allocation = frame.allocation
    if allocation.phase != codes.BY_HALVING:
        draw_actions(frame)
    elif allocation.next == allocation.alive:
        allocation.next = 0
        if allocation.alive > 1 and share_spent(frame) >= allocation.goal:
            node = node_at(frame, frame.tally.root)
            score_arms(frame, node.q, node.counts)
            sort_by_score(frame)
            halve(frame)
    action = arm_at(frame, allocation.next).action
    allocation.next += 1
    return action


@njit
def draw_actions(frame):
    """Enter the actions that are drawn, those with the largest noise plus log-prior first."""
    allocation, chances, count = frame.allocation, prior(frame.context), 0
    for action in range(frame.program.actions):
        if chances[action] > 0.0:
            arm = arm_at(frame, count)
            noise = -math.log(-math.log(max(uniform(frame.rng), _SMALLEST_DRAW)))
            arm_at(frame, action).pending = noise
            arm.action, arm.total = action, noise + math.log(chances[action])
            count += 1
    allocation.alive = count
    sort_by_score(frame)
    considered = int(frame.params[frame.program.halving_params])
    allocation.alive = min(count, considered, frame.program.simulation_budget)
    allocation.rounds = math.ceil(math.log2(allocation.alive))
    allocation.next, allocation.phase = 0, codes.BY_HALVING
    set_goal(frame)


@njit
def score_arms(frame, q, counts):
    """Score the actions that are alive by noise, prior and value; the root's prior is shown."""
    params, scores = offset(frame.params, frame.program.halving_params), scratch(frame.context)
    improve(offset(params, 2), frame.context, q, counts, scores)
    for place in range(frame.allocation.alive):
        arm = arm_at(frame, place)
        arm.total = params[1] * arm_at(frame, arm.action).pending + scores[arm.action]


@njit
def best_drawn_action(frame, q, counts):
    """Return the tried action with the best score among those alive, ties at random; the root's prior is shown."""
    score_arms(frame, q, counts)
    best, top, ties = -1, -math.inf, 0
    for place in range(frame.allocation.alive):
        arm = arm_at(frame, place)
        if counts[arm.action] == 0:
            continue
        if best < 0 or arm.total > top:
            best, top, ties = arm.action, arm.total, 1
        elif arm.total == top:
            ties += 1
            if below(frame.rng, ties) == 0:
                best = arm.action
    return best
