"""Grids: environments x algorithms x budgets x episodes, from flags, a TOML file, or a file of the package's own.

```toml
import = ["my_algorithms"]      # modules that register what is your own

[[grid]]
envs = ["FrozenLake", "my_module:MyEnv-v0"]
algorithms = ["uct", "gbop"]
budgets = [16, 64, "Budget(seconds=0.1)"]
episodes = 200
preset = "paper"
seed = 0
options = { discount = 0.95, horizon = "FixedHorizon(10)" }
env_options = { slip = 0.1 }
```

What is to be played otherwise with one of the algorithms is a grid of its own.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import gymnasium as gym
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from gymnasium_gsp.bench.cell import (
    ArgumentsText,
    Cell,
    Checked,
    FunctionName,
    OptionsText,
    PresetName,
    Seed,
    env_id,
    import_modules,
    needed_modules,
    recipe_text,
)
from gymnasium_gsp.bench.texts import budget_text, split_values
from gymnasium_gsp.errors import RecipeError, unknown_name

_DATA = Path(__file__).with_name("data")
_QUICK = "-quick"
_BUDGETS = (16, 32, 64, 128, 256, 512, 1024, 2048)  # the paper's


class Run(NamedTuple):
    """The episodes of one cell.

    Attributes:
        cell: where the store keeps them.
        episodes: how many.
        recipe: how the algorithm plans, as the call that makes it.
        simulated: whether planning steps the environment's own code, which may end its process.
    """

    cell: Cell
    episodes: int
    recipe: str
    simulated: bool = False


def _names(given: Any, info: ValidationInfo) -> tuple[str, ...]:
    """Names, each once, from a list of texts or a text with commas between them."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise RecipeError(f"{info.field_name}: a list of at least one name, not {given!r}")
    return tuple(dict.fromkeys(name for text in texts for name in split_values(text)))


def _environments(given: Any, info: ValidationInfo) -> tuple[str, ...]:
    """Names of environments; one with a `*` stands for every registered id that it matches."""
    found: dict[str, None] = {}
    for name in _names(given, info):
        ids = [known for known in gym.registry if fnmatchcase(known, name)] if "*" in name else [name]
        if not ids:
            raise RecipeError(f"no registered environment matches {name!r}; 'IPPC/SysAdmin_MDP_ippc2011-*' matches ten")
        found |= dict.fromkeys(ids)
    return tuple(found)


def _budgets(given: Any) -> tuple[int | str, ...]:
    """Budgets in their canonical texts from a list of them, or a text with commas between them; each once."""
    texts = split_values(given) if isinstance(given, str) else given
    budgets = tuple(dict.fromkeys(map(budget_text, texts if isinstance(texts, list | tuple) else [texts])))
    if not budgets:
        raise RecipeError("budgets: at least one number of simulations, or limits such as 'Budget(seconds=0.1)'")
    return budgets


def _imported(modules: tuple[str, ...]) -> tuple[str, ...]:
    """The names of modules, imported before a pattern asks which environments there are."""
    import_modules(modules)
    return modules


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Grid(Checked):
    """Environments x algorithms x budgets x episodes.

    Attributes:
        envs: ids for `gymnasium.make`, `module:Id` included, short names of benchmarks, or patterns with a `*`.
        algorithms: registered algorithms, or recipes as text.
        budgets: numbers of simulations per decision, or other budgets as text.
        episodes: how many are played of each cell.
        preset: a set of options of every algorithm; "" or "none" for none.
        seed: decides the seeds of environment and agent in each episode.
        options: further options of every algorithm, as `Cell.options`.
        env_options: arguments of every environment, as `Cell.env_options`.
        wrap, simulator: of every environment, as in `Cell`.
    """

    envs: Annotated[tuple[str, ...], BeforeValidator(_environments)]
    algorithms: Names
    budgets: Annotated[tuple[int | str, ...], BeforeValidator(_budgets)] = _BUDGETS
    episodes: int = Field(200, ge=1, le=10**7)
    preset: PresetName = ""
    seed: Seed = 0
    options: OptionsText = ""
    env_options: ArgumentsText = ""
    wrap: FunctionName = ""
    simulator: FunctionName = ""

    def cells(self) -> Iterator[Cell]:
        """Every cell."""
        shared = {name: getattr(self, name) for name in Cell.model_fields if name not in ("env", "algorithm", "budget")}
        for env, algorithm, budget in product(self.envs, self.algorithms, self.budgets):
            yield Cell(env=env, algorithm=algorithm, budget=budget, **shared)


class GridFile(Checked):
    """A TOML file of grids.

    Attributes:
        modules: imported first, as they register what is not in this package; in the file `import`.
        grid: the grids.
    """

    modules: Annotated[Names, AfterValidator(_imported)] = Field((), alias="import", validate_default=False)
    grid: list[Grid] = Field(min_length=1)

    def all_modules(self) -> list[str]:
        """What must be imported before any cell is made, modules that stand before an environment's id included."""
        names = (name for grid in self.grid for name in grid.envs)
        return list(dict.fromkeys(module for name in names for module in needed_modules(name, self.modules)))


def benchmark_names(ending: str = "") -> list[str]:
    """The grids that the package has files of, or those of them that have a shorter one under the ending "-quick"."""
    names = sorted(path.stem for path in _DATA.glob("*.toml"))
    return [name for name in names if not name.endswith(_QUICK) and f"{name}{ending}" in names]


def grids_of(what: str | None, flags: Mapping[str, Any], quick: bool = False) -> GridFile:
    """The grids that were asked for.

    Args:
        what: a name of `benchmark_names`, a TOML file, or None for the flags alone.
        flags: fields of a grid, which change all grids of a file; `algorithms` leaves out the others.  Empty ones were
            not given.
        quick: the same in minutes.

    Raises:
        RecipeError: for whatever makes no sense, with what is allowed.
    """
    given = {name: value for name, value in flags.items() if value not in (None, [])}
    if quick and what not in (shorter := benchmark_names(_QUICK)):
        raise RecipeError(
            f"--quick belongs to gsp bench {' and '.join(shorter)}; give --budgets and --episodes instead"
        )
    if what is None:
        if "envs" not in given or "algorithms" not in given:
            raise RecipeError(
                "say what to play: `gsp bench paper`, a TOML file, or --envs FrozenLake,FourRooms --algorithms "
                "uct,gs-power-uct"
            )
        return GridFile(grid=[Grid(**given)])
    own = benchmark_names()
    if what not in own and not what.endswith(".toml") and not Path(what).exists():
        raise RecipeError(unknown_name("benchmark", what, [*own, "GRID.toml"]))
    file = read_grids(_DATA / f"{what}{_QUICK * quick}.toml" if what in own else Path(what))
    known = dict.fromkeys(algorithm for grid in file.grid for algorithm in grid.algorithms)
    algorithms = split_values(",".join(given.pop("algorithms", known)))
    for algorithm in algorithms:
        if algorithm not in known:
            raise RecipeError(unknown_name(f"algorithm of {what}", algorithm, known))
    chosen = [(grid, [algorithm for algorithm in grid.algorithms if algorithm in algorithms]) for grid in file.grid]
    return file.model_copy(update={"grid": [grid.changed(**given, algorithms=here) for grid, here in chosen if here]})


def read_grids(path: Path) -> GridFile:
    """The grids of a file; the modules that it wants to be imported are imported already.

    Raises:
        RecipeError: if the file cannot be read, for a misspelt key (with the nearest), a missing one, or a value that
            makes no sense.
    """
    try:
        return GridFile(**tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"{path} is no TOML: {error}") from error
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from error


def runs_of(grids: Iterable[Grid]) -> list[Run]:
    """Every cell of some grids once, with the most episodes that any of them asks for.

    Raises:
        RecipeError: for an environment that cannot be made, an unknown algorithm, preset or option, or values that make
            no sense.
    """
    checked: dict[Cell, tuple[str, str, bool]] = {}  # id, recipe, simulated, by a cell with the smallest budget
    runs: dict[Cell, Run] = {}
    for cell, episodes in ((cell, grid.episodes) for grid in grids for cell in grid.cells()):
        any_budget = cell.changed(budget=1)
        if any_budget not in checked:
            with closing(cell.make_env()) as env:
                agent = cell.make_agent(env, trial=False)  # nothing is stepped here: that is for the workers
                checked[any_budget] = env_id(env), recipe_text(agent), agent.simulates
        env_name, recipe, simulated = checked[any_budget]
        cell = cell.changed(env=env_name)
        if cell not in runs or runs[cell].episodes < episodes:
            runs[cell] = Run(cell, episodes, recipe, simulated)
    return list(runs.values())
