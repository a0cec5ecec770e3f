"""Exact values of an enumerated model: backward induction, value iteration, policy evaluation."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.elimination import can_eliminate, eliminated_values, has_wide_rows
from gymnasium_gsp.exact.state_space import LIMIT, LeafValue, StateSpace, enumerate_model
from gymnasium_gsp.models.model import Cells, Model

Policy = ArrayLike | Callable[[Cells], ArrayLike]
"""An action per state, a distribution over actions per state, or a function of the cells that gives either."""


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
        return self.space.q_values(self.values[depth + 1], self.discount)[self.space.number(state)]


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
        return self.space.q_values(self.values, self.discount)[self.space.number(state)]


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
    return _backwards(space, horizon, discount, leaf_value, lambda q: q.max(axis=1))


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
    return _fixed_point(space, discount, tolerance, lambda q: q.max(axis=1))


def policy_evaluation(space: StateSpace, policy: Policy, discount: float, tolerance: float = 1e-9) -> StationaryValues:
    """The values of a policy over an infinite horizon; arguments as for `value_iteration`."""
    return _fixed_point(space, discount, tolerance, _follow(policy_matrix(space, policy)))


def policy_values(
    space: StateSpace, policy: Policy, horizon: int, discount: float = 1.0, leaf_value: LeafValue = None
) -> HorizonValues:
    """The values of a policy over a finite horizon; arguments as for `backward_induction`."""
    return _backwards(space, horizon, discount, leaf_value, _follow(policy_matrix(space, policy)))


def uniform_policy(space: StateSpace) -> NDArray[np.float64]:
    """Every legal action equally likely, shape (states, actions)."""
    return space.legal / space.legal.sum(axis=1, keepdims=True)


def policy_matrix(space: StateSpace, policy: Policy) -> NDArray[np.float64]:
    """A policy as probabilities, shape (states, actions).

    Raises:
        RecipeError: if it has another shape, takes an action that a state lacks, or is no distribution.
    """
    table = np.asarray([policy(tuple(cells)) for cells in space.states.tolist()] if callable(policy) else policy)
    actions = space.model.actions
    if table.shape == (len(space),) and table.dtype.kind in "iu":
        if table.min() < 0 or table.max() >= actions:
            raise RecipeError(f"the policy takes an action that does not exist; allowed: 0 .. {actions - 1}")
        table = np.eye(actions)[table]
    if table.shape != (len(space), actions) or table.dtype.kind not in "iuf":
        raise RecipeError(
            f"the policy has the shape {table.shape}; it must be one whole number per state, shape {(len(space),)}, or "
            f"one probability per state and action, shape {(len(space), actions)}"
        )
    allowed = (table >= 0.0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) <= 1e-9)
    allowed &= (space.legal | (table == 0.0)).all(axis=1)
    if not allowed.all():
        number = int(np.argmin(allowed))
        raise RecipeError(
            f"the policy of state {tuple(space.states[number].tolist())} is {table[number].tolist()}; it must be a "
            f"distribution over its legal actions {np.flatnonzero(space.legal[number]).tolist()}"
        )
    return table.astype(np.float64)


def _follow(policy: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    return lambda q: (policy * np.where(policy > 0.0, q, 0.0)).sum(axis=1)


def _backwards(
    space: StateSpace,
    horizon: int,
    discount: float,
    leaf_value: LeafValue,
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> HorizonValues:
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
        values[depth] = combine(space.q_values(values[depth + 1], discount))
    return HorizonValues(space, values, discount)


def _fixed_point(
    space: StateSpace,
    discount: float,
    tolerance: float,
    combine: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> StationaryValues:
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
        after = combine(space.q_values(values, discount))
        error_bound = factor * float(np.abs(after - values).max())
        values = after
        # The k-th sweep moves nothing by more than discount**(k - 1) times the first; beyond that there is rounding.
        if iterations == 1 and error_bound > tolerance:
            most = 2 + math.log(tolerance / error_bound) / math.log(discount)
        if error_bound <= tolerance or iterations > most:
            break
    return StationaryValues(space, values, discount, error_bound, iterations)
