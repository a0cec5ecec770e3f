"""Where batches of episodes are played: in this process, in processes of this machine, or on a dask or ray cluster.

All four take a batch, and later give back what came of it.  A batch whose worker was lost is handed in again: by the
cluster itself where it can, or by `first_done`, which then starts anew the processes of this machine.
"""

import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from gymnasium_gsp.bench.protocol import Episode, budget_value, check_count
from gymnasium_gsp.bench.provenance import machine, versions
from gymnasium_gsp.bench.runner import play_episode, unpack
from gymnasium_gsp.errors import PlanningError, RecipeError, unknown_name
from gymnasium_gsp.search.budget import as_budget

BACKENDS = ("local", "dask", "ray")
RETRIES = 3  # how often the same batch may lose its worker before it is taken for the reason


@dataclass(frozen=True)
class Batch:
    """Episodes of one run to be played by one worker.

    Attributes:
        number: tells batches apart.
        parcel: the run, from `runner.pack`.
        indices: which of its episodes.
    """

    number: int
    parcel: bytes
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Played:
    """What came of a batch.

    Attributes:
        episodes: in the order of the indices, all of them unless something failed.
        seconds: wall-clock time of the batch, environments included, without what was compiled or loaded first.
        versions, machine: where it was played.
        failure: what the first episode that is missing has raised, with its traceback as a note; None if none has.
    """

    episodes: tuple[Episode, ...]
    seconds: float
    versions: str
    machine: str
    failure: PlanningError | None = None


class Workers(Protocol):
    """Who plays batches."""

    size: int

    def submit(self, batch: Batch) -> None:
        """Hand in a batch."""

    def first_done(self) -> list[tuple[int, Played]]:
        """Wait until something is done, and return it by the numbers of the batches; what was raised is raised."""

    def close(self) -> None:
        """Let go of what was started, and leave what is still being played."""


def play_batch(parcel: bytes, indices: Sequence[int]) -> Played:
    """Play some episodes of a run, in whatever process this is, up to the first that raises something."""
    run = unpack(parcel)
    begun, episodes, failure = time.perf_counter(), [], None
    for index in indices:
        try:
            episodes.append(play_episode(run, index))
        except Exception as error:
            spent = budget_value(as_budget(run.budget))
            where = f"{run.env}, {run.agent}, {spent} simulations, episode {index}"
            failure = PlanningError(f"{where}: {type(error).__name__}: {error}")
            failure.add_note(traceback.format_exc())
            break
    return Played(tuple(episodes), time.perf_counter() - begun, versions(), machine(), failure)


def check_workers(backend: str, jobs: int | None, address: str | None) -> None:
    """Refuse what `start_workers` cannot start, as far as can be said without starting anything.

    Raises:
        RecipeError: for an unknown backend, a number of jobs that makes no sense, or an address without a cluster.
    """
    if backend not in BACKENDS:
        raise RecipeError(unknown_name("backend", backend, BACKENDS))
    if jobs is not None:
        check_count("jobs", jobs)
    if backend == "local" and address is not None:
        raise RecipeError("an address belongs to a cluster: give --backend dask or --backend ray with it")


def start_workers(backend: str = "local", jobs: int | None = None, address: str | None = None) -> Workers:
    """Those who play.

    Args:
        backend: one of `BACKENDS`.
        jobs: number of processes; None for all cores, or on a cluster for all that it has.
        address: of the cluster's scheduler; None for one on this machine that lives as long as the benchmark.

    Raises:
        RecipeError: for an unknown backend, an address that does not fit or does not answer, and a missing package.
    """
    check_workers(backend, jobs, address)
    if backend == "local":
        size = jobs or os.cpu_count() or 1
        return _Here() if size == 1 else _Local(size)
    from gymnasium_gsp.bench.clusters import DaskCluster, RayCluster

    return DaskCluster(jobs, address) if backend == "dask" else RayCluster(jobs, address)


class Retries:
    """How often each batch has lost its worker."""

    def __init__(self) -> None:
        self._lost: dict[int, int] = {}

    def lost(self, batch: Batch, error: BaseException | None = None) -> None:
        """Count a loss.

        Raises:
            PlanningError: if the same batch has lost its worker too often to be played once more.
        """
        self._lost[batch.number] = self._lost.get(batch.number, 0) + 1
        if self._lost[batch.number] > RETRIES:
            raise PlanningError(
                f"episodes {batch.indices[0]} to {batch.indices[-1]} of a cell have lost their worker "
                f"{self._lost[batch.number]} times; it may lack memory, or the environment ends its process"
            ) from error


class _Here:
    """This process alone."""

    size = 1

    def __init__(self) -> None:
        self._waiting: list[Batch] = []

    def submit(self, batch: Batch) -> None:
        self._waiting.append(batch)

    def first_done(self) -> list[tuple[int, Played]]:
        batch = self._waiting.pop(0)
        return [(batch.number, play_batch(batch.parcel, batch.indices))]

    def close(self) -> None:
        self._waiting.clear()


class _Local:
    """Processes of this machine: joblib's executor, without the part of joblib that gives up when one is lost."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._retries = Retries()
        self._waiting: dict[Any, Batch] = {}
        self._executor = self._start()

    def _start(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(self.size, initializer=_leave_with, initargs=(os.getpid(),))

    def submit(self, batch: Batch) -> None:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            with _deaf():
                future = self._executor.submit(play_batch, batch.parcel, batch.indices)
            self._waiting[future] = batch
        except BrokenProcessPool as error:
            self._start_anew(error)
            self.submit(batch)

    def first_done(self) -> list[tuple[int, Played]]:
        from concurrent.futures import FIRST_COMPLETED, wait

        from joblib.externals.loky.process_executor import BrokenProcessPool

        while True:
            done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
            found = []
            try:
                for future in done:
                    found.append((self._waiting[future].number, future.result()))
                    del self._waiting[future]
            except BrokenProcessPool as error:
                self._start_anew(error)
            if found:
                return found

    def _start_anew(self, error: BaseException) -> None:
        """New processes, with everything that was not finished; the batches at the front were being played."""
        lost = sorted(
            (batch for future, batch in self._waiting.items() if not _finished(future)),
            key=lambda batch: batch.number,
        )
        self._waiting = {future: batch for future, batch in self._waiting.items() if _finished(future)}
        self._executor.shutdown(wait=False, kill_workers=True)
        self._executor = self._start()
        for batch in lost[: self.size]:
            self._retries.lost(batch, error)
        for batch in lost:
            self.submit(batch)

    def close(self) -> None:
        self._executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """Let processes that are started inside not hear Ctrl-C, which is for this one; it ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave_with(parent: int) -> None:
    """In a process that plays: end it within a second after the benchmark, however that one ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _finished(future: Any) -> bool:
    return bool(future.done() and future.exception() is None)
