"""The catalogue: environments with their optimum, algorithms with their ingredients, presets and guarantee."""

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from gymnasium_gsp.algorithms.registry import ALGORITHMS, Algorithm, make_recipe, preset_options
from gymnasium_gsp.envs import BENCHMARKS, Benchmark
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.search.recipe import Recipe

OPTIMUM_SOURCE = "backward induction over the exact transition law; recomputed by `python -m gymnasium_gsp.exact`"


def short(value: Any) -> str:
    """A choice in few words, as `gsp run --set` reads it: what is None is left out."""
    if is_dataclass(value):
        given = {item.name: getattr(value, item.name) for item in fields(value)}
        words = [f"{name}={short(choice)}" for name, choice in given.items() if choice is not None]
        return f"{type(value).__name__}({', '.join(words)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(short, value))},)"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def ingredients_of(recipe: Recipe) -> dict[str, str]:
    """The choice in each slot of a recipe, in few words, without the slots that are left open or switched off."""
    choices = {item.name: getattr(recipe, item.name) for item in fields(recipe)}
    return {slot: short(choice) for slot, choice in choices.items() if choice is not None and choice is not False}


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Everything in the registries, as JSON can hold it."""
    return {
        "environments": [_environment(benchmark) for benchmark in BENCHMARKS],
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
    return {
        "name": algorithm.name,
        "citation": algorithm.citation,
        "options": algorithm.options(),
        **_described(make_recipe(algorithm.name)),
        "presets": {preset: _preset(algorithm, preset) for preset in algorithm.presets},
    }


def _preset(algorithm: Algorithm, preset: str) -> dict[str, Any]:
    """The recipes of a preset by the environments it has settings for."""
    ids = {benchmark.name: benchmark.id for benchmark in BENCHMARKS}
    return {
        name: _described(algorithm.recipe(**preset_options(algorithm, preset, ids[name])))
        for name in algorithm.presets[preset]
        if name in ids
    }


def _described(recipe: Recipe) -> dict[str, Any]:
    return {
        "ingredients": ingredients_of(recipe),
        "recipe": repr(recipe),
        "guarantee": {"covered": not recipe.guarantee, "not_covered_because": list(recipe.guarantee)},
    }
