"""How honest the remaining time of `gsp bench` is: what it said a tenth of the way on, and what then came.

    python benchmarks/remaining.py                      the quick protocol
    python benchmarks/remaining.py paper --episodes 20 --agents uct,ments --budgets 16,64,256
    python benchmarks/remaining.py --jobs 1

All that `gsp bench` takes to say what is played is taken here.  The way is the time from the first batch to the last.
"""

import argparse
import tempfile
from pathlib import Path

from gymnasium_gsp.bench.benchmark import State, play_missing, warm_up
from gymnasium_gsp.bench.grid import series_of
from gymnasium_gsp.bench.grid_flags import Flags, grids_of
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.workers import start_workers

MARKS = (0.1, 0.25, 0.5, 0.75, 0.9)


def main() -> None:
    """Play into a store that is thrown away, and print the table."""
    parser = argparse.ArgumentParser(description="what gsp bench said would remain, and what did")
    parser.add_argument("what", nargs="?", help="paper, or a TOML file; the quick protocol by default")
    parser.add_argument("--envs", action="append")
    parser.add_argument("--agents", action="append")
    parser.add_argument("--budgets")
    parser.add_argument("--episodes", action="append")
    parser.add_argument("--jobs", type=int)
    given = parser.parse_args()
    flags = Flags(given.envs, given.agents, given.budgets, given.episodes, quick=given.what is None)
    series = series_of(grids_of(given.what or "paper", flags)[0])
    warm_up(series)
    states: list[State] = []
    workers = start_workers(jobs=given.jobs)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "thrown-away.sqlite") as store:
        try:
            play_missing(series, store, workers, watch=states.append)
        finally:
            workers.close()
    end = states[-1].seconds
    print(f"{states[-1].total} episodes, {end:.1f} s, {workers.size} workers")
    print("way on   seconds so far   said to remain   did remain   said / did")
    for mark in MARKS:
        state = next(state for state in states if state.seconds >= mark * end and state.remaining is not None)
        said, did = state.remaining or 0.0, end - state.seconds
        print(f"{mark:6.0%} {state.seconds:16.1f} {said:16.1f} {did:12.1f} {said / did if did else 1.0:12.2f}")


if __name__ == "__main__":
    main()
