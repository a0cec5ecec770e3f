"""The actions of an environment, numbered as a search knows them."""

import math
from collections.abc import Sequence
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError

LARGEST_ACTION_SET = 1024  # combinations of a MultiDiscrete or MultiBinary space that are enumerated


class Actions:
    """The actions of a space, numbered 0 .. count - 1.

    Attributes:
        count: number of actions.

    Args:
        space: Discrete with any start, or MultiDiscrete or MultiBinary of at most LARGEST_ACTION_SET combinations.
        listed: every action as `step` takes it, for a space that cannot be enumerated; None to enumerate it.

    Raises:
        RecipeError: for other spaces, with what to do.
    """

    def __init__(self, space: spaces.Space, listed: Sequence[object] | None = None) -> None:
        self._actions = _enumerate(space) if listed is None else listed
        self.count = len(self._actions)
        self._components = math.prod(space.shape or ()) if listed is None else 1

    def flat_mask(self, mask: object) -> NDArray[Any]:
        """A mask as one number for each action; a tuple of masks, as Gymnasium has it, masks each component alone."""
        if isinstance(mask, tuple) and self._components > 1:
            if len(mask) != self._components:
                raise ValueError(f"there are {self._components} components, and {len(mask)} masks")
            return reduce(np.kron, (np.asarray(part).reshape(-1) for part in mask))
        return np.asarray(mask).reshape(-1)

    def __getitem__(self, number: int) -> object:
        """The action as `step` takes it, a fresh object."""
        action = self._actions[number]
        return action if isinstance(action, int) else copy(action)


def _enumerate(space: spaces.Space) -> Sequence[object]:
    if isinstance(space, spaces.Discrete):
        return range(int(space.start), int(space.start) + int(space.n))
    if isinstance(space, spaces.MultiDiscrete):
        return _combinations(space, np.asarray(space.nvec).reshape(-1), np.asarray(space.start).reshape(-1))
    if isinstance(space, spaces.MultiBinary):
        return _combinations(space, np.full(math.prod(space.shape), 2), np.zeros(math.prod(space.shape), int))
    raise RecipeError(
        f"planning needs discrete actions, and this environment has {space!r}. For continuous actions, choose some "
        "and number them, with gymnasium.wrappers.TransformAction(env, lambda index: table[index], "
        "gymnasium.spaces.Discrete(len(table))) or gymnasium.wrappers.DiscretizeAction(env, bins)"
    )


def _combinations(
    space: spaces.MultiDiscrete | spaces.MultiBinary, sizes: np.ndarray, first: np.ndarray
) -> list[np.ndarray]:
    """Every element of the space, the last component running fastest."""
    count = math.prod(sizes.tolist())
    if count > LARGEST_ACTION_SET:
        raise RecipeError(
            f"{space!r} has {count} combinations, and at most {LARGEST_ACTION_SET} are enumerated; choose those that "
            "matter and number them with gymnasium.wrappers.TransformAction"
        )
    digits = np.stack(np.unravel_index(np.arange(count), sizes), axis=-1) + first
    return [row.reshape(space.shape).astype(space.dtype) for row in digits]
