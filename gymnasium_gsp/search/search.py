"""The front of the search: binds a model and a recipe to the compiled loop and runs it in chunks.

Chunks give wall-clock budgets, Ctrl-C, progress reports and growth; they change no result.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.compilation import compile_ahead, compiled_entry
from gymnasium_gsp.abi.context import ABI_VERSION, CONTEXT_DTYPE, CONTEXT_SIZE, context_length
from gymnasium_gsp.abi.interrupts import Interrupts
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.errors import PlanningError, RecipeError, check_count
from gymnasium_gsp.models.model import Model
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.assembly import assemble
from gymnasium_gsp.search.budget import Budget, Progress
from gymnasium_gsp.search.decide import decide
from gymnasium_gsp.search.failures import failure_message
from gymnasium_gsp.search.frame import (
    ALLOCATION,
    ARM,
    EDGE,
    HOP,
    LEAF,
    TALLY,
    Arrays,
    interval_of,
    make_frame,
    named,
    stats_of,
)
from gymnasium_gsp.search.graph import find
from gymnasium_gsp.search.ingredients.evaluation import SampledTree
from gymnasium_gsp.search.ingredients.functions import Observe
from gymnasium_gsp.search.ingredients.horizon import DEFAULT_HORIZON, planned_trajectories
from gymnasium_gsp.search.loop import run_simulations
from gymnasium_gsp.search.observed_values import SMALLEST_VALUE
from gymnasium_gsp.search.pace import Pace
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.result import SearchResult
from gymnasium_gsp.search.sampled_tree import LEVEL_CELLS
from gymnasium_gsp.search.scenarios import PLAYOUT_NUMBERS
from gymnasium_gsp.search.store import MEMORY, SMALLEST, SMALLEST_MEMORY, Store
from gymnasium_gsp.search.sweep import bring_up_to_date

STALE = 1000  # simulations without a new node after which a budget in nodes alone may end
EXPLORING_SHARE = 1 / 8  # of a decision, before scenarios may take over
SPARE_KEYS = 4096  # keys of a simulator's states that may be held beyond twice the nodes

OnProgress = Callable[[Progress], object]
"""Called between chunks of a search; a true answer stops it."""


class Search:
    """A recipe bound to a model, with the graph that lives from decision to decision.

    Attributes:
        model, recipe: what was bound; the recipe is settled.
        program, tally, context: the records of the compiled loop, fields as attributes.
        rng: (2,) uint64, the stream of the search's own choices and that of the model.
        store: every array.
        pace: estimates of what simulations and sweeps cost.
        loop_seconds: how much of the last decision was spent inside the compiled loop.

    Args:
        model: what to plan in.
        recipe: how.
        timed: whether the number of steps left will be known at each decision.
        max_nodes: cap on stored nodes; None for what fits into `memory`.
        memory: bytes that the graph may take.
        first_rows: rows to start with; changes no result.
        keep_outcomes: whether outcomes are stored even if the recipe does not need them; changes no result.
        observe: the observation of a state, for functions of observations; None where there is none.
        coarse_first: whether the order of the actions says which are to be tried first, for `Widening`.

    Raises:
        RecipeError: if recipe and model do not fit, or a limit makes no sense.
    """

    def __init__(
        self,
        model: Model,
        recipe: Recipe,
        timed: bool,
        max_nodes: int | None = None,
        memory: int = MEMORY,
        first_rows: int = SMALLEST,
        keep_outcomes: bool = False,
        observe: Observe | None = None,
        coarse_first: bool = False,
    ) -> None:
        if not isinstance(model, Model):
            raise RecipeError(
                "a model is a CompiledModel, or what tabular_model() or an environment's compiled_model() returns, not "
                f"{model!r}"
            )
        if not isinstance(recipe, Recipe):
            raise RecipeError(f"a recipe is a value of Recipe, not {recipe!r}")
        if max_nodes is not None:
            check_count("max_nodes", max_nodes)
        check_count("memory", memory, SMALLEST_MEMORY)
        self.model, self.recipe = model, recipe.settled(timed)
        self.discount = self.recipe.discount_in(1)  # settled by each decision
        self._assembly = assemble(model, self.recipe, keep_outcomes, observe, coarse_first)
        self.rng = np.zeros(2, np.uint64)
        arrays = Arrays(
            program=self._assembly.program,
            tally=np.zeros(1, TALLY),
            context=np.zeros(context_length(model.actions, 0))[:CONTEXT_SIZE].view(CONTEXT_DTYPE),
            params=self._assembly.params,
            model_params=model.params,
            allocation=np.zeros(1, ALLOCATION),
            arms=np.zeros(model.actions, ARM),
            rows=np.zeros(0, np.int64),
            table=np.zeros(0, np.int64),
            edges=np.zeros(0, EDGE),
            trail=np.zeros(0, HOP),
            leaves=np.zeros(self.recipe.leaf_batch or 0, LEAF),
            answers=np.zeros(0) if self._assembly.leaves is None else self._assembly.leaves.answers.reshape(-1),
            playout=np.zeros(0, np.int64),
            states=np.zeros(2 * model.width, np.int64),
            rng=self.rng,
            scratch=np.zeros(1),
        )
        self.program, self.tally, self.context = named(arrays.program), named(arrays.tally), named(arrays.context)
        self.tally.draws = -1
        self.store = Store(arrays, max_nodes, memory, first_rows)
        self.store.reserve_scratch(2 * model.actions)
        self._compiled = not self._assembly.needs_gil
        self._sweep_every = getattr(self.recipe.decision, "every", None) or codes.NO_LIMIT
        self._run_simulations = compiled_entry(run_simulations, self._compiled)
        self._decide = compiled_entry(decide, self._compiled)
        numbers, reals = np.empty(0, np.int64), np.empty(0)
        compile_ahead(self._run_simulations, arrays, True)  # no decision's time is spent on compiling
        compile_ahead(self._decide, arrays, numbers, numbers, reals, numbers)
        self._interrupts = Interrupts()
        if model.keys is not None and max_nodes is None:  # they live and die with the graph
            beside = 2 * model.keys.bytes_each()  # as many keys as twice the nodes, see `_run`
            self.store.max_nodes = max(1, memory // (self.store.bytes_per_node + beside))
        self.pace = Pace(self._compiled)
        self.loop_seconds = 0.0
        self.begin_episode()

    def seed(self, words: NDArray[np.uint64]) -> None:
        """Set both streams, that of the search's own choices and that of the model."""
        self.rng[:] = words

    def begin_episode(self) -> None:
        """Forget the graph and the statistics of the last episode."""
        self.store.forget()
        self.store.arrays.context[:] = np.zeros(1, CONTEXT_DTYPE)
        self.store.arrays.allocation[:] = np.zeros(1, ALLOCATION)
        context, values = self.context, self._assembly.values
        context.version = ABI_VERSION
        context.discount = self.discount
        context.actions = self.model.actions
        context.masked = int(self.program.legal != 0 or self.program.widening_factor != 0.0)
        context.range = 1.0
        if self.program.learned:
            context.top, context.bottom = SMALLEST_VALUE, -np.inf
            self.program.accuracy = self.program.baseline = 0.0
        if values is not None:
            context.lowest_reward, context.highest_reward = values.low, values.high
            context.bottom, context.top = values.bottom, values.top

    def plan(
        self,
        cells: NDArray[np.int64],
        budget: Budget,
        elapsed: int = 0,
        steps_left: int | None = None,
        same_root: bool = False,
        on_progress: OnProgress | None = None,
    ) -> SearchResult:
        """Search from a state and recommend an action.

        Args:
            cells: (width,) int64, the state.
            budget: what may be spent.
            elapsed: steps since the start of the episode.
            steps_left: steps until the time limit; None if there is none.
            same_root: whether nothing has happened since the last decision.
            on_progress: called between chunks; a true answer stops the search.

        Raises:
            PlanningError: if the model or an ingredient failed; the graph is then forgotten.
        """
        begun = time.perf_counter()
        if steps_left is not None and steps_left <= 0:
            return self._nothing_to_search(begun)
        self._prepare(cells, budget, elapsed, steps_left, same_root)
        try:
            return self._result(begun, self._run(budget, begun, on_progress))
        except BaseException:
            self.begin_episode()
            raise

    def _prepare(
        self, cells: NDArray[np.int64], budget: Budget, elapsed: int, steps_left: int | None, same_root: bool
    ) -> None:
        """Set the records to one decision."""
        program, tally, context = self.program, self.tally, self.context
        self.discount = self.recipe.discount_in(None if steps_left is None else elapsed + steps_left)
        context.discount = self.discount
        depth = self._limit_depth(budget, steps_left)
        program.end = codes.NO_LIMIT if steps_left is None else steps_left
        program.rollout_end = max(depth, DEFAULT_HORIZON) if steps_left is None else codes.NO_LIMIT
        program.root_elapsed = elapsed
        program.step_limit = codes.NO_LIMIT if budget.model_steps is None else min(budget.model_steps, codes.NO_LIMIT)
        program.node_limit = codes.NO_LIMIT if budget.nodes is None else min(budget.nodes, codes.NO_LIMIT)
        program.update_limit = self.pace.most_updates(budget.seconds)
        timed = steps_left is not None and self.recipe.discount == "from_horizon"
        program.return_discount = 1.0 if timed else self.discount
        self._prepare_allocation(budget)
        program.growth = codes.GROWING
        context.in_flight = 0
        self.store.replace(params=self._assembly.with_lower_bounds(depth, steps_left, self.discount))
        self._set_trajectories(budget)
        self.store.arrays.states[: self.model.width] = cells
        tally.simulations = tally.model_steps = tally.new_nodes = tally.capped = 0
        tally.waiting = tally.trail = tally.first_hop = 0
        if self._assembly.leaves is not None:
            self._assembly.leaves.forget()
        if self.recipe.retention == "decision":
            self.store.forget()
        elif tally.root_change != codes.RESTARTED:
            tally.root_change = codes.SAME_ROOT if same_root else codes.MOVED_ON
        if self.model.keys is not None and tally.root_change == codes.RESTARTED:
            self.model.keys.retain(cells[:1].tolist())

    def _prepare_allocation(self, budget: Budget) -> None:
        """Let the decision begin with exploring; with one simulation where scenarios made the last one."""
        program, allocation = self.program, named(self.store.arrays.allocation)
        program.simulation_budget = min(budget.simulations or codes.NO_LIMIT, codes.NO_LIMIT)
        program.step_budget = min(budget.model_steps or codes.NO_LIMIT, codes.NO_LIMIT)
        program.time_share = program.time_share_each = 0.0
        allocation.exploring = 0.0 if allocation.phase == codes.BY_SCENARIOS else EXPLORING_SHARE
        allocation.phase = codes.EXPLORING

    def _limit_depth(self, budget: Budget, steps_left: int | None) -> int:
        """Set how many steps a simulation selects, with working memory for as many; returns it."""
        recipe, actions, trajectories = self.recipe, self.model.actions, budget.simulations
        if recipe.optimism is not None:
            trajectories = planned_trajectories(budget.simulations, budget.model_steps, self.discount)
        depth: int = recipe.horizon.steps(steps_left, self.discount, trajectories)
        self.program.horizon = self.context.horizon = depth
        in_flight = self.recipe.leaf_batch or 1
        self.program.longest = in_flight * (depth + 1)
        if isinstance(recipe.evaluation, SampledTree):
            recipe.evaluation.check_cost(actions, steps_left, budget.model_steps)
            levels = recipe.evaluation.depth if steps_left is None else min(recipe.evaluation.depth, steps_left)
            self.store.reserve_scratch((levels + 2) * (LEVEL_CELLS + self.model.width))
        if len(self.store.arrays.trail) < in_flight * (depth + 2):
            cells = np.zeros(context_length(actions, depth))
            context = cells[:CONTEXT_SIZE].view(CONTEXT_DTYPE)
            context[:] = self.store.arrays.context
            playout = np.zeros((depth + 2) * (self.model.width + PLAYOUT_NUMBERS), np.int64)
            self.store.replace(trail=np.zeros(in_flight * (depth + 2), HOP), playout=playout, context=context)
            self.context = named(context)
        return depth

    def _set_trajectories(self, budget: Budget) -> None:
        """Tell the ingredients how many simulations are planned.

        Raises:
            RecipeError: if bounds depend on it and the budget does not say.
        """
        optimism, trajectories = self.recipe.optimism, budget.simulations
        if optimism is not None:
            trajectories = planned_trajectories(budget.simulations, budget.model_steps, self.discount)
            if trajectories is None and optimism.needs_trajectories:
                raise RecipeError(
                    "bounds that grow with log M are a function of the number of trajectories: give a budget in "
                    "simulations or model steps beside the other limit"
                )
            params = optimism.bound_params(self.model.actions, trajectories)
            first = int(self.program.bound_params)
            self.store.arrays.params[first : first + len(params)] = params
        self.context.budget = np.inf if trajectories is None else trajectories

    def _run(self, budget: Budget, begun: float, on_progress: OnProgress | None) -> str:
        """Run chunks until something ends the search; returns what did."""
        program, tally, store, keys = self.program, self.tally, self.store, self.model.keys
        limit = codes.NO_LIMIT if budget.simulations is None else min(budget.simulations, codes.NO_LIMIT)
        deadline = None if budget.seconds is None else begun + budget.seconds
        only_nodes = limit == codes.NO_LIMIT and deadline is None and budget.model_steps is None
        most_steps = int(program.step_limit)
        grown_at, grown, next_sweep = 0, 0, self._sweep_every
        enter, dropped = True, False
        self.loop_seconds = 0.0
        while True:
            before, chunk_begun = int(tally.simulations), time.perf_counter()
            left = None if deadline is None else deadline - self._sweep_seconds() - chunk_begun
            program.simulation_limit = min(limit, before + self.pace.next_chunk(left), next_sweep)
            steps = int(tally.model_steps)
            program.step_limit = min(most_steps, steps + self.pace.next_steps(left))
            program.chunk_begun = before
            if deadline is not None and budget.seconds:
                program.time_share = (chunk_begun - begun) / budget.seconds
                program.time_share_each = self.pace.simulation_seconds / budget.seconds
            with self._interrupts:
                status = self._run_simulations(store.arrays, enter)
            self._interrupts.raise_interrupt()
            now = time.perf_counter()
            self.loop_seconds += now - chunk_begun
            if status == codes.NO_ROOM_FOR_ROOT:
                self._make_root_room()
                continue
            enter = False
            tally.root_change = codes.SAME_ROOT
            if status == codes.FULL:
                dropped = self._make_room(dropped)
                continue
            if status >= codes.STEP_FAILED or self._interrupts.causes:
                self._fail(status)
            if keys is not None and len(keys) > 2 * tally.nodes + SPARE_KEYS:
                keys.retain(store.first_key_cells().tolist())
            done = int(tally.simulations)
            self.pace.observe_chunk(done - before, int(tally.model_steps) - steps, now - chunk_begun)
            if done >= next_sweep and done < limit:
                self._bring_up_to_date()
                next_sweep += self._sweep_every
            if status == codes.OUT_OF_STEPS:
                return "model_steps"
            if status == codes.OUT_OF_NODES:
                return "nodes"
            if done >= limit:
                return "simulations"
            if deadline is not None and now >= deadline - self._sweep_seconds():
                return "seconds"
            if tally.new_nodes > grown:
                grown_at, grown = done, int(tally.new_nodes)
            elif only_nodes and done > 2 * grown_at + STALE:
                return "nodes"
            if on_progress is not None and on_progress(
                Progress(done, int(tally.model_steps), now - begun, int(tally.new_nodes))
            ):
                return "callback"

    def _bring_up_to_date(self) -> None:
        """Sweep present values in the middle of a search."""
        nodes, reals = int(self.tally.nodes), np.empty(2 * self.model.actions + int(self.tally.nodes))
        order, position = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
        with self._interrupts:
            status = compiled_entry(bring_up_to_date, self._compiled)(self.store.arrays, order, position, reals)
        self._interrupts.raise_interrupt()
        if status != codes.DONE or self._interrupts.causes:
            self._fail(status)

    def _make_root_room(self) -> None:
        """See to it that the root can be stored: by growth, by dropping the past, or by starting afresh."""
        store = self.store
        if store.make_room(1):
            return
        if self.tally.root >= 0:
            store.drop_past()
        if not store.make_room(1):
            store.forget()

    def _make_room(self, dropped: bool) -> bool:
        """Grow; where that may not be, fill up, then drop the past once, then go on without adding.

        Returns whether the past has been dropped in this decision.
        """
        program, store = self.program, self.store
        if store.reserve_outcomes(int(program.longest)):
            return dropped
        if program.growth == codes.GROWING:
            if not store.make_room(int(program.longest)):
                program.growth = codes.LAST_ROOM
        elif self.recipe.retention == "episode" and not dropped:
            store.drop_past()
            return True
        else:
            program.growth = codes.ADD_WHILE_ROOM
        return dropped

    def _sweep_seconds(self) -> float:
        """Estimate the seconds of the sweep that the decision will make; scenarios make none."""
        program, tally = self.program, self.tally
        if not program.sweep or named(self.store.arrays.allocation).phase == codes.BY_SCENARIOS:
            return 0.0
        passes = program.sweep + (program.estimator == codes.PRESENT_VALUES and program.decision_backup != 0)
        return self.pace.sweep_seconds(int(passes), int(tally.nodes) + int(tally.edges), program.update_limit)

    def _result(self, begun: float, stopped_by: str) -> SearchResult:
        """Decide, and say what the search says of its root."""
        actions, tally = self.model.actions, self.tally
        nodes = int(tally.nodes) if self.program.sweep else 0
        decision_begun = time.perf_counter()
        order, position = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
        reals, counts = np.empty(1 + 2 * (actions + nodes)), np.empty(actions, np.int64)
        with self._interrupts:
            status = self._decide(self.store.arrays, order, position, reals, counts)
        self._interrupts.raise_interrupt()
        if status != codes.DONE or self._interrupts.causes:
            self._fail(status)
        ended = time.perf_counter()
        self.pace.observe_sweep(int(tally.updates), nodes + int(tally.edges), ended - decision_begun)
        tally.recommended = tally.detail
        return SearchResult(
            action=int(tally.recommended),
            value=float(reals[0]),
            q_values=reals[1 : 1 + actions].copy(),
            visit_counts=counts,
            simulations=int(tally.simulations),
            model_steps=int(tally.model_steps),
            nodes=int(tally.new_nodes),
            graph_size=int(tally.nodes),
            inherited=int(tally.inherited),
            stopped_by=stopped_by,
            at_cap=bool(tally.capped),
            seconds=ended - begun,
            recommendation="halving" if self.program.halving else self.recipe.recommendation,
        )

    def _nothing_to_search(self, begun: float) -> SearchResult:
        """The answer in a state where the episode has ended: any action, worth exactly 0."""
        actions = self.model.actions
        return SearchResult(
            action=0,
            value=0.0,
            q_values=np.zeros(actions),
            visit_counts=np.zeros(actions, np.int64),
            simulations=0,
            model_steps=0,
            seconds=time.perf_counter() - begun,
            nodes=0,
            graph_size=int(self.tally.nodes),
            stopped_by="terminal",
        )

    def _fail(self, status: int) -> None:
        """Raise what went wrong: a Python callback's own exception, or an error that names the culprit."""
        for pointer in self._assembly.pointers:
            if pointer.raised:
                raise pointer.raised.pop()
        state = tuple(self.store.arrays.states[self.model.width :].tolist())
        draws, self.tally.draws = int(self.tally.draws), -1
        words = failure_message(status, self.model, self.recipe, state, int(self.tally.detail), draws)
        raise PlanningError(words) from self._interrupts.take_cause()

    def interval(self, state: NDArray[np.int64]) -> tuple[float, float] | None:
        """Return (lower, upper), the interval that holds the discounted value of a state.

        None for a state that is no node, where nodes are action sequences, and for a recipe without declared bounds.

        Args:
            state: (width,) int64, its cells.
        """
        ends = np.zeros(2)
        if (
            not self.program.bound
            or self.program.learned
            or not self.program.key_size
            or not compiled_entry(read_interval, True)(self.store.arrays, state, ends)
        ):
            return None
        return float(ends[0]), float(ends[1])


def read_interval(arrays, state, ends):
    """Write a state's interval to `ends`; returns False if the state is no node under state keys."""
    frame = make_frame(arrays)
    number = find(frame, 0, address(state, 0))
    if number >= 0:
        ends[0], ends[1] = interval_of(frame, number).lower, stats_of(frame, number).value
    return number >= 0
