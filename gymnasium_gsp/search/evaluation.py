"""Evaluation: what a leaf is worth before it has been searched."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.pointers import SIGNATURES, Pointer, ctypes_type
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search.ingredients import Custom, Ingredient, as_ingredient, check_number, make_plain


@dataclass(frozen=True)
class Rollout:
    """The discounted return of one playout.

    Attributes:
        policy: an ingredient or function of signature `policy`; None for uniform actions.
        steps: longest playout; None to play to the end of the episode.
    """

    policy: Any = None
    steps: int | None = None

    def __post_init__(self) -> None:
        make_plain(self)
        if self.policy is not None:
            object.__setattr__(self, "policy", as_ingredient(self.policy, "policy", "policy"))
        if self.steps is not None and (
            isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < 0
        ):
            raise RecipeError(f"steps of a rollout must be a whole number of at least 0 or None, not {self.steps!r}")


@dataclass(frozen=True)
class Constant:
    """The same value for every leaf, V_0 of the paper.

    Attributes:
        value: that value.
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("value", self.value)


@dataclass(frozen=True)
class Heuristic:
    """A compiled function of the state.

    Attributes:
        function: an ingredient or function of signature `value`.
        values: the numbers it gets as `params`.
    """

    function: Any
    values: tuple[float, ...] = ()

    def ingredient(self) -> Ingredient:
        """The function as an ingredient."""
        return as_ingredient(Custom(self.function, self.values), "value", "evaluation")


@dataclass
class _Callback:
    """A Python leaf value behind a C pointer; keeps what it raised until somebody asks."""

    value: Callable[[NDArray[np.int64]], float]
    width: int
    caught: list[BaseException] = field(default_factory=list)
    pointer: Any = None

    def __call__(self, params: int, context: int, state: int, rng: int) -> float:
        try:
            cells = np.array((ctypes.c_int64 * self.width).from_address(state), np.int64)
            return float(self.value(cells))
        except BaseException as error:  # raised again by the caller of the kernel
            self.caught.append(error)
            return math.nan


@dataclass(frozen=True)
class PythonValue:
    """Any Python function of the state, a learned value for instance.  The search then keeps the GIL.

    Attributes:
        function: takes the state's cells, a fresh (width,) int64 array, and returns a float.
    """

    function: Callable[[NDArray[np.int64]], float]

    def __post_init__(self) -> None:
        make_plain(self)
        if not callable(self.function):
            raise RecipeError(f"PythonValue takes a function of a state's cells, not {self.function!r}")

    def bind(self, width: int) -> Pointer:
        """A C pointer to the function, for states of `width` cells."""
        callback = _Callback(self.function, width)
        callback.pointer = ctypes_type(SIGNATURES["value"])(callback)
        return Pointer(ctypes.cast(callback.pointer, ctypes.c_void_p).value or 0, callback, needs_gil=True)


Evaluation = Rollout | Constant | Heuristic | PythonValue
