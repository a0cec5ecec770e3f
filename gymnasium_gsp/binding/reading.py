"""What can be read off any Gymnasium environment without touching it: layers, limits, clocks, actions, and the root."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model

LARGEST_ACTION_SET = 1024  # combinations of a MultiDiscrete or MultiBinary space that are enumerated

_CLOCKS = ("_elapsed_steps", "episode_lengths")  # TimeLimit's, RecordEpisodeStatistics'


@dataclass(frozen=True)
class Root:
    """The live environment at one moment, as a search needs it.

    Attributes:
        model: the model of the present layout; another object when the layout has changed.
        cells: (width,) int64, the state.
        elapsed: steps since reset; 0 where nobody counts them.
        steps_left: steps until the time limit, or None if there is none.
        terminated: whether the episode is known to have ended here.
        clocked: whether anybody counts the steps.
    """

    model: Model
    cells: NDArray[np.int64]
    elapsed: int
    steps_left: int | None
    terminated: bool
    clocked: bool = True


class Actions:
    """The actions of a space, numbered 0 .. count - 1.

    Attributes:
        count: how many there are.
        forms: by number, what the environment's `step` wants.

    Args:
        space: Discrete with any start, or MultiDiscrete or MultiBinary of at most LARGEST_ACTION_SET combinations.
        listed: every action, where somebody knows better than the space.

    Raises:
        RecipeError: for other spaces, with what to do.
    """

    def __init__(self, space: Any, listed: list[Any] | None = None) -> None:
        self.forms: list[Any]
        if listed is not None:
            self.forms = listed
        elif isinstance(space, spaces.Discrete):
            self.forms = list(range(int(space.start), int(space.start) + int(space.n)))
        elif isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
            self.forms = _combinations(space)
        else:
            raise RecipeError(
                f"planning needs discrete actions, and this environment has {space!r}. Continuous actions: choose some "
                "and number them, with gymnasium.wrappers.TransformAction(env, lambda index: table[index], "
                "gymnasium.spaces.Discrete(len(table))) or gymnasium.wrappers.DiscretizeAction(env, bins)"
            )
        self.count = len(self.forms)

    def form(self, number: int) -> Any:
        """The action as the environment wants it, a fresh object."""
        action = self.forms[number]
        return action if isinstance(action, int) else action.copy()


def _combinations(space: Any) -> list[Any]:
    """Every element of a MultiDiscrete or MultiBinary space, the last component running fastest."""
    if isinstance(space, spaces.MultiDiscrete):
        sizes, first = np.asarray(space.nvec).reshape(-1), np.asarray(space.start).reshape(-1)
    else:
        sizes = np.full(math.prod(space.shape), 2)
        first = np.zeros_like(sizes)
    count = math.prod(int(size) for size in sizes)
    if count > LARGEST_ACTION_SET:
        raise RecipeError(
            f"{space!r} has {count} combinations, and at most {LARGEST_ACTION_SET} are enumerated; choose those that "
            "matter and number them with gymnasium.wrappers.TransformAction"
        )
    digits = np.stack(np.unravel_index(np.arange(count), sizes), axis=-1) + first
    return [row.reshape(space.shape).astype(space.dtype) for row in digits]


def layers(env: Any) -> Iterator[Any]:
    """The wrappers around an environment, outermost first, then the environment itself."""
    layer = env
    while layer is not env.unwrapped:
        yield layer
        layer = layer.env
    yield layer


def time_limit(env: Any, *further: int | None) -> int | None:
    """The smallest limit that any wrapper, the spec, the environment itself or anyone else sets on an episode."""
    limits = [getattr(env.spec, "max_episode_steps", None), getattr(env.unwrapped, "horizon", None), *further]
    limits += [getattr(layer, "_max_episode_steps", None) for layer in layers(env)]
    known = [int(limit) for limit in limits if isinstance(limit, int | np.integer) and limit > 0]
    return min(known) if known else None


def elapsed_steps(env: Any) -> int | None:
    """Steps since reset as some wrapper counts them, or None if none does.

    Raises:
        ResetNeeded: if a wrapper says that the environment has not been reset.
    """
    for layer in layers(env):
        if getattr(layer, "_has_reset", True) is False:
            raise ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")
    for layer in layers(env):
        for name in _CLOCKS:
            count = vars(layer).get(name)
            if isinstance(count, int | np.integer):
                return int(count)
            if name in vars(layer) and name == "_elapsed_steps":
                raise ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")
    return None


def env_id(env: Any) -> str | None:
    """The id that the environment was made under, if any."""
    return getattr(env.spec, "id", None)
