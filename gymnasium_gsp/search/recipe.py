"""A recipe: one choice for each slot of trial-based search on a graph.  A named algorithm is such a value.

The frame is trial-based heuristic tree search (Keller and Helmert 2013) on a graph; the slots and what may stand in
them are the fields of `Recipe`.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self

from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.backup import PowerMean
from gymnasium_gsp.search.evaluation import Constant, Heuristic, PythonValue, Rollout
from gymnasium_gsp.search.horizon import DEFAULT_DISCOUNT, AdaptiveHorizon, FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients import as_ingredient, check_choices, check_number, make_plain
from gymnasium_gsp.search.selection import PolynomialBonus, table1_row_failures


class Changeable:
    """What every kind of recipe can do: a frozen dataclass whose slots can be given other choices."""

    counts_every_simulation: ClassVar[bool] = True  # whether the root's visit counts add up to the simulations

    def changed(self, **slots: Any) -> Self:
        """The same recipe with other choices in the given slots.

        Raises:
            RecipeError: for a slot that does not exist.
        """
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        for slot in slots:
            if slot not in names:
                raise RecipeError(unknown_name("slot of a recipe", slot, names))
        return type(self)(**{**{name: getattr(self, name) for name in names}, **slots})

    def settled(self, timed: bool) -> Self:
        """The recipe with what it leaves open decided by whether a time limit is known; here nothing is open."""
        return self


@dataclass(frozen=True)
class SearchValues:
    """Decide by the values that the search ended with."""


@dataclass(frozen=True)
class Sweep:
    """Decide after one sweep over what the root reaches, deepest first.

    Attributes:
        backup: the sweep's own backup; None for the search's.
    """

    backup: Any = None

    def __post_init__(self) -> None:
        make_plain(self)
        if self.backup is not None:
            object.__setattr__(self, "backup", as_ingredient(self.backup, "backup", "backup of a sweep"))


_CHOICES = {
    "key": (None, "path", "state_elapsed", "state"),
    "target": ("value", "return"),
    "estimator": ("running", "current"),
    "expansion": ("leaf", "path"),
    "retention": ("decision", "episode"),
    "recommendation": ("best_value", "most_visits"),
}
_VALUES = {
    "evaluation": (Rollout, Constant, Heuristic, PythonValue),
    "horizon": (StepsLeft, FixedHorizon, AdaptiveHorizon),
    "decision": (SearchValues, Sweep),
}


@dataclass(frozen=True)
class Recipe(Changeable):
    """One choice for each slot.

    Attributes:
        key: what makes two visits meet in one node: "path" (a tree), "state_elapsed" (the state at the same time of
            the episode), "state"; None for "state_elapsed" where a time limit is known, else "state".
        selection: which action a simulation tries.
        root_selection: the same at the root; None for `selection`.
        target: what an action's value averages: "value", reward + discount * V(child), or "return", the sampled
            return.
        backup: a node's value from its actions'.
        estimator: "running", the mean of the targets as they were; "current", recomputed from counts and children's
            present values.
        expansion: "leaf", one new node a simulation, then the evaluation; "path", every visited state becomes a node
            and actions are uniform until a known node is met again.
        evaluation: what a leaf is worth.
        horizon: how deep a simulation selects.
        discount: per step; None for 1 where a time limit is known, else 0.99.
        retention: "decision", a fresh graph each time; "episode", the graph is kept until the episode ends.
        decision: by the search's own values, or after a sweep.
        recommendation: the action with the best value or with the most visits.
        keep_variance: whether a backup of your own gets the variance of the targets per action; null if not.
    """

    key: Literal["path", "state_elapsed", "state"] | None = None
    selection: Any = PolynomialBonus()
    root_selection: Any = None
    target: Literal["value", "return"] = "value"
    backup: Any = PowerMean()
    estimator: Literal["running", "current"] = "running"
    expansion: Literal["leaf", "path"] = "leaf"
    evaluation: Any = Rollout()
    horizon: Any = StepsLeft()
    discount: float | None = None
    retention: Literal["decision", "episode"] = "decision"
    decision: Any = SearchValues()
    recommendation: Literal["best_value", "most_visits"] = "best_value"
    keep_variance: bool = False

    def __post_init__(self) -> None:
        make_plain(self)
        check_choices(self, _CHOICES)
        for slot, kinds in _VALUES.items():
            value = getattr(self, slot)
            if not isinstance(value, kinds):
                names = ", ".join(kind.__name__ for kind in kinds)
                raise RecipeError(f"{slot} was given {value!r}; allowed is a value of one of: {names}")
        if not isinstance(self.keep_variance, bool):
            raise RecipeError(f"keep_variance must be True or False, not {self.keep_variance!r}")
        object.__setattr__(self, "selection", as_ingredient(self.selection, "select", "selection"))
        object.__setattr__(self, "backup", as_ingredient(self.backup, "backup", "backup"))
        if self.root_selection is not None:
            object.__setattr__(self, "root_selection", as_ingredient(self.root_selection, "select", "root_selection"))
        if self.discount is not None:
            check_number("discount", self.discount, smallest=0.0, largest=1.0)
        constants = getattr(self.selection, "constants", None)
        if constants is not None and (failures := constants.failures(self.power)):
            raise RecipeError(
                "these constants do not meet the paper's Table 1: "
                + "; ".join(failures)
                + ". Leave `constants` out for the default exponents, or correct the row"
            )

    @property
    def power(self) -> float:
        """The power p of the backup; 1 where the backup is no power mean."""
        return self.backup.p if isinstance(self.backup, PowerMean) else 1.0

    @property
    def needs_edges(self) -> bool:
        """Whether outcomes are stored: for the current estimator, a sweep, or to know what a root still reaches."""
        kept_by_state = self.key == "state" and self.retention == "episode"
        return self.estimator == "current" or isinstance(self.decision, Sweep) or kept_by_state

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What keeps the paper's convergence theorem from covering this recipe; empty where it does.

        Rows of Table 1 are named with their depth; with the default exponents b_(h+1) = 4 b_h + 1 from a b_0 just
        above 2, the best that any b_0 can do.
        """
        failed = []
        if not isinstance(self.selection, PolynomialBonus):
            failed.append("the selection is not the polynomial bonus of eq. action_selection")
        elif self.selection.constants is None:
            failed += _default_table1_failures(self.power, self.horizon)
        if not isinstance(self.backup, PowerMean):
            failed.append("the backup is not a power mean")
        if self.target != "value":
            failed.append("the target is the sampled return, not reward + discount * V(child)")
        if self.key == "state":
            failed.append("state keys mix remaining horizons: the limit carries the cross-depth gap")
        if self.expansion != "leaf":
            failed.append("path expansion chooses uniform actions below a new node, which the theorem does not treat")
        return tuple(failed)

    def settled(self, timed: bool) -> "Recipe":
        """The recipe with nothing left open: key and discount as they are with or without a known time limit.

        Raises:
            RecipeError: if a kept graph would mix values that look to different ends.
        """
        key = self.key or ("state_elapsed" if timed else "state")
        discount = self.discount if self.discount is not None else 1.0 if timed else DEFAULT_DISCOUNT
        adaptive = isinstance(self.horizon, AdaptiveHorizon) and discount < 1.0
        moving_end = not timed or adaptive or isinstance(self.horizon, FixedHorizon)
        if key == "state_elapsed" and self.retention == "episode" and moving_end:
            raise RecipeError(
                "a graph keyed by (state, elapsed steps) stays valid only while the end is fixed, and here it moves "
                "with the root: use retention='decision', key='state', or a time limit with horizon=StepsLeft()"
            )
        return self.changed(key=key, discount=discount)


def _default_table1_failures(p: float, horizon: Any) -> list[str]:
    """The first row of Table 1 that the default exponents break for the power p, if any, with its depth."""
    depths = horizon.depth if isinstance(horizon, FixedHorizon) else 3
    b = math.nextafter(2.0, 3.0)
    for h in range(min(depths, 3)):
        beta = 4.0 * b
        failures = table1_row_failures(h, beta / 2.0, beta, b, p)
        if failures:
            return failures[:1]
        b = beta + 1.0
    return []
