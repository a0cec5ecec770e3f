"""A planner inside the environment, for vectors of environments: one in each, asked through `VectorEnv.call`."""

from typing import Any, ClassVar, SupportsFloat

import gymnasium as gym

from gymnasium_gsp.agents.agent import Agent, make_agent
from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM
from gymnasium_gsp.search.recipe import Recipe


class PlanningWrapper(gym.Wrapper, gym.utils.RecordConstructorArgs):
    """A wrapper that changes nothing about an environment, and plans on request.

        envs = gym.vector.AsyncVectorEnv([lambda seed=seed: PlanningWrapper(gym.make("Taxi-v4"), seed=seed) for ...])
        observations, infos = envs.reset(seed=0)
        while ...:
            actions = np.array(envs.call("planned_action"))
            observations, rewards, terminations, truncations, infos = envs.step(actions)

    In an `AsyncVectorEnv` the planners run side by side.  After an episode has ended, where a vector that resets at
    the next step ignores the action, it answers at once with any action.

    Args:
        env: the environment, wrapped or not.
        algorithm: a registered algorithm, or a recipe.
        **options: of `make_agent`.
    """

    gsp_neutral: ClassVar[bool] = True

    def __init__(self, env: gym.Env, algorithm: str | Recipe = DEFAULT_ALGORITHM, **options: Any) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, algorithm=algorithm, **options)
        gym.Wrapper.__init__(self, env)
        self.agent: Agent = make_agent(env, algorithm, **options)
        self._last: tuple[object, dict[str, Any]] | None = None
        self._ended = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment, and tell the planner."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._last, self._ended = (observation, info), False
        self.agent.reset()
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
            raise gym.error.ResetNeeded("the environment has not been reset; call reset() before planned_action()")
        if self._ended:
            return self.agent.any_action()
        return self.agent.act(*self._last)
