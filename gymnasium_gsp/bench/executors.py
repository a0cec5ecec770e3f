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

from gymnasium_gsp.errors import RecipeError, check_count

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


@contextmanager
def start_workers(jobs: int | None = None, dask: str | None = None, apart: bool = False) -> Iterator[Workers]:
    """A pool that is shut down at the end, whatever it is still playing.

    Args:
        jobs: number of processes of this machine; None for all cores.
        dask: address of the scheduler of a Dask cluster, all of which plays; None for this machine.
        apart: whether a single job, too, has a process of its own, as it may end it.

    Raises:
        RecipeError: for a number of jobs that makes no sense, or an address where no scheduler answers.
        ModuleNotFoundError: without the package that is needed.
    """
    size = (os.cpu_count() or 1) if jobs is None else check_count("jobs", jobs)
    if dask is not None:
        yield from _dask(dask)
    elif size == 1 and not apart:
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


def _dask(address: str) -> Iterator[Workers]:
    """Dask hands the task of a lost worker to another one, several times, before it raises an error."""
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise RecipeError(f"no dask scheduler answers at {address}: {error}") from error
    with client:
        executor = client.get_executor(pure=False)
        yield Workers(max(1, sum(client.nthreads().values())), lambda: executor)
