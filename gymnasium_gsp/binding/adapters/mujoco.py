"""MuJoCo: a full copy of its data, the only copy that is exact for every model."""

import copy
import sys
from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.keys import freeze

_KINDS = (bool, int, float, np.ndarray, np.generic)


class MuJoCo(Adapter):
    """`mj_copyData` into the sibling's own data, and the plain numbers that the environment keeps beside it.

    Actions are continuous: number them with DiscretizeAction or TransformAction.
    """

    name: ClassVar[str] = "MuJoCo"
    deterministic = True

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(getattr(env, "data", None)).__module__.startswith("mujoco.")

    def save(self, env: Any) -> Any:
        beside = {name: copy.copy(value) for name, value in vars(env).items() if isinstance(value, _KINDS)}
        return copy.copy(env.data), beside

    def load(self, env: Any, snapshot: Any) -> None:
        data, beside = snapshot
        sys.modules["mujoco"].mj_copyData(env.data, env.model, data)
        for name, value in beside.items():
            setattr(env, name, copy.copy(value))

    def key(self, env: Any) -> Any:
        data = env.data
        return freeze(np.concatenate((data.qpos, data.qvel, data.act)))

    def observe(self, env: Any) -> Any:
        return env._get_obs()
