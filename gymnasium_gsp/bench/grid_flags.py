"""What `gsp bench` was given on the command line, as grids."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from gymnasium_gsp.agents.registry import find_algorithm
from gymnasium_gsp.bench.grid import ALL, PAPER_AGENTS, PAPER_BUDGETS, Grid, paper_grids
from gymnasium_gsp.bench.grid_file import read_grids
from gymnasium_gsp.bench.settings import parse_arguments, parse_settings
from gymnasium_gsp.errors import RecipeError, unknown_name

PAPER = "paper"


@dataclass(frozen=True)
class Flags:
    """The flags that describe a grid, as they were typed; None for those that were not.

    Attributes:
        envs, agents: names, several with commas between.
        budgets: numbers with commas between.
        episodes, preset: a value for all algorithms, or `NAME=VALUE` for one.
        seed: of the run.
        settings, env_settings: `key=value` for algorithms and environments.
        quick: the paper's protocol in minutes.
    """

    envs: Sequence[str] | None = None
    agents: Sequence[str] | None = None
    budgets: str | None = None
    episodes: Sequence[str] | None = None
    seed: int | None = None
    preset: Sequence[str] | None = None
    settings: Sequence[str] | None = None
    env_settings: Sequence[str] | None = None
    quick: bool = False

    def given(self) -> list[str]:
        """The flags that were typed."""
        names = {"settings": "set", "env_settings": "env-set"}
        typed = [item.name for item in fields(self) if getattr(self, item.name) not in (None, False, [], ())]
        return ["--" + names.get(name, name) for name in typed]


def grids_of(what: str | None, flags: Flags) -> tuple[list[Grid], list[str]]:
    """The grids that were asked for, and the modules that a file wants to be imported.

    Args:
        what: "paper", whose protocol the flags then change; a TOML file; or None for the flags alone.
        flags: the flags.

    Raises:
        RecipeError: for whatever makes no sense, with what is allowed.
    """
    if flags.quick and what != PAPER:
        raise RecipeError("--quick belongs to `gsp bench paper`; give --budgets and --episodes instead")
    if what == PAPER:
        return _changed_all(paper_grids(flags.quick), flags), []
    if what is None:
        return [_from_flags(flags)], []
    if not what.endswith(".toml") and not Path(what).exists():
        raise RecipeError(unknown_name("benchmark", what, [PAPER, "GRID.toml"]))
    if flags.given():
        raise RecipeError(f"{what} says what is played; write {', '.join(flags.given())} into it instead")
    return read_grids(Path(what))


def import_modules(modules: Iterable[str]) -> None:
    """Import the modules that register environments and algorithms of others.

    Raises:
        RecipeError: if one cannot be imported.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise RecipeError(
                f"--import {module}: {type(error).__name__}: {error}; a module is found in the current folder or "
                "where Python looks, PYTHONPATH included"
            ) from error


def _from_flags(flags: Flags) -> Grid:
    if not flags.envs or not flags.agents:
        raise RecipeError(
            "say what to play: `gsp bench paper`, a TOML file, or --envs FrozenLake,FourRooms --agents uct,gs-power-uct"
        )
    return _changed(Grid(names_of(flags.envs), names_of(flags.agents), PAPER_BUDGETS), flags)


def _changed_all(grids: Sequence[Grid], flags: Flags) -> list[Grid]:
    """The paper's grids with what the flags say; of their algorithms only those that the flags name."""
    wanted = names_of(flags.agents or PAPER_AGENTS)
    for agent in wanted:
        find_algorithm(agent)
    if others := [agent for agent in wanted if agent not in PAPER_AGENTS]:
        raise RecipeError(
            f"the paper's algorithms are {', '.join(PAPER_AGENTS)}, not {', '.join(others)}; without `paper`, --envs "
            "and --agents take any"
        )
    kept = [(grid, [agent for agent in wanted if agent in grid.agents]) for grid in grids]
    return [_changed(grid, replace(flags, agents=agents), wanted) for grid, agents in kept if agents]


def _changed(grid: Grid, flags: Flags, elsewhere: Sequence[str] = ()) -> Grid:
    """A grid with what the flags say in place of its own; of algorithms `elsewhere` they may speak too."""
    changes: dict[str, Any] = {}
    if flags.envs:
        changes["envs"] = names_of(flags.envs)
    agents = names_of(flags.agents) if flags.agents else tuple(grid.agents)
    changes["agents"] = agents
    if flags.budgets is not None:
        changes["budgets"] = budgets_of(flags.budgets)
    if flags.episodes:
        given = _without(by_algorithm("episodes", flags.episodes, int), agents, elsewhere)
        changes["episodes"] = {**({} if ALL in given else grid.episodes), **given}
    if flags.preset:
        words = by_algorithm("preset", flags.preset, lambda word: None if word == "none" else word)
        given = _without(words, agents, elsewhere)
        changes["presets"] = {**grid.presets, **given}
    if flags.settings:
        changes["options"] = parse_settings(flags.settings)
    if flags.env_settings:
        changes["env_options"] = parse_arguments(flags.env_settings)
    if flags.seed is not None:
        changes["seed"] = flags.seed
    return replace(grid, **changes)


def _without(values: dict[str, Any], agents: Sequence[str], elsewhere: Sequence[str]) -> dict[str, Any]:
    """The values without those of algorithms that are not in this grid but elsewhere."""
    return {name: value for name, value in values.items() if name in agents or name not in elsewhere}


def names_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Names from texts with commas between them, each once."""
    return tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))


def budgets_of(text: str) -> tuple[int, ...]:
    """Numbers of simulations from a text with commas between them."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise RecipeError(
            f"budgets are whole numbers of simulations in ascending order, such as 16,64,256; not {text!r}"
        ) from None


def by_algorithm(name: str, texts: Iterable[str], convert: Callable[[str], Any]) -> dict[str, Any]:
    """Values by algorithm from texts `VALUE` for all and `NAME=VALUE` for one."""
    values: dict[str, Any] = {}
    for text in (part for given in texts for part in given.split(",")):
        agent, sign, value = text.rpartition("=")
        key = agent.strip() if sign else ALL
        if key in values:
            raise RecipeError(f"{name} is given twice for {'all algorithms' if key == ALL else key}")
        try:
            values[key] = convert(value.strip())
        except ValueError:
            raise RecipeError(
                f"{name}: {value.strip()!r} is no number; write --{name} 200 or --{name} gbop=20"
            ) from None
    return values
