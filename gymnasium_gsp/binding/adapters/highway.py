"""highway-env: instance variables, keyed by where every vehicle is and what it is up to."""

from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.generic import Generic
from gymnasium_gsp.binding.keys import freeze

_INTENT = ("target_lane_index", "target_speed", "speed_index", "timer", "crashed", "hit")


class Highway(Generic):
    """Everything by its instance variables; the road's generator is the sibling's own."""

    name: ClassVar[str] = "highway-env"

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__.startswith("highway_env.") and hasattr(env, "road")

    def prepare(self, sibling: Any, env: Any) -> None:
        pass

    def blind(self, env: Any) -> None:
        self._spared = frozenset(("observation_type",))
        env.observation_type = _Unobserved(env.observation_type)

    def key(self, env: Any) -> Any:
        return freeze([_telling(vehicle) for vehicle in env.road.vehicles])

    def is_reset(self, env: Any) -> bool:
        return env.road is not None

    def has_ended(self, env: Any) -> bool:
        return bool(env._is_terminated())

    def clock(self, env: Any) -> int | None:
        return round(env.time * env.config["policy_frequency"])

    def limit(self, env: Any) -> int | None:
        duration = env.config.get("duration")
        return None if duration is None else int(duration * env.config["policy_frequency"])


def _telling(vehicle: Any) -> list[Any]:
    """Where a vehicle is, and what it is up to."""
    return [vehicle.position, vehicle.heading, vehicle.speed, *(getattr(vehicle, name, None) for name in _INTENT)]


class _Unobserved:
    """In place of an observation that nobody reads."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def observe(self) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_original":
            raise AttributeError(name)
        return getattr(self._original, name)
