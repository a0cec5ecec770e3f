"""Gymnasium's classic control family: a vector `state`, and steps that never draw."""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter, constants
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import float_key

_BESIDE = ("steps_beyond_terminated", "last_u")


class ClassicControl(Adapter):
    """The state vector, what stands beside it in CartPole and Pendulum, and the constants of the physics.  Exact."""

    name: ClassVar[str] = "classic_control"
    observes = True
    deterministic = True

    def __init__(self) -> None:
        self._loaded: object = None  # the constants that the simulator has

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__.startswith("gymnasium.envs.classic_control.")

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        simulator.unwrapped.__dict__.update(constants(env))

    def save(self, env: BareEnv) -> Any:
        beside = {name: getattr(env, name) for name in _BESIDE if hasattr(env, name)}
        return np.array(env.state), beside, constants(env)

    def load(self, env: BareEnv, snapshot: Any) -> None:
        state, beside, physics = snapshot
        if physics is not self._loaded:  # once a decision
            env.__dict__.update(physics)
            self._loaded = physics
        env.state = state.copy()
        env.__dict__.update(beside)

    def state_key(self, env: BareEnv) -> Hashable:
        state = env.state
        return float_key(tuple(state.tolist() if isinstance(state, np.ndarray) else map(float, state)))

    def observe(self, env: BareEnv) -> object:
        for name in ("_get_obs", "_get_ob"):
            if hasattr(env, name):
                return getattr(env, name)()
        return np.array(env.state, dtype=np.float32)

    def is_reset(self, env: BareEnv) -> bool:
        return getattr(env, "state", None) is not None

    def has_ended(self, env: BareEnv) -> bool:
        if getattr(env, "steps_beyond_terminated", None) is not None:
            return True
        if hasattr(env, "_terminal"):
            return bool(env._terminal())
        if hasattr(env, "goal_position"):
            return bool(env.state[0] >= env.goal_position and env.state[1] >= env.goal_velocity)
        return False
