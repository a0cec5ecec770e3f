"""Agents for vectors of environments: a planner for each environment, here or in the environment's own process."""

import secrets
from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import CloudpickleWrapper, batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from gymnasium_gsp.agents.agent import Agent, make_agent
from gymnasium_gsp.agents.seeding import check_seed
from gymnasium_gsp.agents.wrapper import Decision, PlanningWrapper, choices
from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.result import SearchResult

Vector: TypeAlias = Any
"""A vector of environments, Gymnasium's or Stable-Baselines3's, which share no class."""

Seeds: TypeAlias = list[int | None]
"""A seed for each environment's planner; None for entropy."""

NEUTRAL = ("RecordEpisodeStatistics", "RecordVideo", "HumanRendering", "DictInfoToList", "VecMonitor", "VecCheckNan")
"""Wrappers around a whole vector that leave actions, rewards and observations alone."""


class VectorAgent:
    """Plans in each environment of a vector, and changes none of them; see `make_vector_agent`.

    Attributes:
        results: the answer of the last search in each environment; None where there was none.
    """

    def __init__(self, vector: Vector, planners: "LocalPlanners | WrappedPlanners") -> None:
        self.results: list[SearchResult | None] = [None] * vector.num_envs
        self._planners = planners
        if isinstance(vector, gym.vector.VectorEnv):
            self._observations, self._action = vector.observation_space, vector.single_action_space
        else:
            self._observations = batch_space(vector.observation_space, vector.num_envs)
            self._action = vector.action_space

    def act(self, observations: Any, infos: Any = None) -> Any:
        """Plan in each environment from its present state.

        Args:
            observations: the batch that the vector last returned.
            infos: what came with it; needed where it holds an "action_mask" and no `PlanningWrapper` sees it.

        Returns:
            The batch of actions that the vector's `step` takes.  Where an episode has ended and the vector resets at
            its next step, or waits for a reset, any action.

        Raises:
            gymnasium.error.ResetNeeded: if the vector has not been reset.
            PlanningError: if an observation is not that of its environment, or a search failed.
        """
        return self._act(observations, infos, begun=False)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[Any, Any]:
        """The actions in the shape that Stable-Baselines3 expects of a model; arguments and errors as for `act`."""
        # `evaluate_policy` leaves a True for an environment that has played its share; all are True at the start alone.
        begun = episode_start is not None and bool(np.all(episode_start))
        return self._act(observation, None, begun), state

    def describe(self) -> list[dict[str, Any]]:
        """For each environment what `Agent.describe` says."""
        return self._planners.descriptions

    def _act(self, observations: Any, infos: Any, begun: bool) -> Any:
        count = len(self.results)
        singles = list(iterate(self._observations, observations))
        if len(singles) != count:
            raise PlanningError(f"this agent plans in {count} environments, but was given {len(singles)} observations")
        self.results = [None] * count
        decisions = self._planners.decide(singles, [_single_info(infos, index) for index in range(count)], begun)
        actions, self.results = [action for action, _ in decisions], [result for _, result in decisions]
        batch: Any = create_empty_array(self._action, count)
        return concatenate(self._action, actions, batch)


class LocalPlanners:
    """An agent for each environment of a vector in this process; the environments are read directly."""

    def __init__(self, vector: Vector, seeds: Seeds, algorithm: str | Recipe | None, options: dict[str, Any]) -> None:
        self._vector = vector
        self._agents: list[Agent] = []
        for env, seed in zip(vector.envs, seeds, strict=True):
            self._agents.append(make_agent(env, algorithm, seed=seed, **options))
            options = {**options, **choices(self._agents[0])}
            algorithm = options.pop("algorithm", algorithm)
        self._waiting = np.zeros(vector.num_envs, bool)  # at the last decision
        self.descriptions = [agent.describe() for agent in self._agents]

    def decide(self, observations: list[Any], infos: list[Any], begun: bool) -> list[Decision]:
        """Plan where an episode goes on; agents are told where one has begun, as not every environment counts steps."""
        waiting, just_reset = self._after_last_step()
        new = begun | self._waiting | just_reset
        decisions: list[Decision] = []
        for index, agent in enumerate(self._agents):
            if waiting[index]:
                decisions.append((agent.any_action(), None))
                continue
            info = infos[index]
            if new[index]:
                agent.reset()
            if "terminal_observation" in (info or {}):  # Stable-Baselines3 keeps the info of the reset elsewhere
                info = self._vector.reset_infos[index]
            decisions.append((agent.act(observations[index], info), agent.result))
        self._waiting = waiting
        return decisions

    def _after_last_step(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The environments that are to be reset before they go on, and those that the last step has reset."""
        none = np.zeros(len(self._agents), bool)
        if not isinstance(self._vector, SyncVectorEnv):
            return none, self._vector.buf_dones.copy()
        ended = self._vector._autoreset_envs.copy()
        return (none, ended) if self._vector.autoreset_mode == AutoresetMode.SAME_STEP else (ended, none)


class WrappedPlanners:
    """The planners of the `PlanningWrapper`s around a vector's environments, each in its environment's process."""

    def __init__(self, vector: Vector, seeds: Seeds, algorithm: str | Recipe | None, options: dict[str, Any]) -> None:
        self._vector, self._owner = vector, secrets.token_hex(8)
        places = _call(vector, "planner_place")
        by_place = dict(zip(places, seeds, strict=True))
        first = {places[0]: by_place.pop(places[0])}  # it chooses a budget for all
        self.descriptions: list[dict[str, Any]] = []
        for some in filter(None, (first, by_place)):
            settings: Any = (algorithm, options)
            answers = self._ask("start_planner", some, CloudpickleWrapper(settings))
            started = [answer for answer in answers if answer is not None]
            self.descriptions += [description for description, _ in started]
            options = {**options, **started[0][1]}
            algorithm = options.pop("algorithm", algorithm)

    def decide(self, observations: list[Any], infos: list[Any], begun: bool) -> list[Decision]:
        """Plan where an episode goes on; the wrappers have seen what their environments returned last."""
        return self._ask("decide")

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        answers = _call(self._vector, method, self._owner, *arguments)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


def make_vector_agent(
    envs: Vector,
    algorithm: str | Recipe | None = None,
    *,
    seed: int | Sequence[int | None] | None = None,
    **options: Any,
) -> VectorAgent:
    """Make an agent that plans in each environment of a vector.

    The environments of Gymnasium's `SyncVectorEnv` and of Stable-Baselines3's `DummyVecEnv` are read directly.  Those
    of `AsyncVectorEnv` and `SubprocVecEnv` live in other processes, and are planned in there, side by side: put
    `PlanningWrapper` around each of them, outermost.  It works in the others as well.

    Args:
        envs: the vector, in any autoreset mode.
        algorithm: a registered algorithm's name, or a recipe; None to choose it.
        seed: seed of the first environment's planner, the next one has the next number; or a list of seeds.  Each
            planner decides as an agent with its seed would in its environment alone.
        **options: of `make_agent`.  A budget that is not given is chosen in the first environment, for all.

    Raises:
        RecipeError: for a vector whose environments are out of reach, with what to do, and as `make_agent` does.
    """
    vector = _bare_vector(envs)
    seeds = _seeds(seed, vector.num_envs)
    if _has_planning_wrappers(vector):
        return VectorAgent(vector, WrappedPlanners(vector, seeds, algorithm, options))
    if isinstance(vector, SyncVectorEnv) or hasattr(vector, "buf_dones"):
        return VectorAgent(vector, LocalPlanners(vector, seeds, algorithm, options))
    if isinstance(vector, gym.vector.VectorEnv) and not isinstance(vector, gym.vector.AsyncVectorEnv):
        raise RecipeError(
            f"{type(vector).__name__} computes all its environments at once, and has none to plan in: take "
            "gymnasium.make_vec(id, n, 'sync')"
        )
    raise RecipeError(
        f"the environments of {type(vector).__name__} are out of reach. In other processes, each needs a "
        "gymnasium_gsp.PlanningWrapper: gymnasium.make_vec(id, n, 'async', wrappers=[gymnasium_gsp.PlanningWrapper]), "
        "or make_vec_env(id, n, wrapper_class=gymnasium_gsp.PlanningWrapper, vec_env_cls=SubprocVecEnv)"
    )


def _bare_vector(envs: Any) -> Vector:
    """The vector without wrappers around the whole of it.

    Raises:
        RecipeError: if it is no vector, or a wrapper may change what the planners see.
    """
    while (inner := getattr(envs, "env" if isinstance(envs, gym.vector.VectorWrapper) else "venv", None)) is not None:
        name = type(envs).__name__
        if name not in NEUTRAL:
            raise RecipeError(
                f"{name} is wrapped around the whole vector, and planners see single environments: put a wrapper that "
                "does the same around each of them"
            )
        envs = inner
    if not (isinstance(envs, gym.vector.VectorEnv) or hasattr(envs, "env_method")):
        raise RecipeError(
            "make_vector_agent takes a vector of environments (SyncVectorEnv, AsyncVectorEnv, DummyVecEnv, "
            f"SubprocVecEnv), not {envs!r}; for one environment there is make_agent"
        )
    return envs


def _call(vector: Vector, method: str, *arguments: Any) -> list[Any]:
    """The answer of a method of each environment."""
    call = vector.env_method if hasattr(vector, "env_method") else vector.call
    return list(call(method, *arguments))


def _has_planning_wrappers(vector: Vector) -> bool:
    if not (hasattr(vector, "env_method") or hasattr(vector, "call")):
        return False
    if not all(_call(vector, "has_wrapper_attr", "start_planner")):
        return False
    outermost = set(_call(vector, "class_name"))
    if outermost != {PlanningWrapper.__name__}:
        raise RecipeError(
            f"PlanningWrapper plans in what it is wrapped around, and {', '.join(sorted(outermost))} is around it: "
            "make PlanningWrapper the outermost wrapper of each environment"
        )
    return True


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> Seeds:
    """A seed for each environment."""
    if isinstance(seed, list | tuple):
        if len(seed) != count:
            raise RecipeError(f"{len(seed)} seeds were given for {count} environments")
        return [check_seed(one) for one in seed]
    first = check_seed(seed)
    return [None if first is None else first + index for index in range(count)]


def _single_info(infos: Any, index: int) -> dict[str, Any] | None:
    """The mask of one environment, from Gymnasium's dict of arrays or from a list of infos."""
    if not isinstance(infos, dict):
        return None if infos is None else infos[index]
    told = infos.get("_action_mask")
    return {"action_mask": infos["action_mask"][index]} if told is not None and told[index] else {}
