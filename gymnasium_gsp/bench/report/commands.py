"""The commands that play what a store holds: what somebody types to get the same rows."""

import ast
import json
import shlex
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from gymnasium_gsp.bench.grid import ALL, PAPER_AGENTS, PAPER_BUDGETS, Grid, paper_grids
from gymnasium_gsp.bench.store import Cell, Row
from gymnasium_gsp.envs import BENCHMARKS

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Setting = tuple[str | None, str, str, int]  # preset, options, arguments of the environment, seed
_Counts = dict[tuple[str, str, int], int]  # episodes by environment, algorithm and budget


def commands(rows: Iterable[Row]) -> list[str]:
    """Commands of `gsp bench`, one for cells that differ in nothing but environment, algorithm and budget.

    Budgets that are no number of simulations have no flag, and are left out.
    """
    settings: dict[_Setting, _Counts] = {}
    for row in rows:
        cell = row.cell
        if isinstance(cell.budget, int):
            counts = settings.setdefault(_setting(cell), {})
            key = cell.env, cell.algorithm, cell.budget
            counts[key] = max(counts.get(key, 0), row.episode.index + 1)
    return [line for setting, counts in settings.items() for line in _commands(setting, counts)]


def _setting(cell: Cell) -> _Setting:
    return cell.preset, cell.options, cell.env_options, cell.seed


def _commands(setting: _Setting, counts: _Counts) -> list[str]:
    if setting == ("paper", "", "", 0) and counts == _expected(paper_grids(quick=True)):
        return ["gsp bench paper --quick"]
    budgets = _grouped(((env, algorithm), budget) for env, algorithm, budget in counts)
    envs = _grouped(
        ((algorithm, tuple(sorted(played)), max(counts[env, algorithm, budget] for budget in played)), env)
        for (env, algorithm), played in budgets.items()
    )
    agents = _grouped(((tuple(where), played, most), algorithm) for (algorithm, played, most), where in envs.items())
    return [_command(setting, where, who, played, most) for (where, played, most), who in agents.items()]


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _expected(grids: Iterable[Grid]) -> _Counts:
    return {
        (env, agent, budget): grid.episodes.get(agent, grid.episodes.get(ALL, 0))
        for grid in grids
        for env in grid.envs
        for agent in grid.agents
        for budget in grid.budgets
    }


def _command(
    setting: _Setting, envs: Sequence[str], agents: Sequence[str], budgets: tuple[int, ...], episodes: int
) -> str:
    preset, options, arguments, seed = setting
    paper = preset == "paper" and set(agents) <= set(PAPER_AGENTS)
    words = ["gsp", "bench", *["paper"] * paper]
    names = {benchmark.id: benchmark.name for benchmark in BENCHMARKS}
    if not paper or set(envs) != set(names):
        words += ["--envs", ",".join(names.get(env, env) for env in envs)]
    if not paper or set(agents) != set(PAPER_AGENTS):
        words += ["--agents", ",".join(agents)]
    if not paper or budgets != PAPER_BUDGETS:
        words += ["--budgets", ",".join(map(str, budgets))]
    words += ["--episodes", str(episodes)]
    if preset and not paper:
        words += ["--preset", preset]
    if seed:
        words += ["--seed", str(seed)]
    for option in _options(options):
        words += ["--set", option]
    for argument in _arguments(arguments):
        words += ["--env-set", argument]
    return shlex.join(words)


def _options(text: str) -> list[str]:
    """The options in a cell's text one by one; the whole text where it cannot be read."""
    try:
        call = ast.parse(f"options({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [text]
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return [f"{item.arg}={ast.unparse(item.value)}" for item in keywords]


def _arguments(text: str) -> list[str]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return [text]
    return [f"{name}={json.dumps(value)}" for name, value in found.items()] if isinstance(found, dict) else [text]
