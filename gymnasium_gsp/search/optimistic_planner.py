"""The front of the loop of bounds: what a model and a recipe of `Optimistic` come to in the arrays of the loop."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.search import intervals as has
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search import optimistic
from gymnasium_gsp.search.bounded import BoundedSearch, declared_bounds, lay_out
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.optimistic_recipe import PUBLISHED_FACTOR, Confidence, Optimistic
from gymnasium_gsp.search.program import Assembly
from gymnasium_gsp.search.store import Store


def value_range(low: float, high: float, discount: float) -> tuple[float, float]:
    """Smallest and largest discounted sum of at least one reward between `low` and `high`, ended whenever."""
    lasting = 1.0 / (1.0 - discount)
    return low * (lasting if low < 0.0 else 1.0), high * (lasting if high > 0.0 else 1.0)


def assemble(model: Any, recipe: Optimistic) -> Assembly:
    """Bind a recipe to a model: lay out rows and parameters; those that depend on the budget come with it."""
    low, high = declared_bounds(model)
    params = np.zeros(has.PARAMS)
    params[has.LOW], params[has.HIGH] = low, high
    params[has.BOTTOM], params[has.TOP] = value_range(low, high, recipe.discount)
    params[has.ACCURACY] = recipe.accuracy * ((high - low) or 1.0)
    params[has.ENDS_ON_NEW] = recipe.expansion == "leaf"
    params[has.GROUPED] = recipe.threshold == "published"
    if isinstance(recipe.threshold, Confidence):
        params[has.BASE], params[has.PER_VISIT], params[has.PER_BIRTH] = recipe.threshold.base(model.actions), 1.0, 1.0
    bound = lay_out(model, params, at.BY_STATE, model.key_size, has.BOUND_CELLS, recipe.recommendation)
    bound.program[at.EDGES_KEPT] = 1
    return bound


class LinkedStore(Store):
    """A store whose nodes also list their predecessors."""

    def make_room(self, needed: int) -> bool:
        """Grow for `needed` more rows and twice as many edges: one to the next state, one back."""
        return super().make_room(2 * needed)

    def drop_past(self) -> None:
        super().drop_past()
        compiled_entry(optimistic.relink, True)(self.program, self.tally, self.rows, self.edges)


class OptimisticSearch(BoundedSearch):
    """A planner that keeps intervals, for one model; arguments as for `Search`."""

    assemble: ClassVar[Any] = staticmethod(assemble)
    store_type: ClassVar[Any] = LinkedStore
    loop: ClassVar[Any] = staticmethod(optimistic.search)
    decide: ClassVar[Any] = staticmethod(optimistic.decide)

    def bounds(self, state: Any) -> tuple[float, float] | None:
        """(W, U), the interval that holds the discounted value of a state; None for a state that is no node."""
        cells = self.model.cells(state)[: self.model.key_size]
        nodes, stride = int(self.tally[at.NODES]), int(self.program[at.STRIDE])
        rows = self.store.rows[: nodes * stride].reshape(nodes, stride)
        keys = rows[:, at.FIRST_KEY : at.FIRST_KEY + self.model.key_size]
        found = np.flatnonzero((keys == cells).all(axis=1))
        if not len(found):
            return None
        reals = rows[found[0]].view(np.float64)
        return float(reals[self.program[at.BOUNDS_AT] + has.LOWER_VALUE]), float(reals[at.NODE_VALUE])

    def _prepare(
        self, cells: NDArray[np.int64], budget: Budget, elapsed: int, steps_left: int | None, same_root: bool
    ) -> None:
        super()._prepare(cells, budget, elapsed, steps_left, same_root)
        if self.recipe.threshold == "published":
            log_m = np.log(self.trajectories(budget))
            self.params[has.BASE] = PUBLISHED_FACTOR * log_m
            self.params[has.REWARD_THRESHOLD] = self.recipe.reward_threshold * log_m
