"""Return against budget on three benchmarks, with 95 % intervals: `python benchmarks/figure.py` (needs matplotlib).

Prints the figures behind the plot and writes docs/return-against-budget.svg.  Some minutes on two cores.
"""

import argparse
import math
import statistics
from pathlib import Path

import matplotlib as mpl

from gymnasium_gsp.bench.protocol import Run
from gymnasium_gsp.bench.runner import play
from gymnasium_gsp.exact import shipped_optima

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "gymnasium_gsp"

ENVIRONMENTS = ("FrozenLake", "PassengerGrid", "FactoredRiverSwim")
PLANNERS = (
    ("uct", None, "UCT"),
    ("gs-power-uct", "paper", "GS-Power-UCT as published"),
    ("gs-power-uct", None, "GS-Power-UCT, our defaults"),
)
BUDGETS = (16, 32, 64, 128, 256)
TARGET = Path(__file__).parents[1] / "docs" / "return-against-budget.svg"


def measure(env: str, agent: str, preset: str | None, budget: int, episodes: int, jobs: int) -> tuple[float, float]:
    """Mean return and its standard error."""
    run = Run(env=env, agent=agent, preset=preset, budget=budget, episodes=episodes)
    returns = [episode.total_reward for episode in play(run, jobs)]
    return statistics.fmean(returns), statistics.stdev(returns) / math.sqrt(len(returns))


def main() -> None:
    """Measure, print, draw."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    figure, panels = plt.subplots(1, len(ENVIRONMENTS), figsize=(11, 3.2), layout="constrained")
    for panel, env in zip(panels, ENVIRONMENTS, strict=True):
        for agent, preset, label in PLANNERS:
            cells = [measure(env, agent, preset, budget, options.episodes, options.jobs) for budget in BUDGETS]
            print(f"{env:18} {label:28}", "  ".join(f"{mean:.3f} ({error:.3f})" for mean, error in cells), flush=True)
            means = [mean for mean, _ in cells]
            panel.plot(BUDGETS, means, marker="o", markersize=3, label=label)
            low = [mean - 1.96 * error for mean, error in cells]
            high = [mean + 1.96 * error for mean, error in cells]
            panel.fill_between(BUDGETS, low, high, alpha=0.2)
        optimum = shipped_optima()[f"GSP/{env}-v0"]
        panel.axhline(optimum, color="black", linewidth=1, linestyle="--", label="exact optimum")
        panel.set(title=env, xlabel="simulations per decision", xscale="log", xticks=BUDGETS, ylim=(0, None))
        panel.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        panel.minorticks_off()
    panels[0].set_ylabel("mean return")
    panels[-1].legend(fontsize=7, loc="lower right")
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
