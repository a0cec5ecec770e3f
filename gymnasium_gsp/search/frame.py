"""The frame of a search: every record that the compiled loop works on, with a comment for each field.

A compiled function takes the frame and what is its own.  The records are NumPy structured types; compiled code reads
`frame.program.horizon`, the front sets the same field from Python.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gymnasium_gsp.abi.context import CONTEXT_DTYPE, ContextStruct, legal_mask
from gymnasium_gsp.abi.memory import address, as_reals, offset, record, record_type, struct_type, viewer

PROGRAM = np.dtype(
    [
        # The functions to call, as addresses; 0 where there is none.
        ("step", np.int64),
        ("legal", np.int64),
        ("select", np.int64),
        ("root_select", np.int64),
        ("backup", np.int64),
        ("decision_backup", np.int64),
        ("bound", np.int64),
        ("policy", np.int64),
        ("value", np.int64),  # with a leaf batch it only notes the leaf down
        ("answer", np.int64),  # values all leaves that wait; a function with the signature of `value`
        ("prior", np.int64),
        # Where the parameters of each of them begin in `params`.
        ("select_params", np.int64),
        ("root_select_params", np.int64),
        ("backup_params", np.int64),
        ("decision_backup_params", np.int64),
        ("bound_params", np.int64),
        ("policy_params", np.int64),
        ("value_params", np.int64),
        ("prior_params", np.int64),
        ("halving_params", np.int64),
        ("lower_bounds", np.int64),  # there: the lower bound on the remaining return, per depth
        # The recipe's choices.
        ("key", np.int64),  # BY_STATE, BY_STATE_ELAPSED, BY_PATH or BY_ACTIONS
        ("target", np.int64),  # SAMPLED_RETURN or CHILD_VALUE
        ("estimator", np.int64),  # RUNNING_MEAN or PRESENT_VALUES
        ("expansion", np.int64),  # LEAF or WHOLE_PATH
        ("evaluation", np.int64),  # BY_ROLLOUT, BY_CONSTANT, BY_FUNCTION or BY_SAMPLED_TREE
        ("learning", np.int64),  # ON_THE_TRAIL or AT_THE_SWITCH
        ("sweep", np.int64),  # passes of the sweep that precedes the decision, 0 for none
        ("update_limit", np.int64),  # what passes over the nodes may read; a budget in seconds sets it
        ("decision_variance", np.int64),  # 1 if the backup of that sweep reads the variances of targets
        ("caution", np.float64),  # standard errors that the recommendation takes off; only where values are learned
        ("recommendation", np.int64),  # BEST_VALUE or MOST_VISITS
        ("edges_kept", np.int64),  # 1 if outcomes are stored
        ("variance_kept", np.int64),  # 1 if the variance of the targets is stored
        ("prior_kept", np.int64),  # 1 if each node keeps a prior over its actions
        ("leaf_batch", np.int64),  # leaves that are valued in one call, 0 for each leaf when it is reached
        ("prior_answered", np.int64),  # 1 if that call answers their weights, too
        ("halving", np.int64),  # 1 if the root draws its actions by the prior and halves them
        ("widening_factor", np.float64),  # actions that a node may try at its first visit; 0 for all of them
        ("widening_exponent", np.float64),  # of its visits
        ("widening_stride", np.int64),  # from one action to the next in a node's order; 0 for the first ones everywhere
        ("rewards_apart", np.int64),  # 1 if outcomes that differ in their reward are stored apart
        # The model's sizes and the layout of a node's row, in cells of 8 bytes.
        ("actions", np.int64),
        ("width", np.int64),  # cells of a state
        ("key_size", np.int64),  # cells of a key
        ("clocked", np.int64),  # 1 if a state holds a clock beside its key, which rewards may follow
        ("stride", np.int64),  # cells of a row
        ("counts_at", np.int64),
        ("q_at", np.int64),
        ("heads_at", np.int64),
        ("variance_at", np.int64),
        ("prior_at", np.int64),
        ("interval_at", np.int64),
        # How far this decision looks.
        ("horizon", np.int64),  # steps from the root that a simulation selects
        ("end", np.int64),  # steps from the root to the time limit
        ("return_discount", np.float64),  # of the return; the search's own may follow from the horizon
        ("rollout_end", np.int64),  # steps from the root after which no playout goes on
        ("rollout_steps", np.int64),  # the longest playout
        ("root_elapsed", np.int64),  # steps from the start of the episode to the root
        # Limits.
        ("simulation_limit", np.int64),
        ("step_limit", np.int64),
        ("node_limit", np.int64),
        ("row_capacity", np.int64),
        ("edge_capacity", np.int64),
        ("scratch_capacity", np.int64),  # cells of the working memory
        ("table_mask", np.int64),
        ("longest", np.int64),  # rows that the simulations in flight can add at most
        ("growth", np.int64),  # ADD_WHILE_ROOM, GROWING or LAST_ROOM
        # Paired scenarios at the root.
        ("pairing", np.int64),  # 1 if there are any
        ("evidence", np.float64),  # exploring steps without which they never decide
        ("novelty", np.float64),  # share of unknown outcomes from which they decide
        ("known", np.float64),  # share of well-known steps from which they do not
        ("simulation_budget", np.int64),  # of the whole decision
        ("step_budget", np.int64),
        ("chunk_begun", np.int64),  # simulations when this chunk began
        ("time_share", np.float64),  # share of the budget in seconds that was spent then
        ("time_share_each", np.float64),  # what a simulation spends of it
        # Optimism.
        ("lower_is_mean", np.int64),  # 1 if the lower end is no bound but the mean sampled return
        ("learned", np.int64),  # 1 if the largest value follows from the returns seen; the lower end is then swept
        ("margin", np.float64),  # by how much of the range seen the largest value lies above it; only where learned
        ("patience", np.float64),  # simulations without a larger return that halve the margin; 0 if it stays
        ("greedy_every", np.int64),  # one simulation in so many follows plain values; 0 for none
        ("greedy_after", np.int64),  # simulations in the graph before that
        ("baseline", np.float64),  # what rewards are read less; 0 unless the largest value is learned
        ("backups", np.int64),  # of predecessors, for each step of a simulation
        ("relative_accuracy", np.float64),  # the accuracy below, in units of the range of values
        ("accuracy", np.float64),  # an interval that moves by more is passed on to the predecessors
        ("rounding", np.float64),  # by how little two upper bounds may differ and still be equal
    ]
)
"""The program: what to run and how far."""

TALLY = np.dtype(
    [
        ("simulations", np.int64),  # of this decision
        ("model_steps", np.int64),  # of this decision
        ("new_nodes", np.int64),  # of this decision
        ("capped", np.int64),  # 1 once this decision could not store something for want of room
        ("inherited", np.int64),  # visits that the root had before this decision
        ("updates", np.int64),  # what the sweep of the last decision read: nodes, and each outcome of their actions
        ("reached", np.int64),  # the same of one pass over what the root reaches
        ("detail", np.int64),  # the action tried last, or the status of a failure; after a decision, the action chosen
        ("recommended", np.int64),  # the action that the last decision recommended
        ("nodes", np.int64),  # stored
        ("edges", np.int64),  # stored, plus one, as edges are numbered from 1
        ("created", np.int64),  # nodes that this graph ever had; counted for intervals alone
        ("widest", np.int64),  # the most outcomes of a state and action; counted for intervals alone
        ("generation", np.int64),  # of the table; a higher one clears it
        ("root", np.int64),  # number of its node, or -1
        ("root_change", np.int64),  # SAME_ROOT, MOVED_ON or RESTARTED
        ("draws", np.int64),  # values that the model draws a step; -1 until the first simulation says
        ("waiting", np.int64),  # simulations whose leaves wait to be valued
        ("trail", np.int64),  # number of the trail of the simulation at hand, of as many as a leaf batch has leaves
        ("first_hop", np.int64),  # where a trail begins: that one, or the one that is being backed up
    ]
)
"""The tally: counts of a decision, and the state of the graph."""

ALLOCATION = np.dtype(
    [
        # What exploring has met lately; older counts fade.
        ("tried", np.float64),  # tries of actions that had been tried before
        ("unknown", np.float64),  # those of them whose outcome they had not had before, nor is it a well-known state
        ("steps", np.int64),  # of exploring simulations in this episode, none of which fade
        ("known", np.float64),  # share of the last of them that led to a well-known state
        ("begun_at", np.int64),  # simulations of the episode when this graph was begun
        ("renewed_at", np.int64),  # those when all its bounds were last renewed
        ("smallest", np.float64),  # return-to-go then
        ("largest", np.float64),  # the same
        ("waiting_since", np.float64),  # simulations of the episode from which patience counts
        ("follows_clock", np.int64),  # 1 once an outcome has paid another reward than before, in a model with a clock
        # Where the decision stands.
        ("phase", np.int64),  # EXPLORING, BY_GRAPH, BY_SCENARIOS or BY_HALVING
        ("exploring", np.float64),  # share of the budget that explores before the phase is settled
        ("legal", np.int64),  # actions that entered the halving
        ("alive", np.int64),  # actions that are still in it; they stand first
        ("rounds", np.int64),  # rounds to come
        ("goal", np.float64),  # share of the budget at which this round ends
        ("next", np.int64),  # place of the action that meets the scenario next
        ("scenario", np.int64),  # number of the scenario
        ("playout", np.int64),  # steps of its first playout
        ("salt", np.uint64),  # what scenarios are drawn from in this decision
    ]
)
"""The root allocation, where a recipe has one."""

ARM = np.dtype(
    [
        ("action", np.int64),
        ("scenarios", np.int64),  # whole scenarios that it has met
        ("total", np.float64),  # returns in them
        ("spread", np.float64),  # sum of their squared deviations from the mean
        ("pending", np.float64),  # return in the scenario at hand, NaN before; or an action's noise
    ]
)
"""An action in the halving."""

STATS = np.dtype(
    [
        ("visits", np.int64),  # N(s), also the visit that created the node
        ("value", np.float64),  # V(s); with intervals, the upper bound
        ("tag", np.int64),  # what the key holds beside the state, see `graph`
    ]
)
"""The head of a node's row; its key and its arrays by action follow."""

INTERVAL = np.dtype(
    [
        ("lower", np.float64),  # lower bound on the value
        ("error", np.float64),  # squared standard error of the plain value; only where the recommendation is cautious
        ("predecessors", np.int64),  # first edge of the list of nodes that have led here
        ("queued", np.int64),  # 0, or in the queue: -1 where it is the last, else 1 + the next node
        ("order", np.int64),  # which node of this graph it is, from 1; 0 for a root that is not set up
        ("opened", np.int64),  # how many actions it has, once they have been set up
        ("stale", np.int64),  # bit by action, modulo 64: its upper bound is to be recomputed; only where learned
    ]
)
"""The last part of a node's row, where the recipe has optimism."""

EDGE = np.dtype(
    [
        ("child", np.int32),  # a node, TERMINAL or UNSTORED
        ("next", np.int32),  # the next edge of the same list, or NO_EDGE
        ("count", np.int64),  # how often it was taken
        ("reward", np.float64),  # the sum of its rewards
    ]
)
"""An outcome of a state and action."""

HOP = np.dtype(
    [
        ("node", np.int64),
        ("action", np.int64),
        ("child", np.int64),  # what came of it: a node, TERMINAL or UNSTORED
        ("reward", np.float64),
    ]
)
"""One step of a trail, which is the working memory of one simulation."""

LEAF = np.dtype(
    [
        ("depth", np.int64),  # steps from the root, the length of the trail
        ("node", np.int64),  # a node, TERMINAL, UNSTORED or CUT_SHORT
        ("asked", np.int64),  # 1 if its value is yet to be answered
        ("value", np.float64),  # its value where it is not asked for
    ]
)
"""Where a simulation ended that waits."""

FIRST_KEY = STATS.itemsize // 8  # the key's first cell in a row
OUTCOME_CELLS = 3  # an outcome as a bound reads it: how often it came, the sum of its rewards, the value behind it

as_stats = viewer(record_type(STATS))
as_interval = viewer(record_type(INTERVAL))


class Arrays(NamedTuple):
    """A search's arrays, as its front holds them and hands them to every compiled entry."""

    program: NDArray[np.void]  # (1,) PROGRAM, what to run and how far
    tally: NDArray[np.void]  # (1,) TALLY, what has been done
    context: NDArray[np.void]  # (1,) CONTEXT_DTYPE with its arrays behind it, what ingredients may read
    params: NDArray[np.float64]  # (any,), the ingredients' parameters
    model_params: NDArray[np.float64]  # (any,), the model's
    allocation: NDArray[np.void]  # (1,) ALLOCATION
    arms: NDArray[np.void]  # (actions,) ARM
    rows: NDArray[np.int64]  # (row capacity * stride,), the nodes, see `graph`
    table: NDArray[np.int64]  # (a power of two,), where to find them
    edges: NDArray[np.void]  # (edge capacity,) EDGE, what their actions led to
    trail: NDArray[np.void]  # (horizon + 2,) HOP for each simulation in flight, working memory
    leaves: NDArray[np.void]  # (leaf batch,) LEAF, their leaves
    answers: NDArray[np.float64]  # (leaf batch * (1 + actions),), value and weights of each leaf that was asked about
    playout: NDArray[np.int64]  # ((horizon + 2) * (width + 3),), working memory
    states: NDArray[np.int64]  # (2 * width,), the root's cells, then working memory
    rng: NDArray[np.uint64]  # (2,), the stream of the search's own choices and that of the model
    scratch: NDArray[np.float64]  # (scratch capacity,), working memory


_STRUCTS = {dtype: struct_type(dtype) for dtype in (PROGRAM, TALLY, ALLOCATION)} | {CONTEXT_DTYPE: ContextStruct}


def named(array: NDArray[np.void]) -> Any:
    """Return the one record of an array, its fields as attributes to read and set."""
    return _STRUCTS[array.dtype].from_buffer(array.data)


class Frame(NamedTuple):
    """Everything that a compiled function of the search may touch; records and pointers."""

    program: Any  # a PROGRAM record
    tally: Any  # a TALLY record
    context: Any  # the ingredients' view, `abi.context`
    params: Any  # float64, the ingredients' parameters
    model_params: Any  # float64, the model's
    allocation: Any  # a ALLOCATION record
    arms: Any  # ARM records
    rows: Any  # int64, the nodes
    table: Any  # int64, where to find them
    edges: Any  # EDGE records
    trail: Any  # HOP records
    leaves: Any  # LEAF records
    answers: Any  # float64, value and weights of each leaf that was asked about
    playout: Any  # int64, the last playout of a scenario, and where its first one was, see `scenarios`
    root_state: Any  # int64, the root's cells
    state: Any  # int64, the present state's cells
    rng: Any  # uint64, the stream of the search's own choices
    model_rng: Any  # uint64, the stream of the model
    scratch: Any  # float64, working memory: outcomes of an action, two numbers for each, levels of a sampled tree


class Node(NamedTuple):
    """One node's row, by its parts; pointers to arrays by action."""

    stats: Any  # a STATS record
    counts: Any  # int64, N(s,a)
    q: Any  # float64, Q(s,a); with intervals, upper bounds
    heads: Any  # int64, first outcome edges; only where edges are kept
    variance: Any  # float64, variances of the targets; none with intervals
    lower: Any  # float64, in the same place: with intervals, lower bounds, or plain values where values are learned
    interval: Any  # an INTERVAL record; only where the recipe has optimism


@njit(inline="always")  # numba cannot return a tuple that holds records
def make_frame(arrays):
    """Return the frame over a search's arrays."""
    return Frame(
        arrays.program[0],
        arrays.tally[0],
        arrays.context[0],
        address(arrays.params, 0),
        address(arrays.model_params, 0),
        arrays.allocation[0],
        address(arrays.arms, 0),
        address(arrays.rows, 0),
        address(arrays.table, 0),
        address(arrays.edges, 0),
        address(arrays.trail, 0),
        address(arrays.leaves, 0),
        address(arrays.answers, 0),
        address(arrays.playout, 0),
        address(arrays.states, 0),
        address(arrays.states, arrays.program[0].width),
        address(arrays.rng, 0),
        address(arrays.rng, 1),
        address(arrays.scratch, 0),
    )


@njit
def row_of(frame, number):
    """Return a pointer to the first cell of a node's row."""
    return offset(frame.rows, number * frame.program.stride)


@njit
def stats_of(frame, number):
    """Return the head of a node's row."""
    return as_stats(row_of(frame, number))


@njit
def interval_of(frame, number):
    """Return what a node keeps for intervals."""
    return as_interval(offset(row_of(frame, number), frame.program.interval_at))


@njit(inline="always")  # numba cannot return a tuple that holds records
def node_at(frame, number):
    """Return a node by its number."""
    row, program = row_of(frame, number), frame.program
    return Node(
        as_stats(row),
        offset(row, program.counts_at),
        as_reals(offset(row, program.q_at)),
        offset(row, program.heads_at),
        as_reals(offset(row, program.variance_at)),
        as_reals(offset(row, program.variance_at)),
        as_interval(offset(row, program.interval_at)),
    )


@njit
def edge_at(frame, number):
    """Return an outcome edge by its number."""
    return record(frame.edges, number)


@njit
def hop_at(frame, depth):
    """Return the step of the trail at a depth."""
    return record(frame.trail, frame.tally.first_hop + depth)


@njit
def leaf_at(frame, trail):
    """Return the leaf at the end of a trail."""
    return record(frame.leaves, trail)


@njit
def arm_at(frame, place):
    """Return the action at a place of the halving."""
    return record(frame.arms, place)


@njit
def reward_of(hop):
    """Return a pointer to the reward of a hop, where a model's step writes it."""
    return offset(as_reals(hop), 3)


@njit
def place(frame, depth):
    """Tell the ingredients at which depth they are asked."""
    frame.context.depth = depth
    frame.context.elapsed = frame.program.root_elapsed + depth
    frame.context.steps_left = frame.program.end - depth


@njit
def is_action(frame, action):
    """Return whether an ingredient's answer is a legal action."""
    if action < 0 or action >= frame.program.actions:
        return False
    return frame.context.masked == 0 or legal_mask(frame.context)[action] != 0.0
