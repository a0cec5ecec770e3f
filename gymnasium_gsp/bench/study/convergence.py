"""`gsp study convergence`: how fast the root's value tends to the exact one.

The theorems bound |E V_n - V| by O(n^-1/2).  What is measured is the mean of |V_n - V|, which is no smaller, so a slope
of -1/2 or below confirms the rate, while a slower one does not by itself refute it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.report.output import check_extras
from gymnasium_gsp.bench.report.table import Column, Table, fixed
from gymnasium_gsp.bench.study.fresh_search import FreshSearch
from gymnasium_gsp.bench.study.outcome import Curve, Plot, Study
from gymnasium_gsp.bench.study.processes import random_process, return_range
from gymnasium_gsp.bench.study.sizes import NAMES, Sizes
from gymnasium_gsp.bench.study.slopes import fitted_slopes, slope_interval
from gymnasium_gsp.bench.study.variants import (
    DEPTH,
    DISCOUNT,
    STATE,
    TREE,
    TRUNCATED,
    Planner,
    benchmark_planners,
    random_planners,
)
from gymnasium_gsp.exact import enumerate_model, episode_optimum, optimum, truncated_value, value_iteration

QUESTION = "Does the error of the root's value fall like n^-1/2?"
RATE = -0.5
LATE = 3  # how many of the largest budgets the late slope is fitted to
RANDOM = "random processes"


@dataclass(frozen=True)
class ConvergenceSizes(Sizes):
    """How much is measured.

    Attributes:
        budgets: simulations on random processes.
        processes: how many of these.
        replicates: independent repetitions.
        horizon: steps looked ahead on random processes.
        envs: benchmarks.
        env_budgets: simulations there.
    """

    budgets: tuple[int, ...] = tuple(2**k for k in range(8, 18))
    processes: int = 12
    replicates: int = 6
    horizon: int = 3
    envs: tuple[str, ...] = NAMES
    env_budgets: tuple[int, ...] = tuple(2**k for k in range(6, 13))


FULL = ConvergenceSizes()
QUICK = ConvergenceSizes((256, 1024, 4096), 4, 3, 3, ("FrozenLake", "FactoredRiverSwim"), (64, 256, 1024))


@dataclass(frozen=True)
class Line:
    """The errors of one planner: relative to the range of returns or to the optimum.

    Attributes:
        place: RANDOM, or a benchmark.
        planner: what planned.
        budgets: simulations.
        errors: shape (processes, replicates, budgets); a benchmark counts as one process.
    """

    place: str
    planner: Planner
    budgets: Sequence[int]
    errors: NDArray[np.float64]

    @property
    def units(self) -> NDArray[np.float64]:
        """What the bootstrap draws: processes with all their replicates, or the replicates of the only process."""
        return self.errors.mean(axis=1) if len(self.errors) > 1 else self.errors[0]

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean error at each budget."""
        means: NDArray[np.float64] = self.errors.mean(axis=(0, 1))
        return means


def process_errors(planner: Planner, sizes: ConvergenceSizes, seed: int) -> NDArray[np.float64]:
    """|V_n - V| over the range of returns; shape (processes, replicates, budgets)."""
    found = np.zeros((sizes.processes, sizes.replicates, len(sizes.budgets)))
    steps_left = None if planner.family == STATE else sizes.horizon
    discount = planner.recipe.settled(steps_left is not None).discount
    for number in range(sizes.processes):
        model = random_process(seed * 1000 + number)
        if planner.target == TRUNCATED:
            truth, steps = truncated_value(model, 0, sizes.horizon, discount), float(sizes.horizon)
        else:
            truth = value_iteration(enumerate_model(model, 0), discount).value(0)
            steps = 1.0 / (1.0 - discount)
        search, scale = FreshSearch(model, planner.recipe, steps_left), return_range(model, steps)
        for replicate in range(sizes.replicates):
            for column, budget in enumerate(sizes.budgets):
                stream = (seed * sizes.processes + number) * sizes.replicates + replicate
                found[number, replicate, column] = abs(search.plan(budget, stream, column).value - truth) / scale
    return found


def benchmark_errors(planner: Planner, name: str, sizes: ConvergenceSizes, seed: int) -> NDArray[np.float64]:
    """|V_n - V| / V at the start of an episode, against the exact optimum; shape (1, replicates, budgets)."""
    found = np.zeros((1, sizes.replicates, len(sizes.env_budgets)))
    env: Any = gym.make(f"GSP/{name}-v0")
    core: Any = env.unwrapped
    search: Any = None
    for replicate in range(sizes.replicates):
        env_seed, agent_seed = episode_seeds(seed, f"GSP/{name}-v0", replicate)
        env.reset(seed=env_seed)
        truth = episode_optimum(env) if getattr(core, "draws_layout", False) else optimum(env)
        model = core.compiled_model()
        if search is None or search.search.model is not model:
            search = FreshSearch(model, planner.recipe, core.horizon, core.clone_state().cells)
        for column, budget in enumerate(sizes.env_budgets):
            found[0, replicate, column] = abs(search.plan(budget, agent_seed, column).value - truth) / truth
    env.close()
    return found


def lines(sizes: ConvergenceSizes, seed: int, watch: Callable[[str], None]) -> Iterator[Line]:
    """Everything that is measured, planner by planner."""
    for planner in random_planners(sizes.horizon):
        watch(f"{RANDOM}: {planner.name}")
        yield Line(RANDOM, planner, sizes.budgets, process_errors(planner, sizes, seed))
    for name in sizes.envs:
        for planner in benchmark_planners(f"GSP/{name}-v0"):
            watch(f"{name}: {planner.name}")
            yield Line(name, planner, sizes.env_budgets, benchmark_errors(planner, name, sizes, seed))


def check() -> None:
    """Refuse at once if SciPy is missing, which the intervals need."""
    check_extras("the study convergence", {"scipy": "SciPy"}, "benchmark")


def run(sizes: ConvergenceSizes, seed: int, watch: Callable[[str], None] = lambda words: None) -> Study:
    """Measure the study."""
    found = list(lines(sizes, seed, watch))
    rows = [_row(line) for line in found]
    return Study(
        name="convergence",
        question=QUESTION,
        seed=seed,
        sizes=sizes.as_dict(),
        tables=[_slopes(rows)],
        data=[_errors(found)],
        plots=[*_random_plots(found), *_benchmark_plots(found, sizes.envs)],
        findings=_findings(rows),
    )


def judged(low: float, high: float) -> str:
    """What an interval of a slope says about the rate n^-1/2."""
    return "faster" if high < RATE else "slower" if low > RATE else "as n^-1/2"


def _row(line: Line) -> tuple[Any, ...]:
    slope, low, high = slope_interval(line.units, line.budgets)
    means = line.means
    if line.place == RANDOM:
        covered = not line.planner.recipe.guarantee and line.planner.target == TRUNCATED
    else:
        covered = not line.planner.recipe.guarantee
    names = (line.place, line.planner.family, line.planner.name)
    late = float(fitted_slopes(means[-LATE:], line.budgets[-LATE:]))
    ends = (float(means[0]), float(means[-1]))
    return (*names, covered, *ends, slope, low, high, late, judged(low, high))


def _slopes(rows: Sequence[tuple[Any, ...]]) -> Table:
    percent = lambda value: f"{100.0 * value:.3g} %"  # noqa: E731
    columns = [
        Column("where", "place"),
        Column("keys", "family"),
        Column("planner", "planner"),
        Column("covered", "covered"),
        Column("first", "first", percent, number=True),
        Column("last", "last", percent, number=True),
        Column("slope", "slope", fixed(2), number=True),
        Column("from", "low", fixed(2), number=True),
        Column("to", "high", fixed(2), number=True),
        Column("late", "late", fixed(2), number=True),
        Column("rate", "verdict"),
    ]
    notes = [
        "First, last: mean of |V_n - V| at the smallest and the largest budget, in percent of the range of returns on "
        "random processes, of the exact optimum on benchmarks. Slope: of the log of that mean over log n, with a "
        "bootstrap interval of 95 % over processes with all their replicates, on benchmarks over replicates; late: the "
        f"{LATE} largest budgets. Covered: whether the paper's theorem covers the recipe, Table 1 included.",
        "Trees and graphs of (state, depth) plan to a time limit without discount. On random processes graphs of "
        f"states plan without one, discount {DISCOUNT}, V_0 = 0, and F is measured against both exact values.",
    ]
    return Table("slopes", "Error of the root's value and its slope", columns, rows, notes, headers=3)


def _errors(found: Sequence[Line]) -> Table:
    columns = [Column(name, name) for name in ("place", "planner", "target", "process", "budget", "replicate", "error")]
    rows = [
        (line.place, line.planner.name, line.planner.target, process, line.budgets[column], replicate, float(error))
        for line in found
        for (process, column, replicate), error in np.ndenumerate(line.errors.swapaxes(1, 2))
    ]
    return Table("errors", "Every error", columns, rows)


def _curves(found: Sequence[Line]) -> list[Curve]:
    drawn = [Curve(line.planner.name, line.budgets, line.means.tolist(), number) for number, line in enumerate(found)]
    budgets = found[0].budgets
    start = max(curve.y[0] for curve in drawn)
    decline = [start * (budget / budgets[0]) ** RATE for budget in budgets]
    return [*drawn, Curve("slope of n^-1/2", budgets, decline, 0, "theory")]


def _random_plots(found: Sequence[Line]) -> list[Plot]:
    plots = []
    for family in (TREE, DEPTH, STATE):
        here = [line for line in found if line.place == RANDOM and line.planner.family == family]
        plots.append(Plot(f"random: {family}", "simulations n", "error / range of returns", _curves(here)))
    return plots


def _benchmark_plots(found: Sequence[Line], envs: Sequence[str]) -> list[Plot]:
    return [
        Plot(name, "simulations n", "error / optimum", _curves([line for line in found if line.place == name]))
        for name in envs
    ]


def _findings(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    said = []
    for words, chosen in (
        ("random processes", [row for row in rows if row[0] == RANDOM]),
        ("benchmarks", [row for row in rows if row[0] != RANDOM]),
    ):
        if chosen:
            counts = {
                verdict: sum(row[-1] == verdict for row in chosen) for verdict in ("faster", "as n^-1/2", "slower")
            }
            listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
            said.append(f"On {words}, of {len(chosen)} lines: {listed}.")
    covered = [row for row in rows if row[3] and row[-1] == "slower"]
    if covered:
        named = "; ".join(f"{row[2]} on {row[0]} ({row[6]:.2f}, late {row[9]:.2f})" for row in covered)
        said.append(f"Covered by the theorem, and still slower over these budgets: {named}.")
    return said
