"""The one search loop: descend from the root, evaluate where the known part ends, back up along the trail.

Every algorithm and every model runs through `search`; what differs is behind the addresses in `program`.  Nothing
here raises: a call ends with one of the statuses of `layout`, and the front turns those into errors.
"""

import math

from numba import njit

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import (
    address,
    as_reals,
    call_backup,
    call_select,
    notes,
    null_reals,
    offset,
    prefetch,
)
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.graph import add, find, record_outcome
from gymnasium_gsp.search.playout import evaluate, is_action, place, read_legal, uniform_action
from gymnasium_gsp.search.rounds import enter_root, is_full, limit_reached, settle, take_step


@njit
def child_tag(program, node, action, depth):
    """Tag of the state reached from `node` by `action` at `depth`."""
    if program[at.KEY] == at.BY_STATE_ELAPSED:
        return program[at.ROOT_ELAPSED] + depth
    if program[at.KEY] == at.BY_PATH:
        return node * program[at.ACTIONS] + action
    return 0


@njit
def back_up(program, tally, params, context, rows, edges, trail, length, value, sampled):
    """Carry a leaf's value and the sampled return up the trail; returns the return from the root, or NaN."""
    discount = context[abi.DISCOUNT]
    for depth in range(length - 1, -1, -1):
        hop = offset(trail, depth * at.HOP_SIZE)
        action, reward = hop[at.HOP_ACTION], as_reals(hop)[at.HOP_REWARD]
        row = offset(rows, hop[at.HOP_NODE] * program[at.STRIDE])
        counts, q = offset(row, program[at.COUNTS_AT]), as_reals(offset(row, program[at.Q_AT]))
        sampled = reward + discount * sampled
        target = sampled if program[at.TARGET] == at.SAMPLED_RETURN else reward + discount * value
        row[at.VISITS] += 1
        counts[action] += 1
        before = q[action]
        if program[at.EDGES_KEPT] != 0:
            # What was not stored has no value of its own, so its target is booked as reward.
            booked = target if hop[at.HOP_CHILD] == at.UNSTORED else reward
            present = record_outcome(program, tally, rows, edges, row, action, hop[at.HOP_CHILD], booked, discount)
            if program[at.ESTIMATOR] == at.PRESENT_VALUES:
                q[action] = present
        if program[at.ESTIMATOR] == at.RUNNING_MEAN:
            q[action] = before + (target - before) / counts[action]
        variance = null_reals()
        if program[at.VARIANCE_KEPT] != 0:
            variance = as_reals(offset(row, program[at.VARIANCE_AT]))
            spread = (target - before) * (target - q[action]) if counts[action] > 1 else 0.0
            variance[action] += (max(spread, 0.0) - variance[action]) / counts[action]
        place(program, context, depth)
        context[abi.LOWER] = params[program[at.LOWER_AT] + depth]
        here = as_reals(row)
        value = call_backup(
            program[at.BACKUP],
            offset(params, program[at.BACKUP_AT]),
            context,
            row[at.VISITS],
            q,
            counts,
            variance,
            here[at.NODE_VALUE],
            target,
        )
        if not math.isfinite(value):
            tally[at.DETAIL] = at.BAD_BACKUP
            return math.nan
        here[at.NODE_VALUE] = value
    return sampled


@njit
def observe_return(context, sampled):
    """Keep count, mean, variance, range of the returns of this episode's simulations."""
    count = context[abi.ROOT_RETURNS] + 1.0
    before = sampled - context[abi.ROOT_MEAN]
    context[abi.ROOT_RETURNS] = count
    context[abi.ROOT_MEAN] += before / count
    after = sampled - context[abi.ROOT_MEAN]
    context[abi.ROOT_VARIANCE] += (before * after - context[abi.ROOT_VARIANCE]) / count
    if count == 1.0:
        context[abi.SMALLEST_RETURN] = context[abi.LARGEST_RETURN] = sampled
    context[abi.SMALLEST_RETURN] = min(context[abi.SMALLEST_RETURN], sampled)
    context[abi.LARGEST_RETURN] = max(context[abi.LARGEST_RETURN], sampled)
    spread = context[abi.LARGEST_RETURN] - context[abi.SMALLEST_RETURN]
    context[abi.RANGE] = spread if spread > 0.0 else 1.0


@njit
def choose(program, params, model_params, context, rows, state, rng, node, fresh, depth):
    """The action to try at a node: what the selection says, or a uniform one where the node is new.

    Returns -1 if the state has no legal action and -2 if the selection's answer is none.
    """
    legal = read_legal(program, model_params, context, state)
    if legal <= 0:
        return -1
    if fresh:
        notes(context, depth)[0] = abi.UNKNOWN
        return uniform_action(program, context, legal, rng)
    place(program, context, depth)
    row = offset(rows, node * program[at.STRIDE])
    which, params_at = at.SELECT, at.SELECT_AT
    if depth == 0:
        which, params_at = at.ROOT_SELECT, at.ROOT_SELECT_AT
    action = call_select(
        program[which],
        offset(params, program[params_at]),
        context,
        row[at.VISITS],
        as_reals(offset(row, program[at.Q_AT])),
        offset(row, program[at.COUNTS_AT]),
        rng,
    )
    return action if is_action(program, context, action) else -2


@njit
def simulate(program, tally, params, model_params, context, rows, table, edges, trail, root_state, state, rng):
    """One simulation from the root.  On failure `state` is where it happened and DETAIL the action tried."""
    for i in range(program[at.WIDTH]):
        state[i] = root_state[i]
    generation, horizon = tally[at.GENERATION], program[at.HORIZON]
    node, fresh, depth = tally[at.ROOT], False, 0
    value, sampled, cut = 0.0, 0.0, False
    while True:
        values = as_reals(offset(rows, node * program[at.STRIDE]))
        if depth >= horizon:
            # The reward cell of the hop that is not taken is free for the playout's rewards.
            spare = as_reals(offset(trail, depth * at.HOP_SIZE + at.HOP_REWARD))
            sampled = evaluate(program, tally, params, model_params, context, state, spare, rng, depth)
            if math.isnan(sampled):
                return tally[at.DETAIL]
            row = offset(rows, node * program[at.STRIDE])
            row[at.VISITS] += 1
            values[at.NODE_VALUE] += (sampled - values[at.NODE_VALUE]) / row[at.VISITS]
            value = values[at.NODE_VALUE]
            break
        if tally[at.MODEL_STEPS] >= program[at.STEP_LIMIT]:
            value, cut = values[at.NODE_VALUE], True
            sampled = value
            break
        action = choose(program, params, model_params, context, rows, state, rng, node, fresh, depth)
        if action < 0:
            return at.NO_ACTION if action == -1 else at.BAD_ACTION
        if program[at.EDGES_KEPT] != 0:  # the backup will ask for these edges, which nothing has read lately
            head = rows[node * program[at.STRIDE] + program[at.HEADS_AT] + action]
            prefetch(offset(edges, head * at.EDGE_SIZE))
        hop = offset(trail, depth * at.HOP_SIZE)
        reward = as_reals(offset(hop, at.HOP_REWARD))
        status = take_step(program, tally, model_params, state, action, rng, reward)
        if status == abi.FAILED:
            return at.STEP_FAILED
        depth += 1
        hop[at.HOP_NODE], hop[at.HOP_ACTION] = node, action
        if status == abi.TERMINATED:
            hop[at.HOP_CHILD] = at.TERMINAL
            break
        tag = child_tag(program, node, action, depth)
        found = find(program, generation, rows, table, tag, state)
        fresh = found < 0
        if not fresh:
            node = found
        elif tally[at.NODES] < program[at.ROW_CAPACITY] and tally[at.NEW_NODES] < program[at.NODE_LIMIT]:
            node = add(program, tally, rows, table, -1 - found, tag, state)
            tally[at.NEW_NODES] += 1
        else:
            node = at.UNSTORED
            if tally[at.NODES] >= program[at.ROW_CAPACITY]:
                tally[at.CAPPED] = 1
        hop[at.HOP_CHILD] = node
        if fresh and (node == at.UNSTORED or program[at.EXPANSION] == at.LEAF):
            spare = as_reals(offset(trail, depth * at.HOP_SIZE + at.HOP_REWARD))
            sampled = evaluate(program, tally, params, model_params, context, state, spare, rng, depth)
            if math.isnan(sampled):
                return tally[at.DETAIL]
            value = sampled
            if node != at.UNSTORED:
                row = offset(rows, node * program[at.STRIDE])
                row[at.VISITS] = 1
                as_reals(row)[at.NODE_VALUE] = value
            break
    sampled = back_up(program, tally, params, context, rows, edges, trail, depth, value, sampled)
    if math.isnan(sampled):
        return tally[at.DETAIL]
    if not cut:
        observe_return(context, sampled)
    return at.DONE


def search(program, tally, params, model_params, context, rows, table, edges, trail, states, rng, fresh_root):
    """Run simulations until a limit of `program` is reached, or something goes wrong; returns the status.

    Args:
        program: (PROGRAM_SIZE,) int64, what to run and how far.
        tally: (TALLY_SIZE,) int64, what has been done; counted on.
        params: (any,) float64, the ingredients' parameters.
        model_params: (any,) float64, the model's.
        context: (context_length,) float64, what ingredients may read.
        rows: (row capacity * stride,) int64, the nodes, see `graph`.
        table: (a power of two,) int64, where to find them.
        edges: (edge capacity * EDGE_SIZE,) int64, what their actions led to.
        trail: ((horizon + 2) * HOP_SIZE,) int64, working memory.
        states: (2 * width,) int64, the root's cells, then working memory.
        rng: (2,) uint64, the stream of the search's own choices and that of the model.
        fresh_root: whether this is the first call of a decision, so that the root must be looked up.
    """
    program_at, tally_at, params_at = address(program, 0), address(tally, 0), address(params, 0)
    model_at, context_at, trail_at = address(model_params, 0), address(context, 0), address(trail, 0)
    rows_at, table_at, edges_at = address(rows, 0), address(table, 0), address(edges, 0)
    root_state, state, rng_at = address(states, 0), address(states, program[at.WIDTH]), address(rng, 0)
    if fresh_root and enter_root(program_at, tally_at, rows_at, table_at, root_state) != at.DONE:
        return at.NO_ROOM_FOR_ROOT
    while tally_at[at.SIMULATIONS] < program_at[at.SIMULATION_LIMIT]:
        limit = limit_reached(program_at, tally_at)
        if limit != at.DONE:
            return limit
        if is_full(program_at, tally_at):
            return at.FULL
        context_at[abi.EXTRA_STEPS] = 0.0
        words, steps = rng_at[1], tally_at[at.MODEL_STEPS]
        status = simulate(
            program_at,
            tally_at,
            params_at,
            model_at,
            context_at,
            rows_at,
            table_at,
            edges_at,
            trail_at,
            root_state,
            state,
            rng_at,
        )
        status = settle(tally_at, context_at, status, rng_at[1] - words, steps)
        if status != at.DONE:
            return status
    return at.DONE
