"""Do graft's constants fit families on which they were not chosen?

    python -m benchmarks.families.left_out --budget 16 --episodes 20

For each family the constants are chosen anew on the other three: of each the value with the best mean score there, the
other constants as they are.  The table has what that changes for the family left out; all play the same episodes.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.ablation import CONSTANTS, Options
from benchmarks.families import FAMILIES, Family
from benchmarks.families.score import play_members, score
from benchmarks.regret import read_budget
from gymnasium_gsp.bench.executors import Workers, start_workers

TOGETHER = ("weight", "margin", "patience", "floor", "accuracy", "backups", "caution")  # each an option of its own

Scores: TypeAlias = Sequence[float] | NDArray[np.float64]
"""One of each family."""


def family_score(family: Family, options: Options, shared: dict[str, Any], episodes: int, workers: Workers) -> float:
    """The score of a family with other constants."""
    return score(play_members(family, {**shared, "options": options}, episodes, workers)).mean


def choose(whole: Scores, others: Mapping[str, Mapping[float, Scores]]) -> Options:
    """The best value of each constant by mean score; what is no better than the default is left out.

    Args:
        whole: scores of the families to choose on.
        others: the same by constant and value.
    """
    chosen: Options = {}
    for name, scores in others.items():
        means = {value: float(np.mean(row)) for value, row in scores.items()}
        best = max(means, key=means.__getitem__)
        if means[best] > np.mean(whole):
            chosen |= CONSTANTS[name][best]
    return chosen


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families.left_out", description="constants chosen anew")
    parser.add_argument("--constants", nargs="+", choices=TOGETHER, default=TOGETHER)
    parser.add_argument("--budget", default="16", help="16, 1ms, 4096steps, or Budget(...)")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    shared = {"algorithm": "graft", "budget": read_budget(given.budget), "seed": given.seed}
    with start_workers(given.jobs) as workers:

        def play(family: Family, options: Options) -> float:
            return family_score(family, options, shared, given.episodes, workers)

        whole = [play(family, {}) for family in FAMILIES]
        others = {
            name: {value: [play(family, options) for family in FAMILIES] for value, options in CONSTANTS[name].items()}
            for name in given.constants
        }
        print("| family left out | constants chosen on the others | score as it is | with these | change |")
        print("|---|---|---|---|---|")
        for number, family in enumerate(FAMILIES):
            rest = {
                name: {value: np.delete(row, number) for value, row in scores.items()}
                for name, scores in others.items()
            }
            chosen = choose(np.delete(whole, number), rest)
            anew = play(family, chosen)
            words = ", ".join(f"{name} {value:g}" for name, value in chosen.items()) or "the same"
            title = family.id.removeprefix("Families/").removesuffix("-v0")
            print(f"| {title} | {words} | {whole[number]:.3f} | {anew:.3f} | {anew - whole[number]:+.3f} |", flush=True)


if __name__ == "__main__":
    main()
