"""The catalogue: environments with their optimum, algorithms with their ingredients, presets and guarantee."""

import inspect
from dataclasses import fields
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from gymnasium_gsp.algorithms.registry import ALGORITHMS, Algorithm, make_recipe
from gymnasium_gsp.envs import BENCHMARKS, ENVIRONMENTS, Benchmark
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.search.recipe import Recipe

OPTIMUM_SOURCE = "backward induction over the exact transition law; recomputed by `python -m gymnasium_gsp.exact`"


def ingredients_of(recipe: Recipe) -> dict[str, str]:
    """The choice in each slot of a recipe, as `gsp run --set` reads it, without slots that are open or switched off."""
    choices = {item.name: getattr(recipe, item.name) for item in fields(recipe)}
    return {slot: str(choice) for slot, choice in choices.items() if choice is not None and choice is not False}


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Everything in the registries, as JSON can hold it."""
    return {
        "environments": [_environment(entry) for entry in ENVIRONMENTS],
        "algorithms": [_algorithm(algorithm) for algorithm in ALGORITHMS.values()],
    }


def title(env: Any) -> str:
    """First line of the docstring of an environment's class."""
    return (inspect.getdoc(env) or "").partition("\n")[0]


def _environment(benchmark: Benchmark) -> dict[str, Any]:
    entry_point = gym.spec(benchmark.id).entry_point
    return {
        "id": benchmark.id,
        "name": benchmark.name,
        "title": title(load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point),
        "max_episode_steps": benchmark.max_episode_steps,
        "optimum": shipped_optima()[benchmark.id],
        "optimum_source": OPTIMUM_SOURCE,
    }


def _algorithm(algorithm: Algorithm) -> dict[str, Any]:
    """An algorithm, and the recipes of its presets by the environments they have settings for."""
    return {
        "name": algorithm.name,
        "citation": algorithm.citation,
        "options": algorithm.options(),
        **_described(make_recipe(algorithm.name)),
        "presets": {
            preset: {
                benchmark.name: _described(make_recipe(algorithm.name, preset=preset, env_id=benchmark.id))
                for benchmark in BENCHMARKS
                if benchmark.name in names
            }
            for preset, names in algorithm.presets.items()
        },
    }


def _described(recipe: Recipe) -> dict[str, Any]:
    return {
        "ingredients": ingredients_of(recipe),
        "recipe": repr(recipe),
        "guarantee": {"covered": not recipe.guarantee, "not_covered_because": list(recipe.guarantee)},
    }
