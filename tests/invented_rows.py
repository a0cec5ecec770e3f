"""Invented episodes around the published means, for tests that look at numbers, tables and pages."""

import json

import numpy as np
import pandas as pd

from gymnasium_gsp.bench.published import published_rewards

VERSIONS = json.dumps({"gymnasium_gsp": "0.1.0", "numpy": "2.0"})
MACHINE = json.dumps({"cpu": "a processor", "cores": 2, "system": "Linux"})
ROW = {
    "env": "GSP/FrozenLake-v0",
    "algorithm": "uct",
    "preset": "paper",
    "budget": 64,
    "seed": 0,
    "options": "",
    "env_options": "",
    "wrap": "",
    "simulator": "",
    "index": 0,
    "total_reward": 0.0,
    "decisions": 10,
    "simulations": 640,
    "model_steps": 6400,
    "nodes": 600,
    "seconds": 0.01,
    "optimum": None,
    "regret": None,
    "recipe": "Recipe()",
    "versions": VERSIONS,
    "machine": MACHINE,
    "failure": "",
    "modules": "",
}


def row(**changes):
    """One episode by the columns of a store."""
    assert set(changes) <= set(ROW)
    return ROW | changes


def rows(returns, **cell):
    """One cell with these returns."""
    return [row(index=index, total_reward=float(value), **cell) for index, value in enumerate(returns)]


def frame(rows):
    """Episodes as a store gives them."""
    return pd.DataFrame(rows, columns=list(ROW))


def paper(episodes=40, envs=None, algorithms=None, budgets=None, shift=0.0):
    """Rows around the published means, with the published spread; `shift` is added to every return."""
    rng = np.random.default_rng(7)
    found = []
    for (env, algorithm, budget), cell in published_rewards().items():
        if any(
            wanted is not None and value not in wanted
            for value, wanted in ((env, envs), (algorithm, algorithms), (budget, budgets))
        ):
            continue
        spread = cell.standard_error * cell.runs**0.5
        optimum = 0.59 if env == "FourRooms" else None
        if env == "FrozenLake":
            returns = shift + (rng.random(episodes) < cell.mean)
        else:
            shape = (cell.mean / spread) ** 2 if spread else 1.0
            returns = shift + rng.gamma(shape, cell.mean / shape, episodes) if spread else np.full(episodes, cell.mean)
        found += rows(
            returns,
            env=f"GSP/{env}-v0",
            algorithm=algorithm,
            budget=budget,
            optimum=optimum,
            recipe=f"Recipe({algorithm})",
            seconds=1e-5 * budget,
            nodes=9 * budget,
        )
    return found
