"""The ingredients of a recipe, one file a slot; `INGREDIENTS` finds every value in them by its name."""

import importlib
import pkgutil
from dataclasses import is_dataclass


def _all_values() -> dict[str, type]:
    """Return every public dataclass that a module of this room defines, by name."""
    values = {}
    for module in pkgutil.iter_modules(__path__):
        room = importlib.import_module(f"{__name__}.{module.name}")
        for name, kind in vars(room).items():
            if is_dataclass(kind) and isinstance(kind, type) and kind.__module__ == room.__name__ and name[0] != "_":
                values[name] = kind
    return values


INGREDIENTS = _all_values()
