"""MuJoCo: a full copy of its data, the only copy that is exact for every model."""

import copy
import sys
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.keys import freeze

_KINDS = (bool, int, float, np.ndarray, np.generic)


class MuJoCo(Adapter):
    """`mj_copyData` into the simulator's own data, and the plain numbers that the environment keeps beside it."""

    name: ClassVar[str] = "MuJoCo"
    deterministic = True

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(getattr(env, "data", None)).__module__.startswith("mujoco.")

    def save(self, env: BareEnv) -> Any:
        beside = {name: copy.copy(value) for name, value in vars(env).items() if isinstance(value, _KINDS)}
        return copy.copy(env.data), beside

    def load(self, env: BareEnv, snapshot: Any) -> None:
        data, beside = snapshot
        sys.modules["mujoco"].mj_copyData(env.data, env.model, data)
        for name, value in beside.items():
            setattr(env, name, copy.copy(value))

    def state_key(self, env: BareEnv) -> Hashable:
        data = env.data
        return freeze(np.concatenate((data.qpos, data.qvel, data.act)))
