import shlex

import pytest
from gymnasium_gsp.bench.grid_flags import Flags, grids_of
from gymnasium_gsp.bench.protocol import full_id
from invented_rows import frame, row

from gymnasium_gsp.bench.grid import ALL, PAPER_AGENTS, PAPER_BUDGETS, paper_grids, series_of
from gymnasium_gsp.bench.report.commands import commands


def rows_of(grids):
    """What a store holds after some grids were played, by cells alone."""
    return [
        row(
            env=full_id(env),
            algorithm=agent,
            budget=budget,
            index=index,
            seed=grid.seed,
            preset=grid.presets.get(ALL) or "",
        )
        for grid in grids
        for env in grid.envs
        for agent in grid.agents
        for budget in grid.budgets
        for index in range(grid.episodes.get(agent, grid.episodes.get(ALL)))
    ]


def written(rows):
    return commands(frame(rows))


ENVS = "--envs FrozenLake,PassengerGrid,FactoredRiverSwim,SysAdminRing,FourRooms"


def test_the_papers_protocol_is_one_command():
    budgets = ",".join(map(str, PAPER_BUDGETS))
    assert written(rows_of(grids_of("paper", Flags(episodes=["3"]))[0])) == [
        f"gsp bench {ENVS} --agents {','.join(PAPER_AGENTS)} --budgets {budgets} --episodes 3 --preset paper"
    ]


def test_other_budgets_and_episodes_of_one_algorithm_are_a_second_command():
    others = "uct,power-uct,ments,gs-power-uct,gs-power-uct-f+"
    assert sorted(written(rows_of(paper_grids(quick=True)))) == [
        f"gsp bench {ENVS} --agents gbop --budgets 16,64 --episodes 3 --preset paper",
        f"gsp bench {ENVS} --agents {others} --budgets 16,64,256 --episodes 20 --preset paper",
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
        stored += [
            row(index=index, **{**fields, "preset": fields["preset"] or ""}) for index in range(series.run.episodes)
        ]
    (again,) = written(stored)
    assert {series.cell: series.run.episodes for series in cells(shlex.split(again))} == {
        series.cell: series.run.episodes for series in played
    }


def test_what_cannot_be_read_is_quoted_as_it_stands():
    (command,) = written([row(algorithm="mine", preset="", options="no = option; rm -rf /", env_options="no json")])
    assert "--set 'no = option; rm -rf /' --env-set 'no json'" in command
    assert written([row(budget="Budget(seconds=0.1)")]) == []
