"""The tables of returns: verdicts, every cell, and the paper's table of each environment."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gymnasium_gsp.bench.report.cells import (
    Environment,
    Measurement,
    budgets_of,
    half_width,
    planners_of,
)
from gymnasium_gsp.bench.report.judgement import FEW, FEWEST, SIGMAS, TOO_FEW
from gymnasium_gsp.bench.report.table import DOWN, PLUS_MINUS, UP, Column, Table, fixed

OURS = "ours"
ABOVE = "!"  # above the optimum
LEVEL, BETTER, WORSE = ("reproduced", "as published"), ("better",), ("not reproduced", "worse")
MARKS = (
    f"{UP} better, {DOWN} worse than published by more than {SIGMAS} combined standard errors, which chance does once "
    "in a million cells."
)


def mark(verdict: str | None) -> str:
    """The mark of a cell that differs from the published one; empty for one that does not."""
    return UP if verdict in BETTER else DOWN if verdict in WORSE else ""


def _with_mark(verdict: str | None) -> str:
    return f"{mark(verdict)} {verdict or ''}".strip()


def verdict_table(measured: Sequence[Measurement]) -> Table:
    """How many cells of each planner came out as published."""
    rows, others = [], []
    for planner in planners_of(measured):
        cells = [cell for cell in measured if cell.planner == planner]
        found = Counter(cell.verdict for cell in cells)
        counts = [sum(found[word] for word in words) for words in (LEVEL, BETTER, WORSE)]
        alarms = sum(cell.alarm for cell in cells)
        rows.append((planner.label, len(cells), *counts, found[None] + found[TOO_FEW], alarms, planner.reproduces))
        if sum(counts) and not planner.reproduces:
            others.append(planner.label)
    columns = (
        Column("planner", "planner"),
        *(
            Column(title, title.replace(" ", "_"), number=True)
            for title in ("cells", "reproduced", "better", "not reproduced", "not judged", "above optimum")
        ),
        Column("paper preset", "paper_preset", shown=False),
    )
    notes = [
        "A cell is one planner in one environment at one budget. Better and not reproduced: the mean differs from the "
        f"published one by more than {SIGMAS} combined standard errors. Reproduced: chance can explain the difference; "
        "with few episodes it can explain much. Not judged: nothing was published, or there are fewer than "
        f"{FEWEST} episodes."
    ]
    if others:
        notes.append(f"Compared with the published figures, but not with the paper's settings: {', '.join(others)}.")
    return Table("verdicts", "Verdicts by planner", columns, rows, notes)


def cell_table(measured: Sequence[Measurement]) -> Table:
    """Everything about every cell."""
    columns = (
        Column("environment", "environment"),
        Column("planner", "planner"),
        Column("budget", "budget", str, number=True),
        Column("ours", "mean_return", fixed(3), number=True),
        Column("standard error", "standard_error", fixed(3), number=True),
        Column("published", "published_mean", fixed(3), number=True),
        Column("its standard error", "published_standard_error", fixed(3), number=True),
        Column("z", "z", fixed(1, "+"), number=True),
        Column("verdict", "verdict", _with_mark),
        Column("optimum", "optimum", fixed(3), number=True),
        Column("percent of optimum", "percent_of_optimum", fixed(1), number=True),
        Column("episodes", "episodes", number=True),
        Column("alarm", "above_optimum", lambda alarm: "above the optimum" if alarm else ""),
        Column("", "interval_half_width", shown=False),
        Column("", "ms_per_decision", shown=False),
        Column("", "nodes_per_decision", shown=False),
        Column("", "environment_id", shown=False),
        Column("", "algorithm", shown=False),
        Column("", "preset", shown=False),
        Column("", "options", shown=False),
    )
    notes = (
        "z is the distance from the published mean in combined standard errors, with the rounding of the published "
        "figure as one more error. The paper's plus or minus is twice the standard deviation of one episode; for GBOP "
        f"it is taken for a standard error. With fewer than {FEW} episodes, or none that differ, the published spread "
        "of an episode stands in for ours where it is larger.",
        "The optimum is exact, by backward induction; where a reset draws a layout it is the mean over the layouts "
        "played. An alarm is a mean above it by more than 4.9 standard errors, four episodes at the lowest return seen "
        "there added: such a planner sees the future.",
    )
    return Table(
        "cells",
        "Every cell",
        columns,
        [_cell_row(cell) for cell in measured],
        notes,
        headers=3,
        classes=["alarm" if cell.alarm else "" for cell in measured],
    )


def _cell_row(cell: Measurement) -> tuple[Any, ...]:
    published = cell.published
    return (
        cell.environment.label,
        cell.planner.label,
        cell.budget,
        cell.mean,
        cell.standard_error,
        None if published is None else published.mean,
        None if published is None else published.standard_error,
        cell.z,
        cell.verdict,
        cell.optimum,
        None if cell.share is None else 100.0 * cell.share,
        len(cell.episodes),
        cell.alarm,
        half_width(cell),
        cell.ms_per_decision,
        cell.nodes_per_decision,
        cell.environment.id,
        cell.planner.algorithm,
        cell.planner.preset,
        cell.planner.options,
    )


def return_table(measured: Sequence[Measurement], environment: Environment) -> Table:
    """The paper's table of one environment: planners by budgets, ours above the published."""
    here = [cell for cell in measured if cell.environment == environment]
    rows: list[tuple[Any, ...]] = []
    budgets = budgets_of(here)
    for planner in planners_of(here):
        cells = {cell.budget: cell for cell in here if cell.planner == planner}
        rows.append((planner.label, OURS, *(_mean_and_error(cells.get(budget)) for budget in budgets)))
        if any(cell.published for cell in cells.values()):
            rows.append((planner.label, "published", *(_published(cells.get(budget)) for budget in budgets)))
        if any(cell.share is not None for cell in cells.values()):
            rows.append((planner.label, "% of optimum", *(_percent(cells.get(budget)) for budget in budgets)))
    columns = (
        Column("planner", "planner"),
        Column("", "figure"),
        *(Column(str(budget), str(budget), number=True) for budget in budgets),
    )
    title = f"{environment.label}: mean return by simulations per decision"
    word = "-".join("".join(letter if letter.isalnum() else " " for letter in environment.label).split())
    return Table(
        f"returns-{word}",
        title,
        columns,
        rows,
        (),
        headers=2,
        classes=["" if row[1] == OURS else "follows" for row in rows],
    )


def optimum_in_words(measured: Sequence[Measurement], environment: Environment) -> str:
    """What is known of the optimum of an environment."""
    optima = [cell.optimum for cell in measured if cell.environment == environment and cell.optimum is not None]
    if not optima:
        return "The optimum is not known."
    low, high = min(optima), max(optima)
    if high - low <= 1e-9 * max(1.0, abs(high)):
        return f"Exact optimum {high:.4f}."
    return f"Exact optimum of the layouts played: {low:.4f} to {high:.4f}, by cell."


def _mean_and_error(cell: Measurement | None) -> str:
    if cell is None:
        return ""
    error = "" if cell.standard_error is None else f" {PLUS_MINUS} {cell.standard_error:.3f}"
    return " ".join(filter(None, (f"{fixed(3)(cell.mean)}{error}", mark(cell.verdict), ABOVE if cell.alarm else "")))


def _published(cell: Measurement | None) -> str:
    if cell is None or cell.published is None:
        return ""
    return f"{fixed(3)(cell.published.mean)} {PLUS_MINUS} {cell.published.standard_error:.3f}"


def _percent(cell: Measurement | None) -> str:
    return "" if cell is None or cell.share is None else fixed(1)(100.0 * cell.share)
