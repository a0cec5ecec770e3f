"""The commands that play what a store holds or lacks: what somebody types to get the same rows."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from gymnasium_gsp.bench.report.cells import SHORT_NAMES

_LISTS = {"env": "--envs", "algorithm": "--algorithms", "budget": "--budgets"}
_SHARED = {
    "preset": "--preset", "seed": "--seed", "options": "--set", "env_options": "--env-set", "wrap": "--wrap",
    "simulator": "--simulator",
}  # fmt: skip
_BENCH = _LISTS | {"episodes": "--episodes"} | _SHARED
_RUN = {"algorithm": "--algorithm", "budget": "--budget", "episodes": "--episodes"} | _SHARED


def commands(episodes: pd.DataFrame) -> list[str]:
    """Commands of `gsp bench`, one for cells that differ in nothing but environment, algorithm and budget.

    Args:
        episodes: the value of `cells.label_episodes`, or rows with the columns of a cell, `index` and `modules`.
    """
    cells = episodes.sort_values("budget", kind="stable")
    cells = cells.assign(
        env=cells.env.replace(SHORT_NAMES), budget=cells.budget.astype(str), episodes=cells["index"] + 1
    )
    cells = (
        cells.groupby([*_SHARED, *_LISTS], sort=False).agg({"episodes": "max", "modules": all_modules}).reset_index()
    )
    for name in ("budget", "env", "algorithm"):
        others = [other for other in cells.columns if other != name]
        cells = cells.groupby(others, sort=False)[name].agg(",".join).reset_index()
    return [shlex.join(["gsp", "bench", *_flags(cell, _BENCH)]) for cell in cells.to_dict("records")]


def all_modules(modules: Iterable[str]) -> str:
    """The modules of several episodes, each once, with spaces between them."""
    return " ".join(dict.fromkeys(" ".join(modules).split()))


def run_command(cell: Mapping[str, Any]) -> str:
    """The command of `gsp run` that plays the episodes of one cell, whatever a store holds.

    Args:
        cell: its fields, `episodes` and `modules`.
    """
    return shlex.join(["gsp", "run", SHORT_NAMES.get(cell["env"], cell["env"]), *_flags(cell, _RUN)])


def _flags(cell: Mapping[str, Any], flags: Mapping[str, str]) -> Iterator[str]:
    for name, flag in flags.items():
        if cell[name]:
            yield from (flag, str(cell[name]))
    for module in cell["modules"].split():
        yield from ("--import", module)
