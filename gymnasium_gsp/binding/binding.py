"""An agent's connection to its environment: the state to plan from, and the model to plan in.

Nothing of the environment is changed: no step, no draw from its random stream, no wrapper is touched.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.binding.actions import ActionGrid, Actions
from gymnasium_gsp.binding.environment import EnvironmentView
from gymnasium_gsp.binding.keys import cast_observation
from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.models.model import Model


@dataclass(frozen=True)
class Root:
    """The environment at one moment, as a search needs it.

    Attributes:
        model: the model of the present layout; another object when the layout has changed.
        cells: (width,) int64, the state.
        elapsed: steps since reset; 0 if they are not counted.
        steps_left: steps until the time limit, or None if there is none.
        terminated: whether the episode is known to have ended here.
        steps_counted: whether the steps are counted.
    """

    model: Model
    cells: NDArray[np.int64]
    elapsed: int
    steps_left: int | None
    terminated: bool
    steps_counted: bool = True


class Binding(ABC):
    """An environment that an agent plans in.

    Attributes:
        view: the environment, with its wrappers.
        actions: its actions, numbered.
        hold: steps of the environment for which a step of the model holds an action.

    Args:
        view: the environment.
        listed: every action, where the action space cannot be enumerated.
        points: of a continuous action space in each dimension; None for a grid that refines.

    Raises:
        RecipeError: if the actions cannot be numbered.
    """

    hold: int = 1

    def __init__(
        self, view: EnvironmentView, listed: list[Any] | None = None, points: ActionGrid | None = None
    ) -> None:
        self.view = view
        self.actions = Actions(view.env.action_space, listed, points)

    @property
    def time_limit(self) -> int | None:
        """Steps after which an episode ends, or None."""
        return self.view.time_limit

    @abstractmethod
    def root(self, observation: object, info: object) -> Root:
        """The present state of the environment, which last returned this observation and info.

        Raises:
            gymnasium.error.ResetNeeded: before its first reset.
        """

    @abstractmethod
    def observe(self, root: Root) -> object:
        """The observation of the environment's present state."""

    @abstractmethod
    def observation(self, cells: Sequence[int]) -> Any:
        """What the agent sees in a state that a search has just reached, for functions of observations.

        Args:
            cells: the state.
        """

    def check_observation(self, observation: object, root: Root) -> None:
        """Refuse an observation that is not that of the environment's present state.

        Raises:
            PlanningError: says what was given and what the environment shows.
        """
        shown = self.observe(root)
        space = self.view.env.observation_space
        try:
            same = _agree(cast_observation(space, observation), cast_observation(space, shown))
        except (TypeError, ValueError, KeyError):
            same = False
        if not same:
            raise PlanningError(
                f"the observation {observation!r} is not that of the environment this agent is bound to, which shows "
                f"{shown!r}: pass the observation that its last reset() or step() returned, and bind one agent to "
                "each environment"
            )

    def action_taken(self, number: int) -> None:  # noqa: B027
        """Record an action that the agent chose."""

    def begin_episode(self) -> None:  # noqa: B027
        """Forget the last episode; called when the agent knows that a new one has begun."""

    def seed(self, seed: np.random.SeedSequence) -> None:  # noqa: B027
        """Begin the random streams that the model draws from by itself."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The environment, the model and the time limit, in words."""

    def _describe(self, model: str) -> dict[str, Any]:
        limit = "none" if self.time_limit is None else f"{self.time_limit} steps"
        words = {"environment": self.view.name, "model": model, "time limit": limit}
        return {**words, "actions": self.actions.described} if self.actions.described else words

    def _steps_left(self, elapsed: int | None) -> int | None:
        if elapsed is None or self.time_limit is None:
            return None
        if elapsed >= self.time_limit:
            self.view.drop_outlived_limit(elapsed)
        return None if self.time_limit is None else self.time_limit - elapsed


def _agree(left: Any, right: Any) -> bool:
    """Return whether two observations are the same, to the precision of float32, to which loops cast them."""
    if isinstance(left, dict):
        return all(_agree(left[name], right[name]) for name in left)
    if isinstance(left, tuple):
        return all(map(_agree, left, right))
    if isinstance(left, np.ndarray) and left.dtype.kind == "f":
        return bool(np.allclose(left, right, rtol=1e-6, atol=1e-6, equal_nan=True))
    return bool(np.array_equal(left, right))
