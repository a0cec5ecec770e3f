"""Values of options written as text: read as literals and calls of ingredients, never evaluated."""

import ast
import re
import warnings
from dataclasses import fields, is_dataclass
from typing import Any

from gymnasium_gsp import ingredients
from gymnasium_gsp.binding.cells import Cells
from gymnasium_gsp.binding.keys import ObservationKey
from gymnasium_gsp.errors import RecipeError, unknown_name

_LONGEST = 1000  # characters of a value
_DEEPEST = 8  # calls and sequences inside each other
_WORDS = {"true": True, "false": False, "none": None, "inf": float("inf")}
_ALLOWED = (
    "allowed are numbers, inf, true, false, none, words, sequences of them, and ingredients such as FixedHorizon(10)"
)


def _takes_function(kind: type) -> bool:
    return any(item.name == "function" for item in fields(kind))


_KINDS = {name: kind for name, kind in vars(ingredients).items() if isinstance(kind, type) and is_dataclass(kind)}
_KINDS |= {kind.__name__: kind for kind in (Cells, ObservationKey)}
INGREDIENTS = {name: kind for name, kind in _KINDS.items() if not _takes_function(kind)}


def parse_value(text: str) -> Any:
    """The value that a text stands for: a number, a truth value, None, a word, a sequence, or an ingredient.

    Raises:
        RecipeError: for anything else, and where an ingredient refuses its arguments.
    """
    stripped = text.strip()
    if re.fullmatch(r"[A-Za-z_][\w-]*", stripped):
        return _word(stripped)
    if len(stripped) > _LONGEST:
        raise RecipeError(f"a value of {len(stripped)} characters is too long; at most {_LONGEST} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(stripped, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(text) from None
    return _convert(tree.body, stripped, 0)


def _unreadable(text: str) -> RecipeError:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return RecipeError(f"cannot read {shown!r}: {_ALLOWED}")


def _word(word: str) -> Any:
    if word in _KINDS:
        raise RecipeError(f"{word} is a kind of ingredient; a value of it is written as a call, {word}()")
    return _WORDS.get(word.lower(), word)


def _convert(node: ast.expr, source: str, depth: int) -> Any:
    """The value of a part of the text; `depth` counts what it stands in."""
    if depth > _DEEPEST:
        raise RecipeError(f"cannot read {source[:40]!r}...: more than {_DEEPEST} levels inside each other")
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return _word(name)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _convert(operand, source, depth + 1)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return -number if isinstance(sign, ast.USub) else number
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_convert(part, source, depth + 1) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=keywords):
            positional = [_convert(part, source, depth + 1) for part in parts]
            named = {item.arg: _convert(item.value, source, depth + 1) for item in keywords if item.arg is not None}
            if len(named) == len(keywords):
                return _make(name, positional, named)
    raise _unreadable(source)


def _make(name: str, positional: list[Any], named: dict[str, Any]) -> Any:
    """The ingredient `name` with these arguments."""
    if name in _KINDS and name not in INGREDIENTS:
        raise RecipeError(f"{name} takes a function, which cannot be written as text; make the agent from Python")
    if name not in INGREDIENTS:
        raise RecipeError(unknown_name("ingredient", name, INGREDIENTS))
    kind = INGREDIENTS[name]
    try:
        return kind(*positional, **named)
    except RecipeError:
        raise
    except (TypeError, ValueError) as error:
        raise RecipeError(f"{name}: {error}") from error
