"""A benchmark: what is missing in the store is played by workers, batch by batch, and kept as it comes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnasium_gsp.bench.costs import Key
from gymnasium_gsp.bench.grid import Series
from gymnasium_gsp.bench.provenance import package_version, versions
from gymnasium_gsp.bench.runner import pack, warm
from gymnasium_gsp.bench.schedule import Schedule
from gymnasium_gsp.bench.store import Cell, Row, Store, StoreError
from gymnasium_gsp.bench.workers import Batch, Played, Workers
from gymnasium_gsp.errors import PlanningError, RecipeError

_KEEP_SECONDS = 2.0  # how long episodes may wait for the next transaction
_AHEAD = 2  # batches handed in for each worker, so that none waits for this process


class UnplayedError(PlanningError):
    """Some cells could not be played to their end; all others were.

    Attributes:
        cells: what was raised, by cell.
    """

    def __init__(self, cells: Mapping[Cell, PlanningError], path: Path) -> None:
        first, *others = (f"{_named(cell)}, {error}" for cell, error in cells.items())
        more = f"; nor could {len(others)} more: {'; '.join(map(_named, list(cells)[1:]))}" if others else ""
        super().__init__(f"a cell could not be played to its end: {first}{more}. All else is in {path}")
        self.cells = cells


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
    """Compile everything into the cache, once, so that no worker has to.

    Raises:
        RecipeError: for options that do not go together, which some planners see only when they plan.
    """
    seen = set()
    for one in series:
        compiled = (one.cell.env, one.recipe)
        if compiled not in seen:
            seen.add(compiled)
            try:
                warm(one.run)
            except RecipeError:
                raise
            except Exception:
                continue  # an environment that fails will fail when it is played, which says where and ends no other


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
    """Play what is missing in the store; every batch of episodes that came back is in it, whatever ends this.

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
        UnplayedError: at the end, if an environment or a search has raised something, or a batch has lost its worker
            again and again.  The other cells have been played by then.
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
        self._failed: dict[Cell, PlanningError] = {}
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
            raise UnplayedError(self._failed, self._store.path) from next(iter(self._failed.values()))
        return self._played

    def _hand_in(self) -> None:
        while self._schedule and self._schedule.waiting < _AHEAD * self._workers.size:
            series, indices = self._schedule.hand_out(self._handed_in)
            self._workers.submit(Batch(self._handed_in, self._parcels[series], indices))
            self._handed_in += 1

    def _take(self, number: int, played: Played) -> None:
        which = self._schedule.take_back(number, len(played.episodes), played.seconds)
        series = self._series[which]
        if played.failure is not None:
            self._schedule.give_up(which)
            self._failed.setdefault(series.cell, played.failure)
        self._rows += [
            Row(series.cell, episode, series.recipe, played.versions, played.machine) for episode in played.episodes
        ]
        self._played += len(played.episodes)
        if time.monotonic() - self._kept > _KEEP_SECONDS:
            rows, self._rows = self._rows, []
            self._store.add(rows)
            self._kept = time.monotonic()
        self._watch(self._state(series.cell))

    def _state(self, cell: Cell | None) -> State:
        return State(
            done=self._before + self._played,
            total=self._total,
            seconds=time.monotonic() - self._begun,
            remaining=self._schedule.remaining(),
            cell=cell,
        )


def _named(cell: Cell) -> str:
    more = [part for part in (cell.preset and f"preset {cell.preset}", cell.options, cell.env_options) if part]
    return ", ".join([cell.env, cell.algorithm, f"{cell.budget} simulations", *more])


def _key(series: Series) -> Key:
    budget = series.cell.budget
    return series.cell.env, series.cell.algorithm, budget if isinstance(budget, int) else 1
