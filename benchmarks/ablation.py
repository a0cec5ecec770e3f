"""The parts and the constants of graft: what the planner scores without each part, and with other constants.

    python -m benchmarks.ablation --budgets 16 64 --episodes 20
    python -m benchmarks.ablation --without scenarios caution
    python -m benchmarks.ablation --constants weight backups

Played are the five benchmarks and three random processes of 15 steps.  A score is 1 - loss / optimum; the loss is the
regret, V*(s_t) - Q*(s_t, a_t) summed over an episode, or that of the return where the states are too many for a table
(SysAdminRing).  All variants play the same episodes, so the last column, the difference to the whole, is a paired one.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import gymnasium_gsp as gsp
from benchmarks.study.random_processes import random_process
from gymnasium_gsp.agents.seeding import agent_stream, episode_seeds
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.exact import HorizonValues, backward_induction, enumerate_model, shipped_optima
from gymnasium_gsp.models.model import Model
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.backup import Cautious, PowerMean
from gymnasium_gsp.search.recipe import PairedScenarios, Recipe, Sweep
from gymnasium_gsp.search.search import Search

Options = dict[str, Any]

WITHOUT: dict[str, Options] = {
    "margin": {"margin": 0.0},
    "growth": {"floor": 0.0},
    "propagation": {"accuracy": 1e9},
    "caution": {"caution": 0.0},
    "scenarios": {"root_allocation": None},
    "memory": {"retention": "decision"},
}
CONSTANTS: dict[str, dict[float, Options]] = {
    "weight": {weight: {"weight": weight} for weight in (0.1, 1.0)},
    "margin": {margin: {"margin": margin} for margin in (0.5, 2.0)},
    "floor": {floor: {"floor": floor} for floor in (0.0125, 0.2)},
    "kappa": {kappa: {"decision": Sweep(Cautious(kappa), 8, 0.5)} for kappa in (0.2, 0.5)},
    "caution": {caution: {"caution": caution} for caution in (0.0, 1.0, 2.0)},
    "passes": {passes: {"decision": Sweep(PowerMean(math.inf), passes, 0.5)} for passes in (2, 32)},
    "novelty": {novelty: {"root_allocation": PairedScenarios(novelty=novelty)} for novelty in (0.3, 0.7)},
    "known": {known: {"root_allocation": PairedScenarios(known=known)} for known in (0.6, 2.0)},
    "evidence": {evidence: {"root_allocation": PairedScenarios(evidence=evidence)} for evidence in (150.0, 1500.0)},
    "backups": {backups: {"backups": backups} for backups in (1, 8)},
}
PROCESSES = ((6, 3), (20, 4), (35, 4))  # states and actions
STEPS = 15

Follow = Callable[[tuple[int, ...], int], tuple[tuple[int, ...], float, bool]]
"""The world's next state, reward, and whether the episode has ended, from a state and an action."""


class Case(NamedTuple):
    """One episode, to be played with each of some recipes."""

    world: str | int  # a benchmark's name, or the number of a random process
    recipes: list[Recipe]
    budget: Budget
    seed: int
    episode: int


class Start(NamedTuple):
    """An episode before its first step."""

    model: Model
    cells: tuple[int, ...]
    steps: int
    oracle: HorizonValues | None
    optimum: float
    follow: Follow


def begin_benchmark(name: str, seed: int, oracle: HorizonValues | None) -> Start:
    """Reset a benchmark; the oracle is that of the same start, None if it is not known yet."""
    core = gym.make(f"GSP/{name}-v0").unwrapped
    assert isinstance(core, CompiledEnv)
    core.reset(seed=seed)
    model, cells, steps = core.compiled_model(), core.clone_state().cells, core.horizon
    optimum = shipped_optima()[f"GSP/{name}-v0"]
    if name != "SysAdminRing":
        oracle = oracle or backward_induction(enumerate_model(model, cells, steps), steps)
        optimum = oracle.value(cells)

    def follow(_: tuple[int, ...], action: int) -> tuple[tuple[int, ...], float, bool]:
        reward, terminated, truncated = core.step(action)[1:4]
        return core.clone_state().cells, float(reward), terminated or truncated

    return Start(model, cells, steps, oracle, optimum, follow)


def begin_process(number: int, seed: int, oracle: HorizonValues | None) -> Start:
    """Begin an episode of a random process; `seed` is that of its draws."""
    model, rng = random_process(100 + number, *PROCESSES[number]), np.random.default_rng(seed)
    oracle = oracle or backward_induction(enumerate_model(model, 0, STEPS), STEPS)

    def follow(cells: tuple[int, ...], action: int) -> tuple[tuple[int, ...], float, bool]:
        assert model.law is not None
        rows = model.law(cells, action)
        _, after, reward, ended = rows[rng.choice(len(rows), p=[row[0] for row in rows])]
        return after, reward, ended

    return Start(model, (0,), STEPS, oracle, oracle.value(0), follow)


def play(start: Start, recipe: Recipe, budget: Budget, seed: int) -> float:
    """Play an episode; returns its score."""
    search, state, loss = Search(start.model, recipe, True), start.cells, 0.0
    for elapsed in range(start.steps):
        search.seed(agent_stream(seed, elapsed))
        result = search.plan(start.model.cells(state), budget, elapsed, start.steps - elapsed)
        if start.oracle is not None:
            q = start.oracle.q_values(state, elapsed)
            loss += float(q.max() - q[result.action])
        state, reward, ended = start.follow(state, result.action)
        if start.oracle is None:
            loss -= reward
        if ended:
            break
    return 1.0 - (loss if start.oracle is not None else start.optimum + loss) / start.optimum


def play_all(case: Case) -> list[float]:
    """Play an episode with each recipe; returns their scores."""
    env_seed, agent_seed = episode_seeds(case.seed, str(case.world), case.episode)
    scores, oracle = [], None
    for recipe in case.recipes:
        begin: Any = begin_process if isinstance(case.world, int) else begin_benchmark
        start = begin(case.world, env_seed, oracle)
        oracle = start.oracle
        scores.append(play(start, recipe, case.budget, agent_seed))
    return scores


def variants(without: list[str], constants: list[str]) -> Iterator[tuple[str, Recipe]]:
    """Name and recipe of each variant, the whole planner first."""
    yield "graft", gsp.make_recipe("graft")
    for part in without:
        yield f"without {part}", gsp.make_recipe("graft", **WITHOUT[part])
    for name in constants:
        for value, options in CONSTANTS[name].items():
            yield f"{name} {value:g}", gsp.make_recipe("graft", **options)


def main() -> None:
    """Print a table for each budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description="the parts of graft")
    parser.add_argument("--without", nargs="*", choices=WITHOUT, help="parts to leave out, one at a time; else all")
    parser.add_argument("--constants", nargs="*", choices=CONSTANTS, help="constants to change; else all")
    parser.add_argument("--budgets", type=int, nargs="+", default=[16, 64], help="simulations of a decision")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    everything = options.without is None and options.constants is None
    without = list(WITHOUT) if everything else options.without or []
    constants = list(CONSTANTS) if everything else options.constants or []
    names, recipes = zip(*variants(without, constants), strict=True)
    worlds = [*(benchmark.name for benchmark in BENCHMARKS), *range(len(PROCESSES))]
    titles = [world if isinstance(world, str) else f"{PROCESSES[world][0]} states" for world in worlds]
    with ProcessPoolExecutor(options.jobs) as executor:
        for limit in options.budgets:
            budget = Budget(simulations=limit)
            cases = [
                Case(world, list(recipes), budget, options.seed, n) for world in worlds for n in range(options.episodes)
            ]
            scores = np.array(list(executor.map(play_all, cases))).reshape(len(worlds), options.episodes, len(names))
            lost = scores - scores[:, :, :1]
            means, behind = scores.mean(axis=1), lost.mean(axis=(0, 1))
            errors = np.sqrt((lost.var(axis=1, ddof=1) / options.episodes).sum(axis=0)) / len(worlds)
            print(f"\n| {limit} simulations |", *(f"{title} |" for title in titles), "mean | difference |")
            print("|---" * (len(worlds) + 3) + "|")
            for number, name in enumerate(names):
                cells = " | ".join(f"{mean:.3f}" for mean in means[:, number])
                average = means[:, number].mean()
                print(
                    f"| {name} | {cells} | {average:.3f} | {behind[number]:+.3f} ({errors[number]:.3f}) |", flush=True
                )


if __name__ == "__main__":
    main()
