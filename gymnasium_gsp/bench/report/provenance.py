"""The origin of the rows: versions, machines, recipes, and gaps in the grid."""

import pandas as pd

from gymnasium_gsp.bench.report.cells import CELL, names_of
from gymnasium_gsp.bench.texts import counted


def counts(episodes: pd.DataFrame, column: str) -> pd.DataFrame:
    """Numbers of episodes by the texts in a column: `column, episodes`."""
    return episodes[column].value_counts(sort=False).rename("episodes").reset_index()


def recipes(episodes: pd.DataFrame) -> pd.DataFrame:
    """Every recipe that planned: `algorithm, preset, options, environment, recipe`."""
    columns = ["algorithm", "preset", "options", "environment", "recipe"]
    return episodes.loc[episodes.failure == "", columns].astype({"environment": str}).drop_duplicates()


def warnings_on(episodes: pd.DataFrame) -> list[str]:
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
    without = int((~episodes.finite).sum())
    if without:
        warnings.append(f"Left out of the means: {counted(without, 'episode')} without a finite return.")
    for (planner, environment, budget), cell in episodes[episodes.failure != ""].groupby(
        ["planner", "environment", "budget"], observed=True
    ):
        message = cell.failure.iloc[0].partition("\n")[0]
        failed = counted(len(cell), "episode")
        warnings.append(f"Failed: {failed} of {planner} in {environment} at {budget}, the first by {message}.")
    return warnings


def gaps(cells: pd.DataFrame) -> list[str]:
    """Missing cells of the grid that the store spans: every environment with every planner at every budget.

    A cell has too few episodes if it has fewer than most cells have.
    """
    grid = pd.MultiIndex.from_product([names_of(cells[name]) for name in CELL], names=CELL)
    played = cells.astype(dict.fromkeys(CELL, str)).set_index(CELL).episodes.reindex(grid, fill_value=0).reset_index()
    short = played[played.episodes < cells.episodes.mode()[0]]
    places = short.groupby(["planner", "environment", "episodes"], sort=False).budget.agg(", ".join)
    return [
        f"{planner} in {environment} at {budgets}: "
        + (f"{counted(episodes, 'episode')} only." if episodes else "no episodes.")
        for (planner, environment, episodes), budgets in places.items()
    ]
