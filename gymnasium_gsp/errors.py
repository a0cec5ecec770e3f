"""The package's own exceptions, and the one way in which a wrong name is answered."""

import difflib
from collections.abc import Iterable


class PlanningError(RuntimeError):
    """A search could not go on: the model, the environment or an ingredient did something that it must not."""


class RecipeError(ValueError):
    """A recipe, an option or a budget that makes no sense; raised before anything is compiled or searched."""


def unknown_name(kind: str, given: object, allowed: Iterable[str]) -> str:
    """Message for a name that does not exist: what was given, the nearest name, and all that are allowed."""
    names = sorted(allowed)
    near = difflib.get_close_matches(str(given), names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {given!r}.{hint} Allowed: {', '.join(names) or 'none'}."
