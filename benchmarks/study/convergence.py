"""The rate at which the root's value converges to the exact one: `python -m benchmarks.study convergence`.

The theorems bound |E V_n - V| by O(n^-1/2).  The mean of |V_n - V| is measured instead, which is at least as large: a
slope of -1/2 or below confirms the rate, while a slower one alone does not refute it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import pandas as pd

from benchmarks.searches import FreshSearch
from benchmarks.study.planners import (
    DEPTH,
    DISCOUNT,
    STATE,
    TREE,
    TRUNCATED,
    Planner,
    benchmark_planners,
    random_planners,
)
from benchmarks.study.random_processes import random_process, return_range
from benchmarks.study.result import Plot, Study, Table, describe
from benchmarks.study.slopes import fitted_slopes, slope_interval
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import enumerate_model, episode_optimum, optimum, truncated_value, value_iteration

QUESTION = "Does the error of the root's value fall like n^-1/2?"
RATE = -0.5
LATE = 3  # number of the largest budgets that the late slope is fitted to
RANDOM = "random processes"
LINE = ["place", "keys", "planner"]  # the columns that name a line


@dataclass(frozen=True)
class Sizes:
    """Sizes of the study.

    Attributes:
        budgets: simulations on random processes.
        processes: number of random processes.
        replicates: independent repetitions.
        horizon: steps looked ahead on random processes.
        envs: benchmarks.
        env_budgets: simulations on benchmarks.
    """

    budgets: tuple[int, ...] = tuple(2**k for k in range(8, 18))
    processes: int = 12
    replicates: int = 6
    horizon: int = 3
    envs: tuple[str, ...] = tuple(benchmark.name for benchmark in BENCHMARKS)
    env_budgets: tuple[int, ...] = tuple(2**k for k in range(6, 13))


FULL = Sizes()
QUICK = Sizes((256, 1024, 4096), 4, 3, 3, ("FrozenLake", "FactoredRiverSwim"), (64, 256, 1024))


def process_errors(planner: Planner, sizes: Sizes, seed: int) -> Iterator[dict[str, Any]]:
    """Measure |V_n - V| on random processes, relative to the range of returns."""
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
            stream = (seed * sizes.processes + number) * sizes.replicates + replicate
            for column, budget in enumerate(sizes.budgets):
                error = abs(search.plan(budget, stream, column).value - truth) / scale
                yield {"process": number, "replicate": replicate, "budget": budget, "error": error}


def benchmark_errors(planner: Planner, name: str, sizes: Sizes, seed: int) -> Iterator[dict[str, Any]]:
    """Measure |V_n - V| / V at the start of a benchmark's episodes, V being the exact optimum."""
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
            error = abs(search.plan(budget, agent_seed, column).value - truth) / truth
            yield {"process": 0, "replicate": replicate, "budget": budget, "error": error}
    env.close()


def measure(sizes: Sizes, seed: int, progress: Callable[[str], None]) -> pd.DataFrame:
    """Measure every error of every planner in every place."""
    frames = []

    def add(place: str, planner: Planner, errors: Iterator[dict[str, Any]]) -> None:
        progress(f"{place}: {planner.name}")
        covered = not planner.recipe.guarantee and planner.target == TRUNCATED
        line = {"place": place, "keys": planner.family, "planner": planner.name, "covered": covered}
        frames.append(pd.DataFrame(errors).assign(**line, target=planner.target))

    for planner in random_planners(sizes.horizon):
        add(RANDOM, planner, process_errors(planner, sizes, seed))
    for name in sizes.envs:
        for planner in benchmark_planners(f"GSP/{name}-v0"):
            add(name, planner, benchmark_errors(planner, name, sizes, seed))
    return pd.concat(frames, ignore_index=True)


def run(sizes: Sizes, seed: int, progress: Callable[[str], None] = lambda words: None) -> Study:
    """Measure and summarise."""
    errors = measure(sizes, seed, progress)
    slopes = pd.DataFrame([slope_row(*line) for line in errors.groupby([*LINE, "covered"], sort=False)])
    return Study(
        "convergence",
        QUESTION,
        tables=[slope_table(slopes), Table("errors", "Every error", errors, on_page=False)],
        plots=plots(errors),
        findings=findings(slopes),
        settings=describe(seed, sizes),
    )


def slope_row(line: tuple[Any, ...], errors: pd.DataFrame) -> dict[str, Any]:
    """Fit the slope of one planner's error in one place.

    The bootstrap draws processes with all their replicates, or the replicates where there is one process.
    """
    by_unit = "process" if errors["process"].nunique() > 1 else "replicate"
    units = errors.pivot_table(index=by_unit, columns="budget", values="error")
    budgets, means = list(units.columns), units.mean().to_numpy()
    slope, low, high = slope_interval(units, budgets)
    late = float(fitted_slopes(means[-LATE:], budgets[-LATE:]))
    fit = {"slope": slope, "low": low, "high": high, "late": late, "rate": judge(low, high)}
    return {**dict(zip([*LINE, "covered"], line, strict=True)), "first": means[0], "last": means[-1], **fit}


def judge(low: float, high: float) -> str:
    """Compare the interval of a slope with the rate n^-1/2."""
    return "faster" if high < RATE else "slower" if low > RATE else "as n^-1/2"


def slope_table(slopes: pd.DataFrame) -> Table:
    """Make the table of slopes."""

    def percent(value: float) -> str:
        return f"{100.0 * value:.3g} %"

    notes = [
        "First, last: mean of |V_n - V| at the smallest and the largest budget, in percent of the range of returns on "
        "random processes, and of the exact optimum on benchmarks. Slope: of the log of that mean over log n, with a "
        "bootstrap interval of 95 % over processes with all their replicates, on benchmarks over replicates. Late: the "
        f"same slope over the {LATE} largest budgets. Covered: whether the paper's theorem covers the recipe, Table 1 "
        "included.",
        "Trees and graphs of (state, depth) plan to a time limit without discount. On random processes graphs of "
        f"states plan without one, with discount {DISCOUNT} and V_0 = 0, and F is measured against both exact values.",
    ]
    formats: dict[str, Callable[[Any], str]] = {"first": percent, "last": percent}
    formats |= dict.fromkeys(("slope", "low", "high", "late"), "{:z.2f}".format)
    return Table("slopes", "Error of the root's value and its slope", slopes, formats, notes)


def plots(errors: pd.DataFrame) -> list[Plot]:
    """Plot the mean errors: random processes by family, then the benchmarks."""
    found = []
    for place, here in errors.groupby("place", sort=False):
        for keys in (TREE, DEPTH, STATE) if place == RANDOM else (None,):
            chosen = here if keys is None else here[here["keys"] == keys]
            means = chosen.groupby(["planner", "budget"], sort=False)["error"].mean().unstack("planner")
            means["slope of n^-1/2"] = means.iloc[0].max() * (means.index / means.index[0]) ** RATE
            title, unit = (str(place), "optimum") if keys is None else (f"random: {keys}", "range of returns")
            found.append(Plot(title, "simulations n", f"error / {unit}", means, computed=["slope of n^-1/2"]))
    return found


def findings(slopes: pd.DataFrame) -> list[str]:
    """Count the rates, and name the planners that are covered by the theorem and slower."""
    said = []
    for name, chosen in (("random processes", slopes["place"] == RANDOM), ("benchmarks", slopes["place"] != RANDOM)):
        rates = slopes[chosen]["rate"]
        if len(rates):
            counts = ", ".join(f"{(rates == rate).sum()} {rate}" for rate in ("faster", "as n^-1/2", "slower"))
            said.append(f"On {name}, of {len(rates)} lines: {counts}.")
    slow = slopes[slopes["covered"] & (slopes["rate"] == "slower")]
    if len(slow):
        named = "; ".join(
            f"{row.planner} on {row.place} ({row.slope:z.2f}, late {row.late:z.2f})" for row in slow.itertuples()
        )
        said.append(f"Covered by the theorem, and still slower over these budgets: {named}.")
    return said
