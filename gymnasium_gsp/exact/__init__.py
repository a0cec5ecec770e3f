"""Oracles: what planning aims at, computed from exact transition laws."""

from gymnasium_gsp.exact.dynamic_programming import (
    HorizonValues,
    StationaryValues,
    backward_induction,
    steps_until_over,
    truncated_value,
    value_iteration,
)
from gymnasium_gsp.exact.four_rooms import four_rooms_average, goal_values
from gymnasium_gsp.exact.optima import compute_optimum, episode_optimum, optimum, return_discount, shipped_optima
from gymnasium_gsp.exact.regret import Regret
from gymnasium_gsp.exact.state_space import StateSpace, enumerate_model
from gymnasium_gsp.exact.sysadmin import sysadmin_values

__all__ = [
    "HorizonValues",
    "Regret",
    "StateSpace",
    "StationaryValues",
    "backward_induction",
    "compute_optimum",
    "enumerate_model",
    "episode_optimum",
    "four_rooms_average",
    "goal_values",
    "optimum",
    "return_discount",
    "shipped_optima",
    "steps_until_over",
    "sysadmin_values",
    "truncated_value",
    "value_iteration",
]
