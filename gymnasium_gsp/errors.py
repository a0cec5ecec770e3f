"""The package's own exceptions, and the one way in which wrong names and wrong numbers of things are answered."""

import difflib
import operator
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, Self


class PlanningError(RuntimeError):
    """A search could not go on: the model, the environment or an ingredient did something that it must not."""


class RecipeError(ValueError):
    """A recipe, an option or a budget that makes no sense; raised before anything is compiled or searched."""


@contextmanager
def noting(place: str) -> Iterator[None]:
    """Add a note of the place to whatever a user's own code raises there."""
    try:
        yield
    except Exception as error:
        error.add_note(place)
        raise


def unknown_name(kind: str, given: object, allowed: Iterable[str]) -> str:
    """Message for a name that does not exist: what was given, the nearest name, and all that are allowed."""
    names = sorted(allowed)
    near = difflib.get_close_matches(str(given), names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {given!r}.{hint} Allowed: {', '.join(names) or 'none'}."


class KnownFields:
    """A dataclass that answers an argument which it does not have with the nearest name.

    Raises:
        RecipeError: for a keyword that is no field.
    """

    def __new__(cls, *values: Any, **named: Any) -> Self:
        allowed = [field.name for field in fields(cls)] if is_dataclass(cls) else named
        for name in named:
            if name not in allowed:
                raise RecipeError(unknown_name(f"argument of {cls.__name__}", name, allowed))
        return super().__new__(cls)


def check_count(name: str, value: Any, smallest: int = 1, largest: int | None = None, advice: str = "") -> int:
    """A number of things as an int.

    Raises:
        RecipeError: if it is no whole number, or outside of these limits.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = smallest - 1
    if isinstance(value, bool) or number < smallest or (largest is not None and number > largest):
        limits = f"of at least {smallest}" if largest is None else f"between {smallest} and {largest}"
        raise RecipeError(f"{name} must be a whole number {limits}, not {value!r}{advice}")
    return number
