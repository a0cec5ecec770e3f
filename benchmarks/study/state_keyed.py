"""The limits of values in a graph keyed by state alone, where states are met at several depths.

Both limits are for a fixed policy, which says how often each action is taken: the mixture of the truncated values (the
Proposition "Cross-depth merging can introduce irreducible bias"), and the fixed point of the backup itself.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.dynamic_programming import HorizonValues
from gymnasium_gsp.exact.state_space import LeafValue, StateSpace
from gymnasium_gsp.models.model import Cells

MOST_SWEEPS = 100_000

Policy = ArrayLike | Callable[[Cells], ArrayLike]
"""An action per state, a distribution over actions per state, or a function of the cells that gives either."""


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


def visits_by_depth(space: StateSpace, policy: Policy, horizon: int) -> NDArray[np.float64]:
    """The mean number of visits of a trajectory to each state at each depth; shape (horizon + 1, states)."""
    taken = policy_matrix(space, policy).reshape(-1)[space.row] * space.probability
    origin = space.row // space.model.actions
    visits = np.zeros((horizon + 1, len(space)))
    visits[0, 0] = 1.0
    for depth in range(horizon):
        visits[depth + 1] = np.bincount(space.next_state, visits[depth][origin] * taken, len(space))
    return visits


def depth_mixture(truth: HorizonValues, visits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mixture sum of rho_h(s) V(s, h), with the shares rho of visits at each depth; NaN for states never met.

    Args:
        truth: the truncated values V(s, h).
        visits: per depth and state, shape (horizon + 1, states).

    Raises:
        RecipeError: if the shapes differ.
    """
    if visits.shape != truth.values.shape:
        raise RecipeError(f"visits have the shape {visits.shape}; the truncated values have {truth.values.shape}")
    total = visits.sum(axis=0)
    mixed = (visits * np.where(visits > 0.0, truth.values, 0.0)).sum(axis=0)
    return np.divide(mixed, total, out=np.full(len(total), np.nan), where=total > 0.0)


def state_keyed_limit(
    space: StateSpace,
    policy: Policy,
    horizon: int,
    p: float = math.inf,
    weights: Literal["normalised", "printed", "targets"] = "normalised",
    discount: float = 1.0,
    leaf_value: LeafValue = None,
) -> NDArray[np.float64]:
    """The limit of Algorithm 2's values, shape (states,), where every state takes its actions as `policy` says.

    A visit at the horizon is evaluated.  With normalised weights its value is overwritten by the next backup and leaves
    no trace; with the printed weights N(s,a) / N(s) such visits count with value 0; a mean of targets keeps them.

    Args:
        space: a model that was enumerated without a horizon.
        policy: the share of each action.
        horizon: steps from the root.
        p: power of the mean; not looked at for targets.
        weights: "normalised", "printed", or "targets" for the mean over all visits instead of a power mean.
        discount: between 0 and 1.
        leaf_value: V_0; 0 if not given.

    Raises:
        RecipeError: if the states are not all known, or there is no limit.
    """
    if space.horizon is not None:
        raise RecipeError(f"{space.model.name}: enumerate the model without a horizon; states beyond it are met too")
    share, leaf = policy_matrix(space, policy), space.leaf_values(leaf_value)
    visits = visits_by_depth(space, policy, horizon)
    left, met = visits[:-1].sum(axis=0), visits.sum(axis=0)
    kept = np.divide(left, met, out=np.zeros(len(met)), where=met > 0.0)
    values = leaf.copy()
    for _ in range(MOST_SWEEPS):
        q = np.where(share > 0.0, space.q_values(values, discount), 0.0)
        if weights == "targets":
            after = kept * (share * q).sum(axis=1) + (1.0 - kept) * leaf
        elif p == math.inf:
            after = np.where(share > 0.0, q, -math.inf).max(axis=1)
        else:
            counted = share * kept[:, None] if weights == "printed" else share
            after = (counted * q**p).sum(axis=1) ** (1.0 / p)
        after = np.where(left > 0.0, after, leaf)
        if np.abs(after - values).max() <= 1e-13 * max(1.0, float(np.abs(after).max())):
            return after
        values = after
    raise RecipeError(f"{space.model.name}: no limit after {MOST_SWEEPS:,} sweeps; a discount below 1 gives one")
