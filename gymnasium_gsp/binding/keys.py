"""Keys of states: visits with equal keys share a node.  Keys come from the saved state or from the observation.

The key of an array holds its dtype, shape and bytes; minus zero becomes zero, and NaN is refused.  Nothing is rounded
unless asked for, and keys are compared in full: two states with equal hashes stay two nodes.
"""

import copy
import math
import sys
import types
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.streams import stream_type
from gymnasium_gsp.errors import PlanningError, RecipeError

_SAMPLE = 16  # keys from which the size of all is estimated
_BESIDE_A_KEY = 150  # bytes of its number and of its entry in a dict
_PLAIN = (int, str, bytes, bool, type(None))
CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_NO_NAN = ", which equals nothing, not even itself; correct the dynamics"


@dataclass(frozen=True)
class ObservationKey:
    """Key states by the observation.

    Attributes:
        decimals: number of decimals to which floating-point numbers are rounded first, so that near states share a
            node; None for their exact bytes.
    """

    decimals: int | None = None

    def __post_init__(self) -> None:
        if self.decimals is not None and (isinstance(self.decimals, bool) or not isinstance(self.decimals, int)):
            raise RecipeError(f"decimals must be a whole number or None, not {self.decimals!r}")

    def __call__(self, env: BareEnv, observation: object) -> Hashable:
        """The key of an observation."""
        return freeze(observation, self.decimals)


def freeze(value: object, decimals: int | None = None) -> Hashable:
    """A hashable, immutable copy of a state or observation; two copies are equal if and only if the contents are.

    Raises:
        PlanningError: if it holds NaN, or an object whose content cannot be read.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float or isinstance(value, np.floating):
        return _freeze_float(float(value), decimals)  # type: ignore[arg-type]
    if isinstance(value, np.generic):
        return value.item()
    if kind is bytearray:
        return ("bytearray", bytes(value))  # type: ignore[call-overload]
    if isinstance(value, np.ndarray):
        return _freeze_array(value, decimals)
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: (type(item[0]).__name__, repr(item[0])))
        return ("dict", *((freeze(key), freeze(entry, decimals)) for key, entry in items))
    if isinstance(value, list | tuple):
        return (kind.__name__, *(freeze(entry, decimals) for entry in value))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(freeze(entry, decimals) for entry in value))
    if stream_type(value) is not None:
        return "stream"  # what will be drawn is no part of a state
    if isinstance(value, types.FunctionType) and value.__closure__:
        return ("function", value.__code__, *(freeze(cell.cell_contents, decimals) for cell in value.__closure__))
    if isinstance(value, types.MethodType | types.BuiltinMethodType) and not isinstance(
        value.__self__, gym.Env | types.ModuleType | None
    ):
        return ("method", value.__name__, freeze(value.__self__, decimals))
    if isinstance(value, types.MethodType):
        return ("method", value.__func__)
    if isinstance(value, CODE):
        return value
    if hasattr(value, "__array__"):
        return _freeze_array(np.asarray(value), decimals)
    if isinstance(value, Hashable) and kind.__hash__ is not object.__hash__:
        return copy.deepcopy(value)  # equal as its class says, and out of reach of later changes
    if getattr(kind, "__module__", "") == "pygame.color":
        return tuple(value)  # type: ignore[arg-type]
    if not hasattr(value, "__dict__") and kind.__reduce_ex__ is object.__reduce_ex__:
        return _freeze_reduced(value, decimals)
    raise PlanningError(
        f"no key can be made of a {kind.__name__}: give state_key=, a function of (env, observation) that returns "
        "something hashable, or gymnasium_gsp.ObservationKey()"
    )


def _freeze_reduced(value: object, decimals: int | None) -> Hashable:
    """The content of a container, vector or iterator of another package, as it would be pickled."""
    try:
        reduced = value.__reduce_ex__(4)
    except TypeError as error:
        raise PlanningError(f"no key can be made of a {type(value).__name__}: {error}; give state_key=") from error
    if isinstance(reduced, str):
        return reduced
    make, arguments, state, *rest = (*reduced, None, None, None)[:5]
    entries = [list(part) for part in rest if part is not None]
    if state is None and not entries and arguments == (type(value),):
        raise PlanningError(f"no key can be made of a {type(value).__name__}, which has no content: give state_key=")
    return ("object", make, freeze(arguments, decimals), freeze(state, decimals), freeze(entries, decimals))


def float_key(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """These numbers as a key, faster than by `freeze`; minus zero equals zero without further ado.

    Raises:
        PlanningError: if one is NaN.
    """
    total = sum(numbers)
    if total - total != 0.0 and any(map(math.isnan, numbers)):
        raise PlanningError(f"the state {numbers} holds NaN{_NO_NAN}")
    return numbers


def _freeze_float(number: float, decimals: int | None) -> float:
    if math.isnan(number):
        raise PlanningError(f"the state or observation is NaN{_NO_NAN}")
    return (number if decimals is None else round(number, decimals)) + 0.0


def _freeze_array(array: np.ndarray, decimals: int | None) -> Hashable:
    if array.dtype == object:
        return ("objects", array.shape, *(freeze(entry, decimals) for entry in array.reshape(-1)))
    if array.dtype.kind == "f":
        if decimals is not None:
            array = array.round(decimals)
        array = array + 0.0  # folds -0.0, and never writes to what the environment owns
        if np.isnan(array).any():
            raise PlanningError(f"the state or observation {array!r} holds NaN{_NO_NAN}")
    return (array.dtype.str, array.shape, array.tobytes())


def cast_observation(space: spaces.Space, observation: Any) -> object:
    """Bring an observation into the types of its space.

    A loop may turn ints into arrays and tuples into lists; one state must keep one key.
    """
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return np.asarray(observation, space.dtype).reshape(space.shape)
    if isinstance(space, spaces.Discrete):
        return observation if type(observation) is int else int(np.asarray(observation).reshape(()))
    if isinstance(space, spaces.Dict):
        return {name: cast_observation(part, observation[name]) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(cast_observation(part, piece) for part, piece in zip(space.spaces, observation, strict=True))
    return observation


class LegalActions(NamedTuple):
    """The legal actions of a state.

    Attributes:
        numbers: the legal ones.
        flags: 1.0 for each action that is legal, 0.0 for each other one.
    """

    numbers: list[int]
    flags: list[float]


class KeyTable:
    """Numbers for keys.  A number is never given twice, so forgetting keys cannot confuse a graph.

    Attributes:
        numbers: by key.
    """

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, key: Hashable) -> int:
        """The number of a key, a new one if it has none."""
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = self._next
            self._next += 1
        return known

    def bytes_each(self) -> int:
        """Estimate of the memory that one more key takes, from a sample of those that are held, in bytes."""
        few = list(islice(self.numbers, _SAMPLE))
        return _BESIDE_A_KEY + sum(map(_bytes_of, few)) // max(1, len(few))

    def retain(self, numbers: Iterable[int]) -> None:
        """Forget every key but those with these numbers."""
        kept = set(numbers)
        self.numbers = {key: number for key, number in self.numbers.items() if number in kept}


def _bytes_of(key: Hashable) -> int:
    """Memory of a key and its contents, in bytes; numbers that Python shares are counted again."""
    inside = key if isinstance(key, tuple | frozenset) else ()
    return sys.getsizeof(key) + sum(map(_bytes_of, inside))
