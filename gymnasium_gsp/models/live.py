"""How an agent reads the environment it is bound to: its state, its clock, and the model to plan in.

Reading never changes the environment: no step, no draw from its random stream, no wrapper is touched.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import PlanningError, RecipeError


@dataclass(frozen=True)
class Root:
    """The live environment at one moment, as a search needs it.

    Attributes:
        model: the model of the present layout; another object when the layout has changed.
        cells: (width,) int64, the state.
        elapsed: steps since reset.
        steps_left: steps until the time limit, or None if there is none.
        terminated: whether the episode has ended here.
    """

    model: Any
    cells: NDArray[np.int64]
    elapsed: int
    steps_left: int | None
    terminated: bool


def action_range(env: Any) -> tuple[int, int]:
    """First action and number of actions.

    Raises:
        RecipeError: if the action space is not discrete.
    """
    space = env.action_space
    if hasattr(space, "n") and hasattr(space, "start"):
        return int(space.start), int(space.n)
    raise RecipeError(
        f"planning needs a Discrete action space, and this environment has {space!r}; wrap it so that its actions are "
        "numbered (gymnasium.spaces.Discrete)"
    )


def time_limit(env: Any) -> int | None:
    """The smallest limit that any wrapper, the spec or the environment itself sets on an episode's steps."""
    limits = [getattr(env.spec, "max_episode_steps", None), getattr(env.unwrapped, "horizon", None)]
    layer = env
    while layer is not env.unwrapped:
        limits.append(getattr(layer, "_max_episode_steps", None))
        layer = layer.env
    known = [int(limit) for limit in limits if limit is not None]
    return min(known) if known else None


class LiveEnv:
    """An environment that offers `clone_state` and `compiled_model`, read for planning.

    Args:
        env: the environment, wrapped or not.

    Raises:
        RecipeError: if it offers no model to plan in, or its actions are not discrete.
    """

    def __init__(self, env: Any) -> None:
        if not hasattr(env, "unwrapped") or not hasattr(env, "action_space"):
            raise RecipeError(f"an agent is bound to a Gymnasium environment, not to {env!r}")
        self.first_action, self.actions = action_range(env)
        self.env = env
        self.source = env.unwrapped
        if not all(hasattr(self.source, name) for name in ("clone_state", "compiled_model", "observe")):
            raise RecipeError(
                f"{type(self.source).__name__} offers no model to plan in (clone_state, compiled_model, observe); "
                "plan on a model of your own with gymnasium_gsp.plan(model, state, ...)"
            )
        self.limit = time_limit(env)

    @property
    def env_id(self) -> str | None:
        """The id that the environment was made under, if any."""
        return getattr(self.env.spec, "id", None)

    def root(self) -> Root:
        """The present state of the live environment.

        Raises:
            gymnasium.error.ResetNeeded: before its first reset.
        """
        state = self.source.clone_state()
        left = None if self.limit is None else self.limit - state.elapsed
        cells = np.array(state.cells, np.int64)
        return Root(self.source.compiled_model(), cells, state.elapsed, left, state.terminated)

    def check_observation(self, observation: Any, root: Root) -> None:
        """Refuse an observation that is not that of the live environment's state.

        Raises:
            PlanningError: says what was given and what the environment shows.
        """
        shown = self.source.observe(root.cells.tolist())
        if not np.array_equal(np.asarray(observation), np.asarray(shown)):
            raise PlanningError(
                f"the observation {observation!r} is not that of the environment this agent is bound to, which shows "
                f"{shown!r}: pass the observation that its last reset() or step() returned, and bind one agent to "
                "each environment"
            )

    def describe(self) -> dict[str, Any]:
        """What the agent plans in, by name."""
        return {
            "environment": self.env_id or type(self.source).__name__,
            "model": "compiled step of the environment itself",
            "time limit": "none" if self.limit is None else f"{self.limit} steps",
        }
