"""The prior of a node: asked for when the node is first selected at, kept in its row, and shown to the ingredients."""

import math

from numba import njit

from gymnasium_gsp.abi.context import is_legal, prior
from gymnasium_gsp.abi.memory import as_reals, offset
from gymnasium_gsp.abi.signatures import call_prior
from gymnasium_gsp.search.frame import row_of, stats_of

PRIOR_CELLS = 2  # in a row before the weights: what is known, and the node's value as a leaf
_NOTHING, _WEIGHTS, _ALL = 0.0, 1.0, 2.0  # what is known


@njit
def keep_weights(frame, number, weights):
    """Keep the weights that were answered with a leaf's value, unless the node has some."""
    kept = as_reals(offset(row_of(frame, number), frame.program.prior_at))
    if kept[0] == _NOTHING:
        kept[0] = _WEIGHTS
        for action in range(frame.program.actions):
            kept[PRIOR_CELLS + action] = weights[action]


@njit
def ask_prior(frame, number, kept):
    """Write a node's weights, unless they are known, and its value; `frame.state` is its state.

    Returns False on failure.
    """
    program, stats = frame.program, stats_of(frame, number)
    params, weights = offset(frame.params, program.prior_params), offset(kept, PRIOR_CELLS)
    if program.prior == 0:
        for action in range(program.actions):
            weights[action] = 1.0
    elif kept[0] == _NOTHING and call_prior(program.prior, params, frame.context, frame.state, weights) == 0:
        return False
    kept[0], kept[1] = _ALL, stats.value if stats.visits > 0 else math.nan
    return True


@njit
def show_prior(frame, number):
    """Let the ingredients read the prior at the node of the present state; returns False where it is none.

    It is normalised over the actions that are legal now, which need not be those that were legal when it was asked for.
    """
    kept = as_reals(offset(row_of(frame, number), frame.program.prior_at))
    if kept[0] != _ALL and not ask_prior(frame, number, kept):
        return False
    context, shown, total = frame.context, prior(frame.context), 0.0
    for action in range(frame.program.actions):
        shown[action] = kept[PRIOR_CELLS + action] if is_legal(context, action) else 0.0
        if not shown[action] >= 0.0:
            return False
        total += shown[action]
    if not 0.0 < total < math.inf:
        return False
    for action in range(frame.program.actions):
        shown[action] /= total
    context.leaf_value = kept[1]
    return True
