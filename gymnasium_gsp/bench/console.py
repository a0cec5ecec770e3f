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
from gymnasium_gsp.bench.python_speed import MARK, Absent, Copying, Overhead


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


def show_speed(section: str, row: dict[str, Any]) -> None:
    """Print one measurement of `speed.report` as a line, under its section's heading."""
    if section == "yardstick":
        print(f"C++ yardstick: {row['yardstick']}\n")
        print(f"{'ns per environment step':<32}{'ours':>9}{'C++':>9}{'ratio':>8}")
    elif section == "compared":
        case = f"{row['env']} {row['preset']} {row['budget']}"
        beside = "" if row["ratio"] is None else f"{row['yardstick']:9.1f}{row['ratio']:8.2f}"
        print(f"{case:<32}{row['ours']:9.1f}{beside}", flush=True)
    elif section == "totals":
        if row["geometric_mean_ratio"] is not None:
            print(f"{'geometric mean':<50}{row['geometric_mean_ratio']:8.2f}")
        print(f"the front: {row['front_us_per_decision']:.1f} us a decision\n")
        print(f"{'256 simulations':<36}{'ns per step':>12}{'ns per simulation':>20}")
    elif section == "algorithms":
        case = f"{row['algorithm']} {row['env']}"
        print(f"{case:<36}{row['kernel_ns_per_step']:12.1f}{row['ns_per_simulation']:20.0f}", flush=True)
    elif section == "start":
        print(f"\nimport {row['import_seconds']:.2f} s, then the first decision: ", end="")
        print(f"cold {row['cold']:.1f} s, warm {row['warm']:.2f} s (median)")
    elif section == "memory":
        print("; ".join(f"{name} {size:.0f}" for name, size in row.items()))


def show_python_speed(rows: Iterable[Overhead | Copying | Absent]) -> None:
    """Print what planning adds to simulators in Python, line by line, then the comparison with deep copies."""
    later: list[Copying] = []
    print(f"{f'us per environment step (mark: {MARK:g})':<42}{'whole':>9}{'simulator':>11}{'ours':>8}")
    for row in rows:
        if isinstance(row, Overhead):
            case = f"{row.env}, {row.algorithm}"
            print(f"{case:<42}{row.whole:9.2f}{row.simulator:11.2f}{row.ours:8.2f}", flush=True)
        elif isinstance(row, Absent):
            print(f"{row.env}: left out, {row.package} is not installed")
        else:
            later.append(row)
    heads = f"{'ours':>9}{'deepcopy':>10}{'ratio':>7}"
    print(f"\n{'uct beside a deepcopy search':<28}{'us per step:':>12}{heads}{'per simulation:':>17}{heads}")
    for row in later:
        steps = f"{row.ours:9.2f}{row.deepcopy:10.2f}{row.deepcopy / row.ours:7.1f}"
        ours, theirs = row.ours_per_simulation, row.deepcopy_per_simulation
        print(f"{row.env:<40}{steps}{'':>17}{ours:9.0f}{theirs:10.0f}{theirs / ours:7.1f}")
