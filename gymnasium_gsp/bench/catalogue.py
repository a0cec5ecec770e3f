"""The catalogue: environments with their optimum, algorithms with their ingredients, presets and guarantee."""

import inspect
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from gymnasium_gsp.algorithms.registry import ALGORITHMS, Algorithm, ingredients_of, make_recipe
from gymnasium_gsp.envs import ENVIRONMENTS, Benchmark
from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.exact import shipped_optima

OPTIMUM_SOURCE = "backward induction over the exact transition law; gymnasium_gsp.exact.compute_optimum(env) repeats it"


def catalogue(name: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Everything in the registries, or what has this name, as JSON can hold it.

    Raises:
        RecipeError: if nothing has this name; names the nearest.
    """
    names = [*(entry.name for entry in ENVIRONMENTS), *ALGORITHMS]
    short = None if name is None else name.removeprefix("GSP/").removesuffix("-v0")
    if short is not None and short not in names:
        raise RecipeError(unknown_name("environment or algorithm", name, names))
    return {
        "environments": [_environment(entry) for entry in ENVIRONMENTS if short in (None, entry.name)],
        "algorithms": [_algorithm(algorithm) for algorithm in ALGORITHMS.values() if short in (None, algorithm.name)],
    }


def title(env: Any) -> str:
    """First line of the docstring of an environment's class; "" where that is a heading."""
    first = (inspect.getdoc(env) or "").partition("\n")[0]
    return "" if first.startswith("#") else first


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
    """An algorithm with its defaults, and the environments that its presets have settings for."""
    recipe = make_recipe(algorithm.name)
    return {
        "name": algorithm.name,
        "citation": algorithm.citation,
        "description": inspect.getdoc(algorithm.recipe),
        "options": algorithm.options(),
        "ingredients": ingredients_of(recipe),
        "recipe": repr(recipe),
        "guarantee": {"covered": not recipe.guarantee, "not_covered_because": list(recipe.guarantee)},
        "presets": {preset: [name for name in known if name != "*"] for preset, known in algorithm.presets.items()},
    }
