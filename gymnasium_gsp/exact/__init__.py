"""Oracles: what planning aims at, computed from exact transition laws."""

from gymnasium_gsp.exact.cross_depth import CrossDepthGap, cross_depth_gap
from gymnasium_gsp.exact.dynamic_programming import (
    HorizonValues,
    StationaryValues,
    backward_induction,
    policy_evaluation,
    policy_values,
    truncated_value,
    uniform_policy,
    value_iteration,
)
from gymnasium_gsp.exact.four_rooms import four_rooms_average, goal_values
from gymnasium_gsp.exact.optima import episode_optimum, optimum, recompute, shipped_optima
from gymnasium_gsp.exact.state_keyed import depth_mixture, state_keyed_limit, visits_by_depth
from gymnasium_gsp.exact.state_space import StateSpace, enumerate_model
from gymnasium_gsp.exact.sysadmin import sysadmin_values

__all__ = [
    "CrossDepthGap",
    "HorizonValues",
    "StateSpace",
    "StationaryValues",
    "backward_induction",
    "cross_depth_gap",
    "depth_mixture",
    "enumerate_model",
    "episode_optimum",
    "four_rooms_average",
    "goal_values",
    "optimum",
    "policy_evaluation",
    "policy_values",
    "recompute",
    "shipped_optima",
    "state_keyed_limit",
    "sysadmin_values",
    "truncated_value",
    "uniform_policy",
    "value_iteration",
    "visits_by_depth",
]
