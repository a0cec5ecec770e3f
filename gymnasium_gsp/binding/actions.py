"""The actions of an environment, numbered as a search knows them."""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.binding.action_grid import grid, refining_grid
from gymnasium_gsp.errors import RecipeError

LARGEST_ACTION_SET = 1024  # combinations of a MultiDiscrete or MultiBinary space that are enumerated
_LONGEST_NAME = 6  # numbers in the name of an action

ActionGrid = int | Sequence[int]
"""Points of a continuous action space in each dimension, or in all of them alike."""


class Actions:
    """The actions of a space, numbered 0 .. count - 1.

    Attributes:
        count: number of actions.
        refine: whether they are points of a continuous space, coarse ones first, of which a search may try the first.
        described: where they are points of a continuous space, which ones.

    Args:
        space: Discrete with any start; MultiDiscrete or MultiBinary of at most LARGEST_ACTION_SET combinations; or a
            bounded Box.
        listed: every action as `step` takes it, for a space that cannot be enumerated; None to enumerate it.
        points: in a Box, points in each dimension, both bounds included; None for a grid that refines.

    Raises:
        RecipeError: for other spaces, with what to do.
    """

    def __init__(
        self, space: spaces.Space, listed: Sequence[object] | None = None, points: ActionGrid | None = None
    ) -> None:
        if points is not None and not isinstance(space, spaces.Box):
            raise RecipeError(
                f"actions={points!r} counts points of a continuous action space, and this environment has {space!r}: "
                "leave it out"
            )
        self._space = space
        self._sizes = _sizes(space) if listed is None else []
        self._actions = _enumerate(space, self._sizes, points) if listed is None else listed
        self.count = len(self._actions)
        self.refine = isinstance(space, spaces.Box) and points is None
        self.described = ""
        if isinstance(space, spaces.Box):
            order = "coarse ones first" if points is None else f"actions={points!r}"
            self.described = f"{self.count} points of {space!r}, {order}"

    def flat_mask(self, mask: object) -> NDArray[Any]:
        """A mask as one number for each action.

        Args:
            mask: that, in any shape; or what `sample` of the space takes: for MultiDiscrete a tuple of a mask for each
                component, of which one without a legal value takes its first, for MultiBinary 0, 1, or 2 for either.
        """
        if isinstance(self._space, spaces.MultiDiscrete) and isinstance(mask, tuple):
            parts = [np.asarray(part) for part in _leaves(mask)]
            lengths = [part.size for part in parts]
            if lengths != self._sizes:
                raise ValueError(f"the components have {self._sizes} values, and their masks {lengths}")
            return reduce(np.kron, (part if part.any() else np.arange(part.size) == 0 for part in parts))
        flat = np.asarray(mask).reshape(-1)
        if isinstance(self._space, spaces.MultiBinary) and len(flat) == len(self._sizes):
            if not np.isin(flat, (0, 1, 2)).all():
                raise ValueError(f"it holds 0, 1, or 2 for either, not {mask!r}")
            return reduce(np.kron, (np.array([bit != 1, bit != 0]) for bit in flat))
        return flat

    def names(self) -> tuple[str, ...]:
        """The numbers of each action as a text; none where a number names the action, or it has many."""
        if self._space.shape in ((), None) or math.prod(self._space.shape) > _LONGEST_NAME:
            return ()
        rows = (np.asarray(action).reshape(-1).tolist() for action in self._actions)
        return tuple(" ".join(f"{number:.4g}" for number in row) for row in rows)

    def __getitem__(self, number: int) -> object:
        """The action as `step` takes it, a fresh object."""
        action = self._actions[number]
        return action if isinstance(action, int) else copy(action)


def _sizes(space: spaces.Space) -> list[int]:
    """How many values each component of a space of several has."""
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.nvec).reshape(-1).tolist()
    return [2] * math.prod(space.shape) if isinstance(space, spaces.MultiBinary) else []


def _leaves(masks: tuple[Any, ...]) -> Iterator[Any]:
    """The masks in a tuple of tuples of them."""
    for part in masks:
        yield from _leaves(part) if isinstance(part, tuple) else (part,)


def _enumerate(space: spaces.Space, sizes: list[int], points: ActionGrid | None) -> Sequence[object]:
    """Every action; in a space of several components the last one runs fastest."""
    if isinstance(space, spaces.Discrete):
        return range(int(space.start), int(space.start) + int(space.n))
    if isinstance(space, spaces.Box):
        return refining_grid(space) if points is None else grid(space, points)
    if not isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        raise RecipeError(
            f"planning needs actions that can be numbered, or a Box with bounds, and this environment has {space!r}. "
            "Choose some and number them, with gymnasium.wrappers.TransformAction(env, lambda index: table[index], "
            "gymnasium.spaces.Discrete(len(table)))"
        )
    count = math.prod(sizes)
    if count > LARGEST_ACTION_SET:
        raise RecipeError(
            f"{space!r} has {count} combinations, and at most {LARGEST_ACTION_SET} are enumerated; choose those that "
            "matter and number them with gymnasium.wrappers.TransformAction"
        )
    digits = np.stack(np.unravel_index(np.arange(count), sizes), axis=-1)
    digits = digits + np.asarray(getattr(space, "start", 0)).reshape(-1)
    return [row.reshape(space.shape).astype(space.dtype) for row in digits]
