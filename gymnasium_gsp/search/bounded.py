"""What the planners with bounds share: declared rewards, the budget in trajectories, rows, errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.engine import Search
from gymnasium_gsp.search.horizon import AdaptiveHorizon, FixedHorizon, StepsLeft
from gymnasium_gsp.search.ingredients import check_number
from gymnasium_gsp.search.program import Assembly


def split_budget(steps: int, discount: float) -> tuple[int, int]:
    """(M, L): the most trajectories of L steps that `steps` steps pay for.

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


def planned_trajectories(budget: Budget, discount: float) -> int | None:
    """How many trajectories a budget stands for; None if it is neither in simulations nor in model steps."""
    paid = None if budget.model_steps is None else split_budget(budget.model_steps, discount)[0]
    known = [number for number in (paid, budget.simulations) if number is not None]
    return min(known) if known else None


def check_discount(discount: Any) -> None:
    """Refuse what is no discount below 1."""
    check_number("discount", discount, smallest=0.0, largest=1.0)
    if discount >= 1.0:
        raise RecipeError(
            f"discount must be at least 0 and below 1, not {discount!r}: bounds on a sum of rewards without end need "
            "a discount, for instance 0.99"
        )


def check_horizon(horizon: Any) -> None:
    """Refuse what is no horizon."""
    if not isinstance(horizon, AdaptiveHorizon | FixedHorizon | StepsLeft):
        raise RecipeError(
            f"horizon was given {horizon!r}; allowed is a value of AdaptiveHorizon, FixedHorizon, StepsLeft"
        )


def declared_bounds(model: Any) -> tuple[float, float]:
    """The reward bounds of a model.

    Raises:
        RecipeError: if it declares none.
    """
    if model.reward_bounds is None:
        raise RecipeError(
            f"{model.name} declares no reward bounds, and bounds on values are built on them: give "
            "reward_bounds=(smallest, largest) of one step, to its CompiledModel or, in an environment, to make_agent"
        )
    low, high = model.reward_bounds
    if not np.isfinite([low, high]).all():
        raise RecipeError(f"{model.name}: reward_bounds must be finite, not {model.reward_bounds!r}")
    return float(low), float(high)


def lay_out(
    model: Any, params: NDArray[np.float64], key: int, key_size: int, own_cells: int, recommendation: str
) -> Assembly:
    """The arrays of a loop whose rows hold four numbers per action and `own_cells` cells from BOUNDS_AT on."""
    program = np.zeros(at.PROGRAM_SIZE, np.int64)
    program[at.STEP] = model.step_pointer.address
    program[at.LEGAL] = 0 if model.legal_pointer is None else model.legal_pointer.address
    program[at.KEY] = key
    program[at.RECOMMENDATION] = at.MOST_VISITS if recommendation == "most_visits" else at.BEST_VALUE
    program[at.ACTIONS], program[at.WIDTH], program[at.KEY_SIZE] = model.actions, model.width, key_size
    cell = at.FIRST_KEY + key_size
    for place in (at.COUNTS_AT, at.Q_AT, at.HEADS_AT, at.VARIANCE_AT):
        program[place] = cell
        cell += model.actions
    program[at.BOUNDS_AT] = cell
    program[at.STRIDE], program[at.LOWER_AT] = cell + own_cells, len(params)
    return Assembly(
        program=program,
        params=params,
        pointers=[pointer for pointer in (model.step_pointer, model.legal_pointer) if pointer is not None],
        needs_gil=model.needs_gil,
        smallest_reward=0.0,
        by_state=key == at.BY_STATE,
    )


class BoundedSearch(Search):
    """A planner that builds on declared reward bounds and on a number of trajectories; arguments as for `Search`."""

    def trajectories(self, budget: Budget) -> int:
        """How many trajectories the bounds are made for.

        Raises:
            RecipeError: if the budget does not say.
        """
        planned = planned_trajectories(budget, self.discount)
        if planned is None:
            raise RecipeError(
                "bounds that grow with log M are a function of the number of trajectories: give a budget in "
                "simulations or model steps beside the other limit"
            )
        return planned

    def _depth(self, budget: Budget, steps_left: int | None) -> int:
        depth: int = self.recipe.horizon.steps(steps_left, self.discount, planned_trajectories(budget, self.discount))
        return depth

    def _fail(self, status: int) -> None:
        if status == at.BAD_REWARD:
            width, action = self.model.width, int(self.tally[at.DETAIL])
            low, high = self.model.reward_bounds
            raise PlanningError(
                f"{self.model.name}: action {action} gave a reward outside the declared bounds {low:g} .. {high:g} on "
                f"the way to state {tuple(self.states[width:].tolist())}; the search's bounds are built on them, so "
                "declare reward_bounds that hold for every step"
            )
        super()._fail(status)

    def _backup_message(self) -> str:
        return ""
