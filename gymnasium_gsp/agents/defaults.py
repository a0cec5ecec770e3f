"""A budget for an agent that was given none, by what a step costs: a tenth of a second a decision, or about that.

The same seed must give the same numbers, so no clock decides during a search: a few steps are timed once, and their
cost is rounded to a power of four, which comes out alike on machines of one kind.
"""

import math
from dataclasses import replace
from typing import Any

from gymnasium_gsp.binding.binding import Binding
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.evaluation import Rollout
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon, StepsLeft
from gymnasium_gsp.search.recipe import Recipe

SIMULATIONS = 256  # of a compiled model
_DECISION_MICROSECONDS = 64_000
_FEWEST_STEPS = 16
_SIMULATIONS_WANTED = 32  # the depth leaves room for as many
_DEPTHS = (4, 128)


def fit_budget(binding: Binding, recipe: Recipe) -> tuple[Budget, Recipe, dict[str, str]]:
    """A budget and a depth for a decision.

    Where a step runs Python, the budget is in model steps, and a recipe that would look and play out to the end of the
    episode does both for as many steps as leave room for some simulations.

    Returns:
        The budget, the recipe, and the recipe's options that were chosen, as text by name.
    """
    if not isinstance(binding, SimulatedBinding):
        return Budget(simulations=SIMULATIONS), recipe, {}
    cost = 4.0 ** math.ceil(math.log(max(1.0, 1e6 * binding.step_seconds()), 4.0))
    steps = max(_FEWEST_STEPS, int(_DECISION_MICROSECONDS / cost))
    options = {}
    learned = recipe.optimism is not None and recipe.optimism.learned
    plays_out = recipe.optimism is None and recipe.evaluation == Rollout()
    if recipe.horizon == StepsLeft() and (learned or plays_out):
        fewest, most = _DEPTHS
        depth = min(most, max(fewest, 2 ** int(math.log2(steps / (2 * _SIMULATIONS_WANTED) or 1))))
        chosen: dict[str, Any] = {"horizon": FixedHorizon(depth)}
        if plays_out:
            chosen["evaluation"] = Rollout(steps=depth)
        if recipe.settled(binding.time_limit is not None).key == "state_elapsed":  # a depth that moves with the root
            chosen["retention"] = "decision"
        recipe = replace(recipe, **chosen)
        options = {name: str(value) for name, value in chosen.items()}
    return Budget(model_steps=steps), recipe, options
