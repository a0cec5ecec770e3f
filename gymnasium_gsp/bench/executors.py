"""Where episodes are played: in this process, in processes of this machine, or on a Dask cluster."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.errors import RecipeError, check_count, unknown_name

BACKENDS = ("local", "dask")
_PATIENCE = 15.0  # seconds in which a scheduler must answer


@dataclass(frozen=True)
class Workers:
    """A pool that plays.

    Attributes:
        size: how many episodes it plays at once.
        executor: returns what tasks are submitted to; a new one where the last has lost a process.
    """

    size: int
    executor: Callable[[], Executor]


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
        raise RecipeError("an address belongs to a cluster: give --backend dask with it")


@contextmanager
def start_workers(backend: str = "local", jobs: int | None = None, address: str | None = None) -> Iterator[Workers]:
    """A pool that is shut down at the end, whatever it is still playing.

    Args:
        backend: one of `BACKENDS`.
        jobs: number of processes; None for all cores, or on a cluster for all that it has.
        address: of the cluster's scheduler; None for a cluster on this machine.

    Raises:
        RecipeError: for an unknown backend, or an address that does not fit or does not answer.
        ModuleNotFoundError: without the package of the backend.
    """
    check_workers(backend, jobs, address)
    size = jobs or os.cpu_count() or 1
    if backend == "dask":
        yield from _dask(jobs, address)
    elif size == 1:
        yield Workers(1, _InThisProcess)
    else:
        yield from _processes(size)


class _InThisProcess(Executor):
    """Runs what is submitted at once."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **named))
        return future


def _processes(size: int) -> Iterator[Workers]:
    from loky import get_reusable_executor

    def executor() -> Any:
        return get_reusable_executor(size, initializer=_begin_process, initargs=(os.getpid(),))

    try:
        with _interrupts_ignored():  # the processes inherit it, so that none is interrupted while it starts
            executor().submit(os.getpid)
        yield Workers(size, executor)
    finally:
        executor().shutdown(kill_workers=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin_process(parent: int) -> None:
    """In a new process: ignore Ctrl-C, which is for the parent, and end with the parent, however that one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _dask(jobs: int | None, address: str | None) -> Iterator[Workers]:
    """Dask hands the task of a lost worker to another one, several times, before it raises an error."""
    from distributed import Client, LocalCluster

    cluster = None
    if address is None:
        cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    try:
        client = Client(cluster or address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise RecipeError(f"no dask scheduler answers at {address}: {error}") from error
    executor = client.get_executor(pure=False)
    try:
        yield Workers(max(1, sum(client.nthreads().values())), lambda: executor)
    finally:
        executor.shutdown(wait=False)
        client.close()
        if cluster is not None:
            cluster.close()
