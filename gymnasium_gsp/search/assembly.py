"""From a recipe and a model to the records that tell the compiled loop what to run."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import FIRST_KEY, INTERVAL, PROGRAM
from gymnasium_gsp.search.ingredients.evaluation import Constant, Heuristic, PythonValue, Rollout, SampledTree
from gymnasium_gsp.search.ingredients.functions import (
    ObservationFunction,
    Observe,
    PriorFunction,
    ValueFunction,
    WaitingLeaves,
)
from gymnasium_gsp.search.ingredients.horizon import DEFAULT_HORIZON
from gymnasium_gsp.search.ingredients.ingredient import Ingredient
from gymnasium_gsp.search.ingredients.optimism import Optimism, Propagation
from gymnasium_gsp.search.ingredients.prior import GumbelHalving
from gymnasium_gsp.search.ingredients.widening import spreading_stride
from gymnasium_gsp.search.prior import PRIOR_CELLS
from gymnasium_gsp.search.recipe import PairedScenarios, Recipe, Sweep

_CODES = {
    "key": {
        "state": codes.BY_STATE,
        "state_elapsed": codes.BY_STATE_ELAPSED,
        "path": codes.BY_PATH,
        "actions": codes.BY_ACTIONS,
    },
    "target": {"return": codes.SAMPLED_RETURN, "value": codes.CHILD_VALUE},
    "estimator": {"running": codes.RUNNING_MEAN, "current": codes.PRESENT_VALUES},
    "expansion": {"leaf": codes.LEAF, "path": codes.WHOLE_PATH},
    "learning": {"on_the_trail": codes.ON_THE_TRAIL, "at_the_switch": codes.AT_THE_SWITCH},
    "recommendation": {"best_value": codes.BEST_VALUE, "most_visits": codes.MOST_VISITS},
}


@dataclass(frozen=True)
class ValueRange:
    """The range of rewards that a model declares, and of the values that follow.

    Attributes:
        low, high: smallest and largest reward of one step.
        bottom, top: smallest and largest discounted sum of at least one reward, ended whenever.
    """

    low: float
    high: float
    bottom: float
    top: float


@dataclass
class Assembly:
    """A recipe bound to a model.

    Attributes:
        program: (1,) PROGRAM.
        params: float64, the ingredients' parameters, then lower bounds per depth.
        pointers: everything that is called, kept alive here.
        needs_gil: whether any of it runs Python code.
        smallest_reward: lower bound on one reward, at most 0.
        by_state: whether nodes are shared between depths, so that one bound must serve all.
        values: the range of values; None for a recipe without optimism.
        leaves: the leaves that wait; None without a leaf batch.
    """

    program: NDArray[np.void]
    params: NDArray[np.float64]
    pointers: list[Pointer]
    needs_gil: bool
    smallest_reward: float
    by_state: bool
    values: ValueRange | None
    leaves: WaitingLeaves | None
    _bounds_for: tuple[int, int | None, float] | None = field(default=None, init=False)

    def with_lower_bounds(self, depth: int, steps_left: int | None, discount: float) -> NDArray[np.float64]:
        """Return the parameters, ending in the lower bound on the remaining return at depths 0 .. depth + 1.

        L(h) = smallest reward * (1 + discount + ... ) over the steps left at h; for state keys, L(0) everywhere.
        """
        wanted, first = (depth, steps_left, discount), int(self.program["lower_bounds"][0])
        enough = len(self.params) >= first + depth + 2
        if enough and (self.smallest_reward == 0.0 or self._bounds_for == wanted):
            return self.params
        depths = max(depth + 2, len(self.params) - first)  # nodes of a kept graph may lie deeper than this search looks
        bounds = np.zeros(depths)
        if self.smallest_reward < 0.0:
            end = max(depth, DEFAULT_HORIZON) if steps_left is None else steps_left
            left = np.maximum(end - np.arange(depths), 0)
            annuity = left if discount == 1.0 else (1.0 - discount**left) / (1.0 - discount)
            bounds = self.smallest_reward * (np.full(depths, annuity[0]) if self.by_state else annuity)
        self.params = np.concatenate([self.params[:first], bounds])
        self._bounds_for = wanted
        return self.params


class _Assembler:
    """The parts of an assembly while it is put together."""

    def __init__(self, model: Model, observe: Observe | None) -> None:
        self.model, self.observe = model, observe
        self.program = np.zeros(1, PROGRAM)
        self.params: list[float] = []
        self.pointers: list[Pointer] = []
        self.leaves: WaitingLeaves | None = None
        self.install_pointer("step", model.step_pointer)
        if model.legal_pointer is not None:
            self.install_pointer("legal", model.legal_pointer)

    def install_pointer(self, slot: str, pointer: Pointer) -> None:
        """Let the program call a function."""
        self.pointers.append(pointer)
        self.program[slot] = pointer.address

    def install_params(self, slot: str, params: tuple[float, ...]) -> None:
        """Let the program hand these numbers to the function of a slot."""
        self.program[f"{slot}_params"] = len(self.params)
        self.params.extend(params)

    def install(self, slot: str, ingredient: Ingredient) -> None:
        """Let the program call an ingredient."""
        if isinstance(ingredient, ObservationFunction) and self.observe is not None:
            pointer = ingredient.bind(self.model.width, self.model.actions, self.observe)
        else:
            pointer = ingredient.pointer()
        self.install_pointer(slot, pointer)
        self.install_params(slot, ingredient.params())

    def install_evaluation(self, recipe: Recipe, model: Model) -> None:
        """Let the program value leaves."""
        evaluation, kind = recipe.evaluation, codes.BY_FUNCTION
        if model.keys is not None and isinstance(evaluation, PythonValue | Heuristic):
            raise RecipeError(
                f"{type(evaluation).__name__} is a function of a state's cells, which in a simulator are internal "
                "numbers: write make_agent(env, ..., value_function=f) with a function of the observation"
            )
        self.program["rollout_steps"] = codes.NO_LIMIT
        if isinstance(evaluation, Rollout):
            kind = codes.BY_ROLLOUT
            if evaluation.steps is not None:
                self.program["rollout_steps"] = min(evaluation.steps, codes.NO_LIMIT)
            if evaluation.policy is not None:
                self.install("policy", evaluation.policy)
            elif model.rollout_pointer is not None:  # a whole playout in one call
                kind = codes.BY_FUNCTION
                self.install_pointer("value", model.rollout_pointer)
        elif isinstance(evaluation, Constant):
            kind = codes.BY_CONSTANT
            self.install_params("value", (evaluation.value,))
        elif isinstance(evaluation, SampledTree):
            kind = codes.BY_SAMPLED_TREE
            if model.keys is not None:
                raise RecipeError(
                    "sparse sampling draws from a state several times, and a simulator can only be restored at the "
                    "root: plan with a compiled or tabular model, or with another algorithm"
                )
            self.install_params("value", (float(evaluation.width), float(evaluation.depth)))
        elif isinstance(evaluation, Heuristic):
            self.install("value", evaluation.ingredient())
        elif isinstance(evaluation, ValueFunction) and recipe.leaf_batch is not None and self.observe is not None:
            self.install_leaf_batch(evaluation, recipe.prior, recipe.leaf_batch, self.observe)
        elif isinstance(evaluation, ValueFunction):  # refused without observations
            self.install("value", evaluation)
        elif isinstance(evaluation, PythonValue):
            self.install_pointer("value", evaluation.bind(model.width))
        self.program["evaluation"] = kind

    def install_leaf_batch(self, value: ValueFunction, prior: Ingredient | None, size: int, observe: Observe) -> None:
        """Let leaves be noted down, and valued in one call with the weights of their actions."""
        asked = prior if isinstance(prior, PriorFunction) else None
        self.leaves = WaitingLeaves(value, asked, size, self.model, observe)
        self.program["leaf_batch"], self.program["prior_answered"] = size, asked is not None
        self.install_pointer("value", self.leaves.note_pointer())
        self.install_pointer("answer", self.leaves.answer_pointer())

    def install_optimism(self, optimism: Optimism, actions: int) -> None:
        """Let the program keep bounds; their parameters depend on the budget and come with each decision."""
        self.install_pointer("bound", optimism.pointer())
        self.install_params("bound", optimism.bound_params(actions, None))

    def lay_out_rows(self, model: Model, recipe: Recipe) -> None:
        """Say where counts, values, edge heads and variances stand in a node's row."""
        program, intervals = self.program, recipe.optimism is not None
        program["actions"], program["width"] = model.actions, model.width
        program["key_size"] = 0 if recipe.key == "actions" else model.key_size
        program["clocked"] = model.clock is not None
        cell = FIRST_KEY + int(program["key_size"][0])
        for place, cells, wanted in (
            ("counts_at", model.actions, True),
            ("q_at", model.actions, True),
            ("heads_at", model.actions, program["edges_kept"][0]),
            ("variance_at", model.actions, program["variance_kept"][0]),
            ("prior_at", PRIOR_CELLS + model.actions, program["prior_kept"][0]),
            ("interval_at", INTERVAL.itemsize // 8, intervals),
        ):
            program[place] = cell
            cell += cells if wanted else 0
        program["stride"] = cell
        program["lower_bounds"] = len(self.params)


def assemble(
    model: Model,
    recipe: Recipe,
    keep_outcomes: bool = False,
    observe: Observe | None = None,
    coarse_first: bool = False,
) -> Assembly:
    """Bind a recipe, whose key is settled, to a model: compile or load what it calls, and lay out the rows.

    Args:
        model: what to plan in.
        recipe: how.
        keep_outcomes: whether outcomes are stored even if the recipe does not need them.
        observe: the observation of a state; None where there is none.
        coarse_first: whether the order of the actions says which are to be tried first.

    Raises:
        RecipeError: if recipe and model do not fit.
    """
    optimism, values = recipe.optimism, None
    if optimism is not None and not optimism.learned:
        values = value_range(model, optimism, float(recipe.discount or 0.0))
    parts = _Assembler(model, observe)
    program, decision = parts.program, recipe.decision
    for slot, choices in _CODES.items():
        program[slot] = choices[getattr(recipe, slot)]
    program["edges_kept"] = recipe.needs_edges or keep_outcomes
    program["variance_kept"] = recipe.keep_variance or recipe.backup.needs_variance or recipe.optimism is not None
    if recipe.optimism is None:
        parts.install("select", recipe.selection)
        parts.install("root_select", recipe.root_selection or recipe.selection)
        parts.install("backup", recipe.backup)
        parts.install_evaluation(recipe, model)
    else:
        parts.install_optimism(recipe.optimism, model.actions)
        program["rewards_apart"] = recipe.optimism.rewards_apart
        program["lower_is_mean"] = recipe.optimism.lower_is_mean
        program["learned"] = recipe.optimism.learned
        program["margin"] = recipe.optimism.margin or 0.0
        program["patience"] = recipe.optimism.patience or 0.0
    program["prior_kept"] = recipe.keeps_prior
    if recipe.prior is not None:
        parts.install("prior", recipe.prior.of_batches() if program["prior_answered"][0] else recipe.prior)
    if recipe.widening is not None:
        program["widening_factor"], program["widening_exponent"] = recipe.widening.factor, recipe.widening.exponent
        program["widening_stride"] = 0 if coarse_first else spreading_stride(model.actions)
    if isinstance(recipe.root_allocation, GumbelHalving):
        program["halving"] = 1
        parts.install_params("halving", recipe.root_allocation.params())
    if isinstance(decision, Sweep):
        program["sweep"] = decision.passes
        program["caution"] = decision.caution
        if decision.backup is not None or recipe.estimator == "running":
            backup = decision.backup or recipe.backup
            parts.install("decision_backup", backup)
            program["decision_variance"] = backup.reads_variance
    parts.lay_out_rows(model, recipe)
    if isinstance(recipe.root_allocation, PairedScenarios):
        program["pairing"] = 1
        for name in ("novelty", "known", "evidence"):
            program[name] = getattr(recipe.root_allocation, name)
    propagation = recipe.propagation or Propagation()
    program["backups"] = propagation.backups or 0
    program["relative_accuracy"] = propagation.accuracy
    if recipe.greedy_simulations is not None:
        program["greedy_every"], program["greedy_after"] = (
            recipe.greedy_simulations.every,
            recipe.greedy_simulations.after,
        )
    if recipe.optimism is not None and values is not None:
        program["accuracy"] = propagation.accuracy * ((values.high - values.low) or 1.0)
        program["rounding"] = recipe.optimism.rounding * (values.top - values.bottom)
    return Assembly(
        program=program,
        params=np.array(parts.params, np.float64),
        pointers=parts.pointers,
        needs_gil=any(pointer.needs_gil for pointer in parts.pointers),
        smallest_reward=0.0 if model.reward_bounds is None else min(0.0, model.reward_bounds[0]),
        by_state=recipe.key == "state",
        values=values,
        leaves=parts.leaves,
    )


def value_range(model: Model, optimism: Optimism, discount: float) -> ValueRange:
    """Return the range of rewards and values that a model's declared reward bounds leave.

    Raises:
        RecipeError: if it declares none.
    """
    if model.reward_bounds is None:
        raise RecipeError(
            f"{model.name} declares no reward bounds, and bounds on values are built on them: give "
            "reward_bounds=(smallest, largest) of one step, to its CompiledModel or, in an environment, to make_agent"
        )
    low, high = map(float, model.reward_bounds)
    if not np.isfinite([low, high]).all():
        raise RecipeError(f"{model.name}: reward_bounds must be finite, not {model.reward_bounds!r}")
    if optimism.zero_is_a_reward:
        low, high = min(low, 0.0), max(high, 0.0)
    lasting = 1.0 / (1.0 - discount)
    return ValueRange(low, high, low * (lasting if low < 0.0 else 1.0), high * (lasting if high > 0.0 else 1.0))
