"""Settings written as text, `key=value`."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.errors import RecipeError


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Options of an algorithm from texts `key=value`.

    Raises:
        RecipeError: for a text without a key or a value, a key given twice, or a value that cannot be read.
    """
    return _parse_pairs(settings, parse_value)


def parse_texts(settings: Iterable[str]) -> dict[str, str]:
    """The same with the values as they were typed, once it is sure that they can be read.

    Raises:
        RecipeError: as `parse_settings`.
    """

    def readable(text: str) -> str:
        parse_value(text)
        return text.strip()

    return _parse_pairs(settings, readable)


def parse_arguments(settings: Iterable[str]) -> dict[str, Any]:
    """Arguments of an environment from texts `key=value`, where the value is JSON, or else a text as it stands.

    Raises:
        RecipeError: for a text without a key or a value, or a key given twice.
    """
    return _parse_pairs(settings, _json_or_text)


def _parse_pairs(settings: Iterable[str], parse: Callable[[str], Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        name = key.strip()
        if not sign or not name.isidentifier() or not text.strip():
            raise RecipeError(f"a setting is written key=value, not {setting!r}")
        if name in values:
            raise RecipeError(f"{name} is set twice")
        values[name] = parse(text)
    return values


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
