"""Horizon: how many steps from the root a simulation selects actions before it evaluates."""

import math
from dataclasses import dataclass

from gymnasium_gsp.errors import KnownFields, RecipeError
from gymnasium_gsp.search.ingredients.ingredient import make_plain

DEFAULT_HORIZON = 200  # steps looked ahead where no time limit is known
DEFAULT_DISCOUNT = 0.99  # where no time limit is known; with one, rewards are not discounted


@dataclass(frozen=True)
class StepsLeft(KnownFields):
    """To the time limit; where none is known, DEFAULT_HORIZON steps."""

    def steps(self, steps_left: int | None, discount: float, simulations: int | None) -> int:
        """The horizon of a decision."""
        if steps_left is not None:
            return steps_left
        if discount >= 1.0:
            raise RecipeError(
                "discount 1 needs a finite horizon, and no time limit is known: give the environment a time limit, "
                f"a discount below 1 (the default without a time limit is {DEFAULT_DISCOUNT}), or FixedHorizon(steps)"
            )
        return DEFAULT_HORIZON


@dataclass(frozen=True)
class FixedHorizon(KnownFields):
    """The same number of steps at each decision, or fewer if fewer are left.

    Attributes:
        depth: that number, at least 1.
    """

    depth: int

    def __post_init__(self) -> None:
        make_plain(self)
        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or self.depth < 1:
            raise RecipeError(f"a fixed horizon is a whole number of at least 1, not {self.depth!r}")

    def steps(self, steps_left: int | None, discount: float, simulations: int | None) -> int:
        """The horizon of a decision."""
        return self.depth if steps_left is None else min(self.depth, steps_left)


@dataclass(frozen=True)
class AdaptiveHorizon(KnownFields):
    """H(n) = ceil(log n / (2 log 1/discount)), eq. adaptive_H; the steps left where the discount is 1."""

    def steps(self, steps_left: int | None, discount: float, simulations: int | None) -> int:
        """The horizon of a decision with `simulations` simulations."""
        if simulations is None:
            raise RecipeError(
                "the adaptive horizon H(n) is a function of the number of simulations: give a budget in simulations, "
                "or another horizon"
            )
        if discount >= 1.0:
            return StepsLeft().steps(steps_left, discount, simulations)
        depth = 1 if discount <= 0.0 else max(1, math.ceil(math.log(simulations) / (2.0 * math.log(1.0 / discount))))
        return depth if steps_left is None else min(depth, steps_left)


Horizon = StepsLeft | FixedHorizon | AdaptiveHorizon


def split_budget(steps: int, discount: float) -> tuple[int, int]:
    """Return (M, L): the most trajectories of L steps that `steps` steps pay for.

    L(M) = max(1, ceil(log M / (2 log 1/discount))): the rule of OLOP (Bubeck and Munos 2010, section 3), with the
    constants of Leurent's rl-agents.
    """

    def length(trajectories: int) -> int:
        return AdaptiveHorizon().steps(None, discount, trajectories)

    low, high = 1, 2
    while high * length(high) <= steps:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle * length(middle) <= steps else (low, middle)
    return low, length(low)


def planned_trajectories(simulations: int | None, model_steps: int | None, discount: float) -> int | None:
    """Return how many trajectories a budget stands for; None if it is neither in simulations nor in model steps."""
    paid = None if model_steps is None else split_budget(model_steps, discount)[0]
    known = [number for number in (paid, simulations) if number is not None]
    return min(known) if known else None
