"""The C signatures through which the search calls everything it does not know itself.

This is the only file that spells them out.  A model's step and every ingredient of a recipe reach the compiled
search as the address of a C function with one of these signatures, so one compiled search serves all of them,
whoever wrote them and in whatever language::

    int64  step   (double *params, int64 *state, int64 action, uint64 *rng, double *reward)
    int64  legal  (double *params, int64 *state, double *mask)
    int64  select (double *params, struct context *, int64 visits, double *q, int64 *counts, uint64 *rng)
    double backup (double *params, struct context *, int64 visits, double *q, int64 *counts, double *variance,
                   double value, double target)
    double bound  (double *params, struct context *, int64 visits, double *outcomes, int64 count, double side)
    int64  policy (double *params, struct context *, int64 *state, uint64 *rng)
    double value  (double *params, struct context *, int64 *state, uint64 *rng)
    int64  prior  (double *params, struct context *, int64 *state, double *weights)
    int64  law    (double *params, int64 *state, int64 action, int64 *outcomes, double *chances, double *reward)

`state` is read and written in place: `width` cells of 8 bytes, of which the first `key_size` identify the state and
the rest (a clock, say) is carried along.  A cell may hold a float64 seen through the same memory.  `step` returns
FAILED, RUNNING or TERMINATED and writes the reward; `legal` writes 1.0 or 0.0 per action and returns how many are
legal; `prior` writes a weight of at least 0 per action and returns 1; `variance` is null where no variance is kept.  A
double that comes back NaN, and a status of 0, mean failure: 0 is also what numba and ctypes return when a function
raised.  `law` is a step whose random choices are given; what it writes is said in `models.factors`.

The context is the record of `abi.context`; in numba its fields are read by name (`context.actions`), and `is_legal`,
`scratch`, `prior` and `notes` reach the arrays behind it.  Its first member is ABI_VERSION.

`rng` points at one uint64, a splitmix64 stream: `uniform` and `below` draw from it here, and in C it is::

    uint64_t z = *rng += 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^= z >> 31;       /* 64 random bits */
    double uniform = (z >> 11) * 0x1.0p-53;                      /* in [0, 1) */
    int64_t below = (z >> 32) * (uint64_t)n >> 32;               /* in 0 .. n - 1 */

A step draws the same number of values for every state and action; the search counts them and refuses a step that
does not.
"""

from numba import types

from gymnasium_gsp.abi.context import CONTEXT
from gymnasium_gsp.abi.memory import CELLS, REALS, STREAM, caller, intrinsic

FAILED, RUNNING, TERMINATED = 0, 1, 2

STEP = types.int64(REALS, CELLS, types.int64, STREAM, REALS)
LEGAL = types.int64(REALS, CELLS, REALS)
SELECT = types.int64(REALS, CONTEXT, types.int64, REALS, CELLS, STREAM)
BACKUP = types.float64(REALS, CONTEXT, types.int64, REALS, CELLS, REALS, types.float64, types.float64)
BOUND = types.float64(REALS, CONTEXT, types.int64, REALS, types.int64, types.float64)
POLICY = types.int64(REALS, CONTEXT, CELLS, STREAM)
VALUE = types.float64(REALS, CONTEXT, CELLS, STREAM)
PRIOR = types.int64(REALS, CONTEXT, CELLS, REALS)
LAW = types.int64(REALS, CELLS, types.int64, CELLS, REALS, REALS)

SIGNATURES = {
    "step": STEP,
    "legal": LEGAL,
    "select": SELECT,
    "backup": BACKUP,
    "bound": BOUND,
    "policy": POLICY,
    "value": VALUE,
    "prior": PRIOR,
    "law": LAW,
}


@intrinsic
def call_step(typing_context, function, params, state, action, rng, reward):
    """Call the STEP at this address."""
    return caller(STEP)


@intrinsic
def call_legal(typing_context, function, params, state, mask):
    """Call the LEGAL at this address."""
    return caller(LEGAL)


@intrinsic
def call_select(typing_context, function, params, context, visits, q, counts, rng):
    """Call the SELECT at this address."""
    return caller(SELECT)


@intrinsic
def call_backup(typing_context, function, params, context, visits, q, counts, variance, value, target):
    """Call the BACKUP at this address."""
    return caller(BACKUP)


@intrinsic
def call_bound(typing_context, function, params, context, visits, outcomes, count, side):
    """Call the BOUND at this address."""
    return caller(BOUND)


@intrinsic
def call_policy(typing_context, function, params, context, state, rng):
    """Call the POLICY at this address."""
    return caller(POLICY)


@intrinsic
def call_value(typing_context, function, params, context, state, rng):
    """Call the VALUE at this address."""
    return caller(VALUE)


@intrinsic
def call_prior(typing_context, function, params, context, state, weights):
    """Call the PRIOR at this address."""
    return caller(PRIOR)


@intrinsic
def call_law(typing_context, function, params, state, action, outcomes, chances, reward):
    """Call the LAW at this address."""
    return caller(LAW)
