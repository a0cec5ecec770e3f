import shlex

import pytest
from invented_rows import frame, row

from gymnasium_gsp.bench.grid import grids_of, runs_of
from gymnasium_gsp.bench.report.cells import label_episodes
from gymnasium_gsp.bench.report.commands import commands


def rows_of(grids):
    """What a store holds after some grids were played, by cells alone."""
    cells = [(cell, grid.episodes) for grid in grids for cell in grid.cells()]
    return [row(index=index, **dict(cell)) for cell, episodes in cells for index in range(episodes)]


def written(rows):
    return commands(label_episodes(frame(rows)))


ENVS = "--envs FrozenLake,PassengerGrid,FactoredRiverSwim,SysAdminRing,FourRooms"


def test_the_papers_protocol_is_one_command():
    (grid,) = grids_of("paper", {"episodes": 3}).grid
    algorithms, budgets = ",".join(grid.algorithms), ",".join(map(str, grid.budgets))
    assert written(rows_of([grid])) == [
        f"gsp bench {ENVS} --algorithms {algorithms} --budgets {budgets} --episodes 3 --preset paper"
    ]


def test_other_budgets_and_episodes_of_one_algorithm_are_a_second_command():
    others = "uct,power-uct,ments,gs-power-uct,gs-power-uct-f+"
    assert sorted(written(rows_of(grids_of("paper", {}, quick=True).grid))) == [
        f"gsp bench {ENVS} --algorithms gbop --budgets 16,64 --episodes 3 --preset paper",
        f"gsp bench {ENVS} --algorithms {others} --budgets 16,64,256 --episodes 20 --preset paper",
    ]


@pytest.mark.parametrize(
    "given",
    [
        "--envs GSP/FrozenLake-v0 --algorithms uct --budgets 8 --episodes 2",
        "--envs GSP/FrozenLake-v0,GSP/FourRooms-v0 --algorithms uct,brue --budgets 8,16 --episodes 1 --seed 5",
        "--envs GSP/FrozenLake-v0 --algorithms gs-power-uct --budgets '8,Budget(seconds=0.1)' --episodes 1 "
        "--set c=0.5 --set 'horizon=FixedHorizon(depth=10)' --env-set slip=0.1",
        "--envs GSP/FrozenLake-v0 --algorithms 'uct,Recipe(horizon=FixedHorizon(depth=3))' --budgets 8 --episodes 1",
    ],
)
def test_a_command_gives_the_cells_that_it_was_made_from(given):
    def episodes(command):
        """How many episodes each cell has, as `gsp bench` reads the command."""
        flags = {"options": [], "env_options": []}
        words = shlex.split(command)
        for name, value in zip(words[2::2], words[3::2], strict=True):
            key = {"--set": "options", "--env-set": "env_options"}.get(name, name[2:])
            flags[key] = [*flags[key], value] if key in ("options", "env_options") else value
        flags["seed"] = int(flags.get("seed", 0))
        return {run.cell: run.episodes for run in runs_of(grids_of(None, flags).grid)}

    played = episodes(f"gsp bench {given}")
    stored = [row(index=index, **dict(cell)) for cell, count in played.items() for index in range(count)]
    (again,) = written(stored)
    assert episodes(again) == played


def test_texts_of_a_store_are_quoted():
    (command,) = written([row(algorithm="mine", preset="", options="no = option; rm -rf /", env_options="no json")])
    assert shlex.split(command)[-4:] == ["--set", "no = option; rm -rf /", "--env-set", "no json"]
