"""Golden values: whole searches of every algorithm, as numbers that a change to the search must give again.

`python tests/golden.py` plays the cases and writes `golden.json` beside this file; `tests/parity/test_golden.py`
compares.  A case is a few decisions of one episode.
"""

import itertools
import json
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
from naive_parts import Stream, random_table, table_step

import gymnasium_gsp as gsp
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.ingredients import (
    PUCT,
    UCB1,
    Cautious,
    Constant,
    EntropyMixed,
    FixedHorizon,
    GumbelHalving,
    ImprovedPolicy,
    PolynomialBonus,
    PowerMean,
    PriorFunction,
    Recipe,
    Rollout,
    SoftValue,
    Sweep,
)

PATH = Path(__file__).with_name("golden.json")
EXACT = ("action", "visit_counts", "simulations", "model_steps", "nodes", "graph_size", "inherited")
WORDS = ("stopped_by", "at_cap")
REAL = ("value", "q_values")
DEAR = {"gbop": 24, "gbop-d": 24}  # simulations where a decision takes long


def numbers(result):
    """What a result says, as JSON has it."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in ((name, getattr(result, name)) for name in (*EXACT, *WORDS, *REAL))
    }


def episode(env, algorithm, budget, decisions=3, **options):
    """The results of an agent's first decisions in an episode."""
    agent = gsp.make_agent(env, algorithm, budget=budget, seed=11, **options)
    observation, info = env.reset(seed=7)
    results = []
    for _ in range(decisions):
        action = agent.act(observation, info)
        results.append(numbers(agent.result))
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    return results


def walk(recipe, budget=60, left=9, decisions=3, seed=21, max_nodes=None, ends=0):
    """The same in a random process, without any environment."""
    table = random_table(seed, states=8, actions=3, rewards=(0.0, 1.0), steps=None if ends else 5)
    model = gsp.tabular_model(table)
    world, state, results = Stream(7), 0, []
    for elapsed in range(decisions):
        result = gsp.plan(
            model,
            state,
            recipe,
            budget,
            seed=elapsed,
            elapsed=elapsed,
            steps_left=None if left is None else left - elapsed,
            max_nodes=max_nodes,
        )
        results.append(numbers(result))
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            break
    return results


def benchmark_cases():
    """Every algorithm on every benchmark, with its presets and each kind of budget."""
    for entry, (name, found) in itertools.product(BENCHMARKS, gsp.ALGORITHMS.items()):
        budget = DEAR.get(name, 64)
        if entry.name == "SysAdminRing":
            budget //= 2
        for preset in (None, *found.presets):
            yield f"{entry.name} {name} {preset}", gym.make(entry.id), name, budget, {"preset": preset}
        if entry.name in ("FrozenLake", "FactoredRiverSwim"):
            yield f"{entry.name} {name} steps", gym.make(entry.id), name, gsp.Budget(64, model_steps=300), {}
            yield f"{entry.name} {name} nodes", gym.make(entry.id), name, gsp.Budget(budget, nodes=20), {}
            yield f"{entry.name} {name} cap", gym.make(entry.id), name, budget, {"max_nodes": 30}
            yield f"{entry.name} {name} kept", gym.make(entry.id), name, budget, {"retention": "episode"}


def other_cases():
    """Environments with a table, and Python simulators, with and without a time limit."""
    for name in gsp.ALGORITHMS:
        budget = DEAR.get(name, 40)
        bounds = {"reward_bounds": (-10.0, 20.0)}
        yield f"Taxi {name}", gym.make("Taxi-v4"), name, budget, {}
        if name != "sparse-sampling":
            yield f"Taxi simulated {name}", gym.make("Taxi-v4"), name, budget, bounds
            blackjack = gym.make("Blackjack-v1")
            yield f"Blackjack {name}", blackjack, name, budget, {"reward_bounds": (-1.0, 1.5)}


def recipe_cases():
    """Recipes over the choices that change what is stored, and over the ingredients."""
    choices = itertools.product(
        ("path", "state_elapsed", "state"), ("value", "return"), ("running", "current"), ("leaf", "path")
    )
    for key, target, estimator, expansion in choices:
        slots = {"key": key, "target": target, "estimator": estimator, "expansion": expansion}
        yield f"recipe {key} {target} {estimator} {expansion}", Recipe(**slots, decision=Sweep(Cautious(0.3))), {}
    base, prior = {"discount": 0.9}, PriorFunction(lambda state: [1.0 + state, 2.0, 0.5])
    for label, slots, options in (
        ("ucb1 untimed", {"selection": UCB1(0.5, "range")}, {"left": None}),
        ("power mean", {"backup": PowerMean(2.5), "selection": PolynomialBonus(0.3)}, {}),
        ("printed", {"backup": PowerMean(3.0, "printed"), "estimator": "current"}, {}),
        ("fixed horizon", {"horizon": FixedHorizon(3), "expansion": "path"}, {"left": None}),
        ("constant", {"evaluation": Constant(0.25)}, {}),
        ("short playout", {"evaluation": Rollout(steps=2)}, {}),
        ("root selection", {"root_selection": UCB1(2.0)}, {}),
        ("most visits", {"recommendation": "most_visits"}, {}),
        ("cap", {"estimator": "current", "expansion": "path"}, {"max_nodes": 12}),
        ("steps", {"key": "path"}, {"budget": gsp.Budget(60, model_steps=99)}),
        ("nodes", {"key": "path"}, {"budget": gsp.Budget(60, nodes=9)}),
        ("relative", {"selection": EntropyMixed("relative", 0.2), "backup": SoftValue("relative", 0.2)}, {}),
        ("tsallis", {"selection": EntropyMixed("tsallis", 0.2), "backup": SoftValue("tsallis", 0.2)}, {}),
        ("puct", {"selection": PUCT(), "prior": prior}, {}),
        (
            "gumbel",
            {"selection": ImprovedPolicy(), "root_allocation": GumbelHalving(2, 1.0), "prior": prior, "key": "path"},
            {},
        ),
    ):
        yield f"recipe {label}", Recipe(**{**base, **slots}), options


def play():
    """All cases, by name."""
    played = {label: episode(env, name, budget, **options) for label, env, name, budget, options in benchmark_cases()}
    played |= {label: episode(env, name, budget, **options) for label, env, name, budget, options in other_cases()}
    return played | {label: walk(recipe, **options) for label, recipe, options in recipe_cases()}


if __name__ == "__main__":
    rows = [f"{json.dumps(label)}: {json.dumps(results, separators=(',', ':'))}" for label, results in play().items()]
    PATH.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} cases", file=sys.stderr)
