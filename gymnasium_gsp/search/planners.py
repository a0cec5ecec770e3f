"""Which loop runs which kind of recipe."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.search.budget import Budget, SearchResult
from gymnasium_gsp.search.engine import Search
from gymnasium_gsp.search.open_loop_planner import OpenLoop, OpenLoopSearch
from gymnasium_gsp.search.optimistic_planner import OptimisticSearch
from gymnasium_gsp.search.optimistic_recipe import Optimistic
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.sparse_planner import SparseSampling, SparseSearch
from gymnasium_gsp.search.store import SMALLEST_MEMORY
from gymnasium_gsp.search.switching_planner import Switching, SwitchingSearch


class Planner(Protocol):
    """What an agent needs of a loop bound to a model and a recipe; see `engine.Search`."""

    model: Any

    def seed(self, words: NDArray[np.uint64]) -> None:
        """Set the streams."""

    def begin_episode(self) -> None:
        """Forget what was learnt in the last episode."""

    def plan(
        self,
        cells: NDArray[np.int64],
        budget: Budget,
        elapsed: int = 0,
        steps_left: int | None = None,
        same_root: bool = False,
        on_progress: Any = None,
    ) -> SearchResult:
        """Search from a state."""


PLANNERS: dict[type, Any] = {
    Recipe: Search,
    Optimistic: OptimisticSearch,
    OpenLoop: OpenLoopSearch,
    SparseSampling: SparseSearch,
    Switching: SwitchingSearch,
}
"""The loop of each kind of recipe: called with (model, recipe, timed, max_nodes, memory)."""


def check_room(max_nodes: Any, memory: Any) -> None:
    """Refuse a cap on nodes or on memory that makes no sense."""
    for name, value, smallest in (("max_nodes", max_nodes, 1), ("memory", memory, SMALLEST_MEMORY)):
        if value is None and name == "max_nodes":
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
            raise RecipeError(f"{name} must be a whole number of at least {smallest}, not {value!r}")


def is_recipe(value: Any) -> bool:
    """Whether a value is a recipe of any kind."""
    return type(value) in PLANNERS


def bind(model: Any, recipe: Any, timed: bool, max_nodes: int | None, memory: int) -> Planner:
    """The loop that runs a recipe, bound to a model.

    Raises:
        RecipeError: if it is no recipe, or does not fit the model.
    """
    if not hasattr(model, "step_pointer"):
        raise RecipeError(
            f"a model is a CompiledModel, or what tabular_model() or an environment's compiled_model() returns, not "
            f"{model!r}"
        )
    check_room(max_nodes, memory)
    if not is_recipe(recipe):
        raise RecipeError(f"a recipe is a value of {', '.join(kind.__name__ for kind in PLANNERS)}, not {recipe!r}")
    planner: Planner = PLANNERS[type(recipe)](model, recipe, timed, max_nodes, memory)
    return planner
