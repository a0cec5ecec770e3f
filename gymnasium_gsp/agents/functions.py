"""A user's functions of observations, put into the slots of a recipe."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search.ingredients.evaluation import Rollout
from gymnasium_gsp.search.ingredients.functions import PolicyFunction, PriorFunction, ValueFunction
from gymnasium_gsp.search.ingredients.ingredient import Ingredient
from gymnasium_gsp.search.recipe import Recipe

ObservedValue = Callable[[Any], Any]
"""A function of an observation that returns the discounted return to expect from there, one number."""

ObservedWeights = Callable[[Any], Any]
"""A function of an observation that returns one number of at least 0 for each action; their sum is above 0."""


def with_functions(
    recipe: Recipe,
    value_function: ObservedValue | None = None,
    policy: ObservedWeights | None = None,
    prior: ObservedWeights | Ingredient | None = None,
    leaf_batch: int | None = None,
) -> Recipe:
    """The recipe with a user's functions in its slots.

    Raises:
        RecipeError: where the recipe has no use for one of them.
    """
    given = {"value_function": value_function, "policy": policy, "prior": prior}
    names = [name for name, function in given.items() if function is not None]
    if names and recipe.optimism is not None:
        raise RecipeError(
            f"{names[0]} means nothing to a recipe with optimism, such as graft, the default: name an algorithm that "
            'asks it, for instance make_agent(env, "puct", ...)'
        )
    if value_function is not None:
        if policy is not None or recipe.evaluation != Rollout():
            raise RecipeError("a leaf is worth what value_function says or what a playout brings: give one evaluation")
        recipe = recipe.changed(evaluation=ValueFunction(value_function))
    if policy is not None:
        if not isinstance(recipe.evaluation, Rollout) or recipe.evaluation.policy is not None:
            raise RecipeError(f"policy is followed in a playout, and the evaluation is {recipe.evaluation!r}: give one")
        recipe = recipe.changed(evaluation=replace(recipe.evaluation, policy=PolicyFunction(policy)))
    if prior is not None:
        recipe = recipe.changed(prior=prior if isinstance(prior, Ingredient) else PriorFunction(prior))
    return recipe if leaf_batch is None else recipe.changed(leaf_batch=leaf_batch)


def check_spaces(recipe: Recipe, env: Any) -> None:
    """Let every function that knows its spaces, by a method `check_spaces`, compare them with an environment's.

    Raises:
        RecipeError: where they differ.
    """
    for ingredient in recipe.functions:
        check = getattr(ingredient.function, "check_spaces", None)
        if check is not None:
            check(env.observation_space, env.action_space)
