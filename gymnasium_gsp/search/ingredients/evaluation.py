"""Evaluation: what a leaf is worth before it has been searched."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.pointers import Pointer, python_pointer
from gymnasium_gsp.errors import KnownFields, RecipeError
from gymnasium_gsp.search.ingredients.functions import ValueFunction
from gymnasium_gsp.search.ingredients.ingredient import Custom, Ingredient, as_ingredient, check_number, make_plain


@dataclass(frozen=True)
class Rollout(KnownFields):
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
class Constant(KnownFields):
    """The same value for every leaf, V_0 of the paper.

    Attributes:
        value: that value.
    """

    value: float = 0.0

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("value", self.value)


@dataclass(frozen=True)
class Heuristic(KnownFields):
    """A compiled function of the state.

    Attributes:
        function: an ingredient or function of signature `value`.
        values: the numbers it gets as `params`.
    """

    function: Any
    values: tuple[float, ...] = ()

    def ingredient(self) -> Ingredient:
        """The function as an ingredient."""
        function = self.function if isinstance(self.function, Ingredient) else Custom(self.function, self.values)
        return as_ingredient(function, "value", "evaluation")


_MOST_STEPS = 10**8  # of one simulation, about a second


@dataclass(frozen=True)
class SampledTree(KnownFields):
    """The value by sparse sampling: every action of every state is tried equally often, to a fixed depth.

    Kearns, Mansour and Ng (2002).  One evaluation costs about (actions * width)^depth model steps.

    Attributes:
        width: C, how often each action of each state is tried, at least 1.
        depth: how many steps the tree looks ahead, at least 0; never further than the steps that are left.
    """

    width: int = 2
    depth: int = 2

    def __post_init__(self) -> None:
        make_plain(self)
        for name, value, smallest in (("width", self.width, 1), ("depth", self.depth, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
                raise RecipeError(f"{name} must be a whole number of at least {smallest}, not {value!r}")

    def check_cost(self, actions: int, steps_left: int | None, model_steps: int | None) -> None:
        """Refuse a tree so large that one simulation would not come back.

        Raises:
            RecipeError: says what to change.
        """
        depth = self.depth if steps_left is None else min(self.depth, steps_left)
        if model_steps is None and depth * math.log(actions * self.width) > math.log(_MOST_STEPS):
            raise RecipeError(
                f"width {self.width} and {depth + 1} steps make one simulation of more than {_MOST_STEPS:,} model "
                "steps, in which nothing can stop it: give a smaller width or depth, or a budget in model steps"
            )


@dataclass(frozen=True)
class PythonValue(KnownFields):
    """Any Python function of the cells of a model's state.  The search then keeps the GIL.

    In a simulator cells are internal numbers; a function of observations is a `ValueFunction`.

    Attributes:
        function: takes the state's cells, a fresh (width,) int64 array, and returns a float.
    """

    function: Callable[[NDArray[np.int64]], float]

    def __post_init__(self) -> None:
        make_plain(self)
        if not callable(self.function):
            raise RecipeError(f"PythonValue takes a function of a state's cells, not {self.function!r}")

    def bind(self, width: int) -> Pointer:
        """Return a C pointer to the function, for states of `width` cells."""

        def value(params: int, context: int, state: int, rng: int) -> float:
            return float(self.function(np.array((ctypes.c_int64 * width).from_address(state), np.int64)))

        return python_pointer("value", value, failed=math.nan)


Evaluation = Rollout | Constant | Heuristic | PythonValue | SampledTree | ValueFunction
