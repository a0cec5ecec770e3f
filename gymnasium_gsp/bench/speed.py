"""How fast the search is: beside hand-written C++, per algorithm, from a cold start, and in bytes.

The C++ is `benchmarks/yardstick/yardstick.cpp`, the same algorithm written plainly.  Both are timed in turn, on one
thread, several times, and the medians are compared, so that a drift of the machine's speed cancels.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

from gymnasium_gsp.agents.registry import ALGORITHMS, make_recipe
from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.planners import bind
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.search import Search
from gymnasium_gsp.search.store import MEMORY

SOURCE = Path(__file__).parents[2] / "benchmarks" / "yardstick" / "yardstick.cpp"
COMPILERS = ("c++", "g++", "clang++")
CASES = (("FrozenLake", "frozenlake"), ("SysAdminRing", "sysadmin"), ("FourRooms", "fourrooms"))
PRESETS = (("printed", "printed"), ("paper", "retained"))
BUDGETS = (256, 2048)
ONE_CHUNK = 1 << 40


@dataclass(frozen=True)
class Timing:
    """What some decisions took.

    Attributes:
        kernel_ns_per_step: nanoseconds inside the compiled loop, clearing of tables included, per model step.
        ns_per_simulation: the same per simulation.
        front_us_per_decision: microseconds of everything else in `Search.plan`, per decision.
        mean_return: of the episodes played, to see that the planner planned.
    """

    kernel_ns_per_step: float
    ns_per_simulation: float
    front_us_per_decision: float
    mean_return: float


def time_episodes(name: str, recipe: Any, simulations: int, episodes: int, seconds: float = math.inf) -> Timing:
    """Play episodes of a benchmark, one chunk a decision, and time the planning; stop after `seconds` of it."""
    env: Any = gym.make(f"GSP/{name}-v0").unwrapped
    budget = Budget(simulations=simulations)
    kernel = whole = returns = 0.0
    steps = decisions = 0
    search: Any = None
    for episode in range(episodes):
        env.reset(seed=episode)
        model = env.compiled_model()
        if search is None or search.model is not model:
            search = bind(model, recipe, True, None, MEMORY)
        search.begin_episode()
        search.seed(agent_stream(0, episode))
        ended = False
        while not ended:
            search.chunk = ONE_CHUNK
            state = env.clone_state()
            cells = model.cells(state.cells)
            result = search.plan(cells, budget, state.elapsed, env.horizon - state.elapsed)
            kernel += getattr(search, "kernel_seconds", result.seconds)
            whole += result.seconds
            steps += result.model_steps
            decisions += 1
            _, reward, terminated, truncated, _ = env.step(result.action)
            returns += reward
            ended = terminated or truncated or whole > seconds
        if whole > seconds:
            break
    return Timing(
        kernel * 1e9 / steps,
        kernel * 1e9 / (decisions * simulations),
        (whole - kernel) * 1e6 / decisions,
        returns / (episode + 1),
    )


def build_yardstick(folder: Path) -> Path | None:
    """The yardstick, built into `folder`; None where there is no C++ compiler or no source."""
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None or not SOURCE.exists():
        return None
    program = folder / "yardstick"
    subprocess.run([compiler, "-O3", "-march=native", "-std=c++17", str(SOURCE), "-o", str(program)], check=True)
    return program


@dataclass(frozen=True)
class Comparison:
    """One case beside the yardstick.

    Attributes:
        env: the benchmark's name.
        preset: of GS-Power-UCT, with C 0.5 and p infinity.
        budget: simulations per decision.
        ours: nanoseconds per environment step.
        yardstick: the C++'s; None where it could not be built.
        front: our microseconds per decision outside the compiled loop.
    """

    env: str
    preset: str
    budget: int
    ours: float
    yardstick: float | None
    front: float

    @property
    def ratio(self) -> float | None:
        """Ours over the yardstick's."""
        return None if self.yardstick is None else self.ours / self.yardstick


def compare(yardstick: Path | None, rounds: int = 5, scale: float = 1.0) -> Iterator[Comparison]:
    """Time every case beside the yardstick, in turn.

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
                yield Comparison(name, preset, budget, median(ours), median(theirs) if theirs else None, median(front))


def geometric_mean(ratios: list[float]) -> float:
    """The geometric mean of some ratios."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def time_algorithms(
    simulations: int = 256, episodes: int = 3, algorithms: Iterable[str] | None = None
) -> Iterator[tuple[str, str, Timing]]:
    """Every algorithm, or some, with its defaults on every benchmark: (algorithm, environment, timing).

    The planners with a loop of their own get an eighth of the simulations, because some are very dear.
    """
    for algorithm in ALGORITHMS if algorithms is None else algorithms:
        recipe = make_recipe(algorithm)
        budget = simulations if isinstance(recipe, Recipe) else simulations // 8
        for benchmark in BENCHMARKS:
            time_episodes(benchmark.name, recipe, budget, 1, 0.0)
            yield algorithm, benchmark.name, time_episodes(benchmark.name, recipe, budget, episodes, 2.0)


_FIRST_DECISION = """
import time
begun = time.perf_counter()
import gymnasium, gymnasium_gsp
imported = time.perf_counter()
env = gymnasium.make("GSP/FrozenLake-v0")
observation, _ = env.reset(seed=0)
gymnasium_gsp.make_agent("gs-power-uct", env, budget=256, seed=0).act(observation)
print(imported - begun, time.perf_counter() - imported)
"""


@dataclass(frozen=True)
class Start:
    """Seconds until a process has made its first decision.

    Attributes:
        import_seconds: of `import gymnasium, gymnasium_gsp`, median.
        cold: from there to the first decision, nothing compiled yet, once.
        warm: the same with a filled cache, median.
    """

    import_seconds: float
    cold: float
    warm: float


def time_start(rounds: int = 5) -> Start:
    """Time the first decision of fresh processes, with an empty cache and then with a filled one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = []
        for _ in range(rounds + 1):
            command = [sys.executable, "-c", _FIRST_DECISION]
            output = subprocess.check_output(command, env=environment, stderr=subprocess.DEVNULL, text=True)
            runs.append(tuple(map(float, output.split())))
    imports, decisions = zip(*runs, strict=True)
    return Start(statistics.median(imports), decisions[0], statistics.median(decisions[1:]))


def measure_memory(name: str = "FrozenLake") -> dict[str, float]:
    """Bytes per stored node (row and table) and per outcome edge, as allocated and as needed, after a real search."""
    env: Any = gym.make(f"GSP/{name}-v0").unwrapped
    env.reset(seed=0)
    model = env.compiled_model()
    sizes = {}
    for label, recipe in (
        ("without edges", make_recipe("gs-power-uct", preset="paper", env_id=f"GSP/{name}-v0")),
        ("with edges", make_recipe("gs-power-uct")),
    ):
        search = Search(model, recipe, True)
        search.plan(model.cells(env.clone_state().cells), Budget(simulations=20000), 0, env.horizon)
        row = 8 * int(search.program[at.STRIDE])
        table = search.store.table.nbytes / int(search.program[at.ROW_CAPACITY])
        sizes[f"bytes per node {label}"] = row + table
    sizes["bytes per edge"] = 8.0 * at.EDGE_SIZE
    return sizes


def report(
    rounds: int, scale: float, show: Callable[[str, dict[str, Any]], None] = lambda section, row: None
) -> dict[str, Any]:
    """All measurements by section, each row also given to `show` when it is there.

    Args:
        rounds: how often each case beside the yardstick is timed.
        scale: multiplies the number of episodes.
        show: called with the section's name and the row.
    """
    found: dict[str, Any] = {"compared": [], "algorithms": []}
    with tempfile.TemporaryDirectory() as folder:
        yardstick = build_yardstick(Path(folder))
        found["yardstick"] = "no C++ compiler or no source: ours alone" if yardstick is None else "built"
        show("yardstick", found)
        for case in compare(yardstick, rounds, scale):
            row = {**asdict(case), "ratio": case.ratio}
            found["compared"].append(row)
            show("compared", row)
    ratios = [row["ratio"] for row in found["compared"] if row["ratio"] is not None]
    found["geometric_mean_ratio"] = geometric_mean(ratios) if ratios else None
    found["front_us_per_decision"] = statistics.median(row["front"] for row in found["compared"])
    show("totals", found)
    for algorithm, env, timing in time_algorithms(episodes=max(1, round(3 * scale))):
        row = {"algorithm": algorithm, "env": env, **asdict(timing)}
        found["algorithms"].append(row)
        show("algorithms", row)
    found["start"] = asdict(time_start())
    show("start", found["start"])
    found["memory"] = measure_memory()
    show("memory", found["memory"])
    return found
