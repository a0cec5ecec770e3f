"""What is tried: values of options, written as `gsp run --set` reads them, and their combinations."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gymnasium_gsp.agents.registry import find_algorithm
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.errors import RecipeError, unknown_name

# The GS-Power-UCT paper does not give its grid; this one holds every value that it selected.
GRID = {
    "c": ("0.25", "0.5", "0.75", "1.0", "1.25", "1.5"),
    "p": ("1", "1.5", "2", "2.5", "3", "4", "inf"),
    "temperature": ("0.01", "0.1", "0.25", "0.5", "0.99"),
}

Choices = Mapping[str, Sequence[str]]
"""Values as text by option."""

Candidate = tuple[tuple[str, str], ...]
"""One value for each option: pairs of the option and its value as text."""


def choices_of(algorithm: str, tries: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """What is tried for each option.

    Args:
        algorithm: name of a registered algorithm.
        tries: texts `option=value,value,...`; none for those options of `GRID` that the algorithm takes.

    Raises:
        RecipeError: for an unknown algorithm or option (names the nearest), a value that cannot be read, an option
            given twice, or one without values.
    """
    options = find_algorithm(algorithm).options()
    choices: dict[str, tuple[str, ...]] = {}
    for text in tries:
        name, sign, values = text.partition("=")
        name = name.strip()
        if not sign or not values.strip():
            raise RecipeError(f"what to try is written option=value,value,..., as in p=1,2,inf; not {text!r}")
        if name not in options:
            raise RecipeError(unknown_name(f"option of {algorithm}", name, options))
        if name in choices:
            raise RecipeError(f"{name} is given twice")
        meant: dict[str, str] = {}
        for value in _split(values):
            meant.setdefault(repr(_number_or_self(parse_value(value))), value)
        choices[name] = tuple(meant.values())
    if not choices:
        choices = {name: values for name, values in GRID.items() if name in options}
    if not choices:
        raise RecipeError(
            f"{algorithm} has none of the options {', '.join(GRID)}: say what to try, as in --try 'discount=0.9,0.99'; "
            f"its options are {', '.join(options)}"
        )
    return choices


def combinations(choices: Choices) -> list[Candidate]:
    """Every candidate of the grid, the first option changing slowest."""
    return [tuple(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


def options_of(candidate: Candidate) -> dict[str, Any]:
    """The options of a candidate as an algorithm takes them."""
    return {name: parse_value(text) for name, text in candidate}


def named(candidate: Candidate) -> str:
    """A candidate as people read it."""
    return ", ".join(f"{name}={text}" for name, text in candidate)


def _number_or_self(value: Any) -> Any:
    """1 and 1.0 are one value."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _split(values: str) -> list[str]:
    """Parts between commas, without cutting calls such as FixedHorizon(3) or Sweep(Cautious(0.1)) apart."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(values):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(values[begin:place])
            begin = place + 1
    parts.append(values[begin:])
    stripped = [part.strip() for part in parts]
    if "" in stripped:
        raise RecipeError(f"there is an empty value among {values!r}")
    return stripped
