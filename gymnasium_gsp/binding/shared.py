"""State that a simulator could share with the user's environment: constructor arguments, defaults, classes, modules."""

import gc
import io
import sys
import types
from collections.abc import Iterator
from functools import cache
from typing import Any

from gymnasium import spaces

from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.keys import CODE
from gymnasium_gsp.binding.saving import NOT_STATE, Saver, Streams, load_variables, take_snapshot
from gymnasium_gsp.binding.streams import stream_place
from gymnasium_gsp.errors import RecipeError

_UNCHANGING = (int, float, complex, str, bytes, bool, type(None), frozenset, spaces.Space, *CODE)
_NOT_OURS = ("gymnasium", "gymnasium_gsp", "builtins", "numpy", "typing", "abc")


def private_copy(env: BareEnv, variables: dict[str, Any]) -> dict[str, Any]:
    """A copy of variables that shares no data with them; streams in it are new ones.

    Raises:
        Exception: whatever an object raises that cannot be pickled.
    """
    return load_variables(take_snapshot(env, variables), Streams(), env)


def separate(simulator: BareEnv, env: BareEnv) -> None:
    """Give a simulator its own copy of everything that could change and that it shares with the environment.

    What the environment's classes hold becomes the simulator's own as well.

    Raises:
        RecipeError: if that cannot be copied.
    """
    theirs = {id(item) for item in _reachable({**vars(env)})}
    held = {**class_variables(type(env)), **vars(simulator)}
    shared = {
        name: value
        for name, value in held.items()
        if name not in NOT_STATE and any(id(item) in theirs for item in _reachable({name: value}))
    }
    shared |= {name: value for name, value in class_variables(type(env)).items() if name not in vars(simulator)}
    try:
        simulator.__dict__.update(private_copy(simulator, shared))
    except Exception as error:  # a third party's object may raise anything
        raise RecipeError(
            f"a simulator of {type(env).__name__} would share {', '.join(shared)} with the environment, and planning "
            f"would change it there, as no copy can be made: {error}. Give simulator=, a function that returns a "
            "private environment with objects of its own"
        ) from error


def _reachable(variables: dict[str, Any]) -> Iterator[object]:
    """Every object behind these variables that could change."""
    seen: set[int] = set()
    todo = [value for name, value in variables.items() if name not in NOT_STATE]
    while todo:
        item = todo.pop()
        if id(item) in seen or (isinstance(item, _UNCHANGING) and not isinstance(item, types.FunctionType)):
            continue
        seen.add(id(item))
        if isinstance(item, types.FunctionType):
            todo += [cell.cell_contents for cell in item.__closure__ or ()]
            continue
        if not isinstance(item, tuple):
            yield item
        todo += gc.get_referents(item)


@cache
def _class_variable_names(kind: type) -> tuple[str, ...]:
    names = []
    for owner in _own_classes(kind):
        for name, value in vars(owner).items():
            plain = name.startswith("__") or name in NOT_STATE or name == "_abc_impl" or hasattr(value, "__get__")
            if plain or isinstance(value, (*_UNCHANGING, tuple)):
                continue
            try:
                private_copy(None, {name: value})
            except Exception:  # a third party's object may raise anything; it is left where it is
                continue
            names.append(name)
    return tuple(names)


def class_variables(kind: type) -> dict[str, Any]:
    """What the classes of an environment hold that could change."""
    return {name: getattr(kind, name) for name in _class_variable_names(kind)}


def _own_classes(kind: type) -> list[type]:
    """The classes of an environment that are neither Gymnasium's nor Python's."""
    return [owner for owner in kind.__mro__ if owner.__module__.partition(".")[0] not in _NOT_OURS]


def outside_state(env: BareEnv) -> dict[str, object]:
    """The content of what classes and modules hold and the environment's methods name, by name."""
    return {name: content for name, value in _outside(env) if (content := _content(value)) is not None}


def changed_outside(env: BareEnv, before: dict[str, object]) -> str:
    """Names of what has changed there since; "" for nothing."""
    return ", ".join(name for name, content in outside_state(env).items() if before.get(name) != content)


def _outside(env: BareEnv) -> Iterator[tuple[str, object]]:
    todo: list[Any] = list(_own_classes(type(env)))
    seen: set[int] = set()
    while todo:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, type):
            for name, value in vars(item).items():
                function = getattr(value, "__func__", getattr(value, "fget", value))
                if isinstance(function, types.FunctionType):
                    todo.append(function)
                elif not name.startswith("__") and name not in NOT_STATE and not hasattr(value, "__get__"):
                    yield f"{item.__qualname__}.{name}", value
            continue
        module = sys.modules.get(item.__module__ or "")
        for name in item.__code__.co_names if module is not None else ():
            value = vars(module).get(name)
            if getattr(value, "__module__", None) == item.__module__ and isinstance(value, type | types.FunctionType):
                todo.append(value)
            elif value is not None and not isinstance(value, CODE):
                yield f"{item.__module__}.{name}", value


def _content(value: object) -> object:
    """A value as bytes, with the places of the streams in it; None where it cannot be read."""
    file = io.BytesIO()
    try:
        saver = Saver(file, None)
        saver.dump(value)
        return file.getvalue(), [stream_place(stream) for stream in saver.streams if stream is not None]
    except Exception:  # a third party's object may raise anything
        return None
