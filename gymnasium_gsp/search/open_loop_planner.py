"""The recipe of open-loop optimistic planning, and the front that runs it."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search import open_loop
from gymnasium_gsp.search.bounded import BoundedSearch, check_discount, check_horizon, declared_bounds, lay_out
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.horizon import AdaptiveHorizon
from gymnasium_gsp.search.ingredients import check_choices, make_plain
from gymnasium_gsp.search.program import Assembly
from gymnasium_gsp.search.recipe import Changeable
from gymnasium_gsp.search.store import Store

_TO_THE_BUDGET = AdaptiveHorizon()
_CHOICES = {
    "bound": ("hoeffding", "kl"),
    "retention": ("decision", "episode"),
    "recommendation": ("most_visits", "best_value"),
}


@dataclass(frozen=True)
class OpenLoop(Changeable):
    """Optimistic search among sequences of actions, whatever the states they lead through.

    Attributes:
        discount: per step, at least 0 and below 1.
        bound: on the mean reward of a step after n samples, rewards taken between 0 and 1: "hoeffding",
            mean + sqrt(2 log M / n); "kl", the largest q with n kl(mean, q) <= 2 log M + 2 log log M.
        horizon: how long a sequence is; `AdaptiveHorizon()` is L(M) = ceil(log M / (2 log 1/discount)).
        retention: "decision", each decision starts afresh; "episode", it starts afresh once something has happened.
        recommendation: the first action with the most visits, or with the best mean sampled return.
    """

    discount: float = 0.9
    bound: Literal["hoeffding", "kl"] = "hoeffding"
    horizon: Any = _TO_THE_BUDGET
    retention: Literal["decision", "episode"] = "decision"
    recommendation: Literal["most_visits", "best_value"] = "most_visits"

    def __post_init__(self) -> None:
        make_plain(self)
        check_discount(self.discount)
        check_horizon(self.horizon)
        check_choices(self, _CHOICES)

    @property
    def key(self) -> str:
        """What makes two visits meet in one node: the actions so far."""
        return "path"

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What the planner's regret bound does not cover."""
        return ("the best sequence of actions is found, not the best policy: it looks at no state on the way",)

    def threshold(self, trajectories: int) -> float:
        """What n times the divergence, or n times the squared deviation, may come to."""
        log_m = math.log(trajectories)
        if self.bound == "hoeffding":
            return 2.0 * log_m
        return 2.0 * log_m + 2.0 * max(math.log(max(log_m, 1.0)), 0.0)


def assemble(model: Any, recipe: OpenLoop) -> Assembly:
    """Bind a recipe to a model; the threshold comes with the budget."""
    low, high = declared_bounds(model)
    params = np.zeros(open_loop.PARAMS)
    params[open_loop.LOW], params[open_loop.HIGH] = min(low, 0.0), max(high, 0.0)
    params[open_loop.SLACK] = 1e-9 * max(abs(low), abs(high))
    params[open_loop.LASTING] = 1.0 / (1.0 - recipe.discount)
    params[open_loop.DIVERGENCE] = recipe.bound == "kl"
    return lay_out(model, params, at.BY_PATH, 0, model.actions, recipe.recommendation)


class SequenceStore(Store):
    """A store of sequences, which have no states; of a simulator's states only the root's is needed later."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.root_cell = np.zeros(1, np.int64)

    def first_key_cells(self) -> NDArray[np.int64]:
        return self.root_cell


class OpenLoopSearch(BoundedSearch):
    """A planner of action sequences, for one model; arguments as for `Search`."""

    assemble: ClassVar[Any] = staticmethod(assemble)
    store_type: ClassVar[Any] = SequenceStore
    loop: ClassVar[Any] = staticmethod(open_loop.search)
    decide: ClassVar[Any] = staticmethod(open_loop.decide)

    def _prepare(
        self, cells: NDArray[np.int64], budget: Budget, elapsed: int, steps_left: int | None, same_root: bool
    ) -> None:
        super()._prepare(cells, budget, elapsed, steps_left, same_root)
        self.store.root_cell[:] = cells[:1]
        self.params[open_loop.THRESHOLD] = self.recipe.threshold(self.trajectories(budget))
