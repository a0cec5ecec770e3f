"""The planners of the convergence study: trees, graphs of (state, depth) and graphs of states."""

import math
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon

DISCOUNT = 0.7  # of graphs of states on random processes, which have no time limit
TRUNCATED, STATIONARY = "truncated", "discounted, without end"
TREE, DEPTH, STATE = "tree", "graph of (state, depth)", "graph of states"
INFINITE = "\N{INFINITY}"


@dataclass(frozen=True)
class Planner:
    """One planner.

    Attributes:
        name: for tables.
        family: TREE, DEPTH or STATE.
        recipe: its recipe.
        target: the exact value that its error is measured against.
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


def random_planners(horizon: int) -> list[Planner]:
    """Return the planners for random processes: graphs of states discount and have no time limit, the others have one.

    C is 0.5 unless named.  Means are also measured with a small C: the bonus separates actions that differ by D only
    after about (C / D)^4 visits, and until then the worse actions bias every mean.
    """
    raw: dict[str, Any] = {"c": 0.5, "scale": "raw"}
    untimed: dict[str, Any] = {"discount": DISCOUNT, "evaluation": Constant(0.0)}
    found = [
        Planner("uct", TREE, make_recipe("uct")),
        Planner("power-uct, p = 2", TREE, make_recipe("power-uct", **raw)),
        Planner(f"power-uct, p = {INFINITE}", TREE, make_recipe("power-uct", p=math.inf, **raw)),
    ]
    for words, changes in (("", {}), (", C = 0.1", {"c": 0.1})):
        for p in (1, 2):
            recipe = make_recipe("gs-power-uct", **{**_PRINTED, **changes}, p=float(p), expansion="leaf")
            found.append(Planner(f"gs-power-uct, p = {p}, leaf{words}", DEPTH, recipe))
    for expansion in ("leaf", "path"):
        recipe = make_recipe("gs-power-uct", **_PRINTED, expansion=expansion)
        found.append(Planner(f"gs-power-uct, p = {INFINITE}, {expansion}", DEPTH, recipe))
    found.append(Planner("gs-power-uct, default", DEPTH, make_recipe("gs-power-uct")))
    for expansion in ("leaf", "path"):
        recipe = make_recipe(
            "gs-power-uct-f", **_PRINTED, **untimed, expansion=expansion, horizon=FixedHorizon(horizon)
        )
        for target, words in ((TRUNCATED, "truncated"), (STATIONARY, "without end")):
            found.append(Planner(f"f, H = {horizon}, {expansion}, to V {words}", STATE, recipe, target))
    for expansion in ("leaf", "path"):
        recipe = make_recipe("gs-power-uct-f+", **_PRINTED, **untimed, expansion=expansion)
        found.append(Planner(f"f+, {expansion}, to V without end", STATE, recipe, STATIONARY))
    recipe = make_recipe("gs-power-uct-f+", **untimed)
    return [*found, Planner("f+, default, to V without end", STATE, recipe, STATIONARY)]


def benchmark_planners(env_id: str) -> list[Planner]:
    """Return the planners for a benchmark, with the paper's constants and discount 1, where F is F+."""
    return [
        Planner("uct", TREE, make_recipe("uct", preset="paper", env_id=env_id)),
        Planner("power-uct", TREE, make_recipe("power-uct", preset="printed", env_id=env_id)),
        Planner("gs-power-uct, leaf", DEPTH, make_recipe("gs-power-uct", preset="printed", env_id=env_id)),
        Planner("gs-power-uct, path", DEPTH, make_recipe("gs-power-uct", preset="paper", env_id=env_id)),
        Planner("gs-power-uct, default", DEPTH, make_recipe("gs-power-uct")),
        Planner("f = f+, leaf", STATE, make_recipe("gs-power-uct-f+", preset="printed", env_id=env_id)),
        Planner("f = f+, path", STATE, make_recipe("gs-power-uct-f+", preset="paper", env_id=env_id)),
    ]
