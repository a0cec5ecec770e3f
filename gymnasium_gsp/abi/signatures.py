"""The C signatures through which the search calls everything it does not know itself.

This is the only file that spells them out.  A model's step and every ingredient of a recipe reach the compiled
search as the address of a C function with one of these signatures, so one compiled search serves all of them,
whoever wrote them and in whatever language.

    int64  step   (double *params, int64 *state, int64 action, uint64 *rng, double *reward)
    int64  legal  (double *params, int64 *state, double *mask)
    int64  select (double *params, double *context, int64 visits, double *q, int64 *counts, uint64 *rng)
    double backup (double *params, double *context, int64 visits, double *q, int64 *counts, double *variance,
                   double value, double target)
    int64  policy (double *params, double *context, int64 *state, uint64 *rng)
    double value  (double *params, double *context, int64 *state, uint64 *rng)

`state` is read and written in place: `width` cells of 8 bytes, of which the first `key_size` identify the state and
the rest (a clock, say) is carried along.  A cell may hold a float64 seen through the same memory.  `step` returns
FAILED, RUNNING or TERMINATED and writes the reward; `legal` writes 1.0 or 0.0 per action and returns how many are
legal; `variance` is null where no variance is kept.  A double that comes back NaN, and a status of 0, mean failure:
0 is also what numba and ctypes return when a function raised.

`rng` points at one uint64, a splitmix64 stream: `uniform` and `below` draw from it here, and in C it is

    uint64_t z = *rng += 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^= z >> 31;       /* 64 random bits */
    double uniform = (z >> 11) * 0x1.0p-53;                      /* in [0, 1) */
    int64_t below = (z >> 32) * (uint64_t)n >> 32;               /* in 0 .. n - 1 */

A step draws the same number of values for every state and action; the search counts them and refuses a step that
does not.  The context block is described by the constants below; ABI_VERSION is its first cell.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # numba's annotation of it hides how an intrinsic is called

ABI_VERSION = 1

FAILED, RUNNING, TERMINATED = 0, 1, 2

CELLS = types.CPointer(types.int64)
REALS = types.CPointer(types.float64)
STREAM = types.CPointer(types.uint64)

STEP = types.int64(REALS, CELLS, types.int64, STREAM, REALS)
LEGAL = types.int64(REALS, CELLS, REALS)
SELECT = types.int64(REALS, REALS, types.int64, REALS, CELLS, STREAM)
BACKUP = types.float64(REALS, REALS, types.int64, REALS, CELLS, REALS, types.float64, types.float64)
POLICY = types.int64(REALS, REALS, CELLS, STREAM)
VALUE = types.float64(REALS, REALS, CELLS, STREAM)

# Cells of the context block that an ingredient reads, all float64.
VERSION = 0
DEPTH = 1  # steps from the root of this search
ELAPSED = 2  # steps since the start of the episode
STEPS_LEFT = 3  # steps until the time limit, or until the search looks no further
DISCOUNT = 4
ACTIONS = 5
MASKED = 6  # 1.0 if the legal mask below holds at this node, 0.0 if every action is legal
LOWER = 7  # lower bound on the remaining return at this node, at most 0; 0 where none was declared
RANGE = 8  # largest minus smallest return of a simulation in this episode; 1 while that is 0
ROOT_RETURNS = 9  # simulations since the start of the episode
ROOT_MEAN = 10  # mean of their returns
ROOT_VARIANCE = 11  # variance of their returns
SMALLEST_RETURN = 12
LARGEST_RETURN = 13
IN_FLIGHT = 14  # calls of guarded ingredients that have not come back; above 0 after a search, one raised
EXTRA_STEPS = 15  # a value function that steps the model itself adds its steps here
BUDGET = 16  # simulations that this decision may run; infinity if the budget is not in simulations
PLAYOUT_STEPS = 17  # steps that a value function may play from here: to the end, and within the budget
CONTEXT_SIZE = 24  # behind it, one cell per action each: the legal mask, scratch for one call, and per depth the notes

UNKNOWN = -1.0  # first cell of the notes at a depth where no selection was asked, because the node was new


def context_length(actions: int, horizon: int) -> int:
    """Number of float64 cells of a context block: the fixed part, the legal mask, one call's scratch, the notes."""
    return CONTEXT_SIZE + actions * (2 + horizon + 2)


@njit
def next_word(rng):
    """64 random bits from the splitmix64 stream at `rng`."""
    rng[0] += types.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> types.uint64(30))) * types.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> types.uint64(27))) * types.uint64(0x94D049BB133111EB)
    return z ^ (z >> types.uint64(31))


@njit
def uniform(rng):
    """One draw from [0, 1)."""
    return types.float64(next_word(rng) >> types.uint64(11)) * 1.1102230246251565e-16


@njit
def below(rng, n):
    """One draw from 0 .. n - 1."""
    return types.int64(((next_word(rng) >> types.uint64(32)) * types.uint64(n)) >> types.uint64(32))


@intrinsic
def address(typing_context, array, index):
    """Pointer to array[index] of a contiguous one-dimensional array, without the cost of `.ctypes` or a slice."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.intp), codegen


@intrinsic
def offset(typing_context, pointer, index):
    """The pointer moved on by `index` elements."""

    def codegen(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.intp), codegen


@njit
def scratch(context):
    """One cell per action, for the call of an ingredient to work in."""
    return offset(context, CONTEXT_SIZE + int(context[ACTIONS]))


@njit
def notes(context, depth):
    """One cell per action and depth, what a selection leaves on this trajectory for the backup to read."""
    return offset(context, CONTEXT_SIZE + (2 + depth) * int(context[ACTIONS]))


@intrinsic
def as_reals(typing_context, pointer):
    """The same memory seen as float64."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(REALS))

    return REALS(pointer), codegen


@intrinsic
def prefetch(typing_context, pointer):
    """Ask for the memory at a pointer, which will be needed soon."""

    def codegen(context, builder, signature, arguments):
        word, at = ir.IntType(32), builder.bitcast(arguments[0], ir.IntType(8).as_pointer())
        function_type = ir.FunctionType(ir.VoidType(), [at.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [at.type], function_type)
        builder.call(function, [at, word(0), word(3), word(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.void(pointer), codegen


@intrinsic
def null_reals(typing_context):
    """A null pointer to float64."""

    def codegen(context, builder, signature, arguments):
        return cgutils.get_null_value(context.get_value_type(REALS))

    return REALS(), codegen


def _call(signature):
    """Typing and code of a call through an address (int64) with the given C signature."""

    def codegen(context, builder, typed, arguments):
        values = [
            context.cast(builder, value, given, wanted)
            for value, given, wanted in zip(arguments[1:], typed.args[1:], signature.args, strict=True)
        ]
        function_type = ir.FunctionType(
            context.get_value_type(signature.return_type), [context.get_value_type(t) for t in signature.args]
        )
        return builder.call(builder.inttoptr(arguments[0], function_type.as_pointer()), values)

    return signature.return_type(types.int64, *signature.args), codegen


@intrinsic
def call_step(typing_context, function, params, state, action, rng, reward):
    """Call the STEP at this address."""
    return _call(STEP)


@intrinsic
def call_legal(typing_context, function, params, state, mask):
    """Call the LEGAL at this address."""
    return _call(LEGAL)


@intrinsic
def call_select(typing_context, function, params, context, visits, q, counts, rng):
    """Call the SELECT at this address."""
    return _call(SELECT)


@intrinsic
def call_backup(typing_context, function, params, context, visits, q, counts, variance, value, target):
    """Call the BACKUP at this address."""
    return _call(BACKUP)


@intrinsic
def call_policy(typing_context, function, params, context, state, rng):
    """Call the POLICY at this address."""
    return _call(POLICY)


@intrinsic
def call_value(typing_context, function, params, context, state, rng):
    """Call the VALUE at this address."""
    return _call(VALUE)
