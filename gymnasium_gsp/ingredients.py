"""Every name that a recipe's `repr` may use: `eval(repr(recipe), vars(gymnasium_gsp.ingredients))` gives it back."""

from math import inf

from gymnasium_gsp.search.backup import Cautious, PowerMean
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.entropy import EntropyMixed, SoftValue
from gymnasium_gsp.search.evaluation import Constant, Heuristic, PythonValue, Rollout
from gymnasium_gsp.search.horizon import AdaptiveHorizon, FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients import Custom
from gymnasium_gsp.search.open_loop_planner import OpenLoop
from gymnasium_gsp.search.optimistic_recipe import Confidence, Optimistic
from gymnasium_gsp.search.recipe import Recipe, SearchValues, Sweep
from gymnasium_gsp.search.selection import UCB1, Greedy, PolynomialBonus, Table1, Uniform
from gymnasium_gsp.search.sparse_planner import SparseSampling
from gymnasium_gsp.search.switching_planner import Switching

__all__ = [
    "UCB1",
    "AdaptiveHorizon",
    "Budget",
    "Cautious",
    "Confidence",
    "Constant",
    "Custom",
    "EntropyMixed",
    "FixedHorizon",
    "Greedy",
    "Heuristic",
    "OpenLoop",
    "Optimistic",
    "PolynomialBonus",
    "PowerMean",
    "PythonValue",
    "Recipe",
    "Rollout",
    "SearchValues",
    "SoftValue",
    "SparseSampling",
    "StepsLeft",
    "Sweep",
    "Switching",
    "Table1",
    "Uniform",
    "inf",
]
