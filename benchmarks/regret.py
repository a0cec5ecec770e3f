"""The five benchmarks by regret: what each decision gives up against the exact optimum, summed over an episode.

    python -m benchmarks.regret --algorithms graft gs-power-uct --budgets 16 64 1ms 4096steps --episodes 100
    python -m benchmarks.regret --fresh

A score is 1 - loss / optimum, of the layout that was drawn.  The loss is the regret; where there is no oracle, as for
some members of `benchmarks.families`, it is that of the return.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import DEFAULT_ALGORITHM
from gymnasium_gsp.bench.benchmark import play_batch
from gymnasium_gsp.bench.cell import Cell, import_modules
from gymnasium_gsp.bench.episode import Episode, task_of
from gymnasium_gsp.bench.executors import Workers, start_workers
from gymnasium_gsp.bench.summary import known_optimum, standard_error
from gymnasium_gsp.bench.texts import limits_of
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.search.budget import Budget, as_budget

BASELINES, RING_ORACLE = "benchmarks.baselines", "benchmarks.ring_oracle"
FRESH = {"retention": "decision"}


class Losses(NamedTuple):
    """What some episodes came to.

    Attributes:
        returns: of each episode.
        losses: of each, against the optimum; NaN where it is not known.
        optima: of each, the optimum.
        simulations: of an episode, on average.
        milliseconds: of a decision, on average.
    """

    returns: NDArray[np.float64]
    losses: NDArray[np.float64]
    optima: NDArray[np.float64]
    simulations: float
    milliseconds: float

    @property
    def scores(self) -> NDArray[np.float64]:
        """1 - loss / optimum."""
        return 1.0 - self.losses / self.optima


def read_budget(text: str) -> Budget:
    """A budget from a number of simulations, milliseconds (1ms), model steps (4096steps), or a `Budget(...)`."""
    if text.endswith("ms"):
        return Budget(seconds=1e-3 * float(text.removesuffix("ms")))
    if text.endswith("steps"):
        return Budget(model_steps=int(text.removesuffix("steps")))
    return as_budget(parse_value(text))


def play_losses(
    cells: Sequence[Cell], episodes: int, workers: Workers, modules: Sequence[str] = ()
) -> Iterator[Losses]:
    """Play the same number of episodes of some cells.

    Args:
        cells: what to play.
        episodes: how many of each.
        workers: who plays.
        modules: imported by every worker first, as they register what the cells name.

    Raises:
        PlanningError: if an episode cannot be played.
    """
    executor, share = workers.executor(), max(1, episodes // (4 * workers.size))
    batches = [range(first, min(first + share, episodes)) for first in range(0, episodes, share)]
    tasks = [task_of(cell, (BASELINES, RING_ORACLE, *modules)) for cell in cells]
    submitted = [[executor.submit(play_batch, task, batch) for batch in batches] for task in tasks]
    for cell, futures in zip(cells, submitted, strict=True):
        played: list[Episode] = []
        for future in futures:
            played += future.result().episodes
        for failure in filter(None, (episode.failure for episode in played)):
            raise PlanningError(failure)
        with closing(cell.make_env()) as env:
            known = known_optimum(env)
        optima = np.array([known if episode.optimum is None else episode.optimum for episode in played], float)
        returns = np.array([episode.total_reward for episode in played])
        regrets = np.array([episode.regret for episode in played], float)
        yield Losses(
            returns,
            np.where(np.isnan(regrets), optima - returns, regrets),
            optima,
            float(np.mean([episode.simulations for episode in played])),
            1e3 * sum(episode.seconds for episode in played) / sum(episode.decisions for episode in played),
        )


def planner_words(algorithm: str, fresh: bool) -> str:
    """The name of a planner in a table."""
    return f"{algorithm}, fresh graph" if fresh else algorithm


def budget_words(budget: Budget) -> str:
    """A number of simulations, or the limits by name."""
    limits = limits_of(budget)
    return str(limits) if isinstance(limits, int) else ", ".join(f"{name}={limit:g}" for name, limit in limits.items())


def spent_text(budget: Budget, milliseconds: float) -> str:
    """Milliseconds of a decision, and by how much they exceed a budget in seconds."""
    if budget.seconds is None:
        return f"{milliseconds:.2f}"
    return f"{milliseconds:.2f} ({milliseconds / (1e3 * budget.seconds) - 1.0:+.0%})"


def row(algorithm: str, budget: Budget, fresh: bool, episodes: int, seed: int, workers: Workers) -> str:
    """Play a cell of each benchmark; returns its row of the table."""
    shared: dict[str, Any] = {"algorithm": algorithm, "budget": budget, "seed": seed, "options": FRESH if fresh else {}}
    cells = [Cell(env=benchmark.id, **shared) for benchmark in BENCHMARKS]
    played = list(play_losses(cells, episodes, workers))
    means = [float(losses.scores.mean()) for losses in played]
    errors = [standard_error(losses.scores) or 0.0 for losses in played]
    milliseconds = [losses.milliseconds for losses in played]
    return " | ".join(
        [
            f"| {budget_words(budget)}",
            planner_words(algorithm, fresh),
            *(f"{mean:.3f} ({error:.3f})" for mean, error in zip(means, errors, strict=True)),
            f"**{np.mean(means):.3f}** ({np.linalg.norm(errors) / len(errors):.3f})",
            f"{np.mean([losses.simulations for losses in played]):,.0f}",
            f"{spent_text(budget, float(np.mean(milliseconds)))}, at most {max(milliseconds):.3f} |",
        ]
    )


def read_arguments(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, budgets: Sequence[str], episodes: int
) -> argparse.Namespace:
    """Read what to play; every algorithm is registered then."""
    parser.add_argument("--algorithms", nargs="+", default=[DEFAULT_ALGORITHM])
    parser.add_argument("--budgets", nargs="+", default=budgets, help="16, 1ms, 4096steps, or Budget(...)")
    parser.add_argument("--episodes", type=int, default=episodes)
    parser.add_argument("--fresh", action="store_true", help="begin each decision with a fresh graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    import_modules([BASELINES])
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description="the five benchmarks by regret")
    options = read_arguments(parser, arguments, ["16", "64", "256"], 100)
    names = " | ".join(benchmark.name for benchmark in BENCHMARKS)
    print(f"| budget | algorithm | {names} | mean | simulations an episode | ms a decision |")
    print("|---|---|" + "---|" * (len(BENCHMARKS) + 3))
    with start_workers(options.jobs) as workers:
        for budget, algorithm in product(map(read_budget, options.budgets), options.algorithms):
            print(row(algorithm, budget, options.fresh, options.episodes, options.seed, workers), flush=True)


if __name__ == "__main__":
    main()
