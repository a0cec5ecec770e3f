"""The names of an environment's actions, where it has them."""

from enum import EnumMeta
from typing import Any

import gymnasium as gym
from gymnasium import spaces


def action_names(env: gym.Env[Any, Any]) -> tuple[str, ...]:
    """A name for each action of a discrete space; empty where the environment has none.

    Read are `get_action_meanings()`, as the benchmarks and the Atari games have it, and an enumeration `actions`, as
    MiniGrid has it.  Where a wrapper has changed the action space, the names are not those of its actions.
    """
    raw, space = env.unwrapped, env.action_space
    if not isinstance(space, spaces.Discrete) or space != raw.action_space:
        return ()
    meanings, listed = getattr(raw, "get_action_meanings", None), getattr(raw, "actions", None)
    names = tuple(meanings()) if callable(meanings) else ()
    if isinstance(listed, EnumMeta):
        names = tuple(listed.__members__)
    return names if len(names) == space.n else ()
