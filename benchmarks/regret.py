"""The five benchmarks by regret: what each decision gives up against the exact optimum, summed over an episode.

    python -m benchmarks.regret --algorithms graft gs-power-uct --budgets 16 64 256 --episodes 100

The sum over an episode of V*(s_t) - Q*(s_t, a_t) has the mean of the loss against the optimum, much less noise than the
return, and luck cannot make it negative.  Where the states are too many for a table (SysAdminRing), the loss is that of
the return.  Scores are normalised: 1 - loss / optimum, of the layout that was drawn.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

import gymnasium as gym
import numpy as np

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.envs.compiled_env import CompiledEnv, EnvState
from gymnasium_gsp.exact import backward_induction, enumerate_model, shipped_optima
from gymnasium_gsp.exact.dynamic_programming import HorizonValues
from gymnasium_gsp.search.budget import Budget, as_budget

TOO_LARGE = ("SysAdminRing",)


class Case(NamedTuple):
    """One episode to play."""

    name: str  # of the benchmark
    algorithm: str
    budget: Budget
    kept: bool  # whether the graph is kept between decisions
    seed: int
    episode: int


class Outcome(NamedTuple):
    """What came of it."""

    score: float
    milliseconds: float  # of a decision


@cache
def _oracle(name: str, start: EnvState, steps: int) -> HorizonValues:
    core = gym.make(f"GSP/{name}-v0").unwrapped
    assert isinstance(core, CompiledEnv)
    core.reset(seed=0)
    core.set_state(start)
    return backward_induction(enumerate_model(core.compiled_model(), start.cells, steps), steps)


def play(case: Case) -> Outcome:
    """Play an episode and return its score."""
    env = gym.make(f"GSP/{case.name}-v0")
    core = env.unwrapped
    assert isinstance(core, CompiledEnv)
    env_seed, agent_seed = episode_seeds(case.seed, f"GSP/{case.name}-v0", case.episode)
    observation, info = env.reset(seed=env_seed)
    recipe = gsp.make_recipe(case.algorithm)
    recipe = recipe if case.kept else recipe.changed(retention="decision")
    agent = gsp.make_agent(env, recipe, budget=case.budget, seed=agent_seed)
    start = core.clone_state()
    oracle = None if case.name in TOO_LARGE else _oracle(case.name, start, core.horizon)
    optimum = shipped_optima()[f"GSP/{case.name}-v0"] if oracle is None else oracle.value(start.cells)
    loss, decisions, seconds, done = (optimum if oracle is None else 0.0), 0, 0.0, False
    while not done:
        begun = time.perf_counter()
        action = agent.act(observation, info)
        seconds += time.perf_counter() - begun
        if oracle is not None:
            q = oracle.q_values(core.clone_state().cells, decisions)
            loss += float(q.max() - q[action])
        observation, reward, terminated, truncated, info = env.step(action)
        if oracle is None:
            loss -= float(reward)
        decisions += 1
        done = terminated or truncated
    return Outcome(1.0 - loss / optimum, 1e3 * seconds / decisions)


def row(algorithm: str, budget: Budget, kept: bool, episodes: int, seed: int, jobs: int) -> str:
    """Play a cell of each benchmark; returns its row of the table."""
    names = [benchmark.name for benchmark in BENCHMARKS]
    cases = [Case(name, algorithm, budget, kept, seed, n) for name in names for n in range(episodes)]
    with ProcessPoolExecutor(jobs) as executor:
        outcomes = list(executor.map(play, cases, chunksize=4))
    scores = np.array([outcome.score for outcome in outcomes]).reshape(len(names), episodes)
    means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(episodes)
    times = np.median([outcome.milliseconds for outcome in outcomes])
    cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(means, errors, strict=True)]
    total = f"**{means.mean():.3f}** ({np.sqrt((errors**2).sum()) / len(names):.3f})"
    player = algorithm if kept else f"{algorithm}, fresh graph"
    spent = ", ".join(f"{name}={limit:g}" for name, limit in vars(budget).items() if limit is not None)
    return f"| {spent} | {player} | {' | '.join(cells)} | {total} | {times:.2f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="play the five benchmarks and measure regret")
    parser.add_argument("--algorithms", nargs="+", default=[DEFAULT_ALGORITHM])
    parser.add_argument("--budgets", nargs="+", default=["16", "64", "256"], help="numbers, or Budget(...) values")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--fresh", action="store_true", help="begin each decision with a fresh graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| budget | algorithm |", *(f"{benchmark.name} |" for benchmark in BENCHMARKS), "mean | ms a decision |")
    print("|---|---|" + "---|" * (len(BENCHMARKS) + 2))
    for budget in options.budgets:
        for algorithm in options.algorithms:
            limits = as_budget(parse_value(budget))
            print(row(algorithm, limits, not options.fresh, options.episodes, options.seed, options.jobs), flush=True)


if __name__ == "__main__":
    main()
