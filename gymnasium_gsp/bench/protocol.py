"""A run: which agent plays which environment, how often and with what budget; and what came of it."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.agents.preset_file import is_preset_file, read_preset
from gymnasium_gsp.agents.registry import make_recipe
from gymnasium_gsp.agents.seeding import check_seed
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import optimum
from gymnasium_gsp.search.budget import Budget, as_budget
from gymnasium_gsp.search.recipe import Recipe

_NOT_OPTIONS = ("algorithm", "preset", "env_id")  # what `make_recipe` calls its own arguments


def check_count(name: str, value: Any) -> int:
    """A number of things as an int of at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if isinstance(value, bool) or number < 1:
        raise RecipeError(f"{name} must be a whole number of at least 1, not {value!r}")
    return number


def full_id(env: str) -> str:
    """An environment's id, where the short name of a benchmark will do: FrozenLake is GSP/FrozenLake-v0."""
    return {benchmark.name: benchmark.id for benchmark in BENCHMARKS}.get(env, env)


@dataclass(frozen=True)
class Run:
    """Everything that decides the numbers of a run; it pickles, and holds no live environment.

    Attributes:
        env: an id for `gymnasium.make`, `module:Id` included, or the short name of a benchmark; kept as the full id.
        agent: a registered algorithm, or a recipe.
        budget: what each decision may spend; kept as a `Budget`.
        episodes: how many are played.
        seed: decides the seeds of environment and agent in each episode.
        preset: a named set of options of the algorithm for this environment; or a preset file, whose options then
            stand in `options`.
        options: other options of the algorithm, or slots of the recipe.
        env_options: keyword arguments for `gymnasium.make`.

    Raises:
        RecipeError: for a budget, a number of episodes or a seed that makes no sense.
    """

    env: str
    agent: str | Recipe = "gs-power-uct"
    budget: int | Budget = 256
    episodes: int = 20
    seed: int = 0
    preset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    env_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "env", full_id(self.env))
        if is_preset_file(self.preset):
            agent = self.agent if isinstance(self.agent, str) else "a recipe"
            found = read_preset(str(self.preset), agent, self.env.rpartition(":")[2])
            object.__setattr__(self, "options", {**found, **self.options})
            object.__setattr__(self, "preset", None)
        object.__setattr__(self, "budget", as_budget(self.budget))
        object.__setattr__(self, "episodes", check_count("episodes", self.episodes))
        if check_seed(self.seed) is None:
            raise RecipeError("a run needs a seed, so that it can be repeated; 0 will do")

    def make_env(self) -> gym.Env[Any, Any]:
        """The environment, in any process: a benchmark's id is given with the module that registers it."""
        prefix = "gymnasium_gsp:" if self.env.startswith("GSP/") else ""
        return gym.make(prefix + self.env, **self.env_options)

    def make_agent(self, env: gym.Env[Any, Any]) -> Agent:
        """The agent, bound to an environment that `make_env` made.

        Raises:
            RecipeError: for an unknown algorithm, preset or option, or values that make no sense.
        """
        for name in _NOT_OPTIONS:
            if name in self.options:
                raise RecipeError(f"{name!r} is no option of an algorithm; it has a place of its own in a run")
        recipe = make_recipe(self.agent, preset=self.preset, env_id=env_id(env), **self.options)
        return Agent(env, recipe, as_budget(self.budget), name=self.agent if isinstance(self.agent, str) else "recipe")


def env_id(env: gym.Env[Any, Any]) -> str:
    """The id an environment is registered under, however it was spelt when it was made."""
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


@dataclass(frozen=True)
class Episode:
    """One episode.

    Attributes:
        index: its number in the run, from 0.
        total_reward: the undiscounted return.
        decisions: how many actions were chosen.
        simulations, model_steps, nodes: spent by the searches; nodes are those added.
        seconds: wall-clock time of planning, without that of the environment.
        optimum: exact optimum of the layout drawn at reset; None where a reset draws none.
    """

    index: int
    total_reward: float
    decisions: int
    simulations: int
    model_steps: int
    nodes: int
    seconds: float
    optimum: float | None = None


@dataclass(frozen=True)
class Summary:
    """What a run came to: the object that `gsp run --json` prints.

    Attributes:
        env, agent, preset, budget, episodes, seed: what was run; `agent` is "recipe" for a recipe value, `budget` a
            number of simulations, or the limits by name.
        mean_return: mean undiscounted return of an episode.
        standard_error: of that mean; None for a single episode.
        optimum: exact optimum of the environment, or its mean over the layouts played; None where it is not known.
        decisions, simulations, model_steps: totals.
        seconds: total wall-clock time of planning, summed over jobs.
        nodes_per_decision: mean number of nodes added by a decision.
        recipe: how the agent planned, as the call that makes it.
    """

    env: str
    agent: str
    preset: str | None
    budget: int | dict[str, int | float]
    episodes: int
    seed: int
    mean_return: float
    standard_error: float | None
    optimum: float | None
    decisions: int
    simulations: int
    model_steps: int
    seconds: float
    nodes_per_decision: float
    recipe: str


def known_optimum(env: gym.Env[Any, Any], episodes: Sequence[Episode] = ()) -> float | None:
    """The exact optimum: the mean over the layouts played, or that of the environment; None where it is not known."""
    of_layouts = [episode.optimum for episode in episodes if episode.optimum is not None]
    if of_layouts:
        return float(np.mean(of_layouts))
    try:
        return optimum(env)
    except RecipeError:
        return None


def budget_value(budget: Budget) -> int | dict[str, int | float]:
    """A budget as a number of simulations if it is nothing else, or its limits by name."""
    limits = {item.name: getattr(budget, item.name) for item in fields(budget)}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return given["simulations"] if list(given) == ["simulations"] else given


def standard_error(samples: np.ndarray) -> float | None:
    """Standard error of the mean of independent samples; None for a single one."""
    if len(samples) < 2:
        return None
    if np.ptp(samples) == 0.0:
        return 0.0  # without the dust that the mean of equal numbers leaves
    return float(samples.std(ddof=1) / np.sqrt(len(samples)))


def summarise(run: Run, agent: Agent, env: gym.Env[Any, Any], episodes: Sequence[Episode]) -> Summary:
    """Totals and means over the episodes of a run.

    Args:
        run: what was run.
        agent: an agent that it made.
        env: the environment that this agent is bound to.
        episodes: those that were played, in any order, at least one.
    """
    played = sorted(episodes, key=lambda episode: episode.index)
    returns = np.array([episode.total_reward for episode in played])
    decisions = sum(episode.decisions for episode in played)
    return Summary(
        env=env_id(env),
        agent=agent.name,
        preset=run.preset,
        budget=budget_value(agent.budget),
        episodes=len(played),
        seed=run.seed,
        mean_return=float(returns.mean()),
        standard_error=standard_error(returns),
        optimum=known_optimum(env, played),
        decisions=decisions,
        simulations=sum(episode.simulations for episode in played),
        model_steps=sum(episode.model_steps for episode in played),
        seconds=sum(episode.seconds for episode in played),
        nodes_per_decision=sum(episode.nodes for episode in played) / decisions,
        recipe=repr(agent.recipe),
    )
