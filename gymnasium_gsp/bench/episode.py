"""Playing the episodes of a cell: each by itself, with seeds that do not depend on who plays it."""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import gymnasium as gym

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.cell import Cell, env_id, import_modules, recipe_text
from gymnasium_gsp.bench.executors import start_workers
from gymnasium_gsp.bench.provenance import machine, versions
from gymnasium_gsp.errors import check_count, noting
from gymnasium_gsp.exact import Regret, episode_optimum, return_discount
from gymnasium_gsp.search.result import SearchResult

_AHEAD = 8  # episodes submitted for each process, so that none waits for one that takes long
SPENT = ("simulations", "model_steps", "nodes", "seconds")  # fields of an episode: totals over its searches


@dataclass(frozen=True)
class Episode:
    """One episode of a cell; in a store, one row.

    Attributes:
        index: its number in the cell, from 0.
        total_reward: the return, discounted where the environment says so (`exact.return_discount`).
        decisions: how many actions were chosen.
        simulations, model_steps, nodes: spent by the searches; nodes are those added.
        seconds: wall-clock time of planning, without that of the environment.
        optimum: exact optimum of the layout or the first state drawn at reset; None where a reset draws neither, or it
            is not known.
        regret: sum over the decisions of V*(s) - Q*(s, a), discounted as the return is; None without an exact oracle.
        recipe: how the agent planned, as the call that makes it.
        versions, machine: JSON objects, see `bench.provenance`.
        failure: what ended the episode before its end, in one line, with the traceback below it; "" for an episode that
            was played, and the return of one that was not is NaN.
        modules: imported to play it, with spaces between them.
    """

    index: int
    total_reward: float
    decisions: int
    simulations: int
    model_steps: int
    nodes: int
    seconds: float
    optimum: float | None = None
    regret: float | None = None
    recipe: str = ""
    versions: str = "{}"
    machine: str = "{}"
    failure: str = ""
    modules: str = ""


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
        observation, info = env.reset(seed=0)
        with noting("in a simulation from the first state"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a budget that is too small for its actions
            agent.act(observation, info)


OnDecision = Callable[[SearchResult], object]
"""Called after each decision of an episode."""


def play_episode(cell: Cell, index: int, on_decision: OnDecision | None = None) -> Episode:
    """Play one episode, in an environment and with an agent of its own, so that no episode depends on another."""
    total_reward, weight, done = 0.0, 1.0, False
    results: list[SearchResult] = []
    regret: Regret | None = None
    with closing(cell.make_env()) as env:
        env_seed, agent_seed = episode_seeds(cell.seed, env_id(env), index)
        agent = cell.make_agent(env)
        observation, info = env.reset(seed=env_seed)
        agent.reset(seed=agent_seed)
        draws_layout = getattr(env.unwrapped, "draws_layout", False) and not cell.wrap
        optimum = episode_optimum(env) if draws_layout else None
        while not done:
            step = len(results) + 1
            with noting(f"in a simulation, while step {step} was planned"):
                action = agent.act(observation, info)
            results.append(agent.result)
            root = agent.root
            assert root is not None
            if regret is None:
                regret = Regret(root.model, root.cells, root.steps_left, return_discount(env))
            regret.add(root.cells, agent.result.action)
            if on_decision is not None:
                on_decision(agent.result)
            with noting(f"in step {step} of the real environment"):
                observation, reward, terminated, truncated, info = env.step(action)
            total_reward += weight * float(reward)
            weight *= return_discount(env)
            done = terminated or truncated
    assert regret is not None
    if not hasattr(env.unwrapped, "compiled_model"):
        optimum = regret.optimum
    return Episode(
        index=index,
        total_reward=total_reward,
        decisions=len(results),
        **{name: sum(getattr(result, name) for result in results) for name in SPENT},
        optimum=optimum,
        regret=regret.total,
        recipe=recipe_text(agent),
        versions=versions(),
        machine=machine(),
    )


@dataclass(frozen=True)
class Task:
    """A cell as it is sent to another process.

    Attributes:
        cell: what to play.
        modules: imported there first, as they register what the cell names.
        spec: of the environment, which a script may have registered itself; None where a module does.
    """

    cell: Cell
    modules: tuple[str, ...] = ()
    spec: Any = None

    def prepare(self) -> Cell:
        """The cell, once this process knows everything that it names."""
        import_modules(self.modules)
        if self.spec is not None:
            gym.registry.setdefault(self.cell.env, self.spec)
        warm_up(self.cell)
        return self.cell


def task_of(cell: Cell, modules: Iterable[str] = ()) -> Task:
    """The task of playing a cell anywhere."""
    return Task(cell, tuple(modules), gym.registry.get(cell.env))


def play(
    cell: Cell,
    episodes: int,
    jobs: int = 1,
    modules: Iterable[str] = (),
    on_decision: OnDecision | None = None,
) -> Iterator[Episode]:
    """Play a cell, episode by episode; the order and the numbers do not depend on the number of jobs.

    Bad input is refused here, before the first episode is asked for.

    Args:
        cell: what to play.
        episodes: how many.
        jobs: number of processes; 1 for this one.
        modules: imported by every process first, as they register what the cell names.
        on_decision: called after each decision where this process plays.

    Raises:
        RecipeError: if the cell, the number of episodes or that of jobs makes no sense.
        Exception: whatever the environment raises when it is reset.
    """
    indices = range(check_count("episodes", episodes))
    processes = min(check_count("jobs", jobs), episodes)
    warm_up(cell)
    if processes == 1:
        return (play_episode(cell, index, on_decision) for index in indices)
    return _play_in_processes(task_of(cell, modules), indices, processes)


def _play_in_processes(task: Task, indices: Iterable[int], processes: int) -> Iterator[Episode]:
    running: deque[Future[Episode]] = deque()
    with start_workers(processes) as workers:
        for index in indices:
            running.append(workers.executor().submit(_play_task, task, index))
            if len(running) > _AHEAD * processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def _play_task(task: Task, index: int) -> Episode:
    return play_episode(task.prepare(), index)
