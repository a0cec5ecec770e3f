"""How well the planner plays in environments of others: the "It plays" table, one command, resumable.

    python benchmarks/play.py                     play what is missing, then print the table
    python benchmarks/play.py taxi cartpole       only these rows (benchmarks/rows.py has them all)
    python benchmarks/play.py --seconds 300       stop after that long; the next call goes on
    python benchmarks/play.py --table             only print, and fill docs/play.md and README.md between their markers
    python benchmarks/play.py --trial             two episodes a row at a hundredth of the budget, kept nowhere

Every episode is one line of `benchmarks/play.jsonl`; lines of other settings are kept and left out.  Seconds are
those of the processor, as a planner runs on one thread and a busy machine would only blur them.
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
from rows import ROWS, Policy, Row

import gymnasium_gsp as gsp

RESULTS = Path(__file__).with_name("play.jsonl")
PAGES = [Path(__file__).parents[1] / name for name in ("docs/play.md", "README.md")]
MARKERS = "<!-- plays -->", "<!-- /plays -->"
SEED = 0
Line = dict[str, Any]


def settings(row: Row) -> str:
    """What decides a row's results, in words."""
    options = ", ".join(f"{name}={getattr(value, '__name__', repr(value))}" for name, value in row.options.items())
    return f"{row.algorithm}({options}), {spent(row.budget)}"


def spent(budget: gsp.Budget) -> str:
    """A budget in words."""
    return ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in vars(budget).items() if value is not None)


def known(row: Row, player: str, path: Path) -> list[Line]:
    """The episodes that a player, the planner with its settings or a rival, has already played."""
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
    """A function that plays the episode of a number with the planner."""
    agent = gsp.make_agent(env, row.algorithm, budget=row.budget, seed=SEED, **row.options)
    agent.plan(*env.reset(seed=SEED))  # compiles, which is no part of a decision

    def run(number: int) -> Line:
        agent.reset(seed=SEED + number)
        return episode(env, agent.act, number, row.longest)

    return run


def rivalled(row: Row, policy: Policy, env: Any) -> Callable[[int], Line]:
    """The same with the policy that the planner is compared with."""

    def run(number: int) -> Line:
        draw = np.random.default_rng((SEED, number))
        return episode(env, lambda observation, info: policy(env, draw), number, row.longest)

    return run


def play(row: Row, path: Path, deadline: float) -> None:
    """Play what is missing of a row, one line an episode."""
    players = [settings(row)] + ([row.rival[0]] if row.rival else [])
    for player in players:
        done = {line["episode"] for line in known(row, player, path)}
        missing = [number for number in range(row.episodes) if number not in done]
        if not missing:
            continue
        env = row.make()
        rival = row.rival is not None and player == row.rival[0]
        run = rivalled(row, row.rival[1](env), env) if rival else planned(row, env)
        for number in missing:
            if time.monotonic() > deadline:
                return
            line = {"row": row.name, "settings": player, **run(number)}
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        env.close()


def table(rows: list[Row], path: Path) -> Iterator[str]:
    """The results as a Markdown table, and below it what some rows need."""
    heads = "environment", "planner", "budget", "s a decision", "episodes", "mean return", "worst", "asked", "reached"
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(_cells(row, path)) + " |"
    for row in rows:
        if row.why:
            options = " and ".join(f"`{name}={_shown(value)}`" for name, value in row.options.items())
            yield f"\n{row.env} is given {options}: {row.why}."


def _shown(value: Any) -> str:
    return getattr(value, "__name__", repr(value))


def _cells(row: Row, path: Path) -> Iterator[str]:
    lines = known(row, settings(row), path)
    returns = np.array([line["return"] for line in lines])
    yield from (row.env, f"`{row.algorithm}`" + (" *" if row.options else ""), spent(row.budget))
    if not lines:
        yield from ("", f"0 of {row.episodes}", "", "", _asked(row), "not played")
        return
    yield f"{sum(line['seconds'] for line in lines) / sum(line['decisions'] for line in lines):.3f}"
    yield f"{len(lines)}" if len(lines) == row.episodes else f"{len(lines)} of {row.episodes}"
    rivals = np.array([line["return"] for line in known(row, row.rival[0], path)]) if row.rival else None
    beside = "" if rivals is None or not len(rivals) else f"; {row.rival[0]} {_mean(rivals)}"
    yield f"{_mean(returns)}{beside}"
    yield f"{returns.min():.4g}"
    yield _asked(row)
    yield _reached(row, returns, rivals) + ("" if len(lines) == row.episodes else ", so far")


def _asked(row: Row) -> str:
    if row.goal is not None:
        return f"{row.goal:g}" + (" each" if row.every else "")
    return f"{row.rival[0]} + {row.sigmas:g} standard errors" if row.sigmas else f"above {row.rival[0]}"


def _reached(row: Row, returns: Any, rivals: Any) -> str:
    """In words, whether a row is where it must be."""
    if row.goal is not None:
        return "yes" if (returns.min() if row.every else returns.mean()) >= row.goal else "no"
    if rivals is None or not len(rivals):
        return f"{row.rival[0]} not played"
    if not row.sigmas:
        return "yes" if returns.mean() > rivals.mean() else "no"
    apart = (returns.mean() - rivals.mean()) / max(float(np.hypot(_error(returns), _error(rivals))), 1e-12)
    return f"{'yes' if apart > row.sigmas else 'no'}, {apart:.1f} standard errors above"


def _error(returns: Any) -> float:
    return float(returns.std(ddof=1) / np.sqrt(len(returns))) if len(returns) > 1 else float("nan")


def _mean(returns: Any) -> str:
    return f"{returns.mean():.4g} ({_error(returns):.2g})" if len(returns) > 1 else f"{returns.mean():.4g}"


def fill(text: str, rows: str) -> str:
    """A page with the table between its markers; the page itself where it has none."""
    if MARKERS[0] not in text:
        return text
    before, rest = text.split(MARKERS[0], 1)
    return f"{before}{MARKERS[0]}\n\n{rows}\n\n{MARKERS[1]}{rest.split(MARKERS[1], 1)[1]}"


def trial(row: Row) -> Row:
    """The same row, small enough for a test."""
    limits = {name: max(1, value // 100) for name, value in vars(row.budget).items() if value is not None}
    return replace(row, budget=gsp.Budget(**limits), episodes=2, longest=30)


def main(arguments: list[str] | None = None) -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description="play in environments of others, and print the table")
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(row.name for row in ROWS)}; all by default")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where episodes are kept")
    parser.add_argument("--table", action="store_true", help="only print, and fill the pages")
    parser.add_argument("--trial", action="store_true", help="small budgets, kept nowhere")
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
        for page in PAGES:
            if page.exists():
                page.write_text(fill(page.read_text(), shown))


if __name__ == "__main__":
    main()
