"""The value of a state by sparse sampling: a tree in which every action of every state is tried equally often.

Kearns, Mansour and Ng (2002): an action's value is the mean of reward + discount * value over C sampled next states,
a state's value the largest of its actions', and 0 at the last depth.  The tree is walked depth first on a stack and
not kept.
"""

import math

import numpy as np
from numba import njit

from gymnasium_gsp.abi.memory import as_cells, as_reals, offset, record_type, viewer
from gymnasium_gsp.abi.signatures import FAILED, TERMINATED
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import is_action
from gymnasium_gsp.search.playout import copy_state, read_legal, take_step

LEVEL = np.dtype(
    [
        ("action", np.int64),  # under way
        ("tried", np.int64),  # samples of it
        ("compared", np.int64),  # 1 once an action's mean is in `best`
        ("total", np.float64),  # sum of its targets
        ("best", np.float64),  # largest mean so far
        ("reward", np.float64),  # that led to the next level
    ]
)
"""One state of the stack; the state's cells follow it."""

LEVEL_CELLS = LEVEL.itemsize // 8

as_level = viewer(record_type(LEVEL))


@njit
def next_action(frame, action):
    """Return the first legal action after `action`, or -1."""
    for following in range(action + 1, frame.program.actions):
        if is_action(frame, following):
            return following
    return -1


@njit
def close_action(level):
    """Take the mean of the action under way into the best."""
    if level.tried > 0:
        mean = level.total / level.tried
        if level.compared == 0 or mean > level.best:
            level.best = mean
        level.compared = 1
        level.tried, level.total = 0, 0.0


@njit
def open_level(frame, cells):
    """Put the present state on the stack at `cells`; returns False if it has no legal action."""
    for cell in range(LEVEL_CELLS):
        cells[cell] = 0
    copy_state(frame, frame.state, offset(cells, LEVEL_CELLS))
    if read_legal(frame, frame.state) <= 0:
        return False
    as_level(cells).action = next_action(frame, -1)
    return True


@njit
def tree_value(frame, samples, depth):
    """Estimate the value of the present state with `samples` samples of each action, `depth` levels deep.

    Returns NaN with the status in `tally.detail` if something failed.  A tree that the budget in model steps cuts
    counts what it has.
    """
    size = LEVEL_CELLS + frame.program.width
    stack, top, value = as_cells(frame.scratch), 0, 0.0
    if depth <= 0:
        return 0.0
    if not open_level(frame, stack):
        frame.tally.detail = codes.NO_ACTION
        return math.nan
    while top >= 0:
        cells = offset(stack, top * size)
        level, state = as_level(cells), offset(cells, LEVEL_CELLS)
        read_legal(frame, state)
        if level.tried >= samples:
            close_action(level)
            level.action = next_action(frame, level.action)
        if level.action < 0 or frame.tally.model_steps >= frame.program.step_limit:
            close_action(level)
            value = level.best
            top -= 1
            if top >= 0:
                above = as_level(offset(stack, top * size))
                above.total += above.reward + frame.context.discount * value
                above.tried += 1
            continue
        copy_state(frame, state, frame.state)
        status = take_step(frame, level.action, offset(as_reals(level), 5))
        if status == FAILED:
            frame.tally.detail = codes.STEP_FAILED
            return math.nan
        if status == TERMINATED or top + 1 >= depth:
            level.total += level.reward
            level.tried += 1
            continue
        top += 1
        if not open_level(frame, offset(stack, top * size)):
            frame.tally.detail = codes.NO_ACTION
            return math.nan
    return value
