"""Where the rows come from: versions, machines, recipes, and what of the grid is not there yet."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gymnasium_gsp.bench.report.cells import (
    Environment,
    Limit,
    Measurement,
    Planner,
    budgets_of,
    environments_of,
    has_return,
    planners_of,
)
from gymnasium_gsp.bench.store import Row

_SEVERAL = 3  # budgets of a gap that are named one by one


@dataclass(frozen=True)
class Provenance:
    """What the rows say of themselves.

    Attributes:
        versions: how many episodes each set of versions made.
        machines: how many episodes each machine made.
        recipes: the recipes by (algorithm, preset, options, environment with its arguments); more than one if they
            changed on the way.
        without_return: how many episodes have no finite return, and are counted nowhere.
    """

    versions: Mapping[str, int]
    machines: Mapping[str, int]
    recipes: Mapping[tuple[str, str, str, str], tuple[str, ...]]
    without_return: int

    def warnings(self) -> list[str]:
        """What makes the rows less than one experiment."""
        found = []
        if len(self.versions) > 1:
            found.append(f"Mixed versions: the episodes were played by {len(self.versions)} sets of versions.")
        if len(self.machines) > 1:
            found.append(f"Mixed machines: {len(self.machines)}, and times per decision are means over them.")
        for (algorithm, _, _, environment), recipes in self.recipes.items():
            if len(recipes) > 1:
                found.append(f"Mixed recipes: {algorithm} in {environment} was played with {len(recipes)} recipes.")
        if self.without_return:
            found.append(f"{self.without_return} episodes without a finite return are left out.")
        return found


def provenance(rows: Iterable[Row]) -> Provenance:
    """Count versions and machines, and collect recipes."""
    versions: Counter[str] = Counter()
    machines: Counter[str] = Counter()
    recipes: dict[tuple[str, str, str, str], dict[str, None]] = {}
    without_return = 0
    for row in rows:
        cell = row.cell
        versions[row.versions] += 1
        machines[row.machine] += 1
        without_return += not has_return(row.episode)
        key = cell.algorithm, cell.preset or "", cell.options, Environment(cell.env, cell.env_options).label
        recipes.setdefault(key, {})[row.recipe] = None
    return Provenance(
        {in_words(found): count for found, count in versions.items()},
        {in_words(found): count for found, count in machines.items()},
        {key: tuple(found) for key, found in recipes.items()},
        without_return,
    )


def in_words(record: str) -> str:
    """A JSON object as "name value, name value"; anything else as it stands."""
    try:
        found = json.loads(record)
    except ValueError:
        return record
    return ", ".join(f"{name} {value}" for name, value in found.items()) if isinstance(found, dict) else record


@dataclass(frozen=True)
class Gap:
    """Cells of the grid that have no episodes, or fewer than others.

    Attributes:
        planner, budgets, environments: which.
        episodes: how many each of them has; 0 for none.
        everywhere: whether these are all environments of the store.
    """

    planner: Planner
    budgets: tuple[Limit, ...]
    environments: tuple[Environment, ...]
    episodes: int
    everywhere: bool

    def __str__(self) -> str:
        had = f"{self.episodes} episodes only" if self.episodes else "no episodes"
        places = ", ".join(environment.label for environment in self.environments)
        if self.everywhere:
            places = "every environment" if self.episodes else "any environment"
        return f"{self.planner.label} at {self._span}: {had} in {places}."

    @property
    def _span(self) -> str:
        """The budgets in words: a list, or first to last where there are many."""
        if len(self.budgets) <= _SEVERAL:
            return ", ".join(map(str, self.budgets))
        return f"{len(self.budgets)} budgets from {self.budgets[0]} to {self.budgets[-1]}"


def gaps(measured: Sequence[Measurement]) -> list[Gap]:
    """What is missing of the grid that the store spans: every environment with every planner at every budget.

    A cell has too few episodes if it has fewer than most cells have.
    """
    counts = {(cell.environment, cell.planner, cell.budget): len(cell.episodes) for cell in measured}
    usual = Counter(counts.values()).most_common(1)[0][0] if counts else 0
    environments = environments_of(measured)
    places: dict[tuple[Planner, tuple[Limit, ...], int], list[Environment]] = {}
    for planner in planners_of(measured):
        for environment in environments:
            fewer: dict[int, list[Limit]] = {}
            for budget in budgets_of(measured):
                had = counts.get((environment, planner, budget), 0)
                if had < usual:
                    fewer.setdefault(had, []).append(budget)
            for had, budgets in fewer.items():
                places.setdefault((planner, tuple(budgets), had), []).append(environment)
    return [
        Gap(planner, budgets, tuple(found), had, len(found) == len(environments) > 1)
        for (planner, budgets, had), found in places.items()
    ]
