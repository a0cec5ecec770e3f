"""highway-env: instance variables, keyed by the place and the intention of every vehicle."""

from collections.abc import Hashable
from typing import ClassVar

from gymnasium_gsp.binding.adapters.adapter import FAMILY, NoObservation
from gymnasium_gsp.binding.adapters.generic import Generic
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import freeze

_VEHICLE = ("position", "heading", "speed")
_INTENTION = ("target_lane_index", "target_speed", "speed_index", "timer", "crashed", "hit")


class Highway(Generic):
    """All instance variables; the road's generator is the simulator's own."""

    name: ClassVar[str] = "highway-env"
    priority: ClassVar[int] = FAMILY

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__.startswith("highway_env.") and hasattr(env, "road")

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        pass

    def skip_observations(self, simulator: BareEnv) -> None:
        self._replaced = frozenset(("observation_type",))
        simulator.observation_type = _Unobserved(simulator.observation_type)

    def state_key(self, env: BareEnv) -> Hashable:
        return freeze(
            [
                [
                    *(getattr(vehicle, name) for name in _VEHICLE),
                    *(getattr(vehicle, name, None) for name in _INTENTION),
                ]
                for vehicle in env.road.vehicles
            ]
        )

    def is_reset(self, env: BareEnv) -> bool:
        return env.road is not None

    def has_ended(self, env: BareEnv) -> bool:
        return bool(env._is_terminated())

    def elapsed_steps(self, env: BareEnv) -> int | None:
        return round(env.time * env.config["policy_frequency"])

    def time_limit(self, env: BareEnv) -> int | None:
        duration = env.config.get("duration")
        return None if duration is None else int(duration * env.config["policy_frequency"])


class _Unobserved:
    """Stands in for an observation that is never read."""

    def __init__(self, original: object) -> None:
        self._original = original
        self.observe = NoObservation()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name == "_original":
            raise AttributeError(name)
        return getattr(self._original, name)
