"""Python functions of observations as ingredients: the value of a leaf, the policy of a playout, the prior of a node.

They are what a user has learned or knows.  An observation is what the agent sees, wrappers included.  A search with one
of them keeps the GIL.
"""

import ctypes
import math
from abc import abstractmethod
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.context import CONTEXT_SIZE, ContextStruct
from gymnasium_gsp.abi.pointers import Pointer, ctypes_type
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.abi.stream import uniform_at
from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.search.ingredients.ingredient import Ingredient

Observe = Callable[[Sequence[int]], Any]
"""A function of a state's cells that returns its observation."""


class ObservationFunction(Ingredient):
    """A Python function of observations in a slot of a recipe.

    Subclasses are frozen dataclasses with a field `function`, and say what it returns.
    """

    option: ClassVar[str]  # its name in `make_agent`
    failed: ClassVar[float]  # what the compiled search takes for a failure

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise RecipeError(f"{self.option} must be a function of an observation, not {self.function!r}")

    def pointer(self) -> Pointer:
        """Refuse: the function must be bound to observations first.

        Raises:
            RecipeError: always.
        """
        raise RecipeError(f"{self.option} takes observations, which this search has none of: give it to make_agent")

    def bind(self, width: int, actions: int, observe: Observe) -> Pointer:
        """Return a C pointer that asks the function.

        Args:
            width: cells of a state.
            actions: number of actions.
            observe: the observation of a state.
        """
        raised: list[BaseException] = []
        cells = ctypes.c_int64 * width

        def call(params: int, context: int, state: int, last: int) -> float:
            try:
                return self.answer(observe(cells.from_address(state)[:]), actions, context, last)
            except BaseException as error:  # raised again by the front of the search
                raised.append(error)
                return self.failed

        callback = ctypes_type(SIGNATURES[self.kind])(call)
        return Pointer(ctypes.cast(callback, ctypes.c_void_p).value or 0, callback, needs_gil=True, raised=raised)

    @abstractmethod
    def answer(self, observation: Any, actions: int, context: int, last: int) -> float:
        """Ask the function, and return what the search takes.

        Args:
            observation: what the function is asked about.
            actions: number of actions.
            context: address of the context.
            last: the last argument of the C signature, an address.

        Raises:
            PlanningError: if the function returned something else than it must.
        """

    def weights(self, observation: Any, actions: int) -> NDArray[np.float64]:
        """Ask the function for one weight of at least 0 for each action; their sum is above 0."""
        given = self.function(observation)
        weights = _numbers(given)
        fits = weights.shape == (actions,) or weights.shape == (1, actions)
        if not (fits and weights.min() >= 0.0 and 0.0 < weights.sum() < math.inf):
            raise self.refusal(given, observation, f"{actions} numbers of at least 0, one for each action, sum above 0")
        return weights.reshape(actions)

    def refusal(self, given: object, observation: object, wanted: str) -> PlanningError:
        """The error for an answer that makes no sense."""
        return PlanningError(
            f"{self.option} returned {given!r} for the observation {observation!r}; it must return {wanted}"
        )


def _numbers(given: object) -> NDArray[np.float64]:
    """What a function returned, as numbers; an empty array where it holds anything else."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError, RuntimeError):
        return np.empty(0)


@dataclass(frozen=True)
class ValueFunction(ObservationFunction):
    """A Python function of an observation that returns what a leaf is worth, a learned value for instance."""

    function: Callable[[Any], Any]  # type: ignore[misc]

    kind = "value"
    option = "value_function"
    failed = math.nan

    def answer(self, observation: Any, actions: int, context: int, last: int) -> float:
        given = self.function(observation)
        value = _numbers(given)
        if value.size != 1 or not math.isfinite(value.item()):
            raise self.refusal(given, observation, "one finite number, the discounted return to expect from there")
        return value.item()


@dataclass(frozen=True)
class PolicyFunction(ObservationFunction):
    """A Python function of an observation that returns each action's probability, for `Rollout(policy=...)`.

    Weights that do not add up to 1 are scaled; illegal actions are left out.
    """

    function: Callable[[Any], Any]  # type: ignore[misc]

    kind = "policy"
    option = "policy"
    failed = -1

    def answer(self, observation: Any, actions: int, context: int, last: int) -> int:
        weights = self.weights(observation, actions)
        if ContextStruct.from_address(context).masked:
            weights = weights * (ctypes.c_double * actions).from_address(context + 8 * CONTEXT_SIZE)[:]
            if not weights.any():
                raise self.refusal(weights, observation, "a number above 0 for some legal action")
        sums = list(accumulate(weights.tolist()))
        return bisect(sums, uniform_at(last) * sums[-1], hi=actions - 1)


@dataclass(frozen=True)
class PriorFunction(ObservationFunction):
    """A Python function of an observation that returns a weight for each action, asked once for a node."""

    function: Callable[[Any], Any]  # type: ignore[misc]

    kind = "prior"
    option = "prior"
    failed = 0

    def answer(self, observation: Any, actions: int, context: int, last: int) -> int:
        (ctypes.c_double * actions).from_address(last)[:] = self.weights(observation, actions).tolist()
        return 1
