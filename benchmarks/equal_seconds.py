"""Rivals of the default planner at equal seconds: the same episodes, and where it may be worse.

    python -m benchmarks.equal_seconds
    python -m benchmarks.equal_seconds --group compiled --episodes 20 --algorithms gs-power-uct-f

Each planner plays the same episodes with the same seconds for a decision; the default is what `make_agent` chooses
where no algorithm is given.  What is compared is the regret where there is an oracle, else the return.  A row is called
worse where the paired differences say so, one-sided, at 1 % over the whole list.  The machine should be idle.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.development import ENTRIES
from benchmarks.regret import Losses, play_losses
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.executors import Workers, start_workers
from gymnasium_gsp.bench.summary import standard_error
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.search.budget import Budget

DEVELOPMENT = "benchmarks.development"
ERROR = 0.01
"""Probability that some row is called worse by chance, if none is."""


class Group(NamedTuple):
    """Environments that are played alike.

    Attributes:
        envs: their ids.
        seconds: of a decision.
        episodes: of each planner.
    """

    envs: tuple[str, ...]
    seconds: float
    episodes: int


GROUPS = {
    "compiled": Group(
        (
            *(benchmark.id for benchmark in BENCHMARKS),
            *(f"Development/{name}-v0" for name in ENTRIES),
            "Taxi-v4",
            "FrozenLake-v1",
            "CliffWalking-v1",
            "IPPC/CrossingTraffic_MDP_ippc2011-1",
            "IPPC/Elevators_MDP_ippc2011-1",
            "IPPC/Navigation_MDP_ippc2011-2",
            "IPPC/Tamarisk_MDP_ippc2014-1",
            "IPPC/TriangleTireworld_MDP_ippc2014-1",
        ),
        0.005,
        20,
    ),
    "simulated": Group(
        ("CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Blackjack-v1", "minigrid:MiniGrid-DoorKey-5x5-v0"), 0.03, 10
    ),
}


def achieved(losses: Losses) -> NDArray[np.float64]:
    """What each episode is judged by; more is better."""
    return losses.returns if np.isnan(losses.losses).any() else -losses.losses


def rows(group: Group, algorithms: Sequence[str], limit: float, seed: int, workers: Workers) -> Iterator[str]:
    """Play a group; yields a row for each environment and rival.

    Args:
        group: what to play.
        algorithms: the rivals.
        limit: standard errors below 0 from which a difference is called worse.
        seed: of the episodes.
        workers: who plays.
    """
    budget = Budget(seconds=group.seconds)
    for env in group.envs:
        cells = [Cell.asked(budget, name, env=env, seed=seed) for name in (None, *algorithms)]
        played = [achieved(losses) for losses in play_losses(cells, group.episodes, workers, [DEVELOPMENT])]
        for name, rival in zip(algorithms, played[1:], strict=True):
            difference = played[0] - rival
            mean, error = float(difference.mean()), standard_error(difference) or 0.0
            worse = mean < -limit * error
            yield (
                f"| {env.rpartition('/')[2]} | {cells[0].algorithm} | {name} | {played[0].mean():.4g} | "
                f"{rival.mean():.4g} | {mean:+.3g} ({error:.2g}) | {'worse' if worse else ''} |"
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.equal_seconds", description=__doc__)
    parser.add_argument("--group", choices=list(GROUPS), help="both by default")
    parser.add_argument("--algorithms", nargs="+", default=["gs-power-uct-f", "uct"])
    parser.add_argument("--episodes", type=int, help="of each planner")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    number = len(options.algorithms) * sum(len(group.envs) for group in GROUPS.values())
    limit = NormalDist().inv_cdf(1.0 - ERROR / number)
    print(f"Worse: by more than {limit:.2f} standard errors, {ERROR:.0%} over {number} comparisons.\n")
    print("| environment | default | rival | default's | rival's | difference | |\n|---|---|---|---|---|---|---|")
    with start_workers(options.jobs) as workers:
        for name in [options.group] if options.group else GROUPS:
            group = GROUPS[name]._replace(episodes=options.episodes or GROUPS[name].episodes)
            for line in rows(group, options.algorithms, limit, options.seed, workers):
                print(line, flush=True)


if __name__ == "__main__":
    main()
