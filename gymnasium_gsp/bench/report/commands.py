"""The commands that play what a store holds: what somebody types to get the same rows."""

import ast
import json
import shlex
from typing import Any

import pandas as pd

from gymnasium_gsp.bench.report.cells import SHORT_NAMES

_SETTING = ["preset", "options", "env_options", "seed"]
_LISTS = ["budget", "env", "algorithm"]


def commands(rows: pd.DataFrame) -> list[str]:
    """Commands of `gsp bench`, one for cells that differ in nothing but environment, algorithm and budget.

    Budgets that are no number of simulations have no flag, and are left out.

    Args:
        rows: one episode each, with the columns of a store.
    """
    rows = rows.assign(budget=pd.to_numeric(rows.budget, errors="coerce"), episodes=rows["index"] + 1)
    cells = rows.dropna(subset="budget").groupby([*_SETTING, *_LISTS], sort=False).episodes.max().reset_index()
    cells = cells.sort_values("budget", kind="stable")
    cells = cells.assign(budget=[f"{budget:.0f}" for budget in cells.budget], env=cells.env.replace(SHORT_NAMES))
    for name in _LISTS:
        others = [other for other in cells.columns if other != name]
        cells = cells.groupby(others, sort=False)[name].agg(",".join).reset_index()
    return [command(cell) for cell in cells.itertuples()]


def command(cell: Any) -> str:
    """One command; the only place that knows the flags of `gsp bench`.

    Args:
        cell: `env, algorithm, budget`, each a list with commas, `episodes`, and the setting that they share.
    """
    words = ["--envs", cell.env, "--agents", cell.algorithm, "--budgets", cell.budget, "--episodes", str(cell.episodes)]
    words += ["--preset", cell.preset] if cell.preset else []
    words += ["--seed", str(cell.seed)] if cell.seed else []
    for option in _options(cell.options):
        words += ["--set", option]
    for argument in _arguments(cell.env_options):
        words += ["--env-set", argument]
    return shlex.join(["gsp", "bench", *words])


def _options(text: str) -> list[str]:
    """The options in a cell's text one by one; the whole text where it cannot be read."""
    try:
        call = ast.parse(f"options({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [text]
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return [f"{item.arg}={ast.unparse(item.value)}" for item in keywords]


def _arguments(text: str) -> list[str]:
    """The arguments of an environment one by one; the whole text where it cannot be read."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return [text]
    return [f"{name}={json.dumps(value)}" for name, value in found.items()] if isinstance(found, dict) else [text]
