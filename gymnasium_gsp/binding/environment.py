"""A user's environment, read once when an agent is bound to it.  Nothing of it is changed."""

import warnings
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from gymnasium_gsp.models.model import RewardBounds

Env: TypeAlias = gym.Env[Any, Any]
"""An environment with any observations and actions."""

BareEnv: TypeAlias = Any
"""An environment without wrappers, of a class that only its adapter knows."""

_STEP_COUNTERS = ("_elapsed_steps", "episode_lengths")  # of TimeLimit and RecordEpisodeStatistics


class EnvironmentView:
    """An environment and the layers that it consists of.

    Attributes:
        env: the environment, wrapped or not.
        raw: the bare environment.
        wrappers: the wrappers, outermost first.
        id: the id that the environment was made under, or None.
        name: the id, or the name of the class.
        reward_bounds: the finite `reward_range` of an environment without reward wrappers, or None.
    """

    def __init__(self, env: Env) -> None:
        self.env = env
        self.raw: BareEnv = env.unwrapped
        self.wrappers: list[gym.Wrapper] = []
        layer: Any = env
        while layer is not self.raw:
            self.wrappers.append(layer)
            layer = layer.env
        self._outlived = False  # the limit that the spec registers, which nothing around the environment enforces
        self.id: str | None = getattr(env.spec, "id", None)
        self.name = self.id or type(self.raw).__name__
        bounds = np.asarray(getattr(self.raw, "reward_range", (-np.inf, np.inf)), float)
        rewards_differ = any("Reward" in type(wrapper).__name__ for wrapper in self.wrappers)
        known = np.isfinite(bounds).all() and not rewards_differ
        self.reward_bounds: RewardBounds | None = (float(bounds[0]), float(bounds[1])) if known else None

    @property
    def time_limit(self) -> int | None:
        """The smallest limit on an episode that a wrapper or a benchmark sets, or else the spec; None without any.

        It is read anew each time, as a user may change it.
        """
        own = getattr(self.raw, "horizon", None) if hasattr(self.raw, "compiled_model") else None
        enforced = smallest_limit(own, *(getattr(wrapper, "_max_episode_steps", None) for wrapper in self.wrappers))
        registered = None if self._outlived else smallest_limit(getattr(self.env.spec, "max_episode_steps", None))
        return registered if enforced is None else enforced

    def drop_outlived_limit(self, elapsed: int) -> None:
        """Warn once, and plan without a limit, where an episode goes on beyond one that nothing enforces."""
        limit, self._outlived = self.time_limit, True
        if limit is not None and limit != self.time_limit:
            warnings.warn(
                f"{self.name} is registered with a limit of {limit} steps and is at step {elapsed}: no TimeLimit "
                "wrapper ends its episodes, so it is planned in without a limit from now on",
                RuntimeWarning,
                stacklevel=5,
            )

    def elapsed_steps(self) -> int | None:
        """Steps since reset as a wrapper counts them, or None if none does.

        Raises:
            ResetNeeded: if a wrapper says that the environment has not been reset.
        """
        if any(getattr(wrapper, "_has_reset", True) is False for wrapper in self.wrappers):
            raise self.reset_needed()
        for wrapper in self.wrappers:
            for name in _STEP_COUNTERS:
                count = vars(wrapper).get(name)
                if isinstance(count, int | np.integer):
                    return int(count)
                if name in vars(wrapper) and name == "_elapsed_steps":
                    raise self.reset_needed()
        return None

    def resets_next(self) -> bool:
        """Return whether the episode has ended and an `Autoreset` wrapper resets the environment at the next step."""
        return any(getattr(wrapper, "autoreset", False) for wrapper in self.wrappers)

    @staticmethod
    def reset_needed() -> ResetNeeded:
        """The error for an environment that has no state yet."""
        return ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")


def smallest_limit(*limits: object) -> int | None:
    """The smallest of some limits on the steps of an episode; None if there is none."""
    known = [int(limit) for limit in limits if isinstance(limit, int | np.integer) and limit > 0]
    return min(known, default=None)
