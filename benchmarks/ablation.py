"""The parts and the constants of graft: what the planner loses without each part, and with other constants.

    python -m benchmarks.ablation --budgets 16 64 --episodes 20
    python -m benchmarks.ablation --without scenarios caution --envs GSP/FourRooms-v0 Development/Sailing10-v0
    python -m benchmarks.ablation --constants weight backups

Played are the five benchmarks and the environments of the development set whose regret an oracle knows, without those
held out.  A score is 1 - loss / loss of uniform play.  All variants play the same episodes, so differences to the whole
planner are paired.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.development import ENTRIES, HELD_OUT
from benchmarks.regret import budget_words, play_losses, read_budget
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.executors import Workers, start_workers
from gymnasium_gsp.bench.summary import standard_error
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.ingredients.backup import Cautious, PowerMean
from gymnasium_gsp.search.recipe import PairedScenarios, Sweep

Options = dict[str, Any]

WITHOUT: dict[str, Options] = {
    "margin": {"margin": 0.0},
    "patience": {"patience": None},
    "growth": {"floor": 0.0},
    "propagation": {"accuracy": 1e9},
    "caution": {"caution": 0.0},
    "greedy simulations": {"greedy_simulations": None},
    "scenarios": {"root_allocation": None},
    "memory": {"retention": "decision"},
}
CONSTANTS: dict[str, dict[float, Options]] = {
    "weight": {weight: {"weight": weight} for weight in (0.1, 1.0)},
    "margin": {margin: {"margin": margin} for margin in (0.5, 2.0)},
    "patience": {patience: {"patience": patience} for patience in (100.0, 1000.0)},
    "floor": {floor: {"floor": floor} for floor in (0.0125, 0.2)},
    "accuracy": {accuracy: {"accuracy": accuracy} for accuracy in (0.0001, 0.01)},
    "backups": {backups: {"backups": backups} for backups in (1, 8)},
    "caution": {caution: {"caution": caution} for caution in (0.25, 1.0, 2.0)},
    "kappa": {kappa: {"decision": Sweep(Cautious(kappa), 8, 0.5)} for kappa in (0.2, 0.5)},
    "passes": {passes: {"decision": Sweep(PowerMean(math.inf), passes, 0.5)} for passes in (2, 32)},
    "novelty": {novelty: {"root_allocation": PairedScenarios(novelty=novelty)} for novelty in (0.3, 0.7)},
    "known": {known: {"root_allocation": PairedScenarios(known=known)} for known in (0.6, 1.0)},
    "evidence": {evidence: {"root_allocation": PairedScenarios(evidence=evidence)} for evidence in (150.0, 1500.0)},
}
BENCHMARK_IDS = [benchmark.id for benchmark in BENCHMARKS]
DEVELOPMENT_IDS = [
    *(env for env in map("Development/{}-v0".format, ENTRIES) if env not in HELD_OUT),
    "Taxi-v4",
    "IPPC/Elevators_MDP_ippc2011-1",
    "IPPC/Navigation_MDP_ippc2011-2",
    "IPPC/TriangleTireworld_MDP_ippc2014-1",
]
MODULES = ("benchmarks.development",)


class Differences(NamedTuple):
    """Paired differences of scores to the whole planner's, with the standard error of each.

    Attributes:
        means, errors: one of each environment.
    """

    means: NDArray[np.float64]
    errors: NDArray[np.float64]

    def text(self, chosen: Sequence[bool]) -> str:
        """The mean over some environments, with its standard error."""
        here = np.array(chosen)
        error = np.linalg.norm(self.errors[here]) / max(1, here.sum())
        return f"{self.means[here].mean():+.3f} ({error:.3f})" if here.any() else ""


def variants(without: Sequence[str], constants: Sequence[str]) -> Iterator[tuple[str, Options]]:
    """Name and options of each variant, the whole planner first."""
    yield "graft", {}
    for part in without:
        yield f"without {part}", WITHOUT[part]
    for name in constants:
        for value, options in CONSTANTS[name].items():
            yield f"{name} {value:g}", options


def play_scores(
    env: str, options: Sequence[Options], budget: Budget, episodes: int, seed: int, workers: Workers
) -> NDArray[np.float64]:
    """Play the same episodes of an environment with each variant.

    Returns:
        Scores, variants x episodes.
    """
    uniform = Cell(env=env, algorithm="uct", budget=1, seed=seed)
    planners = [Cell(env=env, algorithm="graft", budget=budget, seed=seed, options=given) for given in options]
    played = list(play_losses([uniform, *planners], episodes, workers, MODULES))
    return 1.0 - np.array([losses.losses for losses in played[1:]]) / played[0].losses.mean()


def compare(scores: NDArray[np.float64]) -> Differences:
    """Compare a variant with the whole planner.

    Args:
        scores: of the variant less those of the whole, environments x episodes.
    """
    return Differences(scores.mean(axis=1), np.array([standard_error(row) or 0.0 for row in scores]))


def row(name: str, scores: NDArray[np.float64], lost: Differences, envs: Sequence[str]) -> str:
    """One row of the table: mean scores and differences of both groups, and the environment that loses most."""
    groups = [[env in BENCHMARK_IDS for env in envs], [env not in BENCHMARK_IDS for env in envs]]
    means = [f"{scores[np.array(group)].mean():.3f}" if any(group) else "" for group in groups]
    worst = int(np.argmin(lost.means))
    where = f"{envs[worst].split('/')[-1]} {lost.means[worst]:+.3f} ({lost.errors[worst]:.3f})"
    cells = [means[0], lost.text(groups[0]), means[1], lost.text(groups[1]), where if lost.means[worst] < 0.0 else ""]
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description="the parts of graft")
    parser.add_argument("--without", nargs="*", choices=WITHOUT, help="parts to leave out, one at a time; else all")
    parser.add_argument("--constants", nargs="*", choices=CONSTANTS, help="constants to change; else all")
    parser.add_argument("--envs", nargs="+", default=[*BENCHMARK_IDS, *DEVELOPMENT_IDS], help="ids of environments")
    parser.add_argument("--budgets", nargs="+", default=["16", "64"], help="16, 1ms, 4096steps, or Budget(...)")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    everything = given.without is None and given.constants is None
    without = list(WITHOUT) if everything else given.without or []
    constants = list(CONSTANTS) if everything else given.constants or []
    names, options = zip(*variants(without, constants), strict=True)
    with start_workers(given.jobs) as workers:
        for budget in map(read_budget, given.budgets):
            scores = np.array(
                [play_scores(env, options, budget, given.episodes, given.seed, workers) for env in given.envs]
            )
            print(f"\n| {budget_words(budget)} | benchmarks | difference | development set | difference | most lost |")
            print("|---|---|---|---|---|---|")
            for number, name in enumerate(names):
                here = scores[:, number]
                print(row(name, here, compare(here - scores[:, 0]), given.envs), flush=True)


if __name__ == "__main__":
    main()
