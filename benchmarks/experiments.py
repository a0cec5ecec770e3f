"""The tables of docs/experiments.md.

    python -m benchmarks.experiments decision                          16, 64 and 256 simulations, 100 episodes a cell
    python -m benchmarks.experiments olop --budgets 64 256 --jobs 2

Each experiment is a list of settings, played on all five benchmarks with the same seeds; the last column is the mean
over the benchmarks of return / exact optimum.
"""

import argparse
import math
import statistics
from typing import Any

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.backup import Cautious, PowerMean
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.recipe import SearchValues, Sweep

Setting = tuple[str, str, str | None, dict[str, Any]]

EXPERIMENTS: dict[str, list[Setting]] = {
    "decision": [
        ("own values", "gs-power-uct", None, {"decision": SearchValues()}),
        ("sweep", "gs-power-uct", None, {}),
        ("sweep, cautious 0.3", "gs-power-uct", None, {"decision": Sweep(Cautious(0.3))}),
        ("same, C 0.25", "gs-power-uct", None, {"decision": Sweep(Cautious(0.3)), "c": 0.25}),
    ],
    "estimator": [
        ("running", "gs-power-uct", None, {"estimator": "running"}),
        ("current", "gs-power-uct", None, {}),
    ],
    "state keys": [
        ("state elapsed", "gs-power-uct", None, {}),
        ("state, discount 1", "gs-power-uct-f", None, {"discount": 1.0}),
        ("same, running", "gs-power-uct-f", None, {"discount": 1.0, "estimator": "running"}),
        ("state, 0.995", "gs-power-uct-f", None, {"discount": 0.995}),
        ("state, 0.99", "gs-power-uct-f", None, {}),
        ("same, cautious 0.1", "gs-power-uct-f", None, {"decision": Sweep(Cautious(0.1))}),
        ("state, 0.98", "gs-power-uct-f", None, {"discount": 0.98}),
    ],
    "targets": [
        ("power-uct, return", "power-uct", "paper", {}),
        ("power-uct, value", "power-uct", "paper", {"target": "value"}),
        ("uct, return", "uct", "paper", {}),
        ("uct, value", "uct", "paper", {"target": "value"}),
        ("uct, max", "uct", "paper", {"target": "value", "backup": PowerMean(math.inf)}),
    ],
    "olop": [
        (f"{agent}, discount {discount}", agent, None, {"discount": discount})
        for agent in ("olop", "kl-olop")
        for discount in (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
    ],
    "brue": [(f"depth {depth}", "brue", None, {"horizon": FixedHorizon(depth)}) for depth in (2, 3, 4, 5, 8)],
    "sparse sampling": [
        (f"width {width}, depth {depth}", "sparse-sampling", None, {"width": width, "horizon": FixedHorizon(depth)})
        for width, depth in ((1, 2), (2, 2), (4, 2), (8, 2), (1, 3), (2, 3), (4, 3), (1, 4), (2, 4))
    ],
}


def main() -> None:
    """Play one experiment and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description="print one table")
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--budgets", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--count", choices=("simulations", "model_steps"), default="simulations")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for limit in options.budgets:
        budget = Budget(**{options.count: limit})
        print(
            f"\n| {limit} {options.count.replace('_', ' ')} | "
            + " | ".join(b.name for b in BENCHMARKS)
            + " | normalised |"
        )
        print("|---" * (len(BENCHMARKS) + 2) + "|")
        for label, agent, preset, settings in EXPERIMENTS[options.name]:
            cells, score = [], 0.0
            for benchmark in BENCHMARKS:
                cell = Cell(env=benchmark.id, algorithm=agent, budget=budget, preset=preset, options=settings)
                returns = [episode.total_reward for episode in play(cell, options.episodes, options.jobs)]
                mean = statistics.fmean(returns)
                cells.append(f"{mean:.3g} ({statistics.stdev(returns) / math.sqrt(len(returns)):.2g})")
                score += mean / shipped_optima()[benchmark.id] / len(BENCHMARKS)
            print(f"| {label} | " + " | ".join(cells) + f" | {score:.3f} |", flush=True)


if __name__ == "__main__":
    main()
