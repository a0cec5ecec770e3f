"""The published tables beside ours: `python benchmarks/reproduction.py` prints docs/results.md's table.

Every cell is played with preset="paper"; z is the difference from the published mean in combined standard errors.
"""

import argparse

import numpy as np

from gymnasium_gsp.bench.protocol import Run, standard_error
from gymnasium_gsp.bench.published import published_rewards
from gymnasium_gsp.bench.report.judgement import difference
from gymnasium_gsp.bench.runner import play
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import shipped_optima

ALGORITHMS = ("uct", "power-uct", "ments", "gs-power-uct", "gs-power-uct-f+")


def main() -> None:
    """Play the cells and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    parser.add_argument("--environments", nargs="+", default=[benchmark.name for benchmark in BENCHMARKS])
    parser.add_argument("--budgets", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| algorithm | environment | simulations | ours | published | z | exact optimum |")
    print("|---|---|---|---|---|---|---|")
    for algorithm in options.algorithms:
        for env in options.environments:
            for budget in options.budgets:
                run = Run(env, algorithm, budget, options.episodes, preset="paper")
                returns = np.array([episode.total_reward for episode in play(run, options.jobs)])
                published = published_rewards()[env, algorithm, budget]
                z = difference(returns, published) or 0.0
                print(
                    f"| {algorithm} | {env} | {budget} | {returns.mean():.3f} ({standard_error(returns) or 0.0:.3f}) | "
                    f"{published.mean:.3f} ({published.standard_error:.3f}) | {z:+.1f} | "
                    f"{shipped_optima()[run.env]:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
