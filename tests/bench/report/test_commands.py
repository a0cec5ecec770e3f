import shlex

import pytest
from invented_rows import row

from gymnasium_gsp.bench.grid import ALL, paper_grids, series_of
from gymnasium_gsp.bench.grid_flags import Flags, grids_of
from gymnasium_gsp.bench.protocol import full_id
from gymnasium_gsp.bench.report.commands import commands


def rows_of(grids):
    """What a store holds after some grids were played, by cells alone."""
    return [
        row(env=full_id(env), algorithm=agent, budget=budget, index=index, seed=grid.seed, preset=grid.presets.get(ALL))
        for grid in grids
        for env in grid.envs
        for agent in grid.agents
        for budget in grid.budgets
        for index in range(grid.episodes.get(agent, grid.episodes.get(ALL)))
    ]


def test_the_papers_protocol_is_one_command():
    assert commands(rows_of(grids_of("paper", Flags(episodes=["3"]))[0])) == ["gsp bench paper --episodes 3"]
    assert commands(rows_of(paper_grids(quick=True))) == ["gsp bench paper --quick"]


def test_fewer_episodes_of_one_algorithm_are_a_second_command():
    grids, _ = grids_of("paper", Flags(episodes=["3", "gbop=2"], budgets="16,32", envs=["FrozenLake"]))
    rest = "--budgets 16,32 --episodes"
    assert commands(rows_of(grids)) == [
        f"gsp bench paper --envs FrozenLake --agents uct,power-uct,ments,gs-power-uct,gs-power-uct-f+ {rest} 3",
        f"gsp bench paper --envs FrozenLake --agents gbop {rest} 2",
    ]


@pytest.mark.parametrize(
    "given",
    [
        "--envs GSP/FrozenLake-v0 --agents uct --budgets 8 --episodes 2",
        "--envs GSP/FrozenLake-v0,GSP/FourRooms-v0 --agents uct,brue --budgets 8,16 --episodes 1 --seed 5",
        "--envs GSP/FrozenLake-v0 --agents gs-power-uct --budgets 8 --episodes 1 "
        "--set c=0.5 --set 'horizon=FixedHorizon(depth=10)' --env-set slip=0.1",
    ],
)
def test_a_command_gives_the_cells_that_it_was_made_from(given):
    def cells(words):
        flags = {"settings": [], "env_settings": []}
        for name, value in zip(words[2::2], words[3::2], strict=True):
            key = {"--set": "settings", "--env-set": "env_settings"}.get(name)
            if key is not None:
                flags[key].append(value)
            else:
                flags[name[2:]] = {"budgets": value, "seed": value}.get(name[2:], [value])
        flags["seed"] = int(flags["seed"]) if "seed" in flags else None
        return series_of(grids_of(None, Flags(**flags))[0])

    played = cells(shlex.split(f"gsp bench {given}"))
    stored = []
    for series in played:
        fields = vars(series.cell)
        stored += [row(index=index, **fields) for index in range(series.run.episodes)]
    (again,) = commands(stored)
    assert {series.cell: series.run.episodes for series in cells(shlex.split(again))} == {
        series.cell: series.run.episodes for series in played
    }


def test_what_cannot_be_read_is_quoted_as_it_stands():
    (command,) = commands([row(algorithm="mine", preset=None, options="no = option; rm -rf /", env_options="no json")])
    assert "--set 'no = option; rm -rf /' --env-set 'no json'" in command
    assert commands([row(budget="Budget(seconds=0.1)")]) == []
