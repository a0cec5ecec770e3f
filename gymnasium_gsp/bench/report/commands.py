"""The commands that play what a store holds: what somebody types to get the same rows."""

import shlex
from collections.abc import Iterator
from typing import Any

import pandas as pd

from gymnasium_gsp.bench.report.cells import SHORT_NAMES

_LISTS = {"env": "--envs", "algorithm": "--algorithms", "budget": "--budgets"}
_SHARED = {
    "preset": "--preset", "seed": "--seed", "options": "--set", "env_options": "--env-set", "wrap": "--wrap",
    "simulator": "--simulator",
}  # fmt: skip
_FLAGS = _LISTS | {"episodes": "--episodes"} | _SHARED


def commands(episodes: pd.DataFrame) -> list[str]:
    """Commands of `gsp bench`, one for cells that differ in nothing but environment, algorithm and budget.

    Args:
        episodes: the value of `cells.label_episodes`.
    """
    cells = episodes.sort_values("budget", kind="stable")
    cells = cells.assign(
        env=cells.env.replace(SHORT_NAMES), budget=cells.budget.astype(str), episodes=cells["index"] + 1
    )
    cells = cells.groupby([*_SHARED, *_LISTS], sort=False).episodes.max().reset_index()
    for name in ("budget", "env", "algorithm"):
        others = [other for other in cells.columns if other != name]
        cells = cells.groupby(others, sort=False)[name].agg(",".join).reset_index()
    return [shlex.join(["gsp", "bench", *_flags(cell)]) for cell in cells.to_dict("records")]


def _flags(cell: dict[str, Any]) -> Iterator[str]:
    for name, flag in _FLAGS.items():
        if cell[name]:
            yield from (flag, str(cell[name]))
