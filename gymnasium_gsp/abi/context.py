"""The context: what an ingredient may read about the moment it is called at, as a record with named fields.

In C it is a struct of 8-byte members in the order of `CONTEXT_DTYPE`.  Behind it lie arrays of float64: the legal mask
(one cell per action), scratch for one call and the prior (one cell per action each), and notes (one cell per action and
depth).
"""

import numpy as np
from numba import njit, types

from gymnasium_gsp.abi.memory import REALS, offset, record_type, struct_type, viewer

ABI_VERSION = 2

CONTEXT_DTYPE = np.dtype(
    [
        ("version", np.int64),  # ABI_VERSION
        ("depth", np.int64),  # steps from the root of this search
        ("elapsed", np.int64),  # steps since the start of the episode
        ("steps_left", np.int64),  # steps until the time limit, or until the search looks no further
        ("discount", np.float64),  # per step
        ("actions", np.int64),  # number of actions
        ("masked", np.int64),  # 1 if the legal mask holds at this node, 0 if every action is legal
        ("lower", np.float64),  # lower bound on the remaining return at this node, at most 0; 0 if none was declared
        ("range", np.float64),  # largest minus smallest return of a simulation in this episode; 1 while that is 0
        ("root_returns", np.int64),  # simulations since the start of the episode
        ("root_mean", np.float64),  # mean of their returns
        ("root_variance", np.float64),  # variance of their returns
        ("smallest_return", np.float64),
        ("largest_return", np.float64),
        ("in_flight", np.int64),  # calls of guarded ingredients that have not come back: after a search, one raised
        ("extra_steps", np.int64),  # a value function that steps the model itself adds its steps here
        ("budget", np.float64),  # simulations that this decision may run; infinity if the budget is not in simulations
        ("playout_steps", np.int64),  # steps that a value function may play from here: to the end, within the budget
        ("horizon", np.int64),  # steps from the root that a simulation selects
        ("simulation", np.int64),  # number of this simulation in its decision, from 0
        ("lowest_reward", np.float64),  # declared bounds on one reward; only where the recipe has optimism
        ("highest_reward", np.float64),
        ("bottom", np.float64),  # smallest and largest value that a state can have; only where the recipe has optimism
        ("top", np.float64),
        ("node_order", np.int64),  # which node of this graph is asked about, from 1; only where the recipe has optimism
        ("root_returns_a_node", np.float64),  # when all bounds were last renewed; only where values are learned
        ("leaf_value", np.float64),  # of the node as a leaf, NaN for a root that was none; only where a prior is kept
    ]
)

CONTEXT = record_type(CONTEXT_DTYPE)
CONTEXT_SIZE = CONTEXT_DTYPE.itemsize // 8


ContextStruct = struct_type(CONTEXT_DTYPE)
"""The same record for callbacks into Python: `ContextStruct.from_address(context)`."""


UNKNOWN = -1.0  # first cell of the notes at a depth where no selection was asked, because the node was new

_as_reals = viewer(REALS)


def context_length(actions: int, horizon: int) -> int:
    """Return the number of 8-byte cells of a context: the record, legal mask, one call's scratch, prior and notes."""
    return CONTEXT_SIZE + actions * (3 + horizon + 2)


@njit
def legal_mask(context):
    """Return a pointer to one cell per action: 1.0 where it is legal; only meaningful where `context.masked` is 1."""
    return offset(_as_reals(context), CONTEXT_SIZE)


@njit
def is_legal(context, action):
    """Return whether an action is legal at this node."""
    return context.masked == 0 or legal_mask(context)[action] != 0.0


@njit
def scratch(context):
    """Return a pointer to one cell per action, for one call of an ingredient to work in."""
    return offset(_as_reals(context), CONTEXT_SIZE + types.intp(context.actions))


@njit
def prior(context):
    """Return a pointer to one cell per action: the prior, 0 where illegal, with sum 1; only where one is kept."""
    return offset(_as_reals(context), CONTEXT_SIZE + 2 * types.intp(context.actions))


@njit
def notes(context, depth):
    """Return a pointer to one cell per action: what a selection at `depth` leaves on this trajectory."""
    return offset(_as_reals(context), CONTEXT_SIZE + (3 + depth) * types.intp(context.actions))
