"""How an agent reads the environment it is bound to: its state, its clock, and the model to plan in.

Here are the compiled ways: the environment's own model, or its transition table; `simulated` has the other, and
`connection` finds out which.  Reading never changes the environment: no step, no draw from its random stream, no
wrapper is touched.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from gymnasium_gsp.binding.keys import caster
from gymnasium_gsp.binding.reading import Actions, Root, elapsed_steps, env_id, time_limit
from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.models.tabular import tabular_model


class LiveEnv:
    """An environment that offers `clone_state` and `compiled_model`, read for planning.

    Args:
        env: the environment, wrapped or not.
        actions: every action, where the space alone does not tell.

    Raises:
        RecipeError: if its actions are not discrete.
    """

    def __init__(self, env: Any, actions: list[Any] | None = None) -> None:
        self.env, self.source = env, env.unwrapped
        self.forms = Actions(env.action_space, actions)
        self.limit = time_limit(env)

    @staticmethod
    def fits(env: Any) -> bool:
        """Whether an environment offers this."""
        return all(hasattr(env.unwrapped, name) for name in ("clone_state", "compiled_model", "observe"))

    @property
    def env_id(self) -> str | None:
        """The id that the environment was made under, if any."""
        return env_id(self.env)

    def action(self, number: int) -> Any:
        """An action as the environment wants it."""
        return self.forms.form(number)

    def acted(self, number: int) -> None:
        """Told of each action that the agent chose."""

    def begin_episode(self) -> None:
        """Told when the agent knows that a new episode has begun."""

    def seed(self, seed: np.random.SeedSequence) -> None:
        """Begin the streams that the model draws from by itself."""

    def root(self, observation: Any, info: Any) -> Root:
        """The present state of the live environment, which last returned this observation and info.

        Raises:
            gymnasium.error.ResetNeeded: before its first reset.
        """
        state = self.source.clone_state()
        left = None if self.limit is None else self.limit - state.elapsed
        cells = np.array(state.cells, np.int64)
        return Root(self.source.compiled_model(), cells, state.elapsed, left, state.terminated)

    def shown(self, root: Root) -> Any:
        """The observation of the live environment's state."""
        return self.source.observe(root.cells.tolist())

    def check_observation(self, observation: Any, root: Root) -> None:
        """Refuse an observation that is not that of the live environment's state.

        Raises:
            PlanningError: says what was given and what the environment shows.
        """
        shown = self.shown(root)
        cast = caster(self.env.observation_space)
        try:
            same = _alike(cast(observation), cast(shown))
        except (TypeError, ValueError, KeyError):
            same = False
        if not same:
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


def _alike(left: Any, right: Any) -> bool:
    """Whether two observations say the same; as float32 tells, as loops cast to it."""
    if isinstance(left, dict):
        return all(_alike(left[name], right[name]) for name in left)
    if isinstance(left, tuple):
        return all(map(_alike, left, right))
    if isinstance(left, np.ndarray) and left.dtype.kind == "f":
        return bool(np.allclose(left, right, rtol=1e-6, atol=1e-6, equal_nan=True))
    return bool(np.array_equal(left, right))


class TableEnv(LiveEnv):
    """An environment with its whole law in a table `P` and its state in `s`, as in Gymnasium's toy_text."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._table: Any = None
        self._model: Any = None

    @staticmethod
    def fits(env: Any) -> bool:
        raw, space = env.unwrapped, env.observation_space
        table = getattr(raw, "P", None)
        return (
            isinstance(table, Mapping)
            and isinstance(space, spaces.Discrete)
            and space.start == 0
            and len(table) == space.n
            and not getattr(raw, "fickle_passenger", False)  # Taxi's table leaves him out
            and not _steps_otherwise(raw)
        )

    def root(self, observation: Any, info: Any) -> Root:
        elapsed = elapsed_steps(self.env)
        state = getattr(self.source, "s", None)
        if state is None:
            raise ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")
        if self.source.P is not self._table:
            self._table = self.source.P
            self._model = tabular_model(self._table, type(self.source).__name__.removesuffix("Env"))
        cells = np.array([int(state)], np.int64)
        left = None if self.limit is None or elapsed is None else self.limit - elapsed
        return Root(self._model, cells, elapsed or 0, left, self._model.terminal(cells), elapsed is not None)

    def shown(self, root: Root) -> Any:
        return int(root.cells[0])

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code, which is bound again where the agent wakes up."""
        return {**vars(self), "_table": None, "_model": None}

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "model": "the environment's transition table P, compiled"}


def _steps_otherwise(raw: Any) -> bool:
    """Whether an environment inherits the table of a toy_text class, and steps in a way of its own."""
    toys: list[Any] = [kind for kind in type(raw).__mro__ if kind.__module__.startswith("gymnasium.envs.toy_text.")]
    return bool(toys) and type(raw).step is not toys[0].step
