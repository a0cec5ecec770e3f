"""A benchmark: what is missing in the store is played by workers, batch by batch, and kept as it comes."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from gymnasium_gsp.bench.grid import Series
from gymnasium_gsp.bench.provenance import package_version, versions
from gymnasium_gsp.bench.remaining import Costs, Key
from gymnasium_gsp.bench.runner import pack, warm
from gymnasium_gsp.bench.store import Cell, Row, Store, StoreError
from gymnasium_gsp.bench.workers import Batch, Played, Workers

_BATCH_SECONDS = 0.5  # what a batch should take: far more than handing it over, little to lose
_KEEP_SECONDS = 2.0  # how long episodes may wait for the next transaction
_AHEAD = 2  # batches handed in for each worker, so that none waits for this process


@dataclass(frozen=True)
class State:
    """How far a benchmark is.

    Attributes:
        done, total: episodes that are in the store or played by now, and all that were asked for.
        seconds: since the first batch was handed in.
        remaining: estimate of the seconds that are left; None before anything was measured.
        cell: what was played last; None at the beginning.
    """

    done: int
    total: int
    seconds: float
    remaining: float | None
    cell: Cell | None


def check_origins(series: Sequence[Series], store: Store) -> None:
    """Refuse to mix episodes of other versions of the package, or of other recipes, into the same cell.

    Raises:
        StoreError: with the first cell that holds such episodes.
    """
    ours = package_version(versions())
    for one in series:
        for recipe, theirs in store.origins(one.cell):
            cell = f"{one.cell.env}, {one.cell.algorithm}, {one.cell.budget} simulations"
            way_on = "they are untouched; give another --store, or go on with the version that played them"
            if package_version(theirs) != ours:
                raise StoreError(
                    f"{store.path} holds episodes of gymnasium-gsp {package_version(theirs)} for {cell}, and this is "
                    f"{ours}; {way_on}"
                )
            if recipe != one.recipe:
                raise StoreError(
                    f"{store.path} holds episodes of another recipe for {cell}: {recipe}, and now it is {one.recipe}; "
                    f"{way_on}"
                )


def warm_up(series: Sequence[Series]) -> None:
    """Compile everything into the cache, once, so that no worker has to."""
    seen = set()
    for one in series:
        compiled = (one.cell.env, one.recipe)
        if compiled not in seen:
            seen.add(compiled)
            warm(one.run)


def missing(series: Sequence[Series], store: Store) -> list[list[int]]:
    """The indices that are not in the store, for each series."""
    return [sorted(set(range(one.run.episodes)) - store.played(one.cell)) for one in series]


def play_missing(
    series: Sequence[Series],
    store: Store,
    workers: Workers,
    modules: Sequence[str] = (),
    watch: Callable[[State], Any] = lambda state: None,
) -> int:
    """Play what is missing in the store; every episode that was played is in it, whatever ends this.

    Args:
        series: what to play.
        store: where it goes.
        workers: who plays.
        modules: what a worker imports first, so that it knows the environments and algorithms of others.
        watch: called after every batch.

    Returns:
        How many episodes were played.

    Raises:
        StoreError: if the store cannot be written.
        Exception: whatever an environment or a search raises.
    """
    return _Benchmark(series, store, workers, modules, watch).play()


class _Queue:
    """What is still to be handed out.

    Every cell advances at the same pace, so that at a tenth of the way each has a tenth of its episodes: then the
    remaining time is known from what was played, and not from the cheap cells alone.  The smallest budgets begin, so
    that there is something to scale from; then the largest come first, since they take most of the time and how it
    grows is a guess until they were played.
    """

    def __init__(self, series: Sequence[Series], indices: Sequence[Sequence[int]]) -> None:
        self._indices = [deque(numbers) for numbers in indices]
        self._totals = [len(numbers) for numbers in indices]
        self._budgets = [_key(one)[2] for one in series]
        self._smallest = min(self._budgets, default=0)
        self._heap = [self._entry(number) for number, total in enumerate(self._totals) if total]
        heapify(self._heap)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def left(self) -> list[int]:
        """How many episodes of each series have not been handed out."""
        return [len(numbers) for numbers in self._indices]

    def first(self) -> int:
        """The series whose turn it is."""
        return self._heap[0][-1]

    def take(self, count: int) -> tuple[int, ...]:
        """The next indices of the series whose turn it is."""
        number = heappop(self._heap)[-1]
        numbers = self._indices[number]
        taken = tuple(numbers.popleft() for _ in range(min(count, len(numbers))))
        if numbers:
            heappush(self._heap, self._entry(number))
        return taken

    def _entry(self, number: int) -> tuple[float, int, int, int]:
        done = 1.0 - len(self._indices[number]) / self._totals[number]
        begins = done == 0.0 and self._budgets[number] == self._smallest
        return done, 0 if begins else 1, -self._budgets[number], number


class _Benchmark:
    """One call of `play_missing`."""

    def __init__(
        self,
        series: Sequence[Series],
        store: Store,
        workers: Workers,
        modules: Sequence[str],
        watch: Callable[[State], Any],
    ) -> None:
        indices = missing(series, store)
        self._series, self._store, self._workers, self._watch = series, store, workers, watch
        self._parcels = [pack(one.run, modules) for one in series]
        self._queue = _Queue(series, indices)
        self._total = sum(one.run.episodes for one in series)
        self._before = self._total - sum(map(len, indices))
        self._played = 0
        self._costs = Costs()
        self._handed_in: dict[int, tuple[int, Batch]] = {}
        self._started: dict[int, float] = {}
        self._rows: list[Row] = []
        self._begun = self._kept = time.monotonic()
        self._numbers = 0

    def play(self) -> int:
        try:
            self._watch(self._state(None))
            self._hand_in()
            while self._handed_in:
                for number, played in self._workers.first_done():
                    self._take(number, played)
                self._hand_in()
        finally:
            self._store.add(self._rows)
        return self._played

    def _hand_in(self) -> None:
        while self._queue and len(self._handed_in) < _AHEAD * self._workers.size:
            number = self._queue.first()
            batch = Batch(self._numbers, self._parcels[number], self._queue.take(self._count(number)))
            self._numbers += 1
            self._handed_in[batch.number] = number, batch
            self._workers.submit(batch)
        self._note_started()

    def _count(self, number: int) -> int:
        """How many episodes make a batch: more where they are short, fewer near the end, so that all end together."""
        key = _key(self._series[number])
        cost = self._costs.seconds(key)
        if cost is None or not self._costs.measured(key):
            return 1
        work, _ = self._work_left() or (0.0, 0.0)
        return max(1, int(min(_BATCH_SECONDS, work / (4 * self._workers.size)) / cost))

    def _take(self, number: int, played: Played) -> None:
        which, batch = self._handed_in.pop(number)
        self._started.pop(number, None)
        self._note_started()
        series = self._series[which]
        self._costs.record(_key(series), len(batch.indices), played.seconds)
        self._rows += [
            Row(series.cell, episode, series.recipe, played.versions, played.machine) for episode in played.episodes
        ]
        self._played += len(played.episodes)
        if time.monotonic() - self._kept > _KEEP_SECONDS:
            rows, self._rows = self._rows, []
            self._store.add(rows)
            self._kept = time.monotonic()
        self._watch(self._state(series.cell))

    def _work_left(self) -> tuple[float, float] | None:
        """Seconds of work that are left, summed over workers, and those of the longest episode; None if not known."""
        left = self._queue.left()
        for number, batch in self._handed_in.values():
            left[number] += len(batch.indices)
        total = longest = 0.0
        for which, (one, count) in enumerate(zip(self._series, left, strict=True)):
            if count:
                cost = self._costs.seconds(_key(one))
                if cost is None:
                    return None
                spent = self._spent(which, cost)
                total += count * cost - spent
                longest = max(longest, cost if spent == 0.0 else cost - spent / count)
        return total, longest

    def _spent(self, which: int, cost: float) -> float:
        """Seconds that workers have spent on batches of a series that are not done yet, at most what they cost."""
        now = time.monotonic()
        return sum(
            min(now - self._started[number], cost * len(batch.indices))
            for number, (whose, batch) in self._handed_in.items()
            if whose == which and number in self._started
        )

    def _note_started(self) -> None:
        """Batches are begun in the order in which they were handed in, one a worker."""
        for number in list(self._handed_in)[: self._workers.size]:
            self._started.setdefault(number, time.monotonic())

    def _state(self, cell: Cell | None) -> State:
        work = self._work_left()
        return State(
            done=self._before + self._played,
            total=self._total,
            seconds=time.monotonic() - self._begun,
            remaining=None if work is None else max(work[0] / self._workers.size, work[1]),
            cell=cell,
        )


def _key(series: Series) -> Key:
    budget = series.cell.budget
    return series.cell.env, series.cell.algorithm, budget if isinstance(budget, int) else 1
