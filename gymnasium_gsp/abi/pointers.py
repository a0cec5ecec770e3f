"""From a function somebody gives to an address that the search can call, with the signature checked.

Accepted everywhere a step or an ingredient is asked for: a plain Python function or an `@njit` function (compiled
here), a `@cfunc` (its signature is checked), a ctypes function pointer (its argument types are checked; it may run
Python, so the search keeps the GIL), or the address of a C function as an int (taken on trust).
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from gymnasium_gsp.abi.compilation import user_pointer
from gymnasium_gsp.abi.context import ABI_VERSION, CONTEXT
from gymnasium_gsp.abi.memory import REALS
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.errors import RecipeError

_CFunctionPointer: Any = ctypes.CFUNCTYPE(None).__mro__[1]  # what every ctypes function type derives from


@dataclass(frozen=True)
class Pointer:
    """The address of a C function, with what must stay alive while it is called.

    Attributes:
        address: where the function starts.
        owner: the object that owns the code.
        needs_gil: whether calling it runs Python code, so that the caller must hold the GIL.
        raised: exceptions of that Python code, until the front of the search raises them again.
    """

    address: int
    owner: object = None
    needs_gil: bool = False
    raised: list[BaseException] = field(default_factory=list, compare=False)


_OLD_CONTEXT = (
    f"Since ABI version {ABI_VERSION} the context is a record with named fields, which stand in "
    "gymnasium_gsp.abi.context: write context.actions, not context[5]."
)


def _version_1(signature: Any) -> Any:
    """The signature as it was in ABI version 1, where the context was an array of float64."""
    return signature.return_type(*[REALS if argument == CONTEXT else argument for argument in signature.args])


def ctypes_type(signature: Any) -> Any:
    """The ctypes function type of a signature; functions made from it take the GIL by themselves."""
    scalars = {types.int64: ctypes.c_int64, types.uint64: ctypes.c_uint64, types.float64: ctypes.c_double}

    def convert(numba_type: Any) -> Any:
        if isinstance(numba_type, types.CPointer | types.Record):
            return ctypes.c_void_p
        return scalars[numba_type]

    return ctypes.CFUNCTYPE(convert(signature.return_type), *[convert(t) for t in signature.args])


def python_pointer(kind: str, function: Callable[..., float], failed: float) -> Pointer:
    """A C pointer to a Python function, which answers `failed` where it raises.

    Args:
        kind: its signature.
        function: gets records and arrays as addresses.
        failed: what the compiled search takes for a failure.
    """
    raised: list[BaseException] = []

    def call(*arguments: Any) -> float:
        try:
            return function(*arguments)
        except BaseException as error:  # raised again by the front of the search
            raised.append(error)
            return failed

    callback = ctypes_type(SIGNATURES[kind])(call)
    return Pointer(ctypes.cast(callback, ctypes.c_void_p).value or 0, callback, needs_gil=True, raised=raised)


def _same_size(given: Any, wanted: Any) -> bool:
    if given is None:
        return False
    if wanted is ctypes.c_void_p:
        return given is ctypes.c_void_p or issubclass(given, ctypes._Pointer)
    return given is wanted


def _guard(inner: Callable, kind: str) -> Callable:
    """The same function with a count of calls that have not come back.

    numba swallows an exception at the C border and returns 0, which is a valid action or value.  The search looks
    at the count after each simulation, so that a raise is never taken for an answer.
    """

    def guarded_select(params, context, visits, q, counts, rng):
        context.in_flight += 1
        action = inner(params, context, visits, q, counts, rng)
        context.in_flight -= 1
        return action

    def guarded_backup(params, context, visits, q, counts, variance, value, target):
        context.in_flight += 1
        backed_up = inner(params, context, visits, q, counts, variance, value, target)
        context.in_flight -= 1
        return backed_up

    def guarded_bound(params, context, visits, outcomes, count, side):
        context.in_flight += 1
        bound = inner(params, context, visits, outcomes, count, side)
        context.in_flight -= 1
        return bound

    def guarded_state_function(params, context, state, last):
        context.in_flight += 1
        answer = inner(params, context, state, last)
        context.in_flight -= 1
        return answer

    by_kind: dict[str, Callable] = {"select": guarded_select, "backup": guarded_backup, "bound": guarded_bound}
    return by_kind.get(kind, guarded_state_function)


def resolve(function: Any, kind: str) -> Pointer:
    """The pointer for a function that a user gave as `kind`: step, legal, select, backup, policy, value, prior or law.

    Raises:
        RecipeError: if it is nothing that can be called through a C pointer, or has another signature.
    """
    signature = SIGNATURES[kind]
    if isinstance(function, Pointer):
        return function
    if isinstance(function, int | np.integer) and not isinstance(function, bool):
        if function <= 0:
            raise RecipeError(f"{kind} was given the address {function}; a C function's address is above 0")
        return Pointer(int(function))
    if isinstance(function, _CFunctionPointer):
        return _resolve_ctypes(function, kind, signature)
    source = getattr(function, "__wrapped__", None) if hasattr(function, "native_name") else None
    if source is not None and function._sig != signature:
        old = " " + _OLD_CONTEXT if function._sig == _version_1(signature) else ""
        raise RecipeError(f"{kind} has the signature {function._sig}; the search calls it as {signature}.{old}")
    if source is None:
        source = function.py_func if isinstance(function, Dispatcher) else function
    if not callable(source):
        raise RecipeError(
            f"{kind} was given {function!r}; allowed are a Python or numba function, a ctypes function pointer or "
            "the address of a C function (see gymnasium_gsp.abi.signatures)"
        )
    return _compile(function, source, kind)


@cache
def _compile(function: Any, source: Callable, kind: str) -> Pointer:
    """A user's function behind a pointer, compiled once however often it is asked for."""
    signature = SIGNATURES[kind]
    inner = function if isinstance(function, Dispatcher) else njit(error_model="numpy")(source)
    target = source if kind in ("step", "legal", "law") else _guard(inner, kind)
    try:
        compiled = user_pointer(target, signature)
    except (NumbaError, TypeError) as error:
        hint = f"{_OLD_CONTEXT} " if CONTEXT in signature.args else ""
        raise RecipeError(
            f"{kind} {getattr(source, '__name__', source)!r} cannot be compiled as {signature}. {hint}{error}"
        ) from error
    return Pointer(compiled.address, compiled)


def _resolve_ctypes(function: Any, kind: str, signature: Any) -> Pointer:
    wanted = ctypes_type(signature)
    given = [function.restype, *(function.argtypes or ())]
    expected = [wanted._restype_, *wanted._argtypes_]
    if len(given) != len(expected) or not all(map(_same_size, given, expected)):
        raise RecipeError(
            f"{kind} is a ctypes function of other types than the search calls it with: {signature}; "
            "set its restype and argtypes (pointers as c_void_p or POINTER)"
        )
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise RecipeError(f"{kind} is a null ctypes function pointer")
    return Pointer(address, function, needs_gil=True)
