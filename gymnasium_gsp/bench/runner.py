"""Playing the episodes of a run, here or in several processes, with the same numbers either way."""

import importlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import cloudpickle
import gymnasium as gym

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.protocol import Episode, Run, check_count, env_id
from gymnasium_gsp.exact import episode_optimum
from gymnasium_gsp.search.budget import as_budget


def play(run: Run, jobs: int = 1) -> Iterator[Episode]:
    """Play a run, episode by episode; the order and the numbers do not depend on the number of jobs.

    What cannot be run is refused here, before the first episode is asked for, and everything is compiled here, so that
    no process has to wait for it and no measured time contains it.

    Args:
        run: what to play.
        jobs: number of processes; 1 for this one.

    Raises:
        RecipeError: if the run or the number of jobs makes no sense.
        Exception: whatever the environment raises when it is made or reset.
    """
    processes = min(check_count("jobs", jobs), run.episodes)
    warm(run)
    if processes == 1:
        return (play_episode(run, index) for index in range(run.episodes))
    return _play_in_processes(run, processes)


def warm(run: Run) -> None:
    """Compile or load all that a run needs, by one decision of one model step that nobody sees."""
    env = run.make_env()
    try:
        agent = run.make_agent(env)
        agent.budget = replace(as_budget(run.budget), model_steps=1)
        observation, info = env.reset(seed=0)
        agent.act(observation, info)
    finally:
        env.close()


def play_episode(run: Run, index: int) -> Episode:
    """Play one episode, in an environment and with an agent of its own, so that no episode depends on another."""
    env = run.make_env()
    try:
        return _play(run, env, index)
    finally:
        env.close()


def _play(run: Run, env: gym.Env[Any, Any], index: int) -> Episode:
    env_seed, agent_seed = episode_seeds(run.seed, env_id(env), index)
    agent = run.make_agent(env)
    observation, info = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    optimum = episode_optimum(env) if getattr(env.unwrapped, "draws_layout", False) else None
    total_reward, done = 0.0, False
    results: list[Any] = []
    while not done:
        action = agent.act(observation, info)
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
    )


def _play_in_processes(run: Run, processes: int) -> Iterator[Episode]:
    from joblib import Parallel, delayed

    parcel = pack(run)
    tasks = (delayed(_play_parcel)(parcel, index) for index in range(run.episodes))
    yield from Parallel(n_jobs=processes, return_as="generator", batch_size=1)(tasks)


def _play_parcel(parcel: bytes, index: int) -> Episode:
    return play_episode(unpack(parcel), index)


def pack(run: Run, modules: Sequence[str] = ()) -> bytes:
    """A run for other processes, with the modules that register what it names.

    An environment that a script has registered itself is unknown there, so its spec goes along.
    """
    return cloudpickle.dumps((tuple(modules), run, gym.registry.get(run.env)))


@lru_cache(maxsize=1024)
def unpack(parcel: bytes) -> Run:
    """The run in a parcel, once per process, so that functions in its recipe are compiled once."""
    modules, run, spec = pickle.loads(parcel)
    for module in modules:
        importlib.import_module(module)
    if spec is not None:
        gym.registry.setdefault(run.env, spec)
    warm(run)
    return run
