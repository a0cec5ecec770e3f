"""What makes two visits one node: full keys, compared in full, from the saved state or from the observation.

A key tells dtype, shape and bytes; minus zero is folded into zero, and NaN is refused.  Nothing is printed, rounded
(unless asked) or hashed away: two states whose hashes collide stay two nodes.
"""

import math
import sys
import types
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from gymnasium import spaces

from gymnasium_gsp.errors import PlanningError, RecipeError

_SAMPLE = 16  # keys by which the size of all is judged
_BESIDE_A_KEY = 150  # bytes of its number and of its place in a dict
_PLAIN = (int, str, bytes, bool, type(None))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


@dataclass(frozen=True)
class ObservationKey:
    """Key states by what is observed.

    Attributes:
        decimals: round floating-point numbers to so many decimals first, so that near states share a node; None for
            their exact bytes.
    """

    decimals: int | None = None

    def __post_init__(self) -> None:
        if self.decimals is not None and (isinstance(self.decimals, bool) or not isinstance(self.decimals, int)):
            raise RecipeError(f"decimals must be a whole number or None, not {self.decimals!r}")

    def __call__(self, env: Any, observation: Any) -> Hashable:
        """The key of an observation."""
        return freeze(observation, self.decimals)


def freeze(value: Any, decimals: int | None = None) -> Hashable:
    """A hashable, immutable copy of a state or observation that equals another's exactly if both say the same.

    Raises:
        PlanningError: if it holds NaN, or something whose content cannot be told.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float or isinstance(value, np.floating):
        return _freeze_float(float(value), decimals)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _freeze_array(value, decimals)
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: (type(item[0]).__name__, repr(item[0])))
        return ("dict", *((freeze(key), freeze(entry, decimals)) for key, entry in items))
    if isinstance(value, list | tuple):
        return (kind.__name__, *(freeze(entry, decimals) for entry in value))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(freeze(entry, decimals) for entry in value))
    if isinstance(value, _CODE) or (isinstance(value, Hashable) and kind.__hash__ is not object.__hash__):
        return value
    raise PlanningError(
        f"no key can be made of a {kind.__name__}: give state_key=, a function of (env, observation) that returns "
        "something hashable, or gymnasium_gsp.ObservationKey()"
    )


def finite(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """These numbers as a key, without the cost of `freeze`; minus zero equals zero as it is.

    Raises:
        PlanningError: if one is NaN.
    """
    total = sum(numbers)
    if total - total != 0.0 and any(map(math.isnan, numbers)):
        raise PlanningError(f"the state {numbers} holds NaN, which equals nothing, not even itself; mend the dynamics")
    return numbers


def _freeze_float(number: float, decimals: int | None) -> float:
    if math.isnan(number):
        raise PlanningError("the state or observation is NaN, which equals nothing, not even itself; mend the dynamics")
    return (number if decimals is None else round(number, decimals)) + 0.0


def _freeze_array(array: Any, decimals: int | None) -> Hashable:
    if array.dtype == object:
        return ("objects", array.shape, *(freeze(entry, decimals) for entry in array.reshape(-1)))
    if array.dtype.kind == "f":
        if decimals is not None:
            array = array.round(decimals)
        array = array + 0.0  # folds -0.0, and never writes to what the environment owns
        if np.isnan(array).any():
            raise PlanningError(f"the state or observation holds NaN, which equals nothing: {array!r}")
    return (array.dtype.str, array.shape, array.tobytes())


def caster(space: Any) -> Callable[[Any], Any]:
    """A function that brings an observation into the types of its space, whoever passed it on.

    A loop may turn ints into arrays and tuples into lists; one state must keep one key.
    """
    if isinstance(space, spaces.Discrete):
        return _cast_number
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return partial(_cast_array, space.dtype, space.shape)
    if isinstance(space, spaces.Dict):
        return partial(_cast_dict, {name: caster(part) for name, part in space.spaces.items()})
    if isinstance(space, spaces.Tuple):
        return partial(_cast_tuple, [caster(part) for part in space.spaces])
    return _cast_nothing


def _cast_number(observation: Any) -> int:
    return observation if type(observation) is int else int(np.asarray(observation).reshape(()))


def _cast_array(dtype: Any, shape: Any, observation: Any) -> Any:
    return np.asarray(observation, dtype).reshape(shape)


def _cast_dict(parts: dict[str, Callable[[Any], Any]], observation: Any) -> Any:
    return {name: cast(observation[name]) for name, cast in parts.items()}


def _cast_tuple(parts: list[Callable[[Any], Any]], observation: Any) -> Any:
    return tuple(cast(part) for cast, part in zip(parts, observation, strict=True))


def _cast_nothing(observation: Any) -> Any:
    return observation


class KeyTable:
    """Numbers for keys.  A number is never given twice, so forgetting keys cannot confuse a graph.

    Attributes:
        numbers: by key.
        masks: legal actions by number, where actions are masked.
    """

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.masks: dict[int, Any] = {}
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
        """About how many bytes one more key takes, going by those that are there."""
        few = list(islice(self.numbers, _SAMPLE))
        return _BESIDE_A_KEY + sum(map(_bytes_of, few)) // max(1, len(few))

    def retain(self, numbers: Iterable[int]) -> None:
        """Forget every key but those with these numbers."""
        kept = set(numbers)
        self.numbers = {key: number for key, number in self.numbers.items() if number in kept}
        self.masks = {number: mask for number, mask in self.masks.items() if number in kept}


def _bytes_of(key: Any) -> int:
    """The bytes of a key and what it holds; numbers that Python shares are counted again."""
    inside = key if isinstance(key, tuple | frozenset) else ()
    return sys.getsizeof(key) + sum(map(_bytes_of, inside))
