"""Grids: environments x algorithms x budgets x episodes, from flags or a TOML file, the paper's among them.

```toml
import = ["my_algorithms"]      # modules that register what is your own

[[grid]]
envs = ["FrozenLake", "my_module:MyEnv-v0"]
agents = ["uct", "gbop"]
budgets = [16, 64, "Budget(seconds=0.1)"]  # or { "*" = [16, 64], gbop = [16] }
episodes = 200                  # or { "*" = 200, gbop = 20 }
preset = "paper"                # or { "*" = "paper", gbop = "none" }
seed = 0
options = { discount = 0.95, horizon = "FixedHorizon(10)" }
env_options = { slip = 0.1 }
```
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from gymnasium_gsp.algorithms.registry import find_algorithm
from gymnasium_gsp.bench.cell import (
    ArgumentsText,
    Cell,
    Checked,
    OptionsText,
    Seed,
    env_id,
    import_modules,
    recipe_text,
)
from gymnasium_gsp.bench.texts import budget_text, preset_name, split_values
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import RecipeError, check_count, unknown_name

ALL = "*"  # in a table by algorithm: every algorithm that is not named
MOST_EPISODES = 10**7  # of one cell
PAPER = "paper"
PAPER_AGENTS = ("uct", "power-uct", "ments", "gbop", "gs-power-uct", "gs-power-uct-f+")
PAPER_BUDGETS = (16, 32, 64, 128, 256, 512, 1024, 2048)


class Run(NamedTuple):
    """The episodes of one cell.

    Attributes:
        cell: where the store keeps them.
        episodes: how many.
        recipe: how the agent plans, as the call that makes it.
    """

    cell: Cell
    episodes: int
    recipe: str


def names_of(given: Any, field: str = "names") -> tuple[str, ...]:
    """Names, each once, from a list of texts or a text with commas between them.

    Raises:
        RecipeError: for anything else.
    """
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise RecipeError(f"{field}: a list of names, not {given!r}")
    return tuple(dict.fromkeys(name for text in texts if text.strip() for name in split_values(text)))


def _names(given: Any, info: ValidationInfo) -> tuple[str, ...]:
    names = names_of(given, str(info.field_name))
    if not names:
        raise RecipeError(f"a grid needs at least one of {info.field_name}")
    return names


def _modules(given: Any) -> tuple[str, ...]:
    modules = names_of(given, "import")
    import_modules(modules)
    return modules


def budgets_of(given: Any) -> tuple[int | str, ...]:
    """Budgets in their canonical texts from a list of them, or a text with commas between them.

    Raises:
        RecipeError: unless numbers of simulations ascend, and no other budget is given twice.
    """
    try:
        texts = split_values(given) if isinstance(given, str) else given
        budgets = tuple(map(budget_text, texts if isinstance(texts, list | tuple) else [texts]))
        numbers = [budget for budget in budgets if isinstance(budget, int)]
        if not budgets or len(set(budgets)) < len(budgets) or any(a > b for a, b in pairwise(numbers)):
            raise RecipeError("they are empty, out of order, or given twice")
    except RecipeError as error:
        raise RecipeError(
            f"budgets are whole numbers of simulations in ascending order, such as 16,64,256, or limits such as "
            f"'Budget(seconds=0.1)'; not {given!r}: {error}"
        ) from None
    return budgets


def _episodes(given: Any) -> int:
    try:
        number = int(given) if isinstance(given, str) else given
    except ValueError:
        raise RecipeError(f"episodes: {given!r} is no number; write 200 for all algorithms, gbop=20 for one") from None
    if check_count("episodes", number) > MOST_EPISODES:
        raise RecipeError(f"episodes may be at most {MOST_EPISODES:,}, not {number:,}")
    return int(number)


def _by_algorithm(read: Callable[[Any], Any]) -> BeforeValidator:
    """Read a value for all algorithms, or a table of values by algorithm."""

    def table(given: Any) -> dict[str, Any]:
        values = given if isinstance(given, Mapping) else {ALL: given}
        return {algorithm: read(value) for algorithm, value in values.items()}

    return BeforeValidator(table)


class Grid(Checked):
    """Environments x algorithms x budgets x episodes.

    Attributes:
        envs: ids for `gymnasium.make`, `module:Id` included, or short names of benchmarks.
        agents: registered algorithms, or recipes as text.
        budgets: by algorithm, see `budgets_of`; "*" for all algorithms that are not named.
        episodes: how many are played of each cell, by algorithm.
        preset: sets of options by algorithm; "" or "none" for none.
        seed: decides the seeds of environment and agent in each episode.
        options: further options of every algorithm, as `Cell.options`.
        env_options: arguments of every environment, as `Cell.env_options`.
    """

    envs: Annotated[tuple[str, ...], BeforeValidator(_names)]
    agents: Annotated[tuple[str, ...], BeforeValidator(_names)]
    budgets: Annotated[dict[str, tuple[int | str, ...]], _by_algorithm(budgets_of)] = Field({ALL: PAPER_BUDGETS})
    episodes: Annotated[dict[str, int], _by_algorithm(_episodes)] = Field({ALL: 200})
    preset: Annotated[dict[str, str], _by_algorithm(preset_name)] = Field({ALL: ""})
    seed: Seed = 0
    options: OptionsText = ""
    env_options: ArgumentsText = ""

    @model_validator(mode="after")
    def _check_algorithms(self) -> "Grid":
        for agent in self.agents:
            if "(" not in agent:
                find_algorithm(agent)
        for name in ("budgets", "episodes", "preset"):
            table = getattr(self, name)
            for agent in table:
                if agent != ALL and agent not in self.agents:
                    raise RecipeError(unknown_name(f"algorithm in {name}", agent, self.agents))
            for agent in self.agents:
                if name != "preset" and agent not in table and ALL not in table:
                    raise RecipeError(f"{name}: nothing is given for {agent}")
        return self

    def cells(self) -> Iterator[tuple[Cell, int]]:
        """Every cell, and how many episodes of it are played."""
        for env in self.envs:
            for agent in self.agents:
                for budget in _of(self.budgets, agent):
                    cell = Cell(
                        env=env,
                        algorithm=agent,
                        preset=_of(self.preset, agent),
                        budget=budget,
                        seed=self.seed,
                        options=self.options,
                        env_options=self.env_options,
                    )
                    yield cell, _of(self.episodes, agent)


def _of(table: Mapping[str, Any], agent: str) -> Any:
    return table.get(agent, table.get(ALL, ""))


class GridFile(Checked):
    """A TOML file of grids.

    Attributes:
        modules: imported first, as they register what is not in this package.
        grid: the grids.
    """

    modules: Annotated[tuple[str, ...], BeforeValidator(_modules)] = Field((), alias="import")
    grid: list[Grid] = Field(min_length=1)


def paper_grid(quick: bool = False) -> Grid:
    """The protocol of the GS-Power-UCT paper, which plays 1,000 episodes a cell; `quick` for less of everything.

    An episode of GBOP takes about a hundred times as long as one of the others, so the quick protocol plays few of it,
    and only with small budgets: one in SysAdminRing with 256 simulations takes minutes.
    """
    return Grid(
        envs=[benchmark.id for benchmark in BENCHMARKS],
        agents=PAPER_AGENTS,
        preset="paper",
        budgets={ALL: [16, 64, 256], "gbop": [16, 64]} if quick else PAPER_BUDGETS,
        episodes={ALL: 20, "gbop": 3} if quick else 200,
    )


def by_algorithm(name: str, texts: Iterable[str] | None) -> dict[str, str]:
    """A table by algorithm from texts `VALUE` for all and `NAME=VALUE` for one.

    Raises:
        RecipeError: if a value is given twice.
    """
    values: dict[str, str] = {}
    for text in (part for given in texts or () for part in given.split(",")):
        agent, sign, value = text.rpartition("=")
        key = agent.strip() if sign else ALL
        if key in values:
            raise RecipeError(f"{name} is given twice for {'all algorithms' if key == ALL else key}")
        values[key] = value.strip()
    return values


def grids_of(what: str | None, flags: Mapping[str, Any], quick: bool = False) -> tuple[list[Grid], list[str]]:
    """The grids that were asked for, and the modules that a file wants to be imported.

    Args:
        what: "paper", whose protocol the flags then change; a TOML file; or None for the flags alone.
        flags: fields of a grid; those that are empty were not given.
        quick: the paper's protocol in minutes.

    Raises:
        RecipeError: for whatever makes no sense, with what is allowed.
    """
    given = {name: value for name, value in flags.items() if value not in (None, [], {}, ())}
    if quick and what != PAPER:
        raise RecipeError("--quick belongs to `gsp bench paper`; give --budgets and --episodes instead")
    if what == PAPER:
        return [_changed(paper_grid(quick), given)], []
    if what is None:
        if "envs" not in given or "agents" not in given:
            raise RecipeError(
                "say what to play: `gsp bench paper`, a TOML file, or --envs FrozenLake,FourRooms --agents "
                "uct,gs-power-uct"
            )
        return [Grid(**given)], []
    if not what.endswith(".toml") and not Path(what).exists():
        raise RecipeError(unknown_name("benchmark", what, [PAPER, "GRID.toml"]))
    if given:
        names = {"options": "set", "env_options": "env-set"}
        typed = ", ".join(f"--{names.get(name, name)}" for name in given)
        raise RecipeError(f"{what} says what is played; write {typed} into it instead")
    return read_grids(Path(what))


def _changed(paper: Grid, given: Mapping[str, Any]) -> Grid:
    """The paper's grid with some of its algorithms, and other values where they are given."""
    agents = names_of(given.get("agents", paper.agents))
    for agent in agents:
        find_algorithm(agent)
    if others := [agent for agent in agents if agent not in PAPER_AGENTS]:
        raise RecipeError(
            f"the paper's algorithms are {', '.join(PAPER_AGENTS)}, not {', '.join(others)}; without `paper`, --envs "
            "and --agents take any"
        )
    tables = {}
    for name in ("budgets", "episodes", "preset"):
        table = {agent: value for agent, value in getattr(paper, name).items() if agent in (ALL, *agents)}
        new = given.get(name, {})
        new = new if isinstance(new, Mapping) else {ALL: new}
        tables[name] = {**({} if ALL in new else table), **new}
    return paper.changed(**{**given, **tables, "agents": agents})


def read_grids(path: Path) -> tuple[list[Grid], list[str]]:
    """The grids of a file, and the modules that it wants to be imported; these are imported already.

    Raises:
        RecipeError: if the file cannot be read, for a misspelt key (with the nearest), a missing one, or a value that
            makes no sense.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"{path} is no TOML: {error}") from error
    try:
        file = GridFile(**table)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from error
    return file.grid, list(file.modules)


def runs_of(grids: Iterable[Grid]) -> list[Run]:
    """Every cell of some grids once, with the most episodes that any of them asks for.

    Raises:
        RecipeError: for an environment that cannot be made, an unknown algorithm, preset or option, or values that make
            no sense.
    """
    checked: dict[Cell, tuple[str, str]] = {}  # id and recipe by a cell with the smallest budget
    runs: dict[Cell, Run] = {}
    for grid in grids:
        for cell, episodes in grid.cells():
            any_budget = cell.changed(budget=1)
            if any_budget not in checked:
                with closing(cell.make_env()) as env:
                    checked[any_budget] = env_id(env), recipe_text(cell.make_agent(env))
            env_name, recipe = checked[any_budget]
            cell = cell.changed(env=env_name)
            if cell not in runs or runs[cell].episodes < episodes:
                runs[cell] = Run(cell, episodes, recipe)
    return list(runs.values())
