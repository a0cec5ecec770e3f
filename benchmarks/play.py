"""Returns in third-party environments: the table of docs/play.md, resumable.

    python -m benchmarks.play                     play the missing episodes, then print the table
    python -m benchmarks.play taxi cartpole       only these rows, of those in benchmarks/play_rows.py
    python -m benchmarks.play --seconds 300       stop after 300 seconds; the next call continues
    python -m benchmarks.play --table             only print, and write the table into docs/play.md
    python -m benchmarks.play --trial             two episodes a row at a hundredth of the budget, not saved

Every episode is one line of `benchmarks/play.jsonl`; lines played with other settings are kept and left out.  Times are
processor seconds, since a planner runs on one thread and the load of the machine would only blur them.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import gymnasium_gsp as gsp
from benchmarks.markers import fill
from benchmarks.play_rows import ROWS, Policy, Row

RESULTS = Path(__file__).with_name("play.jsonl")
PAGE = Path(__file__).parents[1] / "docs/play.md"
SEED = 0
Line = dict[str, Any]


def settings(row: Row) -> str:
    """Write the settings that decide a row's results."""
    return f"{row.algorithm or 'auto'}(), {spent(row.budget)}"


def spent(budget: gsp.Budget) -> str:
    """Write a budget."""
    return ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in vars(budget).items() if value is not None)


def known(row: Row, player: str, path: Path) -> list[Line]:
    """Return the saved episodes of a player: the planner with its settings, or a rival."""
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    found = {line["episode"]: line for line in lines if (line["row"], line["settings"]) == (row.name, player)}
    return [found[number] for number in sorted(found) if number < row.episodes]


def episode(env: Any, act: Callable[[Any, Any], Any], number: int, longest: int) -> Line:
    """Play one episode."""
    observation, info = env.reset(seed=SEED + number)
    total, decisions, planning, worst, ended = 0.0, 0, 0.0, 0.0, False
    while not ended and decisions < longest:
        begun = time.process_time()
        action = act(observation, info)
        took = time.process_time() - begun
        planning, worst, decisions = planning + took, max(worst, took), decisions + 1
        observation, reward, terminated, truncated, info = env.step(action)
        total, ended = total + float(reward), terminated or truncated
    times = {"seconds": round(planning, 4), "worst": round(worst, 4)}
    return {"episode": number, "return": total, "decisions": decisions, **times}


def planned(row: Row, env: Any) -> Callable[[int], Line]:
    """Return a function that plays an episode, by its number, with the planner."""
    agent = gsp.make_agent(env, row.algorithm, budget=row.budget, seed=SEED)
    agent.plan(*env.reset(seed=SEED))  # compile before anything is timed

    def run(number: int) -> Line:
        agent.reset(seed=SEED + number)
        return episode(env, agent.act, number, row.longest)

    return run


def rivalled(row: Row, policy: Policy, env: Any) -> Callable[[int], Line]:
    """Return a function that plays an episode, by its number, with the rival policy."""

    def run(number: int) -> Line:
        draw = np.random.default_rng((SEED, number))
        return episode(env, lambda observation, info: policy(env, draw), number, row.longest)

    return run


def play(row: Row, path: Path, deadline: float) -> None:
    """Play the missing episodes of a row and save each as one line."""
    players = [(settings(row), None), (row.rival, row.make_rival)]
    for player, make_rival in players[: 2 if row.rival else 1]:
        done = {line["episode"] for line in known(row, player, path)}
        missing = [number for number in range(row.episodes) if number not in done]
        if not missing:
            continue
        env = row.make()
        run = planned(row, env) if make_rival is None else rivalled(row, make_rival(env), env)
        for number in missing:
            if time.monotonic() > deadline:
                return
            line = {"row": row.name, "settings": player, **run(number)}
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        env.close()


def table(rows: list[Row], path: Path) -> Iterator[str]:
    """Write the results as a Markdown table."""
    heads = "environment", "planner", "budget", "s a decision", "episodes", "mean return", "worst", "asked", "reached"
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(_cells(row, path)) + " |"


def _cells(row: Row, path: Path) -> Iterator[str]:
    lines = known(row, settings(row), path)
    returns = np.array([line["return"] for line in lines])
    yield from (row.env, f"`{row.algorithm or 'auto'}`", spent(row.budget))
    if not lines:
        yield from ("", f"0 of {row.episodes}", "", "", _asked(row), "not played")
        return
    yield f"{sum(line['seconds'] for line in lines) / sum(line['decisions'] for line in lines):.3f}"
    yield f"{len(lines)}" if len(lines) == row.episodes else f"{len(lines)} of {row.episodes}"
    rivals = np.array([line["return"] for line in known(row, row.rival, path)]) if row.rival else None
    beside = "" if rivals is None or not len(rivals) else f"; {row.rival} {_mean(rivals)}"
    yield f"{_mean(returns)}{beside}"
    yield f"{returns.min():.4g}"
    yield _asked(row)
    yield _reached(row, returns, rivals) + ("" if len(lines) == row.episodes else ", so far")


def _asked(row: Row) -> str:
    if row.goal is not None:
        return f"{row.goal:g}"
    return f"{row.rival} + {row.sigmas:g} standard errors" if row.sigmas else f"above {row.rival}"


def _reached(row: Row, returns: Any, rivals: Any) -> str:
    """Say whether a row reached its goal, with a mean that is at most two standard errors below it."""
    if row.goal is not None:
        slack = 2.0 * _error(returns) if len(returns) > 1 else 0.0
        return "yes" if returns.mean() + slack >= row.goal else "no"
    if rivals is None or not len(rivals):
        return f"{row.rival} not played"
    if not row.sigmas:
        return "yes" if returns.mean() > rivals.mean() else "no"
    apart = (returns.mean() - rivals.mean()) / max(float(np.hypot(_error(returns), _error(rivals))), 1e-12)
    return f"{'yes' if apart > row.sigmas else 'no'}, {apart:.1f} standard errors above"


def _error(returns: Any) -> float:
    return float(returns.std(ddof=1) / np.sqrt(len(returns))) if len(returns) > 1 else float("nan")


def _mean(returns: Any) -> str:
    return f"{returns.mean():.4g} ({_error(returns):.2g})" if len(returns) > 1 else f"{returns.mean():.4g}"


def trial(row: Row) -> Row:
    """Return the same row, small enough for a test."""
    limits = {name: max(1, value // 100) for name, value in vars(row.budget).items() if value is not None}
    return replace(row, budget=gsp.Budget(**limits), episodes=2, longest=30)


def main(arguments: list[str] | None = None) -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.play", description="play, and print the table")
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(row.name for row in ROWS)}; all by default")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the episodes")
    parser.add_argument("--table", action="store_true", help="only print, and write the page")
    parser.add_argument("--trial", action="store_true", help="small budgets, not saved")
    given = parser.parse_args(arguments)
    if unknown := set(given.rows) - {row.name for row in ROWS}:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    rows = [row for row in ROWS if not given.rows or row.name in given.rows]
    deadline = time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as folder:
        if given.trial:
            rows, given.results = [trial(row) for row in rows], Path(folder) / "play.jsonl"
        if not given.table:
            for row in rows:
                play(row, given.results, deadline)
        shown = "\n".join(table(rows, given.results))
    print(shown)
    if given.table and not given.rows:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), "plays", shown), encoding="utf-8")


if __name__ == "__main__":
    main()
