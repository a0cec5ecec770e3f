"""The tables of comparisons, of costs, and of where the numbers come from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gymnasium_gsp.bench.report.cells import (
    Environment,
    Limit,
    Measurement,
    Planner,
    budget_order,
    budgets_of,
    environments_of,
    planners_of,
)
from gymnasium_gsp.bench.report.comparison import Paired, Score
from gymnasium_gsp.bench.report.provenance import Provenance
from gymnasium_gsp.bench.report.table import BREAK, DOWN, PLUS_MINUS, UP, Column, Table, fixed
from gymnasium_gsp.bench.report.tables import OURS


def score_table(found: Sequence[Score]) -> Table:
    """The normalised score of every planner at every budget."""
    columns = (
        Column("planner", "planner"),
        Column("budget", "budget", str, number=True),
        Column("score", "score", fixed(3), number=True),
        Column("standard error", "standard_error", fixed(3), number=True),
        Column("published", "published", fixed(3), number=True),
        Column("not played", "not_played"),
    )
    rows = [
        (
            score.planner.label,
            score.budget,
            score.mean,
            score.standard_error,
            score.published,
            ", ".join(item.label for item in score.missing),
        )
        for score in found
    ]
    return Table("scores", "Normalised score of every planner at every budget", columns, rows, headers=2)


def score_grid(found: Sequence[Score]) -> Table:
    """The same by budgets, to look at."""

    def words(score: Score) -> str:
        if score.mean is None:
            return ""
        error = "" if score.standard_error is None else f" {PLUS_MINUS} {score.standard_error:.3f}"
        return f"{score.mean:.3f}{error}"

    budgets = sorted({score.budget for score in found}, key=budget_order)
    rows: list[tuple[Any, ...]] = []
    for planner in dict.fromkeys(score.planner for score in found):
        here = {score.budget: score for score in found if score.planner == planner}
        if all(score.mean is None for score in here.values()):
            continue
        rows.append((planner.label, OURS, *(words(here[b]) if b in here else "" for b in budgets)))
        if any(score.published is not None for score in here.values()):
            published = [here[b].published if b in here else None for b in budgets]
            rows.append((planner.label, "published", *map(fixed(3), published)))
    columns = (
        Column("planner", "planner"),
        Column("", "figure"),
        *(Column(str(budget), str(budget), number=True) for budget in budgets),
    )
    missing: dict[tuple[Planner, tuple[Environment, ...]], list[Limit]] = {}
    for score in found:
        if score.missing:
            missing.setdefault((score.planner, score.missing), []).append(score.budget)
    notes = [
        f"No score for {planner.label} at {', '.join(map(str, at))}: it has not played "
        f"{', '.join(environment.label for environment in environments)} there."
        for (planner, environments), at in missing.items()
    ]
    title = "Normalised score by simulations per decision"
    return Table(
        "score-grid",
        title,
        columns,
        rows,
        notes,
        headers=2,
        classes=["" if row[1] == OURS else "follows" for row in rows],
    )


def paired_table(found: Sequence[Paired]) -> Table:
    """Every paired comparison."""
    columns = (
        Column("environment", "environment"),
        Column("planner", "planner"),
        Column("against", "against"),
        Column("budget", "budget", str, number=True),
        Column("difference", "mean_difference", fixed(3, "+"), number=True),
        Column("from", "low", fixed(3, "+"), number=True),
        Column("to", "high", fixed(3, "+"), number=True),
        Column("episodes", "episodes", number=True),
    )
    rows = [
        (p.environment.label, p.first.label, p.second.label, p.budget, p.mean, p.low, p.high, p.episodes) for p in found
    ]
    return Table("paired", "Paired differences in return", columns, rows, headers=4)


def paired_grid(found: Sequence[Paired], planners: Sequence[Planner], reference: Planner) -> Table:
    """The reference planner against each of the others, in their order, by environment and budget."""

    def words(comparison: Paired | None) -> str:
        if comparison is None:
            return ""
        sign = 1.0 if comparison.first == reference else -1.0
        ends = [sign * end for end in (comparison.low, comparison.high) if end is not None]
        show = fixed(2 if max(map(abs, ends), default=0.0) >= 1.0 else 3, "+")
        interval = f"{BREAK}[{show(min(ends))}, {show(max(ends))}]" if ends else ""
        mean = sign * comparison.mean
        mark = f" {UP if mean > 0.0 else DOWN}" if comparison.clear else ""
        return f"{show(mean)}{mark}{interval}"

    budgets = sorted({comparison.budget for comparison in found}, key=budget_order)
    by_row: dict[tuple[Environment, Planner], dict[Limit, Paired]] = {}
    for comparison in found:
        if reference in (comparison.first, comparison.second):
            other = comparison.second if comparison.first == reference else comparison.first
            by_row.setdefault((comparison.environment, other), {})[comparison.budget] = comparison
    environments = list(dict.fromkeys(environment for environment, _ in by_row))
    keys = [
        (environment, other) for environment in environments for other in planners if (environment, other) in by_row
    ]
    columns = (
        Column("environment", "environment"),
        Column("against", "planner"),
        *(Column(str(budget), str(budget), number=True) for budget in budgets),
    )
    rows = [
        (environment.label, other.label, *(words(by_row[environment, other].get(budget)) for budget in budgets))
        for environment, other in keys
    ]
    title = f"{reference.label} minus each other planner, by simulations per decision"
    return Table("paired-grid", title, columns, rows, headers=2)


def cost_table(measured: Sequence[Measurement], title: str, name: str, digits: int) -> Table:
    """Time or nodes per decision by budgets, the published figure in brackets.

    Args:
        measured: the cells.
        title: what is shown.
        name: the attribute of a cell and of its published cost.
        digits: decimals.
    """
    cells = {(cell.environment, cell.planner, cell.budget): cell for cell in measured}
    budgets = budgets_of(measured)
    show: Callable[[Any], str] = fixed(digits)

    def words(cell: Measurement | None) -> str:
        if cell is None:
            return ""
        published = cell.published_cost
        return show(getattr(cell, name)) + (f" ({show(getattr(published, name))})" if published else "")

    rows = []
    for environment in environments_of(measured):
        for planner in planners_of(measured):
            here = [cells.get((environment, planner, budget)) for budget in budgets]
            if any(here):
                rows.append((environment.label, planner.label, *map(words, here)))
    columns = (
        Column("environment", "environment"),
        Column("planner", "planner"),
        *(Column(str(budget), str(budget), number=True) for budget in budgets),
    )
    return Table(name.replace("_", "-"), title, columns, rows, headers=2)


def count_table(name: str, title: str, heading: str, counts: Mapping[str, int]) -> Table:
    """How many rows something made."""
    columns = (Column(heading, name), Column("episodes", "episodes", number=True))
    return Table(name, title, columns, list(counts.items()))


def recipe_table(found: Provenance) -> Table:
    """Every recipe that planned."""
    keys = ("algorithm", "preset", "options", "environment")
    columns = (*(Column(key, key) for key in keys), Column("recipe", "recipe", long=True))
    rows = [(*key, recipe) for key, recipes in found.recipes.items() for recipe in recipes]
    return Table("recipes", "Recipes", columns, rows, headers=4)
