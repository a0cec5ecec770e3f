"""The cross-depth gap: how far the values of one state differ between the depths at which a search met it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.dynamic_programming import HorizonValues
from gymnasium_gsp.models.model import Cells


@dataclass(frozen=True)
class CrossDepthGap:
    """The gap of each state and of the whole graph.

    Attributes:
        gaps: delta(s), the largest difference of V(s, h) between two depths at which s was met.
        bounds: what the paper bounds delta(s) by, from the depths and the Bellman residual of V_0 alone.
        largest: Delta_cross, the largest gap; 0 without states.
    """

    gaps: dict[Cells, float]
    bounds: dict[Cells, float]
    largest: float


def cross_depth_gap(
    truth: HorizonValues, visited: Mapping[Cells, Iterable[int]] | Mapping[int, Iterable[int]]
) -> CrossDepthGap:
    """The cross-depth gap (eq. cross_depth_gap_ of the paper) of the states that a search visited.

    Args:
        truth: the truncated values from the search's root, for its horizon, discount and V_0.
        visited: for each state, the depths at which the search met it.  A state is given by its cells, or by its key
            alone where the one cell behind the key is the clock, which then follows from the depth.

    Raises:
        RecipeError: if a state cannot be met at a depth.
    """
    residual = _bellman_residual(truth)
    gaps, bounds = {}, {}
    for state, met in visited.items():
        key = tuple(np.atleast_1d(np.asarray(state)).tolist())
        depths = sorted(set(met))
        if not depths or depths[0] < 0 or depths[-1] > truth.horizon:
            raise RecipeError(f"state {key} was met at depths {depths}; allowed are some of 0 .. {truth.horizon}")
        values = [_value(truth, key, depth) for depth in depths]
        gaps[key] = max(values) - min(values)
        # The geometric series of the paper's bound, which also holds for a discount of 1.
        steps = np.arange(truth.horizon - depths[-1], truth.horizon - depths[0])
        bounds[key] = float((truth.discount**steps).sum() * residual)
    return CrossDepthGap(gaps, bounds, max(gaps.values(), default=0.0))


def _value(truth: HorizonValues, key: Cells, depth: int) -> float:
    """V(s, h), 0 where the process has ended."""
    space, model = truth.space, truth.space.model
    cells = key
    if model.clock == len(key) == model.width - 1:
        cells = (*key, int(space.states[0, model.clock]) + depth)
    value = truth.value(cells, depth)
    if np.isnan(value):
        raise RecipeError(f"{model.name}: state {cells} cannot be met at depth {depth} from the root")
    return value


def _bellman_residual(truth: HorizonValues) -> float:
    """Largest |(B V_0)(s) - V_0(s)| over the states whose law is known."""
    if truth.horizon == 0:
        return 0.0
    moved = np.abs(truth.values[-2] - truth.values[-1])
    return float(np.nanmax(moved))
