"""The planners of the study of convergence: trees, graphs of (state, depth) and graphs of states, leaf and path."""

import math
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.agents.registry import make_recipe
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon

DISCOUNT = 0.7  # of the graphs of states on random processes, which have no time limit
TRUNCATED, STATIONARY = "truncated", "discounted, without end"
TREE, DEPTH, STATE = "tree", "graph of (state, depth)", "graph of states"
INFINITE = "\N{INFINITY}"


@dataclass(frozen=True)
class Planner:
    """One line of the study.

    Attributes:
        name: of the planner.
        family: TREE, DEPTH or STATE.
        recipe: how it plans.
        target: which exact value its error is measured against.
    """

    name: str
    family: str
    recipe: Any
    target: str = TRUNCATED


_PRINTED: dict[str, Any] = {
    "c": 0.5,
    "scale": "raw",
    "estimator": "running",
    "decision": None,
    "retention": "decision",
}


def _recipe(name: str, **options: Any) -> Any:
    return make_recipe(name, **options)


def random_planners(horizon: int) -> list[Planner]:
    """All variants for random processes: trees and (state, depth) to a time limit, states discounted without one.

    C is 0.5 where it is not named.  Means are measured with a small C too: the bonus tells actions apart that differ by
    D only after some (C / D)^4 visits, and before that every mean is off by what the worse ones take of it.
    """
    raw, small = {"c": 0.5, "scale": "raw"}, {**_PRINTED, "c": 0.1}
    untimed = {"discount": DISCOUNT, "evaluation": Constant(0.0)}
    found = [
        Planner("uct", TREE, _recipe("uct")),
        Planner("power-uct, p = 2", TREE, _recipe("power-uct", **raw)),
        Planner(f"power-uct, p = {INFINITE}", TREE, _recipe("power-uct", p=math.inf, **raw)),
        Planner("gs-power-uct, p = 1, leaf", DEPTH, _recipe("gs-power-uct", **_PRINTED, p=1.0, expansion="leaf")),
        Planner("gs-power-uct, p = 2, leaf", DEPTH, _recipe("gs-power-uct", **_PRINTED, p=2.0, expansion="leaf")),
        Planner("gs-power-uct, p = 1, leaf, C = 0.1", DEPTH, _recipe("gs-power-uct", **small, p=1.0, expansion="leaf")),
        Planner("gs-power-uct, p = 2, leaf, C = 0.1", DEPTH, _recipe("gs-power-uct", **small, p=2.0, expansion="leaf")),
        Planner(f"gs-power-uct, p = {INFINITE}, leaf", DEPTH, _recipe("gs-power-uct", **_PRINTED, expansion="leaf")),
        Planner(f"gs-power-uct, p = {INFINITE}, path", DEPTH, _recipe("gs-power-uct", **_PRINTED)),
        Planner("gs-power-uct, default", DEPTH, _recipe("gs-power-uct")),
    ]
    for expansion in ("leaf", "path"):
        full = _recipe("gs-power-uct-f", **_PRINTED, **untimed, expansion=expansion, horizon=FixedHorizon(horizon))
        for target, words in ((TRUNCATED, "truncated"), (STATIONARY, "without end")):
            found.append(Planner(f"f, H = {horizon}, {expansion}, to V {words}", STATE, full, target))
    for expansion in ("leaf", "path"):
        plus = _recipe("gs-power-uct-f+", **_PRINTED, **untimed, expansion=expansion)
        found.append(Planner(f"f+, {expansion}, to V without end", STATE, plus, STATIONARY))
    default = _recipe("gs-power-uct-f+", **untimed)
    return [*found, Planner("f+, default, to V without end", STATE, default, STATIONARY)]


def benchmark_planners(env_id: str) -> list[Planner]:
    """The variants for a benchmark, with the paper's constants, at discount 1; F and F+ are one planner there."""
    return [
        Planner("uct", TREE, _recipe("uct", preset="paper", env_id=env_id)),
        Planner("power-uct", TREE, _recipe("power-uct", preset="printed", env_id=env_id)),
        Planner("gs-power-uct, leaf", DEPTH, _recipe("gs-power-uct", preset="printed", env_id=env_id)),
        Planner("gs-power-uct, path", DEPTH, _recipe("gs-power-uct", preset="paper", env_id=env_id)),
        Planner("gs-power-uct, default", DEPTH, _recipe("gs-power-uct")),
        Planner("f = f+, leaf", STATE, _recipe("gs-power-uct-f+", preset="printed", env_id=env_id)),
        Planner("f = f+, path", STATE, _recipe("gs-power-uct-f+", preset="paper", env_id=env_id)),
    ]
