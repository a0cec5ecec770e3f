"""Python functions of observations as ingredients: the value of a leaf, the policy of a playout, the prior of a node.

They are what a user has learned or knows.  An observation is what the agent sees, wrappers included.  With a leaf batch
value and prior get several of them at once.  A search with one of these functions keeps the GIL.
"""

import copy
import ctypes
import math
from abc import abstractmethod
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.context import CONTEXT_SIZE, ContextStruct
from gymnasium_gsp.abi.pointers import Pointer, python_pointer
from gymnasium_gsp.abi.stream import uniform_at
from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.models.model import Model
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
        cells = ctypes.c_int64 * width

        def call(params: int, context: int, state: int, last: int) -> float:
            return self.answer(observe(cells.from_address(state)[:]), actions, context, last)

        return python_pointer(self.kind, call, self.failed)

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
        if weights.shape not in ((actions,), (1, actions)) or not _are_weights(weights).all():
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


def _are_weights(weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """True for each row of numbers of at least 0 with a sum above 0."""
    sums = weights.sum(axis=-1)
    return (weights.min(axis=-1) >= 0.0) & (sums > 0.0) & (sums < math.inf)


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

    def of_batches(self) -> "PriorFunction":
        """A function of one observation that asks this one, a function of several."""
        return PriorFunction(lambda observation: self.function(stack([observation])))


def stack(observations: Sequence[Any]) -> Any:
    """Observations as one, with a leading axis: an array, or a dictionary or tuple of arrays where they are such."""
    first = observations[0]
    if isinstance(first, Mapping):
        return {name: stack([seen[name] for seen in observations]) for name in first}
    if isinstance(first, tuple):
        return tuple(map(stack, zip(*observations, strict=True)))
    return np.array(observations)


class WaitingLeaves:
    """Leaves that wait until the functions are asked about all of them in one call.

    Attributes:
        answers: (size, 1 + actions) float64, value and weights of each leaf, in the order in which they were noted.

    Args:
        value: a function of several observations, stacked, that returns one number for each.
        prior: the same for the weights of their actions; None where there is none.
        size: most leaves that wait.
        model: what is planned in.
        observe: the observation of a state.
    """

    def __init__(
        self, value: ValueFunction, prior: PriorFunction | None, size: int, model: Model, observe: Observe
    ) -> None:
        self.answers = np.zeros((size, 1 + model.actions))
        self._value, self._prior, self._observe = value, prior, observe
        self._cells = ctypes.c_int64 * model.width
        self._seen: list[Any] = []

    def forget(self) -> None:
        """Let go of leaves that were noted in a search that failed."""
        self._seen.clear()

    def note_pointer(self) -> Pointer:
        """A C pointer that notes the present state, as a leaf whose value is asked for later."""

        def note(params: int, context: int, state: int, rng: int) -> float:
            # A copy: the next simulation may write to the same memory.
            self._seen.append(copy.deepcopy(self._observe(self._cells.from_address(state)[:])))
            return 0.0

        return python_pointer("value", note, failed=math.nan)

    def answer_pointer(self) -> Pointer:
        """A C pointer that asks about all leaves that were noted, and writes the answers."""

        def answer(params: int, context: int, state: int, rng: int) -> float:
            if self._seen:
                seen, self._seen = self._seen, []
                self._ask(seen)
            return 0.0

        return python_pointer("value", answer, failed=math.nan)

    def _ask(self, seen: list[Any]) -> None:
        """Ask about observations.

        Raises:
            PlanningError: if a function returned something else than it must.
        """
        leaves, count = stack(seen), len(seen)
        given = self._value.function(leaves)
        values = _numbers(given)
        if values.shape not in ((count,), (count, 1)) or not np.isfinite(values).all():
            raise self._value.refusal(given, leaves, f"{count} finite numbers, one for each observation")
        self.answers[:count, 0] = values.reshape(count)
        if self._prior is not None:
            given, shape = self._prior.function(leaves), (count, self.answers.shape[1] - 1)
            weights = _numbers(given)
            if weights.shape != shape or not _are_weights(weights).all():
                wanted = f"an array of shape {shape}, numbers of at least 0 with a sum above 0 for each observation"
                raise self._prior.refusal(given, leaves, wanted)
            self.answers[:count, 1:] = weights
