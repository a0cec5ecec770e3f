"""Processes of this machine that play batches: started, watched, and started anew when one is lost."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gymnasium_gsp.bench.workers import RETRIES, Batch, Played, lost_too_often, play_batch, said_by
from gymnasium_gsp.errors import PlanningError


class Processes:
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
