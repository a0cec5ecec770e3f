"""The terminal output of `gsp`: the catalogue, the plan of a run, progress, and a summary."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import gymnasium as gym
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.catalogue import OPTIMUM_SOURCE, title
from gymnasium_gsp.bench.cell import Cell, env_id
from gymnasium_gsp.bench.summary import Summary
from gymnasium_gsp.bench.texts import limits_of

_LINE_SECONDS = 30.0  # between two lines of progress where there is no terminal

ShowProgress = Callable[[int, str], None]
"""Shows how many episodes are done, and a note."""


def _console() -> Console:
    return Console(highlight=False)


def _labelled_rows() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", min_width=len("not covered"))
    table.add_column()
    return table


def print_catalogue(entries: dict[str, list[dict[str, Any]]]) -> None:
    """Print what `catalogue` returned."""
    console = _console()
    table = Table("environment", "optimum", "steps", "task", box=None, pad_edge=False, header_style="bold")
    table.columns[0].no_wrap = True
    for environment in entries["environments"]:
        optimum, steps = f"{environment['optimum']:.7g}", str(environment["max_episode_steps"])
        table.add_row(f"[cyan]{environment['id']}[/]", optimum, steps, escape(environment["title"]))
    console.print(table)
    console.print(f"\n[dim]optimum: {OPTIMUM_SOURCE}[/]")
    names = [environment["name"] for environment in entries["environments"]]
    for algorithm in entries["algorithms"]:
        console.print(f"\n[bold cyan]{algorithm['name']}[/]  {escape(algorithm['citation'])}")
        console.print(_algorithm_rows(algorithm, names))


def _algorithm_rows(algorithm: dict[str, Any], names: list[str]) -> Table:
    """Ingredients, presets and guarantee of an algorithm; a preset names its environments if it lacks some."""
    rows = _labelled_rows()
    rows.add_row("ingredients", escape("  ".join(f"{k}={v}" for k, v in algorithm["ingredients"].items())))
    presets = [
        preset if set(names) <= set(recipes) else f"{preset} ({', '.join(recipes)})"
        for preset, recipes in algorithm["presets"].items()
    ]
    rows.add_row("presets", escape(", ".join(presets) or "none"))
    guarantee = algorithm["guarantee"]
    if guarantee["covered"]:
        rows.add_row("guarantee", "[green]covered by the paper's convergence theorem[/]")
    else:
        rows.add_row("not covered", escape("; ".join(guarantee["not_covered_because"])))
    return rows


def print_plan(cell: Cell, episodes: int, agent: Agent, env: gym.Env[Any, Any]) -> None:
    """Print what is about to be played."""
    limits = limits_of(agent.budget)
    spent = f"{limits} simulations" if isinstance(limits, int) else ", ".join(f"{v} {k}" for k, v in limits.items())
    citation = f" ({ALGORITHMS[agent.name].citation})" if agent.name in ALGORITHMS else ""
    preset = f", preset {cell.preset}" if cell.preset else ""
    rows = _labelled_rows()
    rows.add_row("environment", f"[cyan]{escape(env_id(env))}[/]  {escape(title(type(env.unwrapped)))}")
    rows.add_row("agent", f"[cyan]{escape(agent.name)}[/]{escape(citation + preset)}")
    rows.add_row("plan", f"{spent} per decision, {episodes} episodes, seed {cell.seed}")
    _console().print(rows)


def print_summary(summary: Summary) -> None:
    """Print the outcome of a run beside the optimum."""
    mean, error, optimum = summary.mean_return, summary.standard_error, summary.optimum
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim")
    rows.add_column(justify="right", style="bold")
    rows.add_column(style="dim")
    rows.add_row("mean return", f"{mean:.4f}", "undiscounted")
    rows.add_row("standard error", "-" if error is None else f"{error:.4f}", f"episodes: {summary.episodes}")
    if optimum is None:
        rows.add_row("exact optimum", "-", "not known for this environment")
    else:
        rows.add_row("exact optimum", f"{optimum:.4f}", "no planner does better on average")
        share = f"[green]{100.0 * mean / optimum:.1f} %[/]" if optimum > 0.0 else "-"
        rows.add_row("percent of optimum", share, distance_in_words(mean, error, optimum))
    rows.add_row("simulations per second", _rate(summary.simulations, summary.seconds), "while planning, one process")
    rows.add_row("model steps per second", _rate(summary.model_steps, summary.seconds), "")
    rows.add_row("nodes per decision", f"{summary.nodes_per_decision:,.1f}", f"decisions: {summary.decisions:,}")
    console = _console()
    console.print()
    console.print(rows)


def distance_in_words(mean: float, error: float | None, optimum: float) -> str:
    """Distance of the mean from the optimum, in standard errors."""
    luck = ": luck, which more episodes even out" if mean > optimum else ""
    if mean == optimum:
        return "equal"
    side = "above" if mean > optimum else "below"
    return (f"{abs(mean - optimum) / error:.1f} standard errors {side}" if error else side) + luck


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}" if seconds > 0.0 else "-"


@contextmanager
def progress_shown(total: int, done: int = 0, lines: bool = True) -> Iterator[ShowProgress]:
    """Show progress on standard error: a bar on a terminal, else a plain line now and then.

    Args:
        total: how many episodes are asked for.
        done: how many of them were played before.
        lines: whether to print lines where there is no terminal.
    """
    if not sys.stderr.isatty():
        yield _Lines(total, done) if lines else lambda done, note: None
        return
    columns = (
        TextColumn("[dim]playing[/]"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[note]}[/]"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("play", total=total, completed=done, note="")
        yield lambda done, note: progress.update(task, completed=done, note=escape(note))


class _Lines:
    """Plain lines of progress, the first as soon as something was played."""

    def __init__(self, total: int, done: int) -> None:
        self._total, self._before, self._begun, self._next = total, done, time.monotonic(), 0.0

    def __call__(self, done: int, note: str) -> None:
        seconds = time.monotonic() - self._begun
        if seconds < self._next or done == self._before:
            return
        self._next = seconds + _LINE_SECONDS
        rest = seconds / (done - self._before) * (self._total - done)
        so_far, remaining = (timedelta(seconds=round(span)) for span in (seconds, rest))
        print(
            f"{done} of {self._total} episodes, {so_far} so far, {remaining} remaining; {note}",
            file=sys.stderr,
            flush=True,
        )
