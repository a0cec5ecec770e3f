"""The front of the search: binds a model and a recipe to the compiled loop and runs it in chunks.

Chunks give wall-clock budgets, Ctrl-C, progress reports and growth; they change no result.
"""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.interrupts import Interrupts
from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.search import decision, kernel
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget, Progress, SearchResult
from gymnasium_gsp.search.failures import failure_message
from gymnasium_gsp.search.horizon import DEFAULT_HORIZON
from gymnasium_gsp.search.program import Assembly, assemble
from gymnasium_gsp.search.store import MEMORY, SMALLEST, Store

CHUNK_SECONDS = 0.005  # how long a chunk should take
STALE = 1000  # simulations without a new node after which a budget in nodes alone may end
SPARE_KEYS = 4096  # keys of a simulator's states that may be held beyond twice the nodes


class Search:
    """A planner for one model: a recipe bound to it, with the graph that lives from decision to decision.

    Attributes:
        kernel_seconds: how much of the last decision was spent inside the compiled loop.
        chunk: simulations in the next chunk; adapted to take about CHUNK_SECONDS.

    Args:
        model: what to plan in (`models.compiled.CompiledModel`).
        recipe: how.
        timed: whether the number of steps left will be known at each decision.
        max_nodes: cap on stored nodes; None for what fits into `memory`.
        memory: bytes that the graph may take.
        first_rows: rows to start with; changes no result.

    Raises:
        RecipeError: if recipe and model do not fit.
    """

    # What another loop over the same arrays puts in place of these; see `optimistic_planner`.
    assemble: ClassVar[Any] = staticmethod(assemble)
    store_type: ClassVar[Any] = Store
    loop: ClassVar[Any] = staticmethod(kernel.search)
    decide: ClassVar[Any] = staticmethod(decision.decide)

    def __init__(
        self,
        model: Any,
        recipe: Any,
        timed: bool,
        max_nodes: int | None = None,
        memory: int = MEMORY,
        first_rows: int = SMALLEST,
    ) -> None:
        self.model = model
        self.recipe = recipe.settled(timed)
        self.discount = float(self.recipe.discount or 0.0)
        self.assembly: Assembly = type(self).assemble(model, self.recipe)
        self.program = self.assembly.program
        self.tally = np.zeros(at.TALLY_SIZE, np.int64)
        self.tally[at.DRAWS] = -1
        self.params = self.assembly.params
        self.context = np.zeros(abi.context_length(model.actions, 0))
        self.states = np.zeros(2 * model.width, np.int64)
        self.rng = np.zeros(2, np.uint64)
        self.trail = np.zeros(0, np.int64)
        self.store = type(self).store_type(self.program, self.tally, max_nodes, memory, first_rows)
        self._nogil = not self.assembly.needs_gil
        self._search = compiled_entry(type(self).loop, self._nogil)
        self._decide = compiled_entry(type(self).decide, self._nogil)
        self._interrupts = Interrupts()
        self._keys = getattr(model, "keys", None)  # a simulator's table of full keys lives and dies with the graph
        if self._keys is not None and max_nodes is None:
            beside = 2 * self._keys.bytes_each()  # as many keys as twice the nodes, see `_run`
            self.store.max_nodes = max(1, memory // (self.store.bytes_per_node + beside))
        self.chunk = 1
        self.kernel_seconds = 0.0
        self._simulation_seconds, self._sweep_seconds = 1e-6, 1e-7  # estimates, replaced by what is measured
        self.begin_episode()

    def seed(self, words: NDArray[np.uint64]) -> None:
        """Set both streams, that of the search's own choices and that of the model."""
        self.rng[:] = words

    def begin_episode(self) -> None:
        """Forget the graph and the statistics of the last episode."""
        self.store.forget()
        self.context[:] = 0.0
        self.context[abi.VERSION] = abi.ABI_VERSION
        self.context[abi.DISCOUNT] = self.discount
        self.context[abi.ACTIONS] = self.model.actions
        self.context[abi.MASKED] = float(self.program[at.LEGAL] != 0)
        self.context[abi.RANGE] = 1.0

    def plan(
        self,
        cells: NDArray[np.int64],
        budget: Budget,
        elapsed: int = 0,
        steps_left: int | None = None,
        same_root: bool = False,
        on_progress: Callable[[Progress], Any] | None = None,
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
        program, tally = self.program, self.tally
        depth = self._depth(budget, steps_left)
        program[at.HORIZON] = depth
        program[at.END] = at.NO_LIMIT if steps_left is None else steps_left
        program[at.ROLLOUT_END] = max(depth, DEFAULT_HORIZON) if steps_left is None else at.NO_LIMIT
        program[at.ROOT_ELAPSED] = elapsed
        program[at.STEP_LIMIT] = at.NO_LIMIT if budget.model_steps is None else budget.model_steps
        program[at.NODE_LIMIT] = at.NO_LIMIT if budget.nodes is None else budget.nodes
        program[at.LONGEST] = depth + 1
        program[at.GROWABLE] = at.GROWING
        if len(self.trail) < (depth + 2) * at.HOP_SIZE:
            self.trail = np.zeros((depth + 2) * at.HOP_SIZE, np.int64)
            context = np.zeros(abi.context_length(self.model.actions, depth))
            context[: abi.CONTEXT_SIZE] = self.context[: abi.CONTEXT_SIZE]
            self.context = context
        self.params = self.assembly.with_lower_bounds(depth, steps_left, self.discount)
        self.context[abi.BUDGET] = np.inf if budget.simulations is None else budget.simulations
        self.context[abi.IN_FLIGHT] = 0.0
        self.states[: self.model.width] = cells
        tally[at.SIMULATIONS] = tally[at.MODEL_STEPS] = tally[at.NEW_NODES] = tally[at.CAPPED] = 0
        if self.recipe.retention == "decision":
            self.store.forget()
        elif tally[at.ROOT_CHANGE] != at.RESTARTED:
            tally[at.ROOT_CHANGE] = at.SAME_ROOT if same_root else at.MOVED_ON
        if self._keys is not None and tally[at.ROOT_CHANGE] == at.RESTARTED:
            self._keys.retain(cells[:1].tolist())

    def _depth(self, budget: Budget, steps_left: int | None) -> int:
        """How many steps a simulation selects."""
        depth: int = self.recipe.horizon.steps(steps_left, self.discount, budget.simulations)
        return depth

    def _run(self, budget: Budget, begun: float, on_progress: Callable[[Progress], Any] | None) -> str:
        program, tally, store = self.program, self.tally, self.store
        limit = at.NO_LIMIT if budget.simulations is None else budget.simulations
        deadline = None if budget.seconds is None else begun + budget.seconds
        only_nodes = limit == at.NO_LIMIT and deadline is None and budget.model_steps is None
        grown_at, grown = 0, 0
        entering, dropped = True, False
        self.kernel_seconds = 0.0
        while True:
            before, chunk_begun = int(tally[at.SIMULATIONS]), time.perf_counter()
            program[at.SIMULATION_LIMIT] = min(limit, before + self._next_chunk(deadline, chunk_begun))
            with self._interrupts:
                status = self._search(
                    program,
                    tally,
                    self.params,
                    self.model.params,
                    self.context,
                    *store.arrays(),
                    self.trail,
                    self.states,
                    self.rng,
                    entering,
                )
            self._interrupts.raise_interrupt()
            now = time.perf_counter()
            self.kernel_seconds += now - chunk_begun
            if status == at.NO_ROOM_FOR_ROOT:
                self._make_root_room()
                continue
            entering = False
            tally[at.ROOT_CHANGE] = at.SAME_ROOT
            if status == at.FULL:
                dropped = self._make_room(dropped)
                continue
            if status >= at.STEP_FAILED or self._interrupts.causes:
                self._fail(status)
            if self._keys is not None and len(self._keys) > 2 * tally[at.NODES] + SPARE_KEYS:
                self._keys.retain(store.first_key_cells().tolist())
            done = int(tally[at.SIMULATIONS])
            self._adapt_chunk(done - before, now - chunk_begun)
            if status == at.OUT_OF_STEPS:
                return "model_steps"
            if status == at.OUT_OF_NODES:
                return "nodes"
            if done >= limit:
                return "simulations"
            if deadline is not None and now >= deadline - self._decision_seconds():
                return "seconds"
            if tally[at.NEW_NODES] > grown:
                grown_at, grown = done, int(tally[at.NEW_NODES])
            elif only_nodes and done > 2 * grown_at + STALE:
                return "nodes"
            if on_progress is not None and on_progress(
                Progress(done, int(tally[at.MODEL_STEPS]), now - begun, int(tally[at.NEW_NODES]))
            ):
                return "callback"

    def _make_root_room(self) -> None:
        """See to it that the root can be stored: by growth, by dropping the past, or by starting afresh."""
        store = self.store
        if store.make_room(1):
            return
        if self.tally[at.ROOT] >= 0:
            store.drop_past()
        if not store.make_room(1):
            store.forget()

    def _make_room(self, dropped: bool) -> bool:
        """Grow; where that may not be, fill up, then drop the past once, then go on without adding.

        Returns whether the past has been dropped in this decision.
        """
        program, store = self.program, self.store
        if program[at.GROWABLE] == at.GROWING:
            if not store.make_room(int(program[at.LONGEST])):
                program[at.GROWABLE] = at.LAST_ROOM
        elif self.recipe.retention == "episode" and not dropped:
            store.drop_past()
            return True
        else:
            program[at.GROWABLE] = at.ADD_WHILE_ROOM
        return dropped

    def _next_chunk(self, deadline: float | None, now: float) -> int:
        """Simulations until the clock is looked at: no more than the time left allows, one where steps run Python."""
        if deadline is None:
            return self.chunk
        if not self._nogil:
            return 1
        left = deadline - self._decision_seconds() - now
        return max(1, min(self.chunk, int(left / self._simulation_seconds)))

    def _decision_seconds(self) -> float:
        """What the sweep over the present graph will take, by what the last one took a node."""
        return self._sweep_seconds * float(self.tally[at.NODES]) if self.program[at.SWEEP] else 0.0

    def _adapt_chunk(self, simulations: int, seconds: float) -> None:
        """Double the chunk while it is short, and cut it where it is long."""
        if simulations > 0:
            self._simulation_seconds = max(seconds / simulations, 1e-9)
        if seconds < CHUNK_SECONDS / 2.0 and simulations >= self.chunk:
            self.chunk *= 2
        elif seconds > CHUNK_SECONDS * 2.0:
            self.chunk = max(1, int(self.chunk * CHUNK_SECONDS / seconds))

    def _result(self, begun: float, stopped_by: str) -> SearchResult:
        actions, tally = self.model.actions, self.tally
        nodes = int(tally[at.NODES]) if self.program[at.SWEEP] else 0
        decision_begun = time.perf_counter()
        order, position = np.empty(nodes, np.int64), np.zeros(nodes, np.int64)
        reals, counts = np.empty(1 + 2 * actions + nodes), np.empty(actions, np.int64)
        with self._interrupts:
            status = self._decide(
                self.program,
                tally,
                self.params,
                self.model.params,
                self.context,
                self.store.rows,
                self.store.edges,
                self.states,
                self.rng,
                order,
                position,
                reals,
                counts,
            )
        self._interrupts.raise_interrupt()
        if status != at.DONE or self._interrupts.causes:
            self._fail(status)
        ended = time.perf_counter()
        self._sweep_seconds = (ended - decision_begun) / max(nodes, 1)
        tally[at.RECOMMENDED] = tally[at.DETAIL]
        return SearchResult(
            action=int(tally[at.RECOMMENDED]),
            value=float(reals[0]),
            q_values=reals[1 : 1 + actions].copy(),
            visit_counts=counts,
            simulations=int(tally[at.SIMULATIONS]),
            model_steps=int(tally[at.MODEL_STEPS]),
            nodes=int(tally[at.NEW_NODES]),
            graph_size=int(tally[at.NODES]),
            inherited=int(tally[at.INHERITED]),
            stopped_by=stopped_by,
            at_cap=bool(tally[at.CAPPED]),
            seconds=ended - begun,
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
            graph_size=int(self.tally[at.NODES]),
            stopped_by="terminal",
        )

    def _fail(self, status: int) -> None:
        """Raise what went wrong: a Python callback's own exception, or an error that names the culprit."""
        for pointer in self.assembly.pointers:
            caught = getattr(pointer.owner, "caught", None)
            if caught:
                raise caught.pop()
        state = tuple(self.states[self.model.width :].tolist())
        drew = int(self.tally[at.DRAWS])
        self.tally[at.DRAWS] = -1
        words = failure_message(status, getattr(self.model, "name", "model"), state, drew, self.recipe)
        raise PlanningError(words) from self._interrupts.take_cause()
