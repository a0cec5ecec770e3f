"""A benchmark: what is missing in the store is played by workers, batch by batch, and kept as it comes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.bench.costs import Key
from gymnasium_gsp.bench.grid import Series
from gymnasium_gsp.bench.provenance import package_version, versions
from gymnasium_gsp.bench.runner import pack, warm
from gymnasium_gsp.bench.schedule import Schedule
from gymnasium_gsp.bench.store import Cell, Row, Store, StoreError
from gymnasium_gsp.bench.workers import Batch, Played, Workers
from gymnasium_gsp.errors import PlanningError

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
            cell = _named(one.cell)
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
        PlanningError: at the end, if an environment or a search has raised something, or a batch lost its worker again
            and again.  The other cells have been played by then.
    """
    return _Benchmark(series, store, workers, modules, watch).play()


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
        self._schedule = Schedule([_key(one) for one in series], indices, workers.size)
        self._total = sum(one.run.episodes for one in series)
        self._before = self._total - sum(map(len, indices))
        self._played = 0
        self._handed_in = 0
        self._failed: dict[int, PlanningError] = {}
        self._rows: list[Row] = []
        self._begun = self._kept = time.monotonic()

    def play(self) -> int:
        try:
            self._watch(self._state(None))
            self._hand_in()
            while self._schedule.waiting:
                for number, played in self._workers.first_done():
                    self._take(number, played)
                self._hand_in()
        finally:
            self._store.add(self._rows)
        if self._failed:
            self._fail()
        return self._played

    def _hand_in(self) -> None:
        while self._schedule and self._schedule.waiting < _AHEAD * self._workers.size:
            series, indices = self._schedule.hand_out(self._handed_in)
            self._workers.submit(Batch(self._handed_in, self._parcels[series], indices))
            self._handed_in += 1

    def _take(self, number: int, played: Played) -> None:
        which = self._schedule.take_back(number, played.seconds)
        series = self._series[which]
        if played.failure is not None:
            self._schedule.give_up(which)
            self._failed.setdefault(which, played.failure)
        self._rows += [
            Row(series.cell, episode, series.recipe, played.versions, played.machine) for episode in played.episodes
        ]
        self._played += len(played.episodes)
        if time.monotonic() - self._kept > _KEEP_SECONDS:
            rows, self._rows = self._rows, []
            self._store.add(rows)
            self._kept = time.monotonic()
        self._watch(self._state(series.cell))

    def _fail(self) -> None:
        cells = [_named(self._series[which].cell) for which in self._failed]
        first = next(iter(self._failed.values()))
        others = f" So do {len(cells) - 1} more: {'; '.join(cells[1:])}." if cells[1:] else ""
        raise PlanningError(
            f"a cell could not be played to its end. {first}.{others} All else is in {self._store.path}"
        ) from first

    def _state(self, cell: Cell | None) -> State:
        return State(
            done=self._before + self._played,
            total=self._total,
            seconds=time.monotonic() - self._begun,
            remaining=self._schedule.remaining(),
            cell=cell,
        )


def _named(cell: Cell) -> str:
    return f"{cell.env}, {cell.algorithm}, {cell.budget} simulations"


def _key(series: Series) -> Key:
    budget = series.cell.budget
    return series.cell.env, series.cell.algorithm, budget if isinstance(budget, int) else 1
