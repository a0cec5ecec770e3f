"""A benchmark: the episodes that a store lacks are played, batch by batch, and kept as they come."""

import math
import shlex
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode, Task, play_episode, task_of, warm_up
from gymnasium_gsp.bench.executors import Workers
from gymnasium_gsp.bench.grid import Run
from gymnasium_gsp.bench.provenance import machine, package_version, versions
from gymnasium_gsp.bench.store import Store, StoreError
from gymnasium_gsp.errors import PlanningError, RecipeError

_BATCH_SECONDS = 0.5  # far more than submitting a batch takes, and little to lose
_LONGEST_MESSAGE = 500
_MOST_LOST = 2  # episodes that end their process, before their cell is given up


class UnplayedError(PlanningError):
    """Some episodes could not be played to their end; all others were.

    Attributes:
        cells: the first such episode of each cell that has some; its traceback is a note of this error.
    """

    def __init__(self, cells: Mapping[Cell, Episode], path: Path, modules: Iterable[str] = ()) -> None:
        (first, episode), *others = cells.items()
        more = f"; nor could {len(others)} more: {'; '.join(str(cell) for cell, _ in others)}" if others else ""
        message, _, trace = episode.failure.partition("\n")
        again = shlex.join(["gsp", "run", *first.flags(modules), "--episodes", str(episode.index + 1)])
        super().__init__(
            f"a cell could not be played to its end: {first}, episode {episode.index}: {message}{more}. All else is in "
            f"{path}, and the same command tries again. To see it fail: {again}"
        )
        self.add_note(trace)
        self.cells = cells


def check_origins(runs: Iterable[Run], store: Store) -> None:
    """Refuse to mix episodes of other versions of the package, or of other recipes, into the same cell.

    Raises:
        StoreError: names the first cell that holds such episodes.
    """
    ours = package_version(versions())
    for run in runs:
        for recipe, their_versions in store.origins(run.cell):
            kind, before, now = "gymnasium-gsp", package_version(their_versions), ours
            if before == ours:
                kind, before, now = "the recipe", recipe, run.recipe
            if before != now:
                raise StoreError(
                    f"{store.path} holds episodes of {kind} {before} for {run.cell}, and this is {now}; they are "
                    "untouched; give another --store, or go on with the version that played them"
                )


def compile_all(runs: Iterable[Run], workers: Workers, modules: Sequence[str] = ()) -> None:
    """Compile everything into the cache, once; what steps an environment's own code does so in a worker.

    Args:
        runs: what will be played.
        workers: who plays.
        modules: imported by a worker first.

    Raises:
        RecipeError: for options that do not go together, which some planners see only when they plan.
    """
    for run in {(run.cell.env, run.recipe): run for run in runs}.values():
        try:
            if run.simulated:
                workers.executor().submit(task_of(run.cell, modules).prepare).result()
            else:
                warm_up(run.cell)
        except RecipeError:
            raise
        except Exception:
            continue  # an environment that fails will fail when it is played, and ends no other cell


def missing(runs: Iterable[Run], store: Store) -> list[list[int]]:
    """The indices of the episodes that are not in the store, for each run."""
    return [sorted(set(range(run.episodes)) - set(store.returns(run.cell))) for run in runs]


@dataclass(frozen=True)
class Batch:
    """Episodes that were played in turn.

    Attributes:
        episodes: in the order in which they were asked for; some may have failed.
        seconds: wall-clock time, environments included, without what was compiled or loaded first.
    """

    episodes: tuple[Episode, ...]
    seconds: float


def play_batch(task: Task, indices: Sequence[int]) -> Batch:
    """Play some episodes of a cell, in the process of a worker; one that raises something ends no other."""
    begun: float | None = None
    episodes = []
    for index in indices:
        try:
            cell = task.prepare()
            begun = begun or time.perf_counter()
            episodes.append(play_episode(cell, index))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: an environment may end its episode, not the benchmark
            episodes.append(_failed(index, f"{_one_line(error)}\n{traceback.format_exc()}"))
    return Batch(tuple(episodes), time.perf_counter() - begun if begun else 0.0)


def _failed(index: int, failure: str) -> Episode:
    """An episode that was not played to its end."""
    return Episode(index, math.nan, 0, 0, 0, 0, 0.0, versions=versions(), machine=machine(), failure=failure)


def _one_line(error: BaseException) -> str:
    """An exception in one line of bearable length, even if its own text cannot be had."""
    words = " ".join("".join(traceback.format_exception_only(error)).split())
    return words if len(words) <= _LONGEST_MESSAGE else f"{words[:_LONGEST_MESSAGE]} ..."


@dataclass(eq=False)
class _Work:
    """A cell while it is played.

    Attributes:
        task: the cell, as it is sent to a worker.
        unsubmitted: indices of episodes that no worker has been given.
        begun: whether anything was submitted.
        played, seconds: number of episodes that were played so far, and how long they took.
        lost: number of episodes that have ended their process.
    """

    task: Task
    unsubmitted: deque[int]
    begun: bool = False
    played: int = 0
    seconds: float = 0.0
    lost: int = 0

    @property
    def cost(self) -> float:
        """Seconds of an episode; infinite before one was played."""
        return max(self.seconds, 1e-6) / self.played if self.played else math.inf

    def next_batch(self) -> list[int]:
        """Indices to submit: a single one until the cost is known."""
        self.begun = True
        count = max(1, int(_BATCH_SECONDS / self.cost))
        return [self.unsubmitted.popleft() for _ in range(min(count, len(self.unsubmitted)))]


class Benchmark:
    """The episodes that a store lacks; every batch is in the store as soon as it was played.

    Args:
        runs: what to play.
        store: where episodes are kept.
        workers: who plays.
        modules: imported by every worker first, so that it knows the environments and algorithms of others.
        watch: called after every batch with the number of episodes that are in the store, and the cell it was of.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        store: Store,
        workers: Workers,
        modules: Sequence[str] = (),
        watch: Callable[[int, str], Any] = lambda done, cell: None,
    ) -> None:
        self._store, self._workers, self._watch, self._modules = store, workers, watch, modules
        left = missing(runs, store)
        self._works = [
            _Work(task_of(run.cell, modules), deque(indices)) for run, indices in zip(runs, left, strict=True)
        ]
        self._before = sum(run.episodes for run in runs) - sum(map(len, left))
        self._running: dict[Future[Batch], tuple[_Work, list[int]]] = {}
        self._suspects: deque[tuple[_Work, int]] = deque()  # episodes that were lost with a process
        self._alone = False  # whether a suspect is being played, with nothing beside it
        self._failed: dict[Cell, Episode] = {}  # the first of each cell

    def play(self) -> int:
        """Play them all.

        Returns:
            How many episodes were played.

        Raises:
            StoreError: if the store cannot be written.
            UnplayedError: at the end, if an environment or a search has failed, or an episode has ended its process;
                all other episodes have been played by then, unless a second one of the cell has ended its process.
        """
        played = 0
        self._submit()
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                work, indices = self._running.pop(future)
                episodes = self._take_back(work, indices, future)
                modules = " ".join(work.task.modules)
                self._store.add((work.task.cell, replace(episode, modules=modules)) for episode in episodes)
                played += len(episodes)
                self._watch(self._before + played, str(work.task.cell))
            self._submit()
        if self._failed:
            raise UnplayedError(self._failed, self._store.path, self._modules)
        return played

    def _submit(self) -> None:
        """Keep every worker busy; after a loss, play the episodes that were lost one at a time."""
        if self._suspects and self._running:
            return
        self._alone = bool(self._suspects)
        if self._alone:
            work, index = self._suspects.popleft()
            self._start(work, [index])
        while not self._alone and len(self._running) < 2 * self._workers.size - 1:
            open_works = [work for work in self._works if work.unsubmitted]
            if not open_works:
                return
            work = max(open_works, key=lambda work: (not work.begun, work.cost * len(work.unsubmitted)))
            self._start(work, work.next_batch())

    def _start(self, work: _Work, indices: list[int]) -> None:
        try:
            future = self._workers.executor().submit(play_batch, work.task, indices)
        except BrokenExecutor as error:  # a process was lost since the executor was asked for
            future = Future()
            future.set_exception(error)
        self._running[future] = work, indices

    def _take_back(self, work: _Work, indices: list[int], future: Future[Batch]) -> Sequence[Episode]:
        """The episodes of a batch that was played; those of one that was lost are played again."""
        lost = future.exception()
        if lost is None:
            batch = future.result()
            work.played += len(batch.episodes)
            work.seconds += batch.seconds
            for episode in filter(lambda episode: episode.failure, batch.episodes):
                self._failed.setdefault(work.task.cell, episode)
            return batch.episodes
        if not self._alone:
            self._suspects += [(work, index) for index in indices if work.lost < _MOST_LOST]
            return ()
        advice = "it may lack memory, or the environment ends its process"
        episode = _failed(indices[0], f"has ended its process, twice; {advice}: {_one_line(lost)}")
        self._failed.setdefault(work.task.cell, episode)
        work.lost += 1
        if work.lost == _MOST_LOST:
            work.unsubmitted.clear()
            self._suspects = deque(suspect for suspect in self._suspects if suspect[0] is not work)
        return [episode]
