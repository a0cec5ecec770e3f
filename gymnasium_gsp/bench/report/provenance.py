"""The origin of the rows: versions, machines, recipes, what failed, and gaps in the grid."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from gymnasium_gsp.bench.report.cells import CELL, ENVIRONMENT, PLANNER, names_of
from gymnasium_gsp.bench.report.commands import all_modules, commands, run_command
from gymnasium_gsp.bench.texts import counted


@dataclass(frozen=True)
class Notice:
    """Sentences that a reader should see before the tables.

    Attributes:
        name: a word for links.
        title: its heading.
        lines: the sentences; nothing is shown where there are none.
        commands: that play what the sentences name.
    """

    name: str
    title: str
    lines: Sequence[str]
    commands: Sequence[str] = ()


def counts(episodes: pd.DataFrame, column: str) -> pd.DataFrame:
    """Numbers of episodes by the texts in a column: `column, episodes`."""
    return episodes[column].value_counts(sort=False).rename("episodes").reset_index()


def recipes(episodes: pd.DataFrame) -> pd.DataFrame:
    """Every recipe that planned: `algorithm, preset, options, environment, recipe`."""
    columns = ["algorithm", "preset", "options", "environment", "recipe"]
    return episodes.loc[episodes.failure == "", columns].astype({"environment": str}).drop_duplicates()


def warnings_on(episodes: pd.DataFrame) -> Notice:
    """Reasons why the rows are less than one experiment."""
    versions, machines = counts(episodes, "versions"), counts(episodes, "machine")
    warnings = []
    if len(versions) > 1:
        warnings.append(f"Mixed versions: the episodes were played by {len(versions)} sets of versions.")
    if len(machines) > 1:
        warnings.append(f"Mixed machines: {len(machines)}, and times per decision are means over them.")
    made_with = recipes(episodes).groupby(["algorithm", "preset", "options", "environment"], sort=False).size()
    for (algorithm, _, _, environment), number in made_with[made_with > 1].items():
        warnings.append(f"Mixed recipes: {algorithm} in {environment} was played with {number} recipes.")
    return Notice("warnings", "Warnings", warnings)


def failures(episodes: pd.DataFrame) -> Notice:
    """Cells with episodes that raised or have no finite return, each with the command that plays it again."""
    lines, again = [], []
    for _, played in episodes.groupby([*CELL, "seed"], observed=True):
        cell, count = played.iloc[0], int((~played.finite).sum())
        if count:
            of_all = f"{count} of {counted(len(played), 'episode')} without a finite return, left out of the mean"
            messages = [message.partition("\n")[0] for message in played.failure if message]
            raised = f"; the first raised {messages[0]}" if messages else ""
            lines.append(f"{cell.planner} in {cell.environment} at {cell.budget}: {of_all}{raised}.")
            more = {"episodes": int(played["index"].max()) + 1, "modules": all_modules(played.modules)}
            again.append(run_command({**cell, **more}))
    return Notice("failed", "Failed episodes", lines, again)


def gaps(episodes: pd.DataFrame, cells: pd.DataFrame) -> Notice:
    """Missing cells of the grid that the store spans, and the commands that play them.

    The grid is every environment with every planner at every budget.  A cell has too few episodes if it has fewer than
    most cells have.

    Args:
        episodes: the value of `cells.label_episodes`.
        cells: the value of `cells.measure`.
    """
    grid = pd.MultiIndex.from_product([names_of(cells[name]) for name in CELL], names=CELL)
    total = cells.astype(dict.fromkeys(CELL, str)).assign(played=cells.episodes + cells.failed).set_index(CELL).played
    played = total.reindex(grid, fill_value=0).reset_index()
    short = played[played.played < total.mode()[0]]
    places = short.groupby(["planner", "environment", "played"], sort=False).budget.agg(", ".join).reset_index()
    places = places.groupby(["planner", "budget", "played"], sort=False).environment.agg(", ".join)
    lines = [
        f"{planner} in {environments} at {budgets}: "
        + (f"{counted(found, 'episode')} only." if found else "no episodes.")
        for (planner, budgets, found), environments in places.items()
    ]
    most = episodes.groupby(["seed", *CELL], observed=True).size().groupby("seed").agg(lambda counts: counts.mode()[0])
    rows = short.merge(pd.DataFrame({"seed": most.index, "index": most - 1}), how="cross")
    for name, fields in (("planner", PLANNER), ("environment", ENVIRONMENT)):
        needed = episodes.groupby(name, observed=True).modules.transform(all_modules)
        known = episodes[[name, *fields]].assign(**{f"{name}_modules": needed}).astype({name: str})
        rows = rows.merge(known.drop_duplicates(name), on=name)
    rows["modules"] = list(map(all_modules, zip(rows.planner_modules, rows.environment_modules, strict=True)))
    rows["budget"] = rows.budget.astype(episodes.budget.dtype)
    return Notice("gaps", "Gaps in the grid", lines, commands(rows) if len(rows) else [])
