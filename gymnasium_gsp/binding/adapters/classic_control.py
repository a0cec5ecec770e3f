"""Gymnasium's classic control family: a vector `state`, and steps that never draw."""

from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter, constants
from gymnasium_gsp.binding.keys import finite

_BESIDE = ("steps_beyond_terminated", "last_u")


class ClassicControl(Adapter):
    """The state vector, what stands beside it in CartPole and Pendulum, and the constants of the physics.  Exact."""

    name: ClassVar[str] = "classic_control"
    observes = True
    deterministic = True

    def __init__(self) -> None:
        self._constants: Any = None  # those that the sibling has

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__.startswith("gymnasium.envs.classic_control.")

    def save(self, env: Any) -> Any:
        beside = {name: getattr(env, name) for name in _BESIDE if hasattr(env, name)}
        return np.array(env.state), beside, constants(env)

    def load(self, env: Any, snapshot: Any) -> None:
        state, beside, physics = snapshot
        if physics is not self._constants:  # once a decision
            vars(env).update(physics)
            self._constants = physics
        env.state = state.copy()
        vars(env).update(beside)

    def key(self, env: Any) -> Any:
        state = env.state
        return finite(tuple(state.tolist() if isinstance(state, np.ndarray) else map(float, state)))

    def observe(self, env: Any) -> Any:
        for name in ("_get_obs", "_get_ob"):
            if hasattr(env, name):
                return getattr(env, name)()
        return np.array(env.state, dtype=np.float32)

    def is_reset(self, env: Any) -> bool:
        return getattr(env, "state", None) is not None

    def has_ended(self, env: Any) -> bool:
        if getattr(env, "steps_beyond_terminated", None) is not None:
            return True
        if hasattr(env, "_terminal"):
            return bool(env._terminal())
        if hasattr(env, "goal_position"):
            return bool(env.state[0] >= env.goal_position and env.state[1] >= env.goal_velocity)
        return False
