"""A gate against slow algorithms: each is timed beside UCT on the same machine; exit code 1 over its limit.

    python -m benchmarks.gate                 every algorithm on every benchmark, a minute or two
    python -m benchmarks.gate uct gbop        only these

The limits are about three times the costs that `benchmarks.speed` printed when they were written, as caches differ from
machine to machine.  They catch an algorithm that costs ten times as much as before, not one that costs a tenth more.
docs/performance.md explains why some algorithms cost more than others.
"""

import argparse
import math
import sys

from benchmarks.speed import time_algorithms
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.errors import unknown_name

UCT = "uct"
ROUNDS = 2
UCT_NS = 120.0  # nanoseconds per model step that UCT may take on any benchmark
DEFAULT_LIMIT = 30.0
LIMITS = {
    "brue": 4.0,
    "fixed-depth-mcts": 6.0,
    "gbop": 12000.0,
    "gbop-d": 3000.0,
    "gs-power-uct-f": 25.0,
    "gs-power-uct-f+": 25.0,
    "graft": 45.0,
    "kl-olop": 18.0,
    "ments": 5.0,
    "olop": 15.0,
    "power-uct": 4.0,
    "rents": 6.0,
    "sparse-sampling": 3.0,
    "tents": 5.0,
    "uct-max": 4.0,
}
"""Times the cost of UCT's model step that an algorithm's may cost, on any benchmark; others have DEFAULT_LIMIT."""


def main(arguments: list[str] | None = None) -> int:
    """Time the algorithms, print their costs and name those over their limit."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gate", description="each algorithm's cost beside UCT's, against its limit"
    )
    parser.add_argument("algorithms", nargs="*", help="all by default")
    given = parser.parse_args(arguments).algorithms
    for name in given:
        if name not in ALGORITHMS:
            parser.error(unknown_name("algorithm", name, ALGORITHMS))
    costs = best_of(ROUNDS, [UCT, *(name for name in given or ALGORITHMS if name != UCT)])
    over = []
    print("algorithm          environment         ns a step   times UCT    limit")
    for (algorithm, env), cost in costs.items():
        times = cost / costs[UCT, env]
        limit = UCT_NS / cost if algorithm == UCT else LIMITS.get(algorithm, DEFAULT_LIMIT)
        print(f"{algorithm:18} {env:18} {cost:10.1f} {times:11.1f} {limit:8.1f}")
        if times > limit:
            over.append(f"{algorithm} on {env}: {cost:.1f} ns a step, {times:.1f} times UCT's, limit {limit:.1f}")
    print("\n".join(over) or "all within their limits")
    return bool(over)


def best_of(rounds: int, algorithms: list[str]) -> dict[tuple[str, str], float]:
    """Return nanoseconds per model step by algorithm and environment, the smallest of some rounds."""
    costs: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for algorithm, env, timing in time_algorithms(episodes=1, algorithms=algorithms):
            costs[algorithm, env] = min(timing.kernel_ns_per_step, costs.get((algorithm, env), math.inf))
    return costs


if __name__ == "__main__":
    sys.exit(main())
