"""Ingredients: values that know their C function and its parameters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.abi.compilation import compiled_pointer
from gymnasium_gsp.abi.pointers import Pointer, resolve
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.errors import KnownFields, RecipeError, unknown_name

_LARGEST = 2**1024  # what no finite float reaches


class Ingredient(KnownFields):
    """A choice for one slot of a recipe whose work is done by a compiled function.

    Subclasses are frozen dataclasses that set `kind` (which signature) and `function`.
    """

    kind: ClassVar[str]
    function: ClassVar[Any]
    needs_variance: ClassVar[bool] = False  # whether a backup reads the variance of the targets
    reads_variance: ClassVar[bool] = False  # whether it does where a sweep computes them
    reads_notes: ClassVar[bool] = False  # whether a backup reads what selections have left on the trajectory
    reads_prior: ClassVar[bool] = False  # whether a selection reads the prior over the node's actions

    def pointer(self) -> Pointer:
        """The compiled function; compiled or loaded from the cache at the first call."""
        return Pointer(compiled_pointer(type(self).function, SIGNATURES[self.kind]).address)

    def params(self) -> tuple[float, ...]:
        """The numbers that the function gets as its `params`."""
        return ()


@dataclass(frozen=True)
class Custom(Ingredient):
    """A user's own ingredient for any slot that has a C signature.

    Attributes:
        function: what does the work: a plain or numba function, a `@cfunc`, a ctypes pointer or an address, with the
            signature of its slot in `abi`.
        values: the numbers it gets as `params`.
        kind: which signature: select, backup, policy, value or prior.
    """

    function: Any  # type: ignore[misc]
    values: tuple[float, ...] = ()
    kind: str = ""  # type: ignore[misc]

    reads_prior = True  # where there is one
    reads_variance = True

    def pointer(self) -> Pointer:
        return resolve(self.function, self.kind)

    def params(self) -> tuple[float, ...]:
        return tuple(map(float, self.values))


def make_plain(value: Any) -> None:
    """Turn numpy's numbers in the fields of a frozen dataclass into Python's, so that it prints as it is written."""
    for field in fields(value):
        number = getattr(value, field.name)
        if isinstance(number, np.generic):
            object.__setattr__(value, field.name, number.item())


def check_number(name: str, value: Any, smallest: float = -math.inf, largest: float = math.inf) -> None:
    """Refuse what is not a finite number within the limits."""
    limits = f" between {smallest:g} and {largest:g}" if math.isfinite(largest) else f" of at least {smallest:g}"
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
    if not number or not smallest <= value <= largest:
        raise RecipeError(f"{name} must be a finite number{limits if math.isfinite(smallest) else ''}, not {value!r}")


def check_choices(value: Any, choices: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a field of a recipe that is none of its choices; names the nearest."""
    for slot, allowed in choices.items():
        given = getattr(value, slot)
        if not isinstance(given, str | None) or given not in allowed:
            raise RecipeError(unknown_name(slot, given, map(str, allowed)))


def as_ingredient(value: Any, kind: str, slot: str) -> Ingredient:
    """The ingredient in a slot: as given if it is one of this kind, or a user's function wrapped.

    Raises:
        RecipeError: if it belongs into another slot, or is a class where a value is wanted.
    """
    if isinstance(value, type):
        raise RecipeError(f"{slot} was given the class {value.__name__}; give a value of it, {value.__name__}()")
    if isinstance(value, Custom) and value.kind in ("", kind):
        return Custom(value.function, value.values, kind)
    if isinstance(value, Ingredient):
        if value.kind != kind:
            raise RecipeError(f"{slot} was given {value!r}, which is a {value.kind} ingredient; {slot} takes {kind}")
        return value
    if value is None or isinstance(value, str | int | float | list | tuple | dict):
        raise RecipeError(
            f"{slot} was given {value!r}; it takes an ingredient or a function of signature {kind} (the address of a C "
            "function goes into Custom(address))"
        )
    return Custom(value, (), kind)


def parameters_of(ingredient: Any) -> dict[str, Any]:
    """An ingredient's own fields by name."""
    return {field.name: getattr(ingredient, field.name) for field in fields(ingredient)}
