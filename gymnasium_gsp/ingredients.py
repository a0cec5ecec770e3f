"""Every name that a recipe's `repr` may use: `eval(repr(recipe), vars(gymnasium_gsp.ingredients))` gives it back.

These are the ingredients in the files of `gymnasium_gsp.search.ingredients`, and what a recipe is made of besides.
"""

from math import inf

from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients import INGREDIENTS
from gymnasium_gsp.search.recipe import GreedySimulations, PairedScenarios, Recipe, SearchValues, Sweep

globals().update(INGREDIENTS)

__all__ = ["Budget", "GreedySimulations", "PairedScenarios", "Recipe", "SearchValues", "Sweep", "inf", *INGREDIENTS]
