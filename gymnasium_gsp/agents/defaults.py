"""What an agent does that was told nothing: its budget, and keys, a hold and a depth where states do not recur.

The same seed must give the same numbers, so no clock decides during a search: a few steps are timed once, and their
cost is rounded to a power of four, which comes out alike on machines of one kind.  Keys and holds depend on no clock.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.binding.binding import Binding
from gymnasium_gsp.binding.probe import View, choose_view
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.evaluation import Constant, Rollout
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients.widening import Widening
from gymnasium_gsp.search.recipe import Recipe

_ALGORITHM, _OPEN_LOOP_ALGORITHM = "gs-power-uct-f", "uct-max"  # where states do not recur; by sequences of actions
SIMULATIONS = 256  # of a compiled model
_DECISION_MICROSECONDS = 64_000
_FEWEST_STEPS = 16
_SIMULATIONS_WANTED = 32  # the depth leaves room for as many
_DEPTHS = (4, 128)

_LOOKAHEAD = 200  # steps of the environment
_SHALLOWEST = 5  # decisions
_REFINED_ACTIONS = 5  # that a state is taken to try where a grid of them refines
_POINTS_WIDENING = Widening(exponent=0.33)  # how fast a state tries more points of such a grid

OtherRecipe = Callable[[str], Recipe | None]
"""The recipe of the algorithm of that name with the user's options; None if it does not take them."""


def other_recipe(options: dict[str, Any]) -> OtherRecipe:
    """A function that makes recipes with these options."""

    def make(name: str) -> Recipe | None:
        try:
            return make_recipe(name, **options)
        except RecipeError:
            return None

    return make


def fit(
    binding: Binding,
    recipe: Recipe,
    budget: Budget | None,
    hold: int | None = None,
    commit: bool | None = None,
    other: OtherRecipe | None = None,
) -> tuple[Budget, Recipe, dict[str, Any]]:
    """Choose what was left open: the budget, a key and a hold for the simulator, a depth for the search.

    Args:
        binding: the environment, before its first decision; its key and its hold are set.
        recipe: how to plan.
        budget: what a decision may spend; None to choose it.
        hold: what the user gave; None to choose it.
        commit: the same.
        other: the recipe of another algorithm, where states do not recur; None if the algorithm was given.

    Returns:
        The budget, the recipe, and the options that were chosen, by name.

    Raises:
        RecipeError: if the budget does not pay for one action that is held as long as the user wants.
    """
    if hold is not None and budget is not None and budget.model_steps is not None and budget.model_steps < hold:
        raise RecipeError(
            f"hold={hold} holds an action for more steps than the {budget.model_steps} model steps of a decision's "
            "budget: give a larger budget, or a smaller hold"
        )
    if not isinstance(binding, SimulatedBinding):
        return budget or Budget(simulations=SIMULATIONS), recipe, {}
    # Sequences of actions have no use for states, and what was learned was learned of single steps.
    plain = binding.state_key == "auto" and (recipe.key == "actions" or recipe.functions)
    steps = None if budget is None else budget.model_steps
    longest = math.inf if steps is None else steps // _actions_tried(binding)
    view = View("exact", hold or 1) if plain else choose_view(binding, hold, longest)
    chosen: dict[str, Any] = {}
    if not view.recurs and binding.state_key == "auto":
        chosen["state_key"] = view.state_key
    if not view.recurs and hold is None:
        chosen["hold"] = view.hold
    binding.key_by(view.state_key)
    binding.hold = view.hold
    if budget is None:
        steps = max(_FEWEST_STEPS, _steps_in(binding, _DECISION_MICROSECONDS))
    elif steps is None and budget.seconds is not None and not view.recurs:
        steps = _steps_in(binding, 1e6 * budget.seconds)
    if other is not None and not view.recurs:
        name = _OPEN_LOOP_ALGORITHM if view.state_key == "actions" else _ALGORITHM
        if (instead := other(name)) is not None:
            recipe, chosen["algorithm"] = instead, name
    if commit is None and binding.hold > 1 and binding.state_key == "actions":
        chosen["commit"] = True
    slots = _fit_slots(recipe, binding, steps, view.recurs, budget is None)
    return budget or Budget(model_steps=steps), replace(recipe, **slots), {**chosen, **slots}


def _actions_tried(binding: SimulatedBinding) -> int:
    """Actions that a state is taken to try."""
    return _REFINED_ACTIONS if binding.actions.refine else binding.actions.count


def _steps_in(binding: SimulatedBinding, microseconds: float) -> int:
    """Steps of the simulator that so much time pays for, by a cost that is rounded up to a power of four."""
    cost = 4.0 ** math.ceil(math.log(max(1.0, 1e6 * binding.step_seconds()), 4.0))
    return int(microseconds / cost)


def _fit_slots(
    recipe: Recipe, binding: SimulatedBinding, steps: int | None, recurs: bool, free: bool
) -> dict[str, Any]:
    """Choose the depth, and what depends on it, for a recipe that would look and play out to the end of the episode.

    Where states recur this is done only if the budget is free: both for as many steps as leave room for some
    simulations.  Where they do not, leaves count 0, and the untried edges of the graph are what is explored.  Of the
    actions of a grid that refines, a state tries more as it is visited more often.

    Args:
        recipe: the recipe.
        binding: the environment, with its key and hold.
        steps: steps of the simulator that a decision pays for; None if that is not known.
        recurs: whether states recur by themselves.
        free: whether the budget was not given.
    """
    learned = recipe.optimism is not None and recipe.optimism.learned
    plays_out = recipe.optimism is None and recipe.evaluation == Rollout()
    chosen: dict[str, Any] = {}
    if recipe.horizon == StepsLeft() and (learned or plays_out) and (free or not recurs):
        if recurs and steps is not None:
            fewest, most = _DEPTHS
            depth = min(most, max(fewest, 2 ** int(math.log2(steps / (2 * _SIMULATIONS_WANTED) or 1))))
        else:
            depth = _LOOKAHEAD // binding.hold
            if steps is not None:
                depth = min(depth, max(_SHALLOWEST, steps // (2 * _actions_tried(binding) * binding.hold)))
        chosen["horizon"] = FixedHorizon(depth)
        if plays_out:
            chosen["evaluation"] = Rollout(steps=depth) if recurs else Constant()
    key = recipe.settled(binding.time_limit is not None).key
    moving_end = (key == "state_elapsed" and "horizon" in chosen) or (key != "state" and binding.hold > 1)
    if moving_end and recipe.retention != "decision":
        chosen["retention"] = "decision"  # the end moves with the root, or the root is no node of the graph before
    if binding.actions.refine and recipe.widening is None:
        chosen["widening"] = _POINTS_WIDENING
    return chosen
