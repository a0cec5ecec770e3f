"""What every loop does around a simulation: enter the root, look at limits and room, count what came through."""

import math

from numba import njit, types

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.signatures import call_step, offset
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.graph import add, clear, find

_INVERSE_OF_INCREMENT = types.uint64(0xF1DE83E19937733D)  # of 0x9E3779B97F4A7C15, modulo 2**64


@njit
def note_inherited(program, tally, rows):
    """Take note of the visits that the root has before the first simulation of a decision."""
    tally[at.INHERITED] = rows[tally[at.ROOT] * program[at.STRIDE] + at.VISITS]


@njit
def enter_root(program, tally, rows, table, root_state):
    """Enter the root and note what it inherits; NO_ROOM_FOR_ROOT, having changed nothing, if there is no row for it."""
    status = find_or_add_root(program, tally, rows, table, root_state)
    if status == at.DONE:
        note_inherited(program, tally, rows)
    return status


@njit
def find_or_add_root(program, tally, rows, table, root_state):
    """Find the root's node, or add it.

    A tree goes on from the child of its root that fits.  Nobody says which action was executed, so several may fit:
    the one behind the action that was recommended goes before the others, and then the one visited most.
    """
    change, previous = tally[at.ROOT_CHANGE], tally[at.ROOT]
    if change == at.RESTARTED:
        clear(program, tally, table)
    elif change == at.SAME_ROOT and previous >= 0:
        return at.DONE
    tag = 0
    if program[at.KEY] == at.BY_STATE_ELAPSED:
        tag = program[at.ROOT_ELAPSED]
    elif program[at.KEY] == at.BY_PATH:
        tag = -1
        if change == at.MOVED_ON and previous >= 0:
            fitting, most = -1, -1
            for action in range(program[at.ACTIONS]):
                step_tag = previous * program[at.ACTIONS] + action
                child = find(program, tally[at.GENERATION], rows, table, step_tag, root_state)
                if child < 0:
                    continue
                if action == tally[at.RECOMMENDED]:
                    fitting = child
                    break
                if rows[child * program[at.STRIDE] + at.VISITS] > most:
                    fitting, most = child, rows[child * program[at.STRIDE] + at.VISITS]
            if fitting >= 0:
                tally[at.ROOT] = fitting
                return at.DONE
            clear(program, tally, table)
    found = find(program, tally[at.GENERATION], rows, table, tag, root_state)
    if found < 0:
        if tally[at.NODES] >= program[at.ROW_CAPACITY]:
            return at.NO_ROOM_FOR_ROOT
        found = add(program, tally, rows, table, -1 - found, tag, root_state)
    tally[at.ROOT] = found
    return at.DONE


@njit
def is_full(program, tally):
    """Whether the front should see to the room before another simulation starts."""
    growable = program[at.GROWABLE]
    if growable == at.ADD_WHILE_ROOM:
        return False
    needed = program[at.LONGEST] if growable == at.GROWING else 1
    if tally[at.NODES] + needed > program[at.ROW_CAPACITY]:
        return True
    return program[at.EDGES_KEPT] != 0 and tally[at.EDGES] + needed > program[at.EDGE_CAPACITY]


@njit
def draws_are_fixed(tally, words, steps):
    """Whether the model drew as many values a step as ever; the first simulation says how many that is."""
    draws = types.int64(words * _INVERSE_OF_INCREMENT)
    if steps == 0:
        return draws == 0
    if tally[at.DRAWS] < 0:
        tally[at.DRAWS] = draws // steps
    return draws == tally[at.DRAWS] * steps


@njit
def take_step(program, tally, model_params, state, action, rng, reward):
    """One step of the model; returns its status, FAILED also for a reward that is not finite; DETAIL is the action."""
    reward[0] = math.nan
    status = call_step(program[at.STEP], model_params, state, action, offset(rng, 1), reward)
    tally[at.MODEL_STEPS] += 1
    tally[at.DETAIL] = action
    return status if math.isfinite(reward[0]) else abi.FAILED


@njit
def limit_reached(program, tally):
    """Which limit forbids another simulation; DONE if none does."""
    if tally[at.MODEL_STEPS] >= program[at.STEP_LIMIT]:
        return at.OUT_OF_STEPS
    if tally[at.NEW_NODES] >= program[at.NODE_LIMIT]:
        return at.OUT_OF_NODES
    return at.DONE


@njit
def settle(tally, context, status, drawn, steps):
    """Count a simulation that came through, or say what went wrong.

    Args:
        tally: counted on.
        context: tells of Python functions that raised, and of model steps that no step function made.
        status: what the simulation ended with.
        drawn: by how much it moved the model's stream.
        steps: model steps before it.
    """
    if context[abi.IN_FLIGHT] != 0.0:
        return at.RAISED
    if status != at.DONE:
        return status
    steps = tally[at.MODEL_STEPS] - steps - types.int64(context[abi.EXTRA_STEPS])
    if not draws_are_fixed(tally, drawn, steps):
        return at.WRONG_DRAWS
    tally[at.SIMULATIONS] += 1
    return at.DONE
