"""From a recipe and a model to the arrays that tell the compiled loop what to run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.evaluation import Constant, Heuristic, PythonValue, Rollout
from gymnasium_gsp.search.horizon import DEFAULT_HORIZON
from gymnasium_gsp.search.ingredients import Ingredient
from gymnasium_gsp.search.recipe import Recipe, Sweep

_KEYS = {"state": at.BY_STATE, "state_elapsed": at.BY_STATE_ELAPSED, "path": at.BY_PATH}


@dataclass
class Assembly:
    """A recipe bound to a model.

    Attributes:
        program: (PROGRAM_SIZE,) int64, see `layout`.
        params: float64, the ingredients' parameters, then lower bounds per depth.
        pointers: everything that is called, kept alive here.
        needs_gil: whether any of it runs Python code.
        smallest_reward: lower bound on one reward, at most 0.
        by_state: whether nodes are shared between depths, so that one bound must serve all.
    """

    program: NDArray[np.int64]
    params: NDArray[np.float64]
    pointers: list[Pointer]
    needs_gil: bool
    smallest_reward: float
    by_state: bool
    _bounds_for: tuple[Any, ...] = field(default=(), init=False)

    def with_lower_bounds(self, depth: int, steps_left: int | None, discount: float) -> NDArray[np.float64]:
        """The parameters, ending in the lower bound on the remaining return at depths 0 .. depth + 1.

        L(h) = smallest reward * (1 + discount + ... ) over the steps left at h; for state keys, L(0) everywhere.
        """
        wanted = (depth, steps_left, discount)
        enough = len(self.params) >= self.program[at.LOWER_AT] + depth + 2
        if enough and (self.smallest_reward == 0.0 or self._bounds_for == wanted):
            return self.params
        bounds = np.zeros(depth + 2)
        if self.smallest_reward < 0.0:
            end = max(depth, DEFAULT_HORIZON) if steps_left is None else steps_left
            left = np.maximum(end - np.arange(depth + 2), 0)
            annuity = left if discount == 1.0 else (1.0 - discount**left) / (1.0 - discount)
            bounds = self.smallest_reward * (np.full(depth + 2, annuity[0]) if self.by_state else annuity)
        self.params = np.concatenate([self.params[: self.program[at.LOWER_AT]], bounds])
        self._bounds_for = wanted
        return self.params


def assemble(model: Any, recipe: Recipe) -> Assembly:
    """Bind a recipe, whose key is settled, to a model: compile or load what it calls, and lay out the rows."""
    program = np.zeros(at.PROGRAM_SIZE, np.int64)
    pointers: list[Pointer] = [model.step_pointer]
    params: list[float] = []

    def install(ingredient: Ingredient, cell: int, params_cell: int) -> None:
        pointer = ingredient.pointer()
        pointers.append(pointer)
        program[cell], program[params_cell] = pointer.address, len(params)
        params.extend(ingredient.params())

    program[at.STEP] = model.step_pointer.address
    if model.legal_pointer is not None:
        pointers.append(model.legal_pointer)
        program[at.LEGAL] = model.legal_pointer.address
    install(recipe.selection, at.SELECT, at.SELECT_AT)
    install(recipe.root_selection or recipe.selection, at.ROOT_SELECT, at.ROOT_SELECT_AT)
    install(recipe.backup, at.BACKUP, at.BACKUP_AT)
    if isinstance(recipe.decision, Sweep):
        program[at.SWEEP] = 1
        if recipe.decision.backup is not None or recipe.estimator == "running":
            install(recipe.decision.backup or recipe.backup, at.DECISION_BACKUP, at.DECISION_BACKUP_AT)
    _install_evaluation(recipe, model, program, params, pointers, install)
    program[at.KEY] = _KEYS[recipe.key or "state"]
    program[at.TARGET] = at.SAMPLED_RETURN if recipe.target == "return" else at.CHILD_VALUE
    program[at.ESTIMATOR] = at.PRESENT_VALUES if recipe.estimator == "current" else at.RUNNING_MEAN
    program[at.EXPANSION] = at.WHOLE_PATH if recipe.expansion == "path" else at.LEAF
    program[at.RECOMMENDATION] = at.MOST_VISITS if recipe.recommendation == "most_visits" else at.BEST_VALUE
    program[at.EDGES_KEPT] = recipe.needs_edges
    program[at.VARIANCE_KEPT] = recipe.keep_variance or recipe.backup.needs_variance
    _lay_out_rows(model, program)
    program[at.LOWER_AT] = len(params)
    low = 0.0 if model.reward_bounds is None else min(0.0, model.reward_bounds[0])
    return Assembly(
        program=program,
        params=np.array(params, np.float64),
        pointers=pointers,
        needs_gil=any(pointer.needs_gil for pointer in pointers),
        smallest_reward=low,
        by_state=recipe.key == "state",
    )


def _install_evaluation(recipe: Recipe, model: Any, program: Any, params: Any, pointers: Any, install: Any) -> None:
    evaluation = recipe.evaluation
    program[at.ROLLOUT_STEPS] = at.NO_LIMIT
    program[at.EVALUATION] = at.BY_ROLLOUT
    if isinstance(evaluation, Rollout):
        if evaluation.steps is not None:
            program[at.ROLLOUT_STEPS] = evaluation.steps
        own: Pointer | None = getattr(model, "rollout_pointer", None)
        if evaluation.policy is not None:
            install(evaluation.policy, at.POLICY, at.POLICY_AT)
        elif own is not None:  # a whole playout in one call
            pointers.append(own)
            program[at.EVALUATION], program[at.VALUE] = at.BY_FUNCTION, own.address
    elif isinstance(evaluation, Constant):
        program[at.EVALUATION], program[at.VALUE_AT] = at.BY_CONSTANT, len(params)
        params.append(evaluation.value)
    elif isinstance(evaluation, Heuristic):
        program[at.EVALUATION] = at.BY_FUNCTION
        install(evaluation.ingredient(), at.VALUE, at.VALUE_AT)
    elif isinstance(evaluation, PythonValue):
        pointer = evaluation.bind(model.width)
        pointers.append(pointer)
        program[at.EVALUATION], program[at.VALUE] = at.BY_FUNCTION, pointer.address


def _lay_out_rows(model: Any, program: NDArray[np.int64]) -> None:
    """Where counts, values, edge heads and variances stand in a node's row."""
    actions = model.actions
    program[at.ACTIONS], program[at.WIDTH], program[at.KEY_SIZE] = actions, model.width, model.key_size
    cell = at.FIRST_KEY + model.key_size
    for place, wanted in (
        (at.COUNTS_AT, True),
        (at.Q_AT, True),
        (at.HEADS_AT, program[at.EDGES_KEPT]),
        (at.VARIANCE_AT, program[at.VARIANCE_KEPT]),
    ):
        program[place] = cell
        cell += actions if wanted else 0
    program[at.STRIDE] = cell
