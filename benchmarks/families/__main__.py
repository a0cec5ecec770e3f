"""The mean score of each family beside that of the benchmark it comes from.

    python -m benchmarks.families --algorithms graft gs-power-uct --budgets 16 64 --episodes 20

The score of a family is 1 - mean loss / mean optimum over its members.  Members whose optimum is out of reach (networks
of more than twelve machines) count in no score; their mean returns stand in the last column.
"""

import argparse
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.families import FAMILIES, Family
from benchmarks.families.score import Score, has_optimum, mean, play_members, score
from benchmarks.regret import FRESH, budget_words, planner_words, play_losses, read_arguments, read_budget
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.executors import Workers, start_workers


def play_family(family: Family, shared: dict[str, Any], episodes: int, workers: Workers) -> tuple[str, Score, Score]:
    """Play the members of a family, and its benchmark as often as all of them together.

    Returns:
        The row of the table, and both scores.
    """
    members = play_members(family, shared, episodes, workers)
    (benchmark,) = play_losses([Cell(env=family.benchmark, **shared)], episodes * len(members), workers)
    of_family, of_benchmark = score(members), score([benchmark])
    returns = [
        f"{size}: {losses.returns.mean():.4g}"
        for size, losses in zip(family.sizes, members, strict=True)
        if not has_optimum(losses)
    ]
    name = family.id.removeprefix("Families/").removesuffix("-v0")
    spent = np.mean([losses.simulations for losses in members])
    row = f"{name} | {of_family} | {of_benchmark} | {spent:,.0f} | {', '.join(returns)} |"
    return row, of_family, of_benchmark


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families", description="the benchmarks as families")
    options = read_arguments(parser, arguments, ["16", "64"], 20)
    print(
        "| budget | algorithm | family | score | of the benchmark | simulations an episode | returns without optimum |"
    )
    print("|---|---|---|---|---|---|---|")
    with start_workers(options.jobs) as workers:
        for budget, algorithm in product(map(read_budget, options.budgets), options.algorithms):
            cell = {"algorithm": algorithm, "budget": budget, "seed": options.seed}
            shared = {**cell, "options": FRESH if options.fresh else {}}
            begin = f"| {budget_words(budget)} | {planner_words(algorithm, options.fresh)}"
            scores = []
            for family in FAMILIES:
                row, *both = play_family(family, shared, options.episodes, workers)
                print(f"{begin} | {row}", flush=True)
                scores.append(both)
            print(f"{begin} | mean | {' | '.join(str(mean(column)) for column in zip(*scores, strict=True))} | | |")


if __name__ == "__main__":
    main()
