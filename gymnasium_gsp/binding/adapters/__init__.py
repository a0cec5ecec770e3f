"""The adapters by which families of environments are saved and restored; one file a family.

Every module of this folder is found by itself.  Other packages bring adapters of their own through `register_adapter`
or the entry-point group ENTRY_POINTS; these are asked before ours.
"""

import importlib
import importlib.metadata
import pkgutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.errors import RecipeError

ENTRY_POINTS = "gymnasium_gsp.adapters"

_adapters: list[type[Adapter]] = []  # in the order in which they are asked; filled at first use


def all_adapters() -> list[type[Adapter]]:
    """Every adapter in the order in which they are asked: registered ones, those of other packages, ours."""
    if not _adapters:
        own, installed = _find()
        _adapters.extend([*installed, *sorted(own, key=lambda kind: -kind.priority)])
    return _adapters


def register_adapter(adapter_class: type[Adapter], before: type[Adapter] | None = None) -> type[Adapter]:
    """Add an adapter for a family of environments.

    Args:
        adapter_class: a subclass of `Adapter`.  A class that is registered again moves to its new place.
        before: the adapter to be asked directly after this one; None to ask this one before all others.

    Returns:
        The class, so that this serves as a decorator.

    Raises:
        RecipeError: if it is no adapter, or `before` is not registered.
    """
    _check(adapter_class)
    order = all_adapters()
    if before is adapter_class or (before is not None and before not in order):
        names = ", ".join(kind.__name__ for kind in order if kind is not adapter_class)
        raise RecipeError(f"before must be another registered adapter, not {before!r}; registered are {names}")
    if adapter_class in order:
        order.remove(adapter_class)
    order.insert(0 if before is None else order.index(before), adapter_class)
    return adapter_class


def choose(env: BareEnv) -> Adapter:
    """Make the first adapter that fits a bare environment.

    Raises:
        RecipeError: if there is none, with what to do.
    """
    for kind in all_adapters():
        if kind.fits(env):
            return kind()
    name = type(env).__name__
    if isinstance(env, gym.utils.EzPickle):
        raise RecipeError(
            f"{name} is an EzPickle environment: a copy of it is silently a new one in its start state, so nothing can "
            "be planned in it as it is. Give it clone_state() and set_state(state) (a state without the random "
            "stream), or write an adapter and pass it to gymnasium_gsp.register_adapter"
        )
    raise RecipeError(f"no adapter fits {name}; give it clone_state() and set_state(state)")


def _find() -> tuple[list[type[Adapter]], list[type[Adapter]]]:
    """The adapters of this folder, and those that other packages declare as entry points."""
    own: list[type[Adapter]] = []
    installed: list[type[Adapter]] = []
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        with _left_out_if_broken(module.name):
            for kind in vars(importlib.import_module(module.name)).values():
                is_adapter = isinstance(kind, type) and issubclass(kind, Adapter) and kind is not Adapter
                if is_adapter and kind.__module__ == module.name:
                    own.append(kind)
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        with _left_out_if_broken(f"the entry point {entry.name} = {entry.value}"):
            installed.append(_check(entry.load()))
    return own, installed


@contextmanager
def _left_out_if_broken(name: str) -> Iterator[None]:
    """Warn of an adapter that cannot be loaded."""
    try:
        yield
    except Exception as error:  # a third party's code may raise anything; planning elsewhere must go on
        message = f"an adapter is left out, as {name} cannot be loaded: {type(error).__name__}: {error}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _check(kind: object) -> type[Adapter]:
    """Refuse what is no usable adapter."""
    if not isinstance(kind, type) or not issubclass(kind, Adapter):
        raise RecipeError(f"an adapter is a subclass of gymnasium_gsp.Adapter, not {kind!r}")
    missing = [name for name in ("fits", "save", "load") if getattr(kind, name) is getattr(Adapter, name)]
    missing += [] if hasattr(kind, "name") else ["name"]
    if missing:
        raise RecipeError(f"the adapter {kind.__name__} lacks {', '.join(missing)}")
    return kind
