"""pyRDDLGym: the values of the fluents; steps replace them, so a shallow copy is a snapshot."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from gymnasium_gsp.binding.adapters.adapter import Adapter, restart
from gymnasium_gsp.binding.reading import LARGEST_ACTION_SET
from gymnasium_gsp.errors import RecipeError


class RDDL(Adapter):
    """Fluents, time step and end; the random stream is the sampler's, not `np_random`.

    Actions are `{}` and each single fluent at each of its other values, where the instance allows one at a time; with
    more than one allowed, all combinations up to that number.
    """

    name: ClassVar[str] = "pyRDDLGym"
    observes = True

    def __init__(self) -> None:
        self.note = self.hidden = ""

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__.startswith("pyRDDLGym.") and hasattr(env, "sampler")

    def sibling(self, env: Any, seed: int) -> Any:
        if env.sampler.is_pomdp:
            self.note = self.hidden = "the planner knows the hidden state that the player does not"
            self.observes = False
        return type(env)(
            env.domain_text,
            env.instance_text,
            enforce_action_constraints=env.enforce_action_constraints,
            enforce_action_count_non_bool=env.enforce_count_non_bool,
            vectorized=env.vectorized,
            backend=type(env.sampler),
        )

    def actions(self, env: Any) -> list[Any] | None:
        if not isinstance(env.action_space, spaces.Dict):
            return None
        if env.vectorized:
            raise RecipeError("make the pyRDDLGym environment with vectorized=False, so that its actions can be listed")
        singles = [
            (name, value)
            for name, space in env.action_space.spaces.items()
            for value in _values(name, space)
            if value != _default(env, name)
        ]
        found: list[dict[str, Any]] = [{}]
        level: list[dict[str, Any]] = [{}]
        for _ in range(min(env.max_allowed_actions, len(env.action_space.spaces))):
            level = [
                {**action, name: value}
                for action in level
                for name, value in singles
                if not action or name > max(action)
            ]
            found += level
            if len(found) > LARGEST_ACTION_SET:
                raise RecipeError(
                    f"this instance has more than {LARGEST_ACTION_SET} joint actions; choose those that matter and "
                    "number them with gymnasium.wrappers.TransformAction"
                )
        return found

    def save(self, env: Any) -> Any:
        return dict(env.sampler.subs), dict(env.sampler.state), env.timestep, env.done

    def load(self, env: Any, snapshot: Any) -> None:
        subs, state, env.timestep, env.done = snapshot
        env.sampler.subs, env.sampler.state = dict(subs), state
        env.state = state

    def key(self, env: Any) -> Any:
        subs = env.sampler.subs
        return tuple(np.asarray(subs[name]).tobytes() for name in env.sampler.rddl.next_state)

    def observe(self, env: Any) -> Any:
        return env.sampler.states

    def is_reset(self, env: Any) -> bool:
        return env.state is not None

    def has_ended(self, env: Any) -> bool:
        return bool(env.done)

    def clock(self, env: Any) -> int | None:
        return int(env.timestep)

    def limit(self, env: Any) -> int | None:
        return int(env.horizon)

    def stream(self, env: Any) -> Any:
        return env.sampler.rng

    def reseed(self, env: Any, seed: np.random.SeedSequence) -> None:
        restart(env.sampler.rng, seed)


def _default(env: Any, name: str) -> Any:
    """The value of an action fluent that is not set."""
    return int(env._noop_actions[name])


def _values(name: str, space: Any) -> list[int]:
    """The values of an action fluent."""
    if not isinstance(space, spaces.Discrete):
        raise RecipeError(f"the action fluent {name} is not discrete, {space!r}; planning needs discrete actions")
    return list(range(int(space.start), int(space.start) + int(space.n)))
