"""Exact values of an enumerated model: backward induction and value iteration."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.elimination import can_eliminate, eliminated_values, has_wide_rows
from gymnasium_gsp.exact.state_space import LIMIT, LeafValue, StateSpace, enumerate_model
from gymnasium_gsp.models.model import Model

_MOST_SWEEPS = 10_000


@dataclass(frozen=True, eq=False)
class HorizonValues:
    """Values for each depth of a finite horizon.

    Attributes:
        space: the states.
        values: V(s, h) as values[h, s], shape (horizon + 1, states); NaN where h steps do not lead to s and the
            enumeration stopped too early to know it.
        discount: the discount.
    """

    space: StateSpace
    values: NDArray[np.float64]
    discount: float

    @property
    def horizon(self) -> int:
        """Number of steps."""
        return len(self.values) - 1

    def value(self, state: ArrayLike, depth: int = 0) -> float:
        """V(s, h); 0 where the process has ended."""
        return self.space.pick(self.values[depth], state)

    def q_values(self, state: ArrayLike, depth: int = 0) -> NDArray[np.float64]:
        """Q(s, h, a) for each action; minus infinity for those that the state lacks."""
        if not 0 <= depth < self.horizon:
            raise RecipeError(f"there are no actions at depth {depth}; allowed: 0 .. {self.horizon - 1}")
        return self.space.q_values(self.values[depth + 1], self.discount, self.space.number(state))


@dataclass(frozen=True, eq=False)
class StationaryValues:
    """Values of an infinite horizon.

    Attributes:
        space: the states.
        values: V(s), shape (states,).
        discount: the discount.
        error_bound: no value is further from the truth than this (up to the rounding of float64).
        iterations: how many sweeps it took.
    """

    space: StateSpace
    values: NDArray[np.float64]
    discount: float
    error_bound: float
    iterations: int

    def value(self, state: ArrayLike) -> float:
        """V(s); 0 where the process has ended."""
        return self.space.pick(self.values, state)

    def q_values(self, state: ArrayLike) -> NDArray[np.float64]:
        """Q(s, a) for each action; minus infinity for those that the state lacks."""
        return self.space.q_values(self.values, self.discount, self.space.number(state))


def backward_induction(
    space: StateSpace, horizon: int, discount: float = 1.0, leaf_value: LeafValue = None
) -> HorizonValues:
    """The truncated values: V(s, H) = V_0(s), V(s, h) = max over a of r(s, a) + discount * E V(s', h + 1).

    Args:
        space: an enumerated model.
        horizon: H, number of steps.
        discount: between 0 and 1.
        leaf_value: V_0; 0 if not given.

    Raises:
        RecipeError: if the states were not enumerated that far, or V_0 has the wrong shape.
    """
    if horizon < 0 or not 0.0 <= discount <= 1.0:
        raise RecipeError(f"horizon must be at least 0 and discount between 0 and 1, not {horizon!r} and {discount!r}")
    if space.horizon is not None and horizon > space.horizon:
        raise RecipeError(
            f"{space.model.name}: the states were enumerated for {space.horizon} steps, too few for a horizon of "
            f"{horizon}; call enumerate_model with horizon={horizon}"
        )
    values = np.empty((horizon + 1, len(space)))
    values[horizon] = space.leaf_values(leaf_value)
    for depth in reversed(range(horizon)):
        values[depth] = space.q_values(values[depth + 1], discount).max(axis=1)
    return HorizonValues(space, values, discount)


def truncated_value(
    model: Model,
    root: ArrayLike,
    horizon: int,
    discount: float = 1.0,
    leaf_value: LeafValue = None,
    limit: int = LIMIT,
) -> float:
    """The best expected return of `horizon` steps from `root`, V_0 at their end: the target of a search that deep.

    Where an action leads to very many next states, they are not listed but eliminated fluent by fluent (`elimination`),
    if the model allows that and no V_0 is given.
    """
    if leaf_value is None and can_eliminate(model) and has_wide_rows(model, root):
        return float(eliminated_values(model, horizon, discount)[int(model.cells(root)[0])])
    space = enumerate_model(model, root, horizon, limit)
    return float(backward_induction(space, horizon, discount, leaf_value).values[0, 0])


def value_iteration(space: StateSpace, discount: float, tolerance: float = 1e-9) -> StationaryValues:
    """The optimal values of the infinite horizon.

    Args:
        space: a model that was enumerated without a horizon.
        discount: at least 0, below 1.
        tolerance: largest error; after a sweep that moved no value by more than d, the error is at most
            d * discount / (1 - discount).  Where the rounding of float64 forbids that, `error_bound` says so.

    Raises:
        RecipeError: if the states are not all known.
    """
    if not 0.0 <= discount < 1.0 or not tolerance > 0.0:
        raise RecipeError(
            f"an infinite horizon needs a discount of at least 0 and below 1 and a tolerance above 0, not {discount!r} "
            f"and {tolerance!r}; without discount, take backward_induction with a horizon"
        )
    if space.horizon is not None:
        raise RecipeError(
            f"{space.model.name}: the states were enumerated for {space.horizon} steps only; an infinite horizon "
            "needs all of them, so call enumerate_model without a horizon"
        )
    values = np.zeros(len(space))
    factor = discount / (1.0 - discount)
    most = math.inf
    for iterations in itertools.count(1):
        after = space.q_values(values, discount).max(axis=1)
        error_bound = factor * float(np.abs(after - values).max())
        values = after
        # The k-th sweep moves nothing by more than discount**(k - 1) times the first; beyond that there is rounding.
        if iterations == 1 and error_bound > tolerance:
            most = 2 + math.log(tolerance / error_bound) / math.log(discount)
        if error_bound <= tolerance or iterations > most:
            break
    return StationaryValues(space, values, discount, error_bound, iterations)


def steps_until_over(space: StateSpace, discount: float = 1.0, tolerance: float = 1e-9) -> int | None:
    """After how many steps what is still to come can be left out, whatever the policy.

    Let z_k be the largest chance, over states and policies, that the process goes on after k steps, times discount^k.
    As z_(i k) <= z_k^i, all rewards after k steps come to at most sum over j < k of z_j * z_k / (1 - z_k) times the
    largest reward.

    Args:
        space: a model that was enumerated without a horizon.
        discount: the discount, 1 included.
        tolerance: what may be left out, in units of the largest reward of one step.

    Returns:
        The number of steps; None if the process may go on for ever, or for more than some thousand steps.
    """
    going, total = np.ones(len(space)), 0.0
    for steps in range(1, _MOST_SWEEPS + 1):
        total += going.max()
        going = discount * (space.q_values(going, 1.0) - space.reward).max(axis=1)
        left = float(going.max())
        if left < 1.0 and total * left / (1.0 - left) <= tolerance:
            return steps
    return None
