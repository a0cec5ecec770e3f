"""Search on top of PPO against PPO alone, and the cost of a learned leaf.

    python -m benchmarks.learned_values play                                        LunarLander-v3 after 50,000 steps
    python -m benchmarks.learned_values play --env CartPole-v1 --training 5000
    python -m benchmarks.learned_values play --batches 0 8 32                       with and without leaf batches
    python -m benchmarks.learned_values cost                                        of a leaf and of a decision
    python -m benchmarks.learned_values quality                                     of decisions with leaf batches

`play` trains as examples/search_on_ppo.py does and searches with its settings, on seeds on which none was chosen.
Every episode is written to a file when it ends; the same command goes on where it was stopped.

`cost` calls the C functions of a leaf's value and prior as the compiled search does, so that the call from C to Python,
the observation and the checks of the answers count, and it times whole decisions.  It is processor time; the smallest
of several rounds counts.

`quality` plans in random processes of 40 states, with their exact values plus noise at the leaves, and gives the regret
of the decision: the best action's exact value less that of the action that was taken.
"""

import argparse
import ctypes
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import PPO

from examples.search_on_ppo import episode, planner
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.agents.agent import Agent, plan
from gymnasium_gsp.agents.sb3 import from_sb3
from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.models.model import Model
from gymnasium_gsp.models.tabular import tabular_model_from_arrays
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon

FIRST_SEED = 2000  # settings were chosen on seeds from 1000 on
CALLS, ROUNDS = 2000, 7
BATCHES = (None, 8, 32)
DISCOUNT, NOISE = 0.9, 0.3
COLUMNS = f"{'leaf batch':>10}{'us a leaf':>14}{'ms a decision':>16}{'leaves a call':>16}"
NETWORKS = {"an MLP of 2 x 64": {}, "the same through torch": {"activation_fn": torch.nn.ELU}}  # ELU is left to torch


def read_episodes(file: Path) -> dict[tuple[str, int], float]:
    """Returns by player and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["player"], row["seed"]): row["return"] for row in map(json.loads, lines)}


def play(env: Any, players: dict[str, Any], seeds: range, file: Path) -> dict[str, list[float]]:
    """Returns of each player on the same seeds; what the file holds already is not played again.

    Args:
        env: the environment.
        players: anything that has `predict`, by name.
        seeds: one episode each; an agent's own stream begins anew with the same seed.
        file: one JSON object a line, appended to.
    """
    known = read_episodes(file)
    for seed in seeds:
        for name, player in players.items():
            if (name, seed) in known:
                continue
            if isinstance(player, Agent):
                player.reset(seed=seed)
            known[name, seed] = episode(env, player, seed)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"player": name, "seed": seed, "return": known[name, seed]}) + "\n")
    return {name: [known[name, seed] for seed in seeds] for name in players}


def table(returns: dict[str, list[float]]) -> str:
    """Mean returns, and differences from the first player over its seeds, with standard errors."""
    first, *_ = returns.values()
    rows = [f"{'player':<28}{'mean return':>16}{'difference':>18}{'in standard errors':>20}"]
    for name, own in returns.items():
        mean, error = np.mean(own), np.std(own, ddof=1) / len(own) ** 0.5
        row = f"{name:<28}{f'{mean:.1f} ({error:.1f})':>16}"
        paired = np.subtract(own, first)
        if paired.any():
            gain, error = paired.mean(), paired.std(ddof=1) / len(own) ** 0.5
            row += f"{f'{gain:+.1f} ({error:.1f})':>18}{gain / error:>20.1f}"
        rows.append(row)
    return "\n".join(rows)


def microseconds(call: Callable[[], object], calls: int) -> float:
    """Processor time of one of so many calls, the smallest of some rounds."""
    best = np.inf
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, time.process_time() - begun)
    return 1e6 * float(best) / calls


def leaf_cost(agent: Agent) -> float:
    """Microseconds of a leaf's value and prior, as the compiled search asks for them, after a first decision."""
    search = agent._search
    assert search is not None
    program, weights, word = search.program, (ctypes.c_double * search.model.actions)(), ctypes.c_uint64(1)
    value, prior = ctypes_type(SIGNATURES["value"]), ctypes_type(SIGNATURES["prior"])
    moment = 0, ctypes.addressof(search.context), search.store.arrays.states.ctypes.data
    if not program.leaf_batch:
        ask_value, ask_prior = value(program.value), prior(program.prior)
        alone = microseconds(lambda: ask_value(*moment, ctypes.addressof(word)), CALLS)
        return alone + microseconds(lambda: ask_prior(*moment, ctypes.addressof(weights)), CALLS)
    note, answer = value(program.value), value(program.answer)

    def batch() -> None:
        for _ in range(program.leaf_batch):
            note(*moment, ctypes.addressof(word))
        answer(*moment, ctypes.addressof(word))

    return microseconds(batch, CALLS // program.leaf_batch) / program.leaf_batch


def costs(env_id: str, model: Any) -> str:
    """A line for each leaf batch: microseconds of a leaf, milliseconds of a decision, and leaves a call."""
    env, learned, rows = gym.make(env_id), from_sb3(model), []
    observation, info = env.reset(seed=0)
    for batch in (None, 1, *BATCHES[1:]):
        sizes: list[int] = []

        def counted(seen: Any, sizes: list[int] = sizes) -> Any:
            sizes.append(len(seen))
            return learned.value_function(seen)

        def agent(value: Callable[[Any], Any], batch: int | None = batch) -> Agent:
            made = planner(env, model, 128, value_function=value, leaf_batch=batch)
            made.plan(observation, info)
            return made

        timed, _ = agent(learned.value_function), agent(counted)
        leaf = leaf_cost(timed)

        def decide(timed: Agent = timed) -> None:
            timed.reset(seed=0)
            timed.plan(observation, info)

        each = f"{np.mean(sizes):.1f}" if batch else "1"
        rows.append(f"{batch or 'none':>10}{leaf:>14.1f}{microseconds(decide, 1) / 1e3:>16.1f}{each:>16}")
    return "\n".join(rows)


def random_process(rng: np.random.Generator, states: int = 40, actions: int = 4) -> tuple[Model, NDArray[np.float64]]:
    """A process without an end, each action with a few likely outcomes, and the exact (states, actions) values."""
    chances = rng.dirichlet(np.full(states, 0.05), size=(states, actions))
    rewards = rng.random((states, actions)) ** 4  # large ones are rare
    exact = np.zeros((states, actions))
    for _ in range(400):
        exact = rewards + DISCOUNT * chances @ exact.max(1)
    return tabular_model_from_arrays(chances, rewards), exact


def quality(decisions: int) -> str:
    """A line for each algorithm and budget: mean regret of a decision for each leaf batch, with standard errors."""
    rows = []
    for name, budget in product(("uct", "puct", "gumbel"), (32, 128)):
        recipe, regrets = make_recipe(name, discount=DISCOUNT, horizon=FixedHorizon(20)), []
        for number in range(decisions):
            rng = np.random.default_rng(number)
            model, exact = random_process(rng)
            values = exact.max(1) + rng.normal(0.0, NOISE, len(exact))
            results = [
                plan(model, 0, recipe, budget, number, value_function=values.__getitem__, leaf_batch=batch)
                for batch in BATCHES
            ]
            regrets.append([exact[0].max() - exact[0, result.action] for result in results])
        means, errors = np.mean(regrets, 0), np.std(regrets, 0, ddof=1) / decisions**0.5
        cells = "".join(f"{f'{mean:.4f} ({error:.4f})':>18}" for mean, error in zip(means, errors, strict=True))
        rows.append(f"{name:<8}{budget:>4}{cells}")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> None:
    """Train and play, or time a leaf and a decision."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learned_values", description="search on top of PPO")
    parser.add_argument("what", choices=("play", "cost", "quality"))
    parser.add_argument("--env", default="LunarLander-v3")
    parser.add_argument("--training", type=int, default=50_000, help="steps of PPO's training, with seed 0")
    parser.add_argument("--budgets", type=int, nargs="+", default=[128], help="simulations")
    parser.add_argument("--batches", type=int, nargs="+", default=[0], help="leaf batches, 0 for none")
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--results", type=Path, help="file of episodes; by default named after the environment")
    given = parser.parse_args(arguments)
    if given.what == "cost":
        for name, options in NETWORKS.items():
            for env_id in ("CartPole-v1", "LunarLander-v3"):
                model = PPO("MlpPolicy", env_id, seed=0, device="cpu", policy_kwargs=options)
                print(f"{env_id}, {name}", COLUMNS, costs(env_id, model), sep="\n")
        return
    if given.what == "quality":
        print(f"{'leaf batch':<12}" + "".join(f"{batch or 'none':>18}" for batch in BATCHES), quality(1000), sep="\n")
        return
    env = gym.make(given.env)
    model = PPO("MlpPolicy", given.env, seed=0, device="cpu").learn(given.training)
    players = {"PPO alone": model}
    for budget in given.budgets:
        for batch in given.batches:
            name = f"{budget} simulations" + (f", batch {batch}" if batch else "")
            players[name] = planner(env, model, budget, leaf_batch=batch or None)
    file = given.results or Path(f"learned-values-{given.env}-{given.training}.jsonl")
    print(table(play(env, players, range(given.first_seed, given.first_seed + given.episodes), file)))


if __name__ == "__main__":
    main()
