"""The parts of a state by name: reading them, and putting one in another's place."""

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.keys import CODE, freeze
from gymnasium_gsp.binding.saving import is_drawing
from gymnasium_gsp.binding.streams import stream_type
from gymnasium_gsp.errors import PlanningError

Path = tuple[str, ...]
"""Names of attributes, keys and positions, from the outside in."""

_LONGEST, _MOST = 64, 4096  # entries of a sequence that are told apart, and parts of a state that are looked at


def parts_of(state: Any, env: BareEnv) -> Iterator[tuple[Path, Any]]:
    """Every part of a state with content that can be read, without streams, code and drawings; sequences also whole.

    What is held in several places is a part where it stands least deep.
    """
    todo: deque[tuple[Path, Any]] = deque([((), state)])
    seen = {id(env)}
    for _ in range(_MOST):
        if not todo:
            return
        path, value = todo.popleft()
        if id(value) in seen or stream_type(value) is not None or isinstance(value, CODE) or is_drawing(value):
            continue
        named = value if isinstance(value, dict) else attributes_of(value)
        if not named and content_of(value) is not None:
            yield path, value
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
            named = dict(enumerate(value)) if len(value) <= _LONGEST else {}
        if named:
            seen.add(id(value))
        todo.extend(((*path, str(name)), part) for name, part in named.items())


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes of an object of any class, those in slots included."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    return {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}


def content_of(value: Any) -> Hashable:
    """The content of a part; None where it cannot be read."""
    try:
        return "None" if value is None else freeze(value)
    except (PlanningError, TypeError):
        return None


def put_part(value: Any, path: Path, part: Any) -> Any:
    """Put a part in its place, and return what holds it; a tuple or a read-only array is made anew.

    Raises:
        Exception: where there is no such place, or it cannot be written.
    """
    if not path:
        return part
    name, *rest = path
    if isinstance(value, dict):
        key = next(key for key in value if str(key) == name)
        value[key] = put_part(value[key], tuple(rest), part)
    elif isinstance(value, tuple):
        entries = list(value)
        entries[int(name)] = put_part(entries[int(name)], tuple(rest), part)
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    elif isinstance(value, list | np.ndarray):
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            value = value.copy()
        value[int(name)] = put_part(value[int(name)], tuple(rest), part)
    else:
        setattr(value, name, put_part(getattr(value, name), tuple(rest), part))
    return value
