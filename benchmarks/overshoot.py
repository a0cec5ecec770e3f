"""By how much decisions exceed a budget in seconds; the mark is one step of the environment and 5 milliseconds.

    python -m benchmarks.overshoot                 three algorithms, 0.01 to 1 s, on an idle machine
    python -m benchmarks.overshoot --algorithms graft --seconds 0.06

Decisions of an episode, whose graph grows; what is compiled or loaded first is not counted.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import gymnasium as gym

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.agent import Agent

ALGORITHMS = ("graft", "gs-power-uct-f", "uct")
SECONDS = (0.01, 0.1, 1.0)
DECISIONS, TOTAL = 10, 10.0  # of a row, at most, and seconds
ALLOWANCE = 0.005  # seconds, beside one step of the environment
STEP = 0.02  # seconds of a slow one


class SlowLine(gym.Env[Any, Any]):
    """A line whose steps take STEP seconds."""

    observation_space = gym.spaces.Discrete(50)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin at 0."""
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Go one place on, or stay."""
        time.sleep(STEP)
        self.place = min(49, self.place + int(action))
        return self.place, float(action), False, False, {}


CASES = {
    "FrozenLake": ("GSP/FrozenLake-v0", 0.0),
    "SysAdminRing": ("GSP/SysAdminRing-v0", 0.0),
    "FourRooms": ("GSP/FourRooms-v0", 0.0),
    "CartPole": ("CartPole-v1", 0.0),
    "a step of 20 ms": ("", STEP),
}
"""By name: an id, or nothing for the slow line, and the seconds of a step that count."""


def _played(agent: Agent, env: gym.Env[Any, Any], decisions: int) -> list[float]:
    """The seconds of some decisions, of one episode after another."""
    observation, info = env.reset(seed=0)
    taken = []
    for _ in range(decisions):
        begun = time.perf_counter()
        action = agent.act(observation, info)
        taken.append(time.perf_counter() - begun)
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            observation, info = env.reset()
    return taken


def row(name: str, algorithm: str, seconds: float) -> str:
    """Play some decisions; returns their row of the table."""
    env_id, step = CASES[name]
    with closing(gym.make(env_id) if env_id else gym.wrappers.TimeLimit(SlowLine(), 20)) as env:
        agent = gsp.make_agent(env, algorithm, budget=gsp.Budget(seconds=seconds), seed=0)
        _played(agent, env, 1)
        over = [taken - seconds for taken in _played(agent, env, min(DECISIONS, max(3, int(TOTAL / seconds))))]
    fine = max(over) <= step + ALLOWANCE
    return (
        f"| {name} | {algorithm} | {seconds:g} | {1e3 * statistics.median(over):.1f} | {1e3 * max(over):.1f} | "
        f"{'yes' if fine else 'no'} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overshoot", description="overshoot of seconds")
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    parser.add_argument("--seconds", nargs="+", type=float, default=SECONDS)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args(arguments)
    print("| environment | algorithm | seconds | median overshoot, ms | largest | within the mark |")
    print("|---|---|---|---|---|---|")
    for name in options.cases:
        for algorithm in options.algorithms:
            for seconds in options.seconds:
                print(row(name, algorithm, seconds), flush=True)


if __name__ == "__main__":
    main()
