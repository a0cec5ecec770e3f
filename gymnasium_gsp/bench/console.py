"""What `gsp` shows people: the catalogue, the plan of a run, its progress, and what it came to."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import gymnasium as gym
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.agents.registry import ALGORITHMS
from gymnasium_gsp.bench.catalogue import OPTIMUM_SOURCE, title
from gymnasium_gsp.bench.protocol import Episode, Run, Summary, budget_value, env_id


def _console() -> Console:
    return Console(highlight=False)


def _labelled_rows() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", min_width=len("not covered"))
    table.add_column()
    return table


def print_catalogue(found: dict[str, list[dict[str, Any]]]) -> None:
    """Print what `catalogue` returned."""
    console = _console()
    table = Table("environment", "optimum", "steps", "task", box=None, pad_edge=False, header_style="bold")
    table.columns[0].no_wrap = True
    for environment in found["environments"]:
        optimum, steps = f"{environment['optimum']:.7g}", str(environment["max_episode_steps"])
        table.add_row(f"[cyan]{environment['id']}[/]", optimum, steps, escape(environment["title"]))
    console.print(table)
    console.print(f"\n[dim]optimum: {OPTIMUM_SOURCE}[/]")
    names = [environment["name"] for environment in found["environments"]]
    for algorithm in found["algorithms"]:
        console.print(f"\n[bold cyan]{algorithm['name']}[/]  {escape(algorithm['citation'])}")
        console.print(_about(algorithm, names))


def _about(algorithm: dict[str, Any], names: list[str]) -> Table:
    """Ingredients, presets and guarantee of one algorithm; a preset names its environments if it lacks some."""
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


def print_plan(run: Run, agent: Agent, env: gym.Env[Any, Any]) -> None:
    """Say what is about to be played."""
    limits = budget_value(agent.budget)
    spent = f"{limits} simulations" if isinstance(limits, int) else ", ".join(f"{v} {k}" for k, v in limits.items())
    citation = f" ({ALGORITHMS[agent.name].citation})" if agent.name in ALGORITHMS else ""
    preset = f", preset {run.preset}" if run.preset else ""
    rows = _labelled_rows()
    rows.add_row("environment", f"[cyan]{escape(env_id(env))}[/]  {escape(title(type(env.unwrapped)))}")
    rows.add_row("agent", f"[cyan]{escape(agent.name)}[/]{escape(citation + preset)}")
    rows.add_row("plan", f"{spent} per decision, {run.episodes} episodes, seed {run.seed}")
    _console().print(rows)


def with_progress(episodes: Iterable[Episode], total: int) -> Iterator[Episode]:
    """The same episodes, with a progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from episodes
        return
    columns = (
        TextColumn("[dim]playing[/]"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("mean return so far {task.fields[mean]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, total_reward = progress.add_task("play", total=total, mean="-"), 0.0
        for done, episode in enumerate(episodes, start=1):
            total_reward += episode.total_reward
            progress.update(task, completed=done, mean=f"{total_reward / done:.4g}")
            yield episode


def print_summary(summary: Summary) -> None:
    """Print what a run came to, beside the optimum."""
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
        share = f"[green]{100.0 * mean / optimum:.1f} %[/]" if optimum else "-"
        rows.add_row("percent of optimum", share, distance_in_words(mean, error, optimum))
    rows.add_row("simulations per second", _rate(summary.simulations, summary.seconds), "while planning, one process")
    rows.add_row("model steps per second", _rate(summary.model_steps, summary.seconds), "")
    rows.add_row("nodes per decision", f"{summary.nodes_per_decision:,.1f}", f"decisions: {summary.decisions:,}")
    console = _console()
    console.print()
    console.print(rows)


def distance_in_words(mean: float, error: float | None, optimum: float) -> str:
    """How far the mean lies from the optimum, in standard errors."""
    luck = ": luck, which more episodes even out" if mean > optimum else ""
    if mean == optimum:
        return "equal"
    side = "above" if mean > optimum else "below"
    return (f"{abs(mean - optimum) / error:.1f} standard errors {side}" if error else side) + luck


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}" if seconds > 0.0 else "-"
