"""How much `gsp watch` slows the search itself; the mark is at most 10 %.

    python -m benchmarks.watching                5 rounds, on an idle machine
    python -m benchmarks.watching --rounds 20

The same episode is played alone and watched on a terminal of its own, alternately, and the seconds that its searches
took are compared: the smallest of each, because a busy machine can only add time.  What `gsp watch` does between two
decisions, its picture and its pause, is not part of a search; it is given for each decision.
"""

import argparse
import os
import time

from rich.console import Console

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play_episode
from gymnasium_gsp.bench.inspection import with_pictures
from gymnasium_gsp.bench.watching import watch

LIMIT = 1.10
CELLS = (
    Cell(env="FrozenLake", algorithm="graft", budget=256),
    Cell(env="FrozenLake", algorithm="graft", budget=16384, env_options={"horizon": 20}),
    Cell(env="FrozenLake", algorithm="uct", budget=65536, env_options={"horizon": 20}),
    Cell(env="SysAdminRing", algorithm="gs-power-uct", budget=4096, env_options={"horizon": 10}),
)


def watched(cell: Cell) -> tuple[float, float]:
    """Seconds of the searches of an episode that is watched, and milliseconds between its decisions."""
    with open(os.devnull, "w") as nowhere:
        console, begun = Console(file=nowhere, force_terminal=True, width=120, height=40), time.perf_counter()
        end = watch(with_pictures(cell, ("ansi", "rgb_array")), str(cell), console, pause=0.0)
    return end.seconds, 1e3 * (time.perf_counter() - begun - end.seconds) / max(1, end.step)


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for cell in CELLS:
        play_episode(cell, 0)  # loads compiled code
        alone, watching = [], []
        for _ in range(rounds):
            alone.append(play_episode(cell, 0).seconds)
            watching.append(watched(cell))
        seconds, between = min(watching)
        ratio = seconds / min(alone)
        print(
            f"{cell}: {min(alone):.3f} s alone, {seconds:.3f} s watched, {100.0 * (ratio - 1.0):+.1f} % "
            f"({'within' if ratio <= LIMIT else 'above'} the mark); {between:.0f} ms between decisions"
        )


if __name__ == "__main__":
    main()
