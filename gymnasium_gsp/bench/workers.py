"""Where batches of episodes are played: in this process, in processes of this machine, or on a dask or ray cluster.

All four take a batch, and later give back what came of it.  A batch whose worker was lost is handed in again: by the
cluster itself where it can, or by `first_done`, which then starts anew the processes of this machine.
"""

import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
        if size == 1:
            return _Here()
        from gymnasium_gsp.bench.processes import Processes

        return Processes(size)
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
