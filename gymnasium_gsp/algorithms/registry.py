"""The algorithms that have a name, and how a name or a recipe becomes the recipe to run."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from itertools import product
from typing import Any

from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.recipe import Recipe

Preset = dict[str, dict[str, Any]]
"""Options by the name of an environment; those under "*" hold for all that are named."""


@dataclass(frozen=True)
class Algorithm:
    """A named assembly of ingredients.

    Attributes:
        name: how users call it.
        recipe: function of keyword options that returns a recipe.
        citation: where it comes from.
        presets: by name.
    """

    name: str
    recipe: Callable[..., Recipe]
    citation: str
    presets: dict[str, Preset]

    def options(self) -> list[str]:
        """Names of the options that the algorithm takes: its own, and the slots of a recipe."""
        own = [name for name, p in inspect.signature(self.recipe).parameters.items() if p.kind is p.KEYWORD_ONLY]
        return own + [field.name for field in fields(self.recipe()) if field.name not in own]


ALGORITHMS: dict[str, Algorithm] = {}

DEFAULT_ALGORITHM = "graft"
"""What an agent runs unless told otherwise."""

BENCHMARK_NAMES = ("FrozenLake", "PassengerGrid", "FactoredRiverSwim", "SysAdminRing", "FourRooms")
"""The environments that presets are for, as `gymnasium_gsp.envs` names them; agents know no environment."""


def algorithm(name: str, citation: str, presets: dict[str, Preset]) -> Callable[[Callable], Callable]:
    """Register a function from options to a recipe under a name."""

    def register(function: Callable) -> Callable:
        ALGORITHMS[name] = Algorithm(name, function, citation, presets)
        return function

    return register


def on_benchmarks(shared: dict[str, Any], **selected: Sequence[float]) -> Preset:
    """A preset for the five benchmarks.

    Args:
        shared: options that are the same on all of them.
        **selected: options of which each benchmark has its own value, in the order of BENCHMARK_NAMES.
    """
    columns = [dict(zip(selected, values, strict=True)) for values in zip(*selected.values(), strict=True)]
    return {"*": shared, **dict(zip(BENCHMARK_NAMES, columns or [{}] * len(BENCHMARK_NAMES), strict=True))}


def options_of(other: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say that a recipe function takes the options of another one."""
    return wraps(other, assigned=(), updated=())


def find_algorithm(name: str) -> Algorithm:
    """The algorithm of that name.

    Raises:
        RecipeError: if there is none; names the nearest.
    """
    if name not in ALGORITHMS:
        raise RecipeError(unknown_name("algorithm", name, ALGORITHMS))
    return ALGORITHMS[name]


def preset_options(found: Algorithm, preset: str, env_id: str | None) -> dict[str, Any]:
    """The options of a preset for an environment.

    Args:
        found: the algorithm.
        preset: name of the preset.
        env_id: the environment's full id, such as GSP/FrozenLake-v0.

    Raises:
        RecipeError: if there is no such preset, or none for this environment.
    """
    if not found.presets:
        raise RecipeError(
            f"{found.name} has one setting and no presets, so not {preset!r}: leave it out, or name the algorithm "
            "whose preset it is"
        )
    if preset not in found.presets:
        raise RecipeError(unknown_name(f"preset of {found.name}", preset, found.presets))
    settings = found.presets[preset]
    name = (env_id or "").rpartition("/")[2].rpartition("-v")[0]
    if name not in settings or name == "*":
        known = ", ".join(sorted(key for key in settings if key != "*"))
        raise RecipeError(
            f"preset {preset!r} of {found.name} has settings for {known}, not for {env_id!r}; leave the preset out, "
            "or give the options yourself"
        )
    return {**settings.get("*", {}), **settings[name]}


def make_recipe(
    algorithm: Any,
    *,
    preset: str | None = None,
    env_id: str | None = None,
    others: Iterable[str] = (),
    **overrides: Any,
) -> Any:
    """The recipe for a name with a preset and options, or a recipe with other choices in some slots.

    Args:
        algorithm: a registered algorithm's name, or a recipe.
        preset: a named set of options for the environment.
        env_id: the environment's full id, for the preset.
        others: names that the caller takes itself, to suggest where an option is misspelt.
        **overrides: options of the algorithm, or slots of the recipe.

    Raises:
        RecipeError: for an unknown name, preset or option, with the nearest name; for values that make no sense.
    """
    if isinstance(algorithm, Recipe):
        if preset is not None:
            raise RecipeError(
                f"preset {preset!r} belongs to a named algorithm; a recipe value has its settings already"
            )
        return algorithm.changed(**overrides)
    if not isinstance(algorithm, str):
        raise RecipeError(f"an algorithm is a name or a Recipe, not {algorithm!r}")
    found = find_algorithm(algorithm)
    allowed = found.options()
    for option in overrides:
        if option not in allowed:
            raise RecipeError(unknown_name(f"option of {found.name}", option, [*allowed, *others]))
    options = {**(preset_options(found, preset, env_id) if preset is not None else {}), **overrides}
    recipe = found.recipe(**options)
    _check_effects(found, options, overrides)
    return recipe


def _check_effects(found: Algorithm, options: dict[str, Any], given: Iterable[str]) -> None:
    """Refuse an option of the algorithm whose place is taken by a slot that was given beside it."""
    slots = {field.name for field in fields(Recipe)} - inspect.signature(found.recipe).parameters.keys()

    def matters(name: str, left_out: str) -> bool:
        with_it = {other: value for other, value in options.items() if other != left_out}
        try:
            return found.recipe(**with_it) != found.recipe(**{k: v for k, v in with_it.items() if k != name})
        except RecipeError:
            return False

    for name, slot in product(set(given) - slots, slots.intersection(given)):
        if matters(name, left_out=slot) and not matters(name, left_out=""):
            raise RecipeError(f"{name} of {found.name} means nothing beside {slot}=, which takes its place: give one")


def ingredients_of(recipe: Recipe) -> dict[str, str]:
    """The choice in each slot of a recipe, as `gsp run --set` reads it, without slots that are open or switched off."""
    choices = {field.name: getattr(recipe, field.name) for field in fields(recipe)}
    return {slot: str(choice) for slot, choice in choices.items() if choice is not None and choice is not False}
