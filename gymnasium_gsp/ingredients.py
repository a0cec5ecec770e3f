"""Every name that a recipe's `repr` may use: `eval(repr(recipe), vars(gymnasium_gsp.ingredients))` gives it back."""

from math import inf

from gymnasium_gsp.search.backup import Cautious, PowerMean
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.evaluation import Constant, Heuristic, PythonValue, Rollout
from gymnasium_gsp.search.horizon import AdaptiveHorizon, FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients import Custom
from gymnasium_gsp.search.recipe import Recipe, SearchValues, Sweep
from gymnasium_gsp.search.selection import UCB1, Greedy, PolynomialBonus, Table1, Uniform

__all__ = [
    "UCB1",
    "AdaptiveHorizon",
    "Budget",
    "Cautious",
    "Constant",
    "Custom",
    "FixedHorizon",
    "Greedy",
    "Heuristic",
    "PolynomialBonus",
    "PowerMean",
    "PythonValue",
    "Recipe",
    "Rollout",
    "SearchValues",
    "StepsLeft",
    "Sweep",
    "Table1",
    "Uniform",
    "inf",
]
