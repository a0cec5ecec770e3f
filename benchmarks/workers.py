"""What workers reach beside independent processes, and what keeping the books costs.

    python benchmarks/workers.py                two against one, 5 rounds, on an idle machine
    python benchmarks/workers.py --rounds 9 --episodes 2000 --budget 16

A round plays the same tiny episodes in four ways, one after the other, so that all meet the same machine:

    one process alone       a plain loop over `play_episode`, no store
    two processes           two of these loops at once, half of the episodes each, timed until the second has ended
    `gsp bench --jobs 1`    the whole way through batches and the store, in this process
    `gsp bench --jobs 2`    the same with two workers

Everything is compiled and loaded, and all processes stand ready, before a clock starts.  Printed are medians of

    independent   time of one process / time of two: what the machine gives
    workers       time of `--jobs 1` / time of `--jobs 2`
    ratio         workers / independent; must be at least 0.93
    bookkeeping   1 - seconds of playing / seconds of the whole, in `--jobs 1`; must be under 2 %
"""

import argparse
import contextlib
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

from gymnasium_gsp.bench.benchmark import play_missing
from gymnasium_gsp.bench.grid import Grid, Series, series_of
from gymnasium_gsp.bench.runner import play_episode, warm
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.workers import Workers, start_workers


def loop(series: Series, indices: range) -> None:
    """Play some episodes, and nothing else."""
    for index in indices:
        play_episode(series.run, index)


def stand_ready(series: Series, indices: range, barrier: multiprocessing.Barrier) -> None:
    """Load everything, wait for the others, play."""
    warm(series.run)
    barrier.wait()
    loop(series, indices)
    barrier.wait()


def independent(series: Series, processes: int) -> float:
    """Seconds that so many processes take for all episodes of a series, each with a share of its own."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes + 1)
    shares = [range(number, series.run.episodes, processes) for number in range(processes)]
    playing = [context.Process(target=stand_ready, args=(series, share, barrier)) for share in shares]
    for process in playing:
        process.start()
    barrier.wait()
    begun = time.perf_counter()
    barrier.wait()
    taken = time.perf_counter() - begun
    for process in playing:
        process.join()
    return taken


def through_the_store(series: list[Series], workers: Workers) -> tuple[float, float]:
    """Seconds that `gsp bench` takes for the same episodes, and those of them in which a worker played."""
    playing = 0.0

    class Timed:
        """The same workers, with a sum over what they report."""

        size = workers.size
        submit = workers.submit
        close = workers.close

        def first_done(self) -> list:
            nonlocal playing
            found = workers.first_done()
            playing += sum(played.seconds for _, played in found)
            return found

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "thrown-away.sqlite") as store:
        begun = time.perf_counter()
        play_missing(series, store, Timed())
        return time.perf_counter() - begun, playing


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="two workers beside two independent processes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--env", default="FrozenLake")
    parser.add_argument("--agent", default="gs-power-uct")
    parser.add_argument("--budget", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=2000)
    given = parser.parse_args()
    series = series_of([Grid([given.env], [given.agent], (given.budget,), {"*": given.episodes})])
    warm(series[0].run)
    rows = []
    print("independent: one  two  ratio | bench: --jobs 1  --jobs 2  ratio | workers/independent | bookkeeping")
    with contextlib.ExitStack() as stack:
        here, two = (stack.enter_context(contextlib.closing(start_workers(jobs=jobs))) for jobs in (1, 2))
        load(series, two)
        for _ in range(given.rounds):
            one_alone, two_alone = independent(series[0], 1), independent(series[0], 2)
            (one_job, playing), (two_jobs, _) = through_the_store(series, here), through_the_store(series, two)
            machine, ours = one_alone / two_alone, one_job / two_jobs
            rows.append((machine, ours, ours / machine, 1.0 - playing / one_job))
            print(
                f"{one_alone:12.2f} s {two_alone:.2f} s {machine:.3f} | {one_job:.2f} s {two_jobs:.2f} s {ours:.3f} | "
                f"{ours / machine:.3f} | {rows[-1][3]:.2%}",
                flush=True,
            )
    machine, ours, ratio, books = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"median: independent {machine:.3f}, workers {ours:.3f}, ratio {ratio:.3f}, bookkeeping {books:.2%}")


def load(series: list[Series], workers: Workers) -> None:
    """Let every worker load what it needs, as those of `independent` do before the clock starts."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "thrown-away.sqlite") as store:
        play_missing(series, store, workers)


if __name__ == "__main__":
    main()
