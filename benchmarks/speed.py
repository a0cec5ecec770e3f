"""Speed of the search: beside plain C++, of every algorithm, of the first decision, and bytes per node.

    python -m benchmarks.speed                           5 rounds, some minutes, on an idle machine
    python -m benchmarks.speed --rounds 9 --scale 2      more rounds, of more episodes each

The C++ is `benchmarks/yardstick/yardstick.cpp`, the same algorithm written plainly.  Both are timed alternately on one
thread, and the medians are compared, so that drift of the machine's speed cancels.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.searches import bytes_per_node, decisions
from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.algorithms.registry import ALGORITHMS, make_recipe
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.search.frame import EDGE

SOURCE = Path(__file__).parent / "yardstick" / "yardstick.cpp"
COMPILERS = ("c++", "g++", "clang++")
CASES = (("FrozenLake", "frozenlake"), ("SysAdminRing", "sysadmin"), ("FourRooms", "fourrooms"))
PRESETS = (("printed", "printed"), ("paper", "retained"))
BUDGETS = (256, 2048)
EXPENSIVE = ("brue", "gbop", "gbop-d", "kl-olop", "olop", "sparse-sampling")


@dataclass(frozen=True)
class Timing:
    """Times of some decisions.

    Attributes:
        kernel_ns_per_step: nanoseconds inside the compiled loop per model step, clearing of tables included.
        ns_per_simulation: the same per simulation.
        front_us_per_decision: microseconds of the rest of `Search.plan`, per decision.
    """

    kernel_ns_per_step: float
    ns_per_simulation: float
    front_us_per_decision: float


def time_episodes(name: str, recipe: Any, simulations: int, episodes: int, seconds: float = math.inf) -> Timing:
    """Play episodes of a benchmark and time the planning; stop after `seconds` of it."""
    kernel = whole = 0.0
    steps = count = 0
    for decision in decisions(name, recipe, simulations, lambda episode: (episode, agent_stream(0, episode))):
        if decision.episode == episodes:
            break
        result = decision.result
        kernel += decision.search.loop_seconds
        whole += result.seconds
        steps += result.model_steps
        count += 1
        if whole > seconds:
            break
    return Timing(kernel * 1e9 / steps, kernel * 1e9 / (count * simulations), (whole - kernel) * 1e6 / count)


def build_yardstick(folder: Path) -> Path | None:
    """Build the C++ program into `folder`; return None where there is no compiler."""
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None
    program = folder / "yardstick"
    subprocess.run([compiler, "-O3", "-march=native", "-std=c++17", str(SOURCE), "-o", str(program)], check=True)
    return program


@dataclass(frozen=True)
class Comparison:
    """One case beside the C++.

    Attributes:
        case: environment, preset of GS-Power-UCT with C 0.5 and p infinity, and simulations per decision.
        ours: nanoseconds per environment step.
        yardstick: the C++'s; None where it could not be built.
        front: our microseconds per decision outside the compiled loop.
    """

    case: str
    ours: float
    yardstick: float | None
    front: float


def compare(yardstick: Path | None, rounds: int, scale: float) -> Iterator[Comparison]:
    """Time every case beside the C++, alternately.

    Args:
        yardstick: the built program, or None to time ours alone.
        rounds: how often each is timed; the medians are compared.
        scale: multiplies the number of episodes.
    """
    for name, cpp_name in CASES:
        for preset, cpp_recipe in PRESETS:
            recipe = make_recipe("gs-power-uct", preset=preset, env_id=f"GSP/{name}-v0", c=0.5, p=math.inf)
            for budget in BUDGETS:
                episodes = max(1, round(scale * 2560 / budget))
                time_episodes(name, recipe, budget, 1)
                theirs, ours, front = [], [], []
                for _ in range(rounds):
                    if yardstick is not None:
                        command = [str(yardstick), cpp_name, cpp_recipe, str(budget), str(episodes)]
                        theirs.append(json.loads(subprocess.check_output(command))["ns_per_env_step"])
                    timing = time_episodes(name, recipe, budget, episodes)
                    ours.append(timing.kernel_ns_per_step)
                    front.append(timing.front_us_per_decision)
                median = statistics.median
                yield Comparison(
                    f"{name} {preset} {budget}", median(ours), median(theirs) if theirs else None, median(front)
                )


def time_algorithms(
    simulations: int = 256, episodes: int = 3, algorithms: Iterable[str] | None = None
) -> Iterator[tuple[str, str, Timing]]:
    """Time every algorithm, or some, with its defaults on every benchmark: (algorithm, environment, timing).

    Those in EXPENSIVE get an eighth of the simulations.
    """
    for algorithm in ALGORITHMS if algorithms is None else algorithms:
        recipe = make_recipe(algorithm)
        budget = simulations // 8 if algorithm in EXPENSIVE else simulations
        for benchmark in BENCHMARKS:
            time_episodes(benchmark.name, recipe, budget, 1, 0.0)
            yield algorithm, benchmark.name, time_episodes(benchmark.name, recipe, budget, episodes, 2.0)


FIRST_DECISION = """
import time
begun = time.perf_counter()
import gymnasium, gymnasium_gsp
imported = time.perf_counter()
env = gymnasium.make("GSP/FrozenLake-v0")
observation, _ = env.reset(seed=0)
gymnasium_gsp.make_agent(env, "gs-power-uct", budget=256, seed=0).act(observation)
print(imported - begun, time.perf_counter() - imported)
"""


def time_start(rounds: int = 5) -> tuple[float, float, float]:
    """Time the first decision of fresh processes, first with an empty cache and then with a filled one.

    Returns:
        Seconds of `import gymnasium, gymnasium_gsp` (median), and from there to the first decision, cold and warm
        (median).
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = []
        for _ in range(rounds + 1):
            command = [sys.executable, "-c", FIRST_DECISION]
            output = subprocess.check_output(command, env=environment, stderr=subprocess.DEVNULL, text=True)
            runs.append(tuple(map(float, output.split())))
    imports, first = zip(*runs, strict=True)
    return statistics.median(imports), first[0], statistics.median(first[1:])


def measure_memory(name: str = "FrozenLake") -> dict[str, float]:
    """Measure the bytes per node, row and share of the table, and per outcome edge, after a real search."""
    sizes = {}
    for label, recipe in (
        ("without edges", make_recipe("gs-power-uct", preset="paper", env_id=f"GSP/{name}-v0")),
        ("with edges", make_recipe("gs-power-uct")),
    ):
        decision = next(decisions(name, recipe, 20000, lambda episode: (0, agent_stream(0, 0))))
        sizes[f"bytes per node {label}"] = bytes_per_node(decision.search)
    return {**sizes, "bytes per edge": float(EDGE.itemsize)}


def print_comparison(rounds: int, scale: float) -> None:
    """Time every case beside the C++ and print it, the geometric mean of the ratios, and the front's time."""
    with tempfile.TemporaryDirectory() as folder:
        yardstick = build_yardstick(Path(folder))
        print(f"C++ yardstick: {'no compiler, ours alone' if yardstick is None else 'built'}\n")
        print(f"{'ns per environment step':<32}{'ours':>9}{'C++':>9}{'ratio':>8}")
        ratios, fronts = [], []
        for row in compare(yardstick, rounds, scale):
            fronts.append(row.front)
            beside = ""
            if row.yardstick is not None:
                ratios.append(row.ours / row.yardstick)
                beside = f"{row.yardstick:9.1f}{ratios[-1]:8.2f}"
            print(f"{row.case:<32}{row.ours:9.1f}{beside}", flush=True)
    if ratios:
        print(f"{'geometric mean':<50}{statistics.geometric_mean(ratios):8.2f}")
    print(f"the front: {statistics.median(fronts):.1f} us a decision\n")


def main(arguments: list[str] | None = None) -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="time the search")
    parser.add_argument("--rounds", type=int, default=5, help="how often each case is timed; medians count")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of episodes")
    given = parser.parse_args(arguments)
    if given.rounds < 1 or not 0.0 < given.scale < math.inf:
        parser.error("--rounds must be at least 1, and --scale above 0")
    print_comparison(given.rounds, given.scale)
    print(f"{'256 simulations':<36}{'ns per step':>12}{'ns per simulation':>20}")
    for algorithm, env, timing in time_algorithms(episodes=max(1, round(3 * given.scale))):
        case = f"{algorithm} {env}"
        print(f"{case:<36}{timing.kernel_ns_per_step:12.1f}{timing.ns_per_simulation:20.0f}", flush=True)
    imports, cold, warm = time_start()
    print(f"\nimport {imports:.2f} s, then the first decision: cold {cold:.1f} s, warm {warm:.2f} s (median)")
    print("; ".join(f"{name} {size:.0f}" for name, size in measure_memory().items()))


if __name__ == "__main__":
    main()
