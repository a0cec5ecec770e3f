"""Grids from a TOML file.

```toml
import = ["my_algorithms"]      # modules that register what is your own

[[grid]]
envs = ["FrozenLake", "my_module:MyEnv-v0"]
agents = ["uct", "gbop"]
budgets = [16, 64, 256]
episodes = 200                  # or { "*" = 200, gbop = 20 }
preset = "paper"                # or { "*" = "paper", gbop = "none" }
seed = 0
options = { discount = 0.95, horizon = "FixedHorizon(10)" }
env_options = { slip = 0.1 }
```
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.bench.grid import ALL, Grid
from gymnasium_gsp.errors import RecipeError, unknown_name

_KEYS = ("envs", "agents", "budgets", "episodes", "preset", "seed", "options", "env_options")
_NEEDED = ("envs", "agents", "budgets", "episodes")


def read_grids(path: Path) -> tuple[list[Grid], list[str]]:
    """The grids of a file, and the modules that it wants to be imported; these are imported already.

    Raises:
        RecipeError: if the file cannot be read, for a misspelt key (with the nearest), a missing one, or a value that
            makes no sense.
    """
    from gymnasium_gsp.bench.grid_flags import import_modules

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"{path} is no TOML: {error}") from error
    _known_keys(f"{path}", found, ("import", "grid"))
    modules = _words(f"{path}: import", found.get("import", []))
    import_modules(modules)
    tables = found.get("grid", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise RecipeError(f"{path} holds no grid; a grid is a table [[grid]] with {', '.join(_NEEDED)}")
    return [_grid(f"{path}: grid {number}", table) for number, table in enumerate(tables, start=1)], modules


def _grid(where: str, table: Mapping[str, Any]) -> Grid:
    _known_keys(where, table, _KEYS)
    for key in _NEEDED:
        if key not in table:
            raise RecipeError(f"{where} has no {key}")
    options = _table(f"{where}: options", table.get("options", {}))
    presets = _by_algorithm(f"{where}: preset", table.get("preset", {}), str)
    try:
        return Grid(
            envs=_words(f"{where}: envs", table["envs"]),
            agents=_words(f"{where}: agents", table["agents"]),
            budgets=_list(f"{where}: budgets", table["budgets"]),
            episodes=_by_algorithm(f"{where}: episodes", table["episodes"], int),
            seed=table.get("seed", 0),
            presets={agent: None if preset == "none" else preset for agent, preset in presets.items()},
            options={name: _option(value) for name, value in options.items()},
            env_options=_table(f"{where}: env_options", table.get("env_options", {})),
        )
    except RecipeError as error:
        raise RecipeError(str(error) if str(error).startswith(where) else f"{where}: {error}") from error


def _known_keys(where: str, table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for key in table:
        if key not in allowed:
            raise RecipeError(f"{where}: {unknown_name('key', key, allowed)}")


def _option(value: Any) -> Any:
    """An option's value: texts are read as `--set` reads them, lists become tuples."""
    if isinstance(value, str):
        return parse_value(value)
    return tuple(map(_option, value)) if isinstance(value, list) else value


def _list(where: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise RecipeError(f"{where} is a list, not {value!r}")
    return tuple(value)


def _words(where: str, value: Any) -> list[str]:
    words = _list(where, [value] if isinstance(value, str) else value)
    if not all(isinstance(word, str) for word in words):
        raise RecipeError(f"{where} is a list of names, not {value!r}")
    return list(words)


def _table(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecipeError(f"{where} is a table of names and values, not {value!r}")
    return value


def _by_algorithm(where: str, value: Any, kind: type) -> dict[str, Any]:
    """A value for all algorithms, or a table of values by algorithm."""
    table = value if isinstance(value, dict) else {ALL: value}
    for given in table.values():
        if not isinstance(given, kind) or isinstance(given, bool):
            raise RecipeError(f"{where} is {'a number' if kind is int else 'a name'} or a table of them, not {given!r}")
    return table
