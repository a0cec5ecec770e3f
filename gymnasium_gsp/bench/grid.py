"""Grids: environments x algorithms x budgets x episodes, the paper's among them, and the cells they consist of."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import gymnasium as gym

import gymnasium_gsp.agents  # noqa: F401 (registers the algorithms)
from gymnasium_gsp.agents.registry import find_algorithm
from gymnasium_gsp.bench.protocol import Run, budget_value, check_count, env_id
from gymnasium_gsp.bench.store import Cell
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.search.budget import Budget, as_budget

ALL = "*"  # in numbers or presets by algorithm: every algorithm that is not named
MOST_EPISODES = 10**7  # of one cell
LARGEST = 2**63 - 1  # what a store's columns hold
PAPER_AGENTS = ("uct", "power-uct", "ments", "gbop", "gs-power-uct", "gs-power-uct-f+")
PAPER_BUDGETS = (16, 32, 64, 128, 256, 512, 1024, 2048)


@dataclass(frozen=True)
class Grid:
    """Environments x algorithms x budgets x episodes.

    Attributes:
        envs: ids for `gymnasium.make`, `module:Id` included, or short names of benchmarks.
        agents: registered algorithms.
        budgets: simulations per decision, ascending.
        episodes: how many are played of each cell, by algorithm; "*" for all that are not named.
        seed: decides the seeds of environment and agent in each episode.
        presets: sets of options by algorithm, "*" for all that are not named; None for none.
        options: further options of every algorithm.
        env_options: keyword arguments for `gymnasium.make`.

    Raises:
        RecipeError: for an empty list, budgets that are not ascending whole numbers, and names that do not fit.
    """

    envs: Sequence[str]
    agents: Sequence[str]
    budgets: Sequence[int] = PAPER_BUDGETS
    episodes: Mapping[str, int] = field(default_factory=lambda: {ALL: 200})
    seed: int = 0
    presets: Mapping[str, str | None] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    env_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("envs", "agents"):
            if not getattr(self, name):
                raise RecipeError(f"a grid needs at least one of {name}")
        check_budgets(self.budgets)
        for agent in self.agents:
            find_algorithm(agent)
        for name, numbers in (("episodes", self.episodes), ("preset", self.presets)):
            for agent in numbers:
                if agent != ALL and agent not in self.agents:
                    raise RecipeError(unknown_name(f"algorithm in {name}", agent, self.agents))
        for agent, number in self.episodes.items():
            name = "episodes" if agent == ALL else f"episodes of {agent}"
            if check_count(name, number) > MOST_EPISODES:
                raise RecipeError(f"{name} may be at most {MOST_EPISODES:,}, not {number:,}")
        if isinstance(self.seed, int) and self.seed > LARGEST:
            raise RecipeError(f"a benchmark's seed may be at most {LARGEST}, not {self.seed}")
        for agent in self.agents:
            if agent not in self.episodes and ALL not in self.episodes:
                raise RecipeError(f"episodes: no number for {agent}")


@dataclass(frozen=True)
class Series:
    """The episodes of one cell.

    Attributes:
        cell: where the store keeps them.
        run: what to play.
        recipe: how the agent plans, as the call that makes it.
    """

    cell: Cell
    run: Run
    recipe: str


def check_budgets(budgets: Sequence[Any]) -> None:
    """Refuse budgets that are not whole numbers, each larger than the one before."""
    whole = all(
        isinstance(budget, int) and not isinstance(budget, bool) and 1 <= budget <= LARGEST for budget in budgets
    )
    if not budgets or not whole or any(a >= b for a, b in pairwise(budgets)):
        given = ", ".join(map(str, budgets)) or "nothing"
        raise RecipeError(
            f"budgets are whole numbers of simulations in ascending order, such as 16, 64, 256; not {given}"
        )


def paper_grids(quick: bool = False) -> list[Grid]:
    """The protocol of the GS-Power-UCT paper, which plays 1,000 episodes a cell; `quick` for less of everything.

    An episode of GBOP takes about a hundred times as long as one of the others, so the quick protocol plays few of it,
    and only with small budgets: one in SysAdminRing with 256 simulations takes minutes.
    """
    everything = Grid([benchmark.id for benchmark in BENCHMARKS], PAPER_AGENTS, presets={ALL: "paper"})
    if not quick:
        return [everything]
    others = [name for name in PAPER_AGENTS if name != "gbop"]
    return [
        replace(everything, agents=others, budgets=(16, 64, 256), episodes={ALL: 20}),
        replace(everything, agents=("gbop",), budgets=(16, 64), episodes={ALL: 3}),
    ]


def series_of(grids: Iterable[Grid], make_env: Callable[[Run], gym.Env[Any, Any]] = Run.make_env) -> list[Series]:
    """Every cell of some grids once, with the most episodes that any of them asks for.

    Args:
        grids: what to play.
        make_env: how the environment of a run is made, to see whether it can be.

    Raises:
        RecipeError: for an unknown algorithm, preset or option, or values that make no sense.
    """
    found: dict[Cell, Series] = {}
    for grid in grids:
        for env in grid.envs:
            for series in _of_env(grid, env, make_env):
                before = found.get(series.cell)
                if before is None or before.run.episodes < series.run.episodes:
                    found[series.cell] = series
    return list(found.values())


def _of_env(grid: Grid, env: str, make_env: Callable[[Run], gym.Env[Any, Any]]) -> list[Series]:
    found: list[Series] = []
    live: gym.Env[Any, Any] | None = None
    for agent in grid.agents:
        run = Run(
            env,
            agent,
            episodes=grid.episodes.get(agent, grid.episodes.get(ALL, 1)),
            seed=grid.seed,
            preset=grid.presets.get(agent, grid.presets.get(ALL)),
            options=grid.options,
            env_options=grid.env_options,
        )
        live = make_env(run) if live is None else live
        recipe = text_without_addresses(repr(run.make_agent(live).recipe))
        for budget in grid.budgets:
            at_budget = replace(run, budget=budget)
            found.append(Series(cell_of(at_budget, env_id(live)), at_budget, recipe))
    if live is not None:
        live.close()
    return found


def cell_of(run: Run, env: str) -> Cell:
    """The cell of a run of a named algorithm, in the environment registered as `env`."""
    return Cell(
        env=env,
        algorithm=str(run.agent),
        preset=run.preset,
        budget=budget_text(as_budget(run.budget)),
        seed=run.seed,
        options=options_text(run.options),
        env_options=arguments_text(run.env_options),
    )


def budget_text(budget: Budget) -> int | str:
    """A budget as a number of simulations if it is nothing else, or as the call that makes it."""
    value = budget_value(budget)
    return value if isinstance(value, int) else f"Budget({', '.join(f'{k}={v!r}' for k, v in value.items())})"


def options_text(options: Mapping[str, Any]) -> str:
    """Options of an algorithm in one spelling, `name=value` sorted by name; "" for none."""
    return text_without_addresses(", ".join(f"{name}={options[name]!r}" for name in sorted(options)))


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments of an environment in one spelling, as sorted JSON; "" for none."""
    return json.dumps(dict(arguments), sort_keys=True, default=repr) if arguments else ""


def text_without_addresses(text: str) -> str:
    """A repr that is the same in every process: functions and objects without where they live."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
