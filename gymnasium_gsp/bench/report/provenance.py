"""The origin of the rows: versions, machines, recipes, and gaps in the grid."""

import json
from collections import Counter
from itertools import product

import pandas as pd

from gymnasium_gsp.bench.report.cells import CELL, names_of
from gymnasium_gsp.bench.report.text import listed

_SEVERAL = 3  # budgets of a gap that are named one by one


def json_in_words(record: str) -> str:
    """A JSON object as "name value, name value"; anything else as it stands."""
    try:
        found = json.loads(record)
    except ValueError:
        return record
    return listed(f"{name} {value}" for name, value in found.items()) if isinstance(found, dict) else record


def counts(episodes: pd.DataFrame, column: str) -> pd.DataFrame:
    """Numbers of episodes by the records in a column of JSON: `column, episodes`."""
    return episodes[column].map(json_in_words).value_counts(sort=False).rename("episodes").reset_index()


def recipes(episodes: pd.DataFrame) -> pd.DataFrame:
    """Every recipe that planned: `algorithm, preset, options, environment, recipe`."""
    columns = ["algorithm", "preset", "options", "environment", "recipe"]
    return episodes[columns].astype({"environment": str}).drop_duplicates()


def warnings_on(episodes: pd.DataFrame) -> list[str]:
    """Reasons why the rows are less than one experiment."""
    versions, machines = counts(episodes, "versions"), counts(episodes, "machine")
    warnings = []
    if len(versions) > 1:
        warnings.append(f"Mixed versions: the episodes were played by {len(versions)} sets of versions.")
    if len(machines) > 1:
        warnings.append(f"Mixed machines: {len(machines)}, and times per decision are means over them.")
    keys = ["algorithm", "preset", "options", "environment"]
    for (algorithm, _, _, environment), number in recipes(episodes).groupby(keys, sort=False).size().items():
        if number > 1:
            warnings.append(f"Mixed recipes: {algorithm} in {environment} was played with {number} recipes.")
    without = int((~episodes.finite).sum())
    if without:
        warnings.append(f"{without} episodes without a finite return are left out of the means.")
    return warnings


def gaps(cells: pd.DataFrame) -> list[str]:
    """Missing cells of the grid that the store spans: every environment with every planner at every budget.

    A cell has too few episodes if it has fewer than most cells have.
    """
    counted = dict(zip(zip(*(cells[name] for name in CELL), strict=True), cells.episodes, strict=True))
    usual = Counter(cells.episodes).most_common(1)[0][0]
    environments, planners, budgets = (names_of(cells[name]) for name in CELL)
    short: dict[tuple[str, str, int], list[str]] = {}
    for planner, environment, budget in product(planners, environments, budgets):
        episodes = counted.get((environment, planner, budget), 0)
        if episodes < usual:
            short.setdefault((planner, environment, episodes), []).append(budget)
    places: dict[tuple[str, str, int], list[str]] = {}
    for (planner, environment, episodes), missing in short.items():
        places.setdefault((planner, _span(missing), episodes), []).append(environment)
    return [
        f"{planner} at {span}: {_shortage(episodes, where, len(where) == len(environments) > 1)}."
        for (planner, span, episodes), where in places.items()
    ]


def _shortage(episodes: int, environments: list[str], everywhere: bool) -> str:
    if episodes:
        return f"{episodes} episodes only in {'every environment' if everywhere else listed(environments)}"
    return f"no episodes in {'any environment' if everywhere else listed(environments)}"


def _span(budgets: list[str]) -> str:
    """The budgets in words: a list, or first to last where there are many."""
    if len(budgets) <= _SEVERAL:
        return listed(budgets)
    return f"{len(budgets)} budgets from {budgets[0]} to {budgets[-1]}"
