"""A planner inside the environment, for vectors of environments: one in each, in its environment's process."""

import os
from typing import Any, ClassVar, SupportsFloat, TypeAlias

import gymnasium as gym
from gymnasium.vector.utils import CloudpickleWrapper

from gymnasium_gsp.agents.agent import Agent, make_agent
from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.result import SearchResult

Decision: TypeAlias = tuple[Any, SearchResult | None]
"""An action, and the search behind it; None where the episode had ended."""

Place: TypeAlias = tuple[int, int]
"""A wrapper among all processes: its process and its place in memory."""


class PlanningWrapper(gym.Wrapper, gym.utils.RecordConstructorArgs):
    """A wrapper that changes nothing about an environment, and plans on request.

    In a vector of environments, all of them plan at once::

        envs = gym.make_vec("Taxi-v4", 4, "async", wrappers=[gsp.PlanningWrapper])
        agent = gsp.make_vector_agent(envs, budget=256, seed=0)

    In an `AsyncVectorEnv` or a `SubprocVecEnv` the planners run side by side.  `make_vector_agent` gives each planner
    its options; without it, `envs.call("planned_action")` asks planners with the wrapper's own.  After an episode has
    ended, where a vector that resets at the next step ignores the action, a planner answers at once with any action.

    Args:
        env: the environment, wrapped or not.
        algorithm: a registered algorithm, or a recipe; None to choose it.
        **options: of `make_agent`.
    """

    gsp_neutral: ClassVar[bool] = True

    def __init__(self, env: gym.Env, algorithm: str | Recipe | None = None, **options: Any) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, algorithm=algorithm, **options)
        gym.Wrapper.__init__(self, env)
        self._settings = (algorithm, options)
        self._agent: Agent | None = None
        self._owner = ""  # the vector agent that has started the planner
        self._last: tuple[object, dict[str, Any]] | None = None
        self._ended = False

    @property
    def agent(self) -> Agent:
        """The planner, made when it is first needed."""
        if self._agent is None:
            algorithm, options = self._settings
            self._agent = make_agent(self.env, algorithm, **options)
        return self._agent

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment, and tell the planner."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._last, self._ended = (observation, info), False
        if self._agent is not None:
            self._agent.reset()
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._last, self._ended = (observation, info), bool(terminated or truncated)
        return observation, reward, terminated, truncated, info

    def planned_action(self) -> Any:
        """The action that the planner takes now.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if self._last is None:
            raise gym.error.ResetNeeded("the environment has not been reset; call reset() before asking for an action")
        if self._ended:
            return self.agent.any_action()
        return self.agent.act(*self._last)

    def planner_place(self) -> Place:
        """This wrapper among those of a vector, whose `call` sends the same to all of them."""
        return os.getpid(), id(self)

    def start_planner(
        self, owner: str, seeds: dict[Place, int | None], request: CloudpickleWrapper
    ) -> tuple[dict[str, Any], dict[str, Any]] | Exception | None:
        """Make the planner anew, for a vector agent.

        Args:
            owner: the vector agent.
            seeds: the planners' seeds; a wrapper that is not named here makes none.
            request: the algorithm and its options.

        Returns:
            The planner's description and the options that it chose; None where none was made.  An error is returned,
            as one that is raised would end the worker, and the environment with it.
        """
        if self.planner_place() not in seeds:
            return None
        settings: Any = request.fn
        algorithm, options = settings
        try:
            self._agent = make_agent(self.env, algorithm, seed=seeds[self.planner_place()], **options)
        except Exception as error:
            return _sendable(error)
        self._owner = owner
        return self._agent.describe(), choices(self._agent)

    def decide(self, owner: str) -> Decision | Exception:
        """The planned action with its search, for the vector agent that started the planner; an error is returned."""
        try:
            if owner != self._owner:
                raise PlanningError("another agent was made for these environments since; make this one anew")
            return self.planned_action(), None if self._ended else self.agent.result
        except Exception as error:
            return _sendable(error)


def choices(agent: Agent) -> dict[str, Any]:
    """Options by which agents of other environments of the same kind plan in the same way."""
    return {"budget": agent.budget, **agent.chosen}


def _sendable(error: Exception) -> Exception:
    """An error that can be sent to another process; a third party's may hold anything."""
    ours = isinstance(error, RecipeError | PlanningError | gym.error.Error)
    return error if ours else PlanningError(f"{type(error).__name__}: {error}")
