"""pyRDDLGym: the values of the fluents; steps replace them, so a shallow copy is a snapshot."""

from collections.abc import Hashable, Sequence
from itertools import combinations, islice
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from gymnasium_gsp.binding.actions import LARGEST_ACTION_SET
from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.errors import RecipeError


class RDDL(Adapter):
    """Fluents, time step and end; the random stream is the sampler's, not `np_random`.

    Actions are `{}` and each single fluent at each of its other values, where the instance allows one at a time; where
    it allows more, all combinations up to that number.
    """

    name: ClassVar[str] = "pyRDDLGym"
    observes = True

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__.startswith("pyRDDLGym.") and hasattr(env, "sampler")

    def make_simulator(self, env: BareEnv, seed: int) -> Env | None:
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

    def actions(self, env: BareEnv) -> list[dict[str, int]] | None:
        if not isinstance(env.action_space, spaces.Dict):
            return None
        if env.vectorized:
            raise RecipeError("make the pyRDDLGym environment with vectorized=False, so that its actions can be listed")
        singles = [
            (name, value)
            for name, space in env.action_space.spaces.items()
            for value in _values(name, space)
            if value != int(env._noop_actions[name])
        ]
        most = min(env.max_allowed_actions, len(env.action_space.spaces))
        joint = (dict(group) for size in range(most + 1) for group in combinations(singles, size) if _distinct(group))
        result = list(islice(joint, LARGEST_ACTION_SET + 1))
        if len(result) > LARGEST_ACTION_SET:
            raise RecipeError(
                f"this instance has more than {LARGEST_ACTION_SET} joint actions; choose those that matter and "
                "number them with gymnasium.wrappers.TransformAction"
            )
        return result

    def save(self, env: BareEnv) -> Any:
        return dict(env.sampler.subs), dict(env.sampler.state), env.timestep, env.done

    def load(self, env: BareEnv, snapshot: Any) -> None:
        subs, state, env.timestep, env.done = snapshot
        env.sampler.subs, env.sampler.state = dict(subs), state
        env.state = state

    def state_key(self, env: BareEnv) -> Hashable:
        subs = env.sampler.subs
        return tuple(np.asarray(subs[name]).tobytes() for name in env.sampler.rddl.next_state)

    def observe(self, env: BareEnv) -> object:
        return env.sampler.states

    def is_reset(self, env: BareEnv) -> bool:
        return env.state is not None

    def has_ended(self, env: BareEnv) -> bool:
        return bool(env.done)

    def elapsed_steps(self, env: BareEnv) -> int | None:
        return int(env.timestep)

    def time_limit(self, env: BareEnv) -> int | None:
        return int(env.horizon)

    def generator(self, env: BareEnv) -> np.random.Generator | None:
        return env.sampler.rng


def _distinct(group: Sequence[tuple[str, int]]) -> bool:
    """Return whether no fluent stands twice among these pairs of fluent and value."""
    return len(dict(group)) == len(group)


def _values(name: str, space: spaces.Space) -> range:
    """The values of an action fluent."""
    if not isinstance(space, spaces.Discrete):
        raise RecipeError(f"the action fluent {name} is not discrete, {space!r}; planning needs discrete actions")
    return range(int(space.start), int(space.start) + int(space.n))
