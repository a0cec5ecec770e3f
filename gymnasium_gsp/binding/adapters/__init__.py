"""How each family of environments is saved and restored; one file a family, asked in this order."""

from typing import Any

import gymnasium as gym

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.adapters.ale import Atari
from gymnasium_gsp.binding.adapters.box2d import LunarLander
from gymnasium_gsp.binding.adapters.classic_control import ClassicControl
from gymnasium_gsp.binding.adapters.generic import Generic
from gymnasium_gsp.binding.adapters.highway import Highway
from gymnasium_gsp.binding.adapters.minigrid import MiniGrid
from gymnasium_gsp.binding.adapters.mujoco import MuJoCo
from gymnasium_gsp.binding.adapters.native import Native
from gymnasium_gsp.binding.adapters.rddl import RDDL
from gymnasium_gsp.binding.adapters.replay import Replay
from gymnasium_gsp.binding.adapters.toy_text import Blackjack, ToyText
from gymnasium_gsp.errors import RecipeError

ADAPTERS: list[type[Adapter]] = [
    Native,
    ToyText,
    Blackjack,
    ClassicControl,
    MuJoCo,
    LunarLander,
    Atari,
    MiniGrid,
    Highway,
    RDDL,
    Generic,
    Replay,
]


def choose(env: Any) -> Adapter:
    """The first adapter that fits a bare environment.

    Raises:
        RecipeError: if there is none, with what to do.
    """
    for kind in ADAPTERS:
        if kind.fits(env):
            return kind()
    name = type(env).__name__
    if isinstance(env, gym.utils.EzPickle):
        raise RecipeError(
            f"{name} is an EzPickle environment: a copy of it is silently a new one in its start state, so nothing can "
            "be planned in it as it is. Give it clone_state() and set_state(state) (a state without the random "
            "stream), or write an adapter (gymnasium_gsp.binding.adapters) and put it first in ADAPTERS"
        )
    raise RecipeError(f"no adapter fits {name}; give it clone_state() and set_state(state)")
