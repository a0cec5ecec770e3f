"""The fields of a cell: read from Python, flags, TOML or a store, and written in one canonical form that reads back."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search.budget import Budget, as_budget

LARGEST = 2**63 - 1
"""The largest whole number that a store holds."""


def counted(count: int, word: str) -> str:
    """A number of things in words, such as 1 cell or 1,000 cells."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def limits_of(budget: Budget) -> int | dict[str, int | float]:
    """A budget as a number of simulations if it is nothing else, or its limits by name."""
    limits = {item.name: getattr(budget, item.name) for item in fields(budget)}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return given["simulations"] if list(given) == ["simulations"] else given


def budget_text(given: Any) -> int | str:
    """A budget in one spelling: a number of simulations if it is nothing else, or the call that makes it.

    Args:
        given: a number of simulations or a `Budget`; or either as text.
    """
    limits = limits_of(as_budget(parse_value(given) if isinstance(given, str) else given))
    if isinstance(limits, int):
        if limits > LARGEST:
            raise RecipeError(f"budget: simulations may be at most {LARGEST}, not {limits}")
        return limits
    return f"Budget({', '.join(f'{name}={limit!r}' for name, limit in limits.items())})"


def split_values(text: str) -> list[str]:
    """The parts of a text between commas; a call such as FixedHorizon(3) or Sweep(Cautious(0.1)) stays whole.

    Raises:
        RecipeError: for an empty part.
    """
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[begin:place].strip())
            begin = place + 1
    parts.append(text[begin:].strip())
    if "" in parts:
        raise RecipeError(f"there is an empty value among {text!r}")
    return parts


def options_of(given: Any) -> dict[str, Any]:
    """The options of an algorithm.

    Args:
        given: a mapping of names to values or their texts; a text `name=value, name=value`, or a list of such texts;
            or None.

    Raises:
        RecipeError: for a text without a name or a value, a name given twice, or a value that cannot be read.
    """
    given = [given] if isinstance(given, str) and given else given or {}
    table = given if isinstance(given, Mapping) else _pairs(given, split_values)
    return {name: _option(value) for name, value in table.items()}


def _option(value: Any) -> Any:
    if isinstance(value, str):
        return parse_value(value)
    return tuple(map(_option, value)) if isinstance(value, list) else value


def options_text(given: Any) -> str:
    """The same options in one spelling: `name=value`, sorted by name; "" for none.

    Raises:
        RecipeError: as `options_of`, and for a value that cannot be written as text.
    """
    options = options_of(given)
    texts = {name: repr(options[name]) for name in sorted(options)}
    for text in texts.values():
        parse_value(text)
    return ", ".join(f"{name}={text}" for name, text in texts.items())


def arguments_of(given: Any) -> dict[str, Any]:
    """The arguments of an environment.

    Args:
        given: a mapping, a JSON object as text, a list of texts `name=value` where the value is JSON or else a text as
            it stands, a list of one JSON object as text, or None.

    Raises:
        RecipeError: for a text without a name or a value, or a name given twice.
    """
    if isinstance(given, list | tuple):
        if len(given) != 1 or not str(given[0]).startswith("{"):
            return {name: _json_or_text(text) for name, text in _pairs(given).items()}
        given = given[0]
    given = _json_or_text(given) if isinstance(given, str) and given else given or {}
    if not isinstance(given, Mapping):
        raise RecipeError(f"arguments of an environment are a table of names and values, not {given!r}")
    return dict(given)


def arguments_text(given: Any) -> str:
    """The same arguments in one spelling, as a sorted JSON object; "" for none.

    Raises:
        RecipeError: as `arguments_of`, and for a value that cannot be written as JSON.
    """
    arguments = arguments_of(given)
    try:
        return json.dumps(arguments, sort_keys=True) if arguments else ""
    except TypeError as error:
        raise RecipeError(f"arguments of an environment are written as JSON: {error}") from None


def _pairs(texts: Any, split: Callable[[str], list[str]] = lambda text: [text]) -> dict[str, str]:
    """Names and values from texts `name=value`, or from texts that split into such."""
    if not isinstance(texts, list | tuple):
        raise RecipeError(f"options are a table of names and values, not {texts!r}")
    values: dict[str, str] = {}
    for text in (part for given in texts for part in split(str(given))):
        name, sign, value = text.partition("=")
        name = name.strip()
        if not sign or not name.isidentifier() or not value.strip():
            raise RecipeError(f"a setting is written key=value, not {text!r}")
        if name in values:
            raise RecipeError(f"{name} is set twice")
        values[name] = value.strip()
    return values


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
