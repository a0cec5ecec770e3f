"""Playing the episodes of a cell: each by itself, with seeds that do not depend on who plays it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import gymnasium as gym

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.cell import Cell, check_count, env_id, recipe_text
from gymnasium_gsp.bench.provenance import machine, versions
from gymnasium_gsp.exact import episode_optimum
from gymnasium_gsp.search.budget import SearchResult


@dataclass(frozen=True)
class Episode:
    """One episode of a cell; in a store, one row.

    Attributes:
        index: its number in the cell, from 0.
        total_reward: the undiscounted return.
        decisions: how many actions were chosen.
        simulations, model_steps, nodes: spent by the searches; nodes are those added.
        seconds: wall-clock time of planning, without that of the environment.
        optimum: exact optimum of the layout drawn at reset; None where a reset draws none.
        recipe: how the agent planned, as the call that makes it.
        versions, machine: JSON objects, see `bench.provenance`.
    """

    index: int
    total_reward: float
    decisions: int
    simulations: int
    model_steps: int
    nodes: int
    seconds: float
    optimum: float | None = None
    recipe: str = ""
    versions: str = "{}"
    machine: str = "{}"


@lru_cache(maxsize=1024)
def warm_up(cell: Cell) -> None:
    """Compile or load all that a cell needs, by one decision of one model step; once in a process.

    So no measured time contains it.

    Raises:
        RecipeError: if the cell cannot be played: an unknown name, or options that do not go together.
        Exception: whatever the environment raises when it is reset.
    """
    with closing(cell.make_env()) as env:
        agent = cell.make_agent(env)
        agent.budget = replace(cell.limits(), model_steps=1)
        agent.act(*env.reset(seed=0))


def play_episode(cell: Cell, index: int) -> Episode:
    """Play one episode, in an environment and with an agent of its own, so that no episode depends on another."""
    with closing(cell.make_env()) as env:
        return _play(cell, env, index)


def _play(cell: Cell, env: gym.Env[Any, Any], index: int) -> Episode:
    env_seed, agent_seed = episode_seeds(cell.seed, env_id(env), index)
    agent = cell.make_agent(env)
    observation, info = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    optimum = episode_optimum(env) if getattr(env.unwrapped, "draws_layout", False) else None
    total_reward, done = 0.0, False
    results: list[SearchResult] = []
    while not done:
        action = agent.act(observation, info)
        assert agent.result is not None
        results.append(agent.result)
        observation, reward, terminated, truncated, info = env.step(action)
        total_reward += float(reward)
        done = terminated or truncated
    return Episode(
        index=index,
        total_reward=total_reward,
        decisions=len(results),
        simulations=sum(result.simulations for result in results),
        model_steps=sum(result.model_steps for result in results),
        nodes=sum(result.nodes for result in results),
        seconds=sum(result.seconds for result in results),
        optimum=optimum,
        recipe=recipe_text(agent),
        versions=versions(),
        machine=machine(),
    )
