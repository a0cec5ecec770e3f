"""How well the planner plays in environments of others: the "It plays" table, one command, resumable.

    python benchmarks/play.py                     play what is missing, then print the table
    python benchmarks/play.py taxi cartpole       only these rows
    python benchmarks/play.py --seconds 300       stop after that long; the next call goes on
    python benchmarks/play.py --table             only print

Every episode is one line of `benchmarks/play.jsonl`; lines of other options, seeds or budgets are kept and left out.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import gymnasium_gsp as gsp

RESULTS = Path(__file__).with_name("play.jsonl")
ALGORITHM = "gs-power-uct-f"
SEED = 0


@dataclass(frozen=True)
class Row:
    """One environment and what it must reach.

    Attributes:
        name: how the command line calls it.
        make: the environment.
        episodes: how many are played.
        budget: of each decision.
        goal: what the mean return (or every return) must reach, in words and as a number.
        every: whether each episode must reach it, not the mean.
        options: of `make_agent`, where the defaults do not do.
        why: what these options are for.
        longest: steps after which an episode without a limit of its own is given up.
    """

    name: str
    make: Callable[[], gym.Env]
    episodes: int
    budget: gsp.Budget
    goal: float
    every: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    longest: int = 1000


def _third_party(package: str, env_id: str) -> gym.Env:
    gym.register_envs(__import__(package))
    return gym.make(env_id)


def _rddl(domain: str) -> Any:
    import pyRDDLGym

    return pyRDDLGym.make(domain, "1")


def _simulations(number: int) -> gsp.Budget:
    return gsp.Budget(simulations=number)


def _steps(number: int) -> gsp.Budget:
    return gsp.Budget(model_steps=number)


def car_cell(env: Any, observation: Any) -> tuple[int, int]:
    """MountainCar's position in thirtieths and velocity in four hundredths."""
    return round(float(observation[0]) * 30), round(float(observation[1]) * 400)


def acrobot_cell(env: Any, observation: Any) -> tuple[int, ...]:
    """Acrobot's two angles in thirds of a radian, and its two velocities in cells of 2/3 and 1."""
    return tuple(round(float(number) * scale) for number, scale in zip(env.state, (3.0, 3.0, 1.5, 1.0), strict=True))


_NEAR = "continuous states never meet again, and random playouts never reach the goal; in cells, the graph explores"

ROWS = [
    Row("taxi", lambda: gym.make("Taxi-v4"), 100, _simulations(1000), 7.5),
    Row("cliff", lambda: gym.make("CliffWalking-v1"), 5, _simulations(1000), -13.0, every=True),
    Row("lake", lambda: gym.make("FrozenLake-v1"), 300, _simulations(1000), 0.70),
    Row("blackjack", lambda: gym.make("Blackjack-v1"), 5000, _simulations(300), -0.10),
    Row("cartpole", lambda: gym.make("CartPole-v1"), 20, _steps(15000), 500.0, every=True),
    Row(
        "acrobot",
        lambda: gym.make("Acrobot-v1"),
        10,
        _steps(10000),
        -95.0,
        options={"state_key": acrobot_cell},
        why=_NEAR,
    ),
    Row(
        "mountaincar",
        lambda: gym.make("MountainCar-v0"),
        10,
        _steps(10000),
        -140.0,
        options={"state_key": car_cell},
        why=_NEAR,
    ),
    Row("lander", lambda: gym.make("LunarLander-v3"), 10, _steps(6000), 200.0),
    Row("doorkey", lambda: _third_party("minigrid", "MiniGrid-DoorKey-6x6-v0"), 20, _steps(10000), 0.01, every=True),
    Row("highway", lambda: _third_party("highway_env", "highway-fast-v0"), 10, _steps(40), float("nan")),
    Row("sysadmin", lambda: _rddl("SysAdmin_MDP_ippc2011"), 10, _steps(2000), float("nan")),
    Row("navigation", lambda: _rddl("Navigation_MDP_ippc2011"), 30, _steps(2000), float("nan")),
    Row("elevators", lambda: _rddl("Elevators_MDP_ippc2011"), 10, _steps(1000), float("nan")),
]


def settings(row: Row) -> str:
    """What decides a row's results, in words."""
    options = ", ".join(f"{name}={getattr(value, '__name__', repr(value))}" for name, value in row.options.items())
    spent = ", ".join(f"{name}={value}" for name, value in vars(row.budget).items() if value is not None)
    return f"{ALGORITHM}({options}), {spent}"


def known(row: Row, path: Path) -> dict[int, dict[str, Any]]:
    """Episodes already played with these settings, by number."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {line["episode"]: line for line in lines if line["row"] == row.name and line["settings"] == settings(row)}


def episode(row: Row, env: Any, agent: Any, number: int) -> dict[str, Any]:
    """Play one episode."""
    agent.reset(seed=SEED + number)
    observation, info = env.reset(seed=SEED + number)
    total, decisions, worst, begun, ended = 0.0, 0, 0.0, time.perf_counter(), False
    while not ended and decisions < row.longest:
        action = agent.act(observation, info)
        worst, decisions = max(worst, agent.result.seconds), decisions + 1
        observation, reward, terminated, truncated, info = env.step(action)
        total, ended = total + float(reward), terminated or truncated
    return {
        "row": row.name,
        "settings": settings(row),
        "episode": number,
        "return": total,
        "decisions": decisions,
        "seconds": round(time.perf_counter() - begun, 4),
        "worst": round(worst, 4),
    }


def play(row: Row, path: Path, deadline: float) -> None:
    """Play what is missing of a row, one line an episode."""
    done = known(row, path)
    missing = [number for number in range(row.episodes) if number not in done]
    if not missing:
        return
    env = row.make()
    agent = gsp.make_agent(ALGORITHM, env, budget=row.budget, seed=SEED, **row.options)
    for number in missing:
        if time.monotonic() > deadline:
            return
        line = episode(row, env, agent, number)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
    env.close()


def table(rows: list[Row], path: Path) -> Iterator[str]:
    """The results as a Markdown table."""
    yield "| environment | settings | episodes | mean return | worst episode | goal | reached | s a decision |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        lines = known(row, path).values()
        if not lines:
            yield f"| {row.name} | {settings(row)} | 0 of {row.episodes} | | | {row.goal:g} | not played | |"
            continue
        returns = np.array([line["return"] for line in lines])
        error = returns.std(ddof=1) / np.sqrt(len(returns)) if len(returns) > 1 else float("nan")
        reached = (returns.min() if row.every else returns.mean()) >= row.goal
        pace = sum(line["seconds"] for line in lines) / sum(line["decisions"] for line in lines)
        said = "see text" if np.isnan(row.goal) else "yes" if reached else "no"
        goal = f"{row.goal:g}" + (" each" if row.every else "")
        yield (
            f"| {row.name} | {settings(row)} | {len(returns)} of {row.episodes} | {returns.mean():.3f} ({error:.3f}) | "
            f"{returns.min():g} | {goal} | {said} | {pace:.3f} |"
        )


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description="play in environments of others, and print the table")
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(row.name for row in ROWS)}; all by default")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where episodes are kept")
    parser.add_argument("--table", action="store_true", help="only print")
    arguments = parser.parse_args()
    if unknown := set(arguments.rows) - {row.name for row in ROWS}:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    rows = [row for row in ROWS if not arguments.rows or row.name in arguments.rows]
    deadline = time.monotonic() + arguments.seconds
    if not arguments.table:
        for row in rows:
            play(row, arguments.results, deadline)
    print("\n".join(table(rows, arguments.results)))
    for row in rows:
        if row.why:
            print(f"\n{row.name}: {', '.join(row.options)}, because {row.why}.")


if __name__ == "__main__":
    main()
