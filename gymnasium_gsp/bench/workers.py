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

from gymnasium_gsp.bench.protocol import Episode, check_count
from gymnasium_gsp.bench.provenance import machine, versions
from gymnasium_gsp.bench.runner import play_episode, unpack
from gymnasium_gsp.errors import PlanningError, RecipeError, unknown_name

BACKENDS = ("local", "dask", "ray")
_LONGEST_MESSAGE = 500
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
    begun, episodes, failure, where = time.perf_counter(), [], None, "before the first episode"
    try:
        run = unpack(parcel)
        begun = time.perf_counter()
        for index in indices:
            where = f"episode {index}"
            episodes.append(play_episode(run, index))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: an environment may end its episode, not the benchmark
        failure = PlanningError(f"{where}: {said_by(error)}")
        failure.add_note(traceback.format_exc())
    return Played(tuple(episodes), time.perf_counter() - begun, versions(), machine(), failure)


def said_by(error: BaseException) -> str:
    """An exception in one line of bearable length, whatever it does when it is asked."""
    words = " ".join("".join(traceback.format_exception_only(error)).split())
    return words if len(words) <= _LONGEST_MESSAGE else f"{words[:_LONGEST_MESSAGE]} ..."


def lost_too_often(batch: Batch) -> Played:
    """What comes of a batch that has lost its worker again and again."""
    failure = PlanningError(
        f"episode {batch.indices[0]} or one of the {len(batch.indices) - 1} after it has ended its worker "
        f"{RETRIES + 1} times; it may lack memory, or the environment ends its process"
    )
    return Played((), 0.0, "", "", failure)


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
    """Processes of this machine: joblib's executor, without the part of joblib that gives up when one is lost.

    When a process is lost, all are, and nobody says whose batch it was.  So those that were being played are tried
    again one at a time, with nothing beside them, and only then a loss counts.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._lost: dict[int, int] = {}
        self._suspects: list[Batch] = []
        self._later: list[Batch] = []
        self._waiting: dict[Any, Batch] = {}
        self._executor = self._start()

    def _start(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(self.size, initializer=_leave_with, initargs=(os.getpid(),))

    def submit(self, batch: Batch) -> None:
        if self._suspects:
            self._later.append(batch)
        else:
            self._hand_in(batch)

    def _hand_in(self, batch: Batch) -> None:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        for _ in range(RETRIES + 1):
            try:
                with _deaf():
                    future = self._executor.submit(play_batch, batch.parcel, batch.indices)
                self._waiting[future] = batch
                return
            except BrokenProcessPool as error:
                broken = error
            if self._waiting and not self._suspects:  # those that wait will tell what is broken
                self._later.append(batch)
                return
            self._renew()
        raise PlanningError(f"no process stays alive on this machine, even before it plays: {said_by(broken)}")

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
            except BrokenProcessPool:
                found += self._lose()
                self._renew()
                self._hand_in_next()
            else:
                self._go_on()
            if found:
                return found

    def _lose(self) -> list[tuple[int, Played]]:
        """Take back what was handed in; a batch that was alone and has been lost too often is given up."""
        lost = sorted(
            (batch for future, batch in self._waiting.items() if not _finished(future)),
            key=lambda batch: batch.number,
        )
        self._waiting = {future: batch for future, batch in self._waiting.items() if _finished(future)}
        if not self._suspects:
            self._suspects, self._later = lost[: self.size], lost[self.size :] + self._later
            return []
        suspect = self._suspects[0]
        self._lost[suspect.number] = self._lost.get(suspect.number, 0) + 1
        if self._lost[suspect.number] <= RETRIES:
            return []
        del self._suspects[0]
        return [(suspect.number, lost_too_often(suspect))]

    def _renew(self) -> None:
        self._executor.shutdown(wait=False, kill_workers=True)
        self._executor = self._start()

    def _go_on(self) -> None:
        """Where nobody plays, whoever was alone has come back, and is cleared."""
        if not self._waiting:
            del self._suspects[:1]
            self._hand_in_next()

    def _hand_in_next(self) -> None:
        """The next suspect alone; all the others once there is none."""
        if self._suspects:
            self._hand_in(self._suspects[0])
            return
        later, self._later = self._later, []
        for batch in later:
            self._hand_in(batch)

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
