"""The recipe of sparse sampling, and the front that runs it."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search import sparse
from gymnasium_gsp.search.bounded import check_horizon, lay_out
from gymnasium_gsp.search.budget import Budget, SearchResult
from gymnasium_gsp.search.engine import Search
from gymnasium_gsp.search.horizon import FixedHorizon
from gymnasium_gsp.search.ingredients import check_choices, check_number, make_plain
from gymnasium_gsp.search.program import Assembly
from gymnasium_gsp.search.recipe import Changeable

_THREE_STEPS = FixedHorizon(3)
_MOST_STEPS = 10**8  # of one simulation, about a second
_CHOICES = {"retention": ("decision", "episode"), "recommendation": ("best_value", "most_visits")}


@dataclass(frozen=True)
class SparseSampling(Changeable):
    """Try every action of every state equally often, to a fixed depth.

    Attributes:
        width: C, how often each action of a state below the root is tried; at the root the budget decides.
        discount: per step, between 0 and 1.
        horizon: how deep the tree is.  A simulation costs about (actions * width)^(depth - 1) steps.
        retention: "decision", each decision starts afresh; "episode", it starts afresh once something has happened.
        recommendation: the action with the best value, or the most visits.
    """

    width: int = 2
    discount: float = 0.99
    horizon: Any = _THREE_STEPS
    retention: Literal["decision", "episode"] = "decision"
    recommendation: Literal["best_value", "most_visits"] = "best_value"

    def __post_init__(self) -> None:
        make_plain(self)
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1:
            raise RecipeError(f"width must be a whole number of at least 1, not {self.width!r}")
        check_number("discount", self.discount, smallest=0.0, largest=1.0)
        check_horizon(self.horizon)
        check_choices(self, _CHOICES)

    @property
    def key(self) -> str:
        """What makes two visits meet in one node: nothing but the path."""
        return "path"

    @property
    def guarantee(self) -> tuple[str, ...]:
        """What the paper's theorem does not cover."""
        return ("the theorem's width and depth, which no budget of practice pays for, are left to the user",)


def assemble(model: Any, recipe: SparseSampling) -> Assembly:
    """Bind a recipe to a model.

    Raises:
        RecipeError: if the model is a simulator, whose states cannot be sampled from twice.
    """
    if getattr(model, "keys", None) is not None:
        raise RecipeError(
            "sparse sampling draws from a state several times, and a simulator can only be restored at the root: plan "
            "with a compiled or tabular model, or with another algorithm"
        )
    params = np.zeros(1)
    params[sparse.WIDTH] = recipe.width
    return lay_out(model, params, at.BY_PATH, model.key_size, 0, recipe.recommendation)


class SparseSearch(Search):
    """A planner by sparse sampling, for one model; arguments as for `Search`."""

    assemble: ClassVar[Any] = staticmethod(assemble)
    loop: ClassVar[Any] = staticmethod(sparse.search)
    decide: ClassVar[Any] = staticmethod(sparse.decide)

    sampled = 0  # states of the trees below the present root

    def _prepare(
        self, cells: NDArray[np.int64], budget: Budget, elapsed: int, steps_left: int | None, same_root: bool
    ) -> None:
        super()._prepare(cells, budget, elapsed, steps_left, same_root)
        depth, samples = int(self.program[at.HORIZON]), self.model.actions * self.recipe.width
        if budget.model_steps is None and (depth - 1) * math.log(samples) > math.log(_MOST_STEPS):
            raise RecipeError(
                f"width {self.recipe.width} and {depth} steps make one simulation of more than {_MOST_STEPS:,} model "
                "steps, in which nothing can stop it: give a smaller width or horizon, or a budget in model steps"
            )
        if self.tally[at.ROOT_CHANGE] != at.SAME_ROOT:
            self.sampled = 0

    def _result(self, begun: float, stopped_by: str) -> SearchResult:
        found = super()._result(begun, stopped_by)
        self.sampled += found.nodes
        return replace(found, graph_size=1 + self.sampled)

    def _backup_message(self) -> str:
        return ""
