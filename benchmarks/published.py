"""The default planner beside the best published mean of each of the paper's 40 cells.

    python -m benchmarks.published --episodes 100
    python -m benchmarks.published --algorithms graft gs-power-uct --seed 41

A return is the optimum of the layout that was drawn less the regret, where the states allow to compute it: the same
mean as the return, with less noise.  A cell is reached if its mean is at least the best published mean of any
algorithm less three combined standard errors.
"""

import argparse
import math
from collections.abc import Sequence
from typing import Any

from benchmarks.regret import FRESH, planner_words, play_losses, read_arguments
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.executors import start_workers
from gymnasium_gsp.bench.published import Published, published_rewards
from gymnasium_gsp.bench.summary import standard_error
from gymnasium_gsp.envs import BENCHMARKS

ERRORS = 3.0


def best_published(name: str, budget: int) -> tuple[str, Published]:
    """The algorithm with the best published mean in an environment at a number of simulations, and its figures."""
    cells = {key[1]: cell for key, cell in published_rewards().items() if (key[0], key[2]) == (name, budget)}
    return max(cells.items(), key=lambda item: item[1].mean)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each cell, and how many of them were reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description="beside the published cells")
    budgets = sorted({budget for _, _, budget in published_rewards()})
    options = read_arguments(parser, arguments, [str(budget) for budget in budgets], 100)
    keys = [
        (name, algorithm, int(budget))
        for algorithm in options.algorithms
        for name in (benchmark.name for benchmark in BENCHMARKS)
        for budget in options.budgets
    ]
    shared: dict[str, Any] = {"seed": options.seed, "options": FRESH if options.fresh else {}}
    cells = [Cell(env=env, algorithm=algorithm, budget=budget, **shared) for env, algorithm, budget in keys]
    reached = 0
    print("| environment | simulations | algorithm | mean | best published | | difference | reached |")
    print("|---|---|---|---|---|---|---|---|")
    with start_workers(options.jobs) as workers:
        played = play_losses(cells, options.episodes, workers)
        for (name, algorithm, budget), losses in zip(keys, played, strict=True):
            returns = losses.optima - losses.losses
            mean, error = float(returns.mean()), standard_error(returns) or 0.0
            rival, published = best_published(name, budget)
            combined = math.hypot(error, published.standard_error)
            fine = mean >= published.mean - ERRORS * combined
            reached += fine
            print(
                f"| {name} | {budget} | {planner_words(algorithm, options.fresh)} | {mean:.3f} ({error:.3f}) | "
                f"{published.mean:.3f} ({published.standard_error:.3f}) | {rival} | {mean - published.mean:+.3f} | "
                f"{'yes' if fine else 'no'} |",
                flush=True,
            )
    print(f"\nreached: {reached} of {len(keys)}")


if __name__ == "__main__":
    main()
