"""The terminal output of `gsp`: the catalogue, the plan of a run, progress, and a summary."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tqdm import tqdm

from gymnasium_gsp.agents.agent import Agent
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.card import Card, Interval
from gymnasium_gsp.bench.catalogue import OPTIMUM_SOURCE, title
from gymnasium_gsp.bench.cell import Cell, env_id
from gymnasium_gsp.bench.texts import limits_of
from gymnasium_gsp.envs import BENCHMARKS

if TYPE_CHECKING:
    from gymnasium_gsp.bench.evaluation import Comparison

_OUTPUT = Console(highlight=False)
_COVERED = "covered by the paper's convergence theorem"
_LOG_SECONDS = 30.0  # between two signs of progress where there is no terminal

ShowProgress = Callable[[int, str], None]
"""Shows how many episodes or decisions are done, and a note."""


def _rows() -> Table:
    """A table whose first column names what stands beside it."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", min_width=len("not covered"))
    return rows


def print_catalogue(entries: dict[str, list[dict[str, Any]]], described: bool = False) -> None:
    """Print what `catalogue` returned; a preset names its environments if it lacks some.

    Args:
        entries: what to print.
        described: whether descriptions and options of algorithms are printed, too.
    """
    table = Table("environment", "optimum", "steps", "task", box=None, pad_edge=False, header_style="bold")
    table.columns[0].no_wrap = True
    for entry in entries["environments"]:
        optimum, steps = f"{entry['optimum']:.7g}", str(entry["max_episode_steps"])
        table.add_row(f"[cyan]{entry['id']}[/]", optimum, steps, escape(entry["title"]))
    if entries["environments"]:
        _OUTPUT.print(table, f"\n[dim]optimum: {OPTIMUM_SOURCE}[/]")
    for algorithm in entries["algorithms"]:
        presets = [
            preset if len(names) == len(BENCHMARKS) else f"{preset} ({', '.join(names)})"
            for preset, names in algorithm["presets"].items()
        ]
        reasons = "; ".join(algorithm["guarantee"]["not_covered_because"])
        rows = _rows()
        rows.add_row("ingredients", escape("  ".join(f"{k}={v}" for k, v in algorithm["ingredients"].items())))
        if described:
            rows.add_row("options", escape(", ".join(algorithm["options"])))
        rows.add_row("presets", escape(", ".join(presets) or "none"))
        rows.add_row("not covered" if reasons else "guarantee", escape(reasons or _COVERED))
        _OUTPUT.print(f"\n[bold cyan]{algorithm['name']}[/]  {escape(algorithm['citation'])}", rows, sep="\n")
        if described:
            _OUTPUT.print("", escape(algorithm["description"]), sep="\n")


def print_plan(
    cell: Cell, episodes: int, agent: Agent, env: gym.Env[Any, Any], modules: Iterable[str] | None = None
) -> None:
    """Print what is about to be played; with the modules that register it, also the command that plays it again."""
    limits = limits_of(agent.budget)
    spent = f"{limits} simulations" if isinstance(limits, int) else ", ".join(f"{v} {k}" for k, v in limits.items())
    citation = f" ({ALGORITHMS[agent.name].citation})" if agent.name in ALGORITHMS else ""
    preset = f", preset {cell.preset}" if cell.preset else ""
    rows = _rows()
    rows.add_row("environment", f"[cyan]{escape(env_id(env))}[/]  {escape(title(type(env.unwrapped)))}")
    rows.add_row("agent", f"[cyan]{escape(agent.name)}[/]{escape(citation + preset)}")
    rows.add_row("plan", f"{spent} per decision, {episodes} episodes, seed {cell.seed}")
    _OUTPUT.print(rows)
    if modules is not None:
        again = shlex.join(["gsp", "run", *cell.flags(modules)])
        _OUTPUT.print(f"[dim]again with[/]   {escape(again)}", soft_wrap=True)


def print_summary(summary: Mapping[str, Any], advice: str = "") -> None:
    """Print the outcome of a run beside the optimum, and advice below it."""
    mean, error, optimum = (summary[name] for name in ("mean_return", "standard_error", "optimum"))
    rows = _rows()
    rows.add_column(justify="right", style="bold")
    rows.add_column(style="dim")
    discount = summary["discount"]
    rows.add_row("mean return", f"{mean:.4f}", "undiscounted" if discount == 1.0 else f"discounted by {discount:g}")
    rows.add_row("standard error", "-" if error is None else f"{error:.4f}", f"episodes: {summary['episodes']}")
    if optimum is None:
        rows.add_row("exact optimum", "-", "not known for this environment")
    else:
        of_all = summary["optimum_of_all_layouts"]
        note = "no planner does better on average"
        if of_all is not None:
            note = f"mean over the layouts that were drawn; over all that can be drawn it is {of_all:.4f}"
        rows.add_row("exact optimum", f"{optimum:.4f}", note)
        share = f"[green]{100.0 * mean / optimum:.1f} %[/]" if optimum > 0.0 else "-"
        rows.add_row("percent of optimum", share, distance_in_words(mean, error, optimum))
    if summary["mean_regret"] is not None:
        error = summary["regret_standard_error"]
        note = "" if error is None else f"standard error {error:.4f}; "
        rows.add_row("regret", f"{summary['mean_regret']:.4f}", f"{note}what the decisions gave up, without their luck")
    seconds = max(summary["seconds"], 1e-9)
    rows.add_row("simulations per second", f"{summary['simulations'] / seconds:,.0f}", "while planning, one process")
    rows.add_row("model steps per second", f"{summary['model_steps'] / seconds:,.0f}", "")
    rows.add_row("nodes per decision", f"{summary['nodes_per_decision']:,.1f}", f"decisions: {summary['decisions']:,}")
    _OUTPUT.print("", rows)
    if advice:
        _OUTPUT.print(f"\n{escape(advice)}", soft_wrap=True)


def print_card(card: Card, doubt: str = "") -> None:
    """Print the figures of an evaluation, and a sentence on how little they show."""
    rows = _rows()
    rows.add_column(justify="right", style="bold")
    rows.add_column(style="dim")
    rows.add_row("mean return", f"{card.mean_return:.4f}", _interval_text(card.mean_interval))
    rows.add_row(
        "interquartile mean", f"{card.interquartile_mean:.4f}", _interval_text(card.interquartile_mean_interval)
    )
    if card.optimum is not None:
        luck = "; above it is luck, which more episodes even out" if card.mean_return > card.optimum else ""
        rows.add_row("exact optimum", f"{card.optimum:.4f}", f"no planner does better on average{luck}")
    rows.add_row(
        "seconds a decision", f"{card.seconds_per_decision:.2g}", f"{card.simulations_per_decision:,.0f} simulations"
    )
    rows.add_row("access", card.access, "not comparable with agents that see the environment alone")
    _OUTPUT.print(
        f"[cyan]{escape(card.environment)}[/]  {escape(str(card))}, {len(card.returns)} episodes", rows, sep="\n"
    )
    if doubt:
        _OUTPUT.print(f"\n{doubt}", soft_wrap=True)


def print_comparison(comparison: "Comparison") -> None:
    """Print two evaluations, and the interval of their difference."""
    rows = _rows()
    rows.add_row("first", escape(comparison.first))
    rows.add_row("second", escape(comparison.second))
    rows.add_row("difference", f"[bold]{comparison.mean_difference:+.4g}[/]  {_interval_text(comparison.interval)}")
    over = f"over {comparison.episodes} episodes with the same resets"
    rows.add_row("", f"first minus second {over}: {comparison.verdict}")
    for note in comparison.notes:
        rows.add_row("note", escape(note))
    _OUTPUT.print(f"[cyan]{escape(comparison.environment)}[/]", rows, sep="\n")


def _interval_text(interval: Interval) -> str:
    if interval is None:
        return "too few episodes for an interval"
    low, high = (f"{end:.4g}" for end in interval)
    return f"95 %: {low} to {high}" if low != high else "no spread was seen"


def distance_in_words(mean: float, error: float | None, optimum: float) -> str:
    """Distance of the mean from the optimum, in standard errors."""
    luck = ": luck, which more episodes even out" if mean > optimum else ""
    if mean == optimum:
        return "equal"
    side = "above" if mean > optimum else "below"
    return (f"{abs(mean - optimum) / error:.1f} standard errors {side}" if error else side) + luck


def tell(words: str) -> None:
    """Print something on standard error, above a bar of progress."""
    if words:
        tqdm.write(words, file=sys.stderr)


@contextmanager
def progress_shown(
    total: int | None, done: int = 0, logged: bool = True, unit: str = "episodes", delay: float = 0.0
) -> Iterator[ShowProgress]:
    """Show a bar of progress on standard error, with the time that remains.

    Args:
        total: how many are asked for; None if that is not known.
        done: how many of them were played before.
        logged: whether to show it also where there is no terminal, every half minute.
        unit: is counted.
        delay: seconds before anything is shown.
    """
    terminal = sys.stderr.isatty()
    with tqdm(
        total=total,
        initial=done,
        desc="playing",
        unit=f" {unit}",
        delay=delay,
        mininterval=0.0 if terminal else _LOG_SECONDS,
        leave=not terminal,
        disable=not (terminal or logged),
    ) as bar:

        def show(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)

        yield show
