"""Preset files: options of one algorithm for one environment as TOML, and how they were found.

```toml
algorithm = "gs-power-uct"
env = "GSP/FrozenLake-v0"

[options]                       # as `gsp run --set` reads them
c = "0.25"
p = "inf"

[found]                         # for people; nothing reads it
score = 0.61
```
"""

import os
import tomllib
from pathlib import Path
from typing import Any

from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.algorithms.registry import find_algorithm
from gymnasium_gsp.errors import RecipeError, unknown_name

ENDING = ".toml"
_KEYS = ("algorithm", "env", "options", "found")


def is_preset_file(preset: object) -> bool:
    """Return whether a preset is a file and not a name: a path, or a text that ends as one."""
    return isinstance(preset, os.PathLike) or (isinstance(preset, str) and preset.endswith(ENDING))


def read_preset(path: str | os.PathLike[str], algorithm: str | None = None, env: str | None = None) -> dict[str, Any]:
    """The options in a preset file, for `make_agent(algorithm, env, **options)`.

    Args:
        path: the file.
        algorithm: refuse the file if it is for another one; None to take any.
        env: refuse the file if it is for another environment than the one of this id; None to take any.

    Raises:
        RecipeError: if the file cannot be read, is no preset file, or does not fit.
    """
    try:
        read = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"preset file {path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecipeError(f"preset file {path} is no TOML: {error}") from error
    for key in read:
        if key not in _KEYS:
            raise RecipeError(f"preset file {path}: {unknown_name('key', key, _KEYS)}")
    theirs, options = read.get("algorithm"), read.get("options")
    if not isinstance(theirs, str) or not isinstance(read.get("env"), str) or not isinstance(options, dict):
        raise RecipeError(f"preset file {path} must have texts algorithm and env, and a table [options]")
    for given, wanted, kind in ((theirs, algorithm, "algorithm"), (read["env"], env, "environment")):
        if wanted is not None and given != wanted:
            raise RecipeError(
                f"preset file {path} is for the {kind} {given}, not for {wanted}; tune for this one, or give its "
                "options yourself"
            )
    allowed = [*find_algorithm(theirs).options(), "actions"]
    for name, value in options.items():
        if name not in allowed:
            raise RecipeError(f"preset file {path}: {unknown_name(f'option of {theirs}', name, allowed)}")
        if isinstance(value, dict | list):
            raise RecipeError(f"preset file {path}: {name} must be a number or a text, not {value!r}")
    return {name: parse_value(value) if isinstance(value, str) else value for name, value in options.items()}
