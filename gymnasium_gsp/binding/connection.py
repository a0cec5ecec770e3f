"""Which way an environment is planned in: its own compiled model, its transition table, or a private simulator."""

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from gymnasium_gsp.binding.live import LiveEnv, TableEnv
from gymnasium_gsp.binding.reading import Actions
from gymnasium_gsp.binding.simulated import SimulatedEnv
from gymnasium_gsp.binding.wrappers import read_layers
from gymnasium_gsp.errors import RecipeError


def connect(env: Any, simulator: Any = None, **options: Any) -> LiveEnv:
    """How an environment is read for planning.

    Args:
        env: the environment, wrapped or not.
        simulator: a function that returns a private environment to simulate in; it takes the place of every other way.
        **options: of `SimulatedEnv`; any of them makes the environment a simulated one.

    Raises:
        RecipeError: if there is no way, with what to do.
    """
    if isinstance(env, gym.vector.VectorEnv):
        raise RecipeError(
            "an agent is bound to one environment, and this is a vector of them: put "
            "gymnasium_gsp.PlanningWrapper(env, seed=...) "
            'into each environment function and ask np.array(envs.call("planned_action"))'
        )
    if not hasattr(env, "unwrapped") or not hasattr(env, "action_space"):
        raise RecipeError(f"an agent is bound to a Gymnasium environment, not to {env!r}")
    if not isinstance(env.action_space, spaces.Dict):  # which an adapter may know how to list
        Actions(env.action_space)
    wanted = {name: value for name, value in options.items() if value is not None}
    if simulator is None and not wanted and read_layers(env).change_nothing:
        for kind in (LiveEnv, TableEnv):
            if kind.fits(env):
                return kind(env)
    return SimulatedEnv(env, simulator, **wanted)
