import math
import sys
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest
from invented_rows import frame, paper, row, rows

from gymnasium_gsp.bench.report.cells import label_episodes, measure, names_of
from gymnasium_gsp.bench.report.commands import commands
from gymnasium_gsp.bench.report.provenance import failures, gaps, warnings_on
from gymnasium_gsp.bench.report.tables import return_table
from gymnasium_gsp.exact import shipped_optima


def measured(found):
    return measure(label_episodes(frame(found)))


def only(found):
    cells = measured(found)
    assert len(cells) == 1
    return cells.iloc[0]


def missing(*values):
    return all(math.isnan(value) for value in values)


def test_regret_stands_beside_the_return_where_it_is_known():
    found = [row(index=index, total_reward=0.5, regret=regret) for index, regret in enumerate((0.1, 0.3, None))]
    cells = measured([*found, row(algorithm="ments")])
    cell, other = cells.itertuples()
    assert (cell.mean_regret, cell.regret_standard_error) == (pytest.approx(0.2), pytest.approx(0.1))
    assert missing(other.mean_regret, other.regret_standard_error)
    shown = return_table(cells, "FrozenLake", "returns").frame
    assert shown[shown[""] == "regret"].iloc[0, 2] == "0.200 ± 0.100"
    assert (shown[""] == "regret").sum() == 1


def test_the_numbers_of_a_cell_by_hand():
    cell = only(rows([0.0, 1.0, 1.0, 0.0], algorithm="uct", budget=64))
    assert (cell.mean_return, cell.standard_error) == (0.5, pytest.approx(math.sqrt(1 / 3) / 2))
    assert cell.optimum == shipped_optima()["GSP/FrozenLake-v0"]
    assert cell.percent_of_optimum == pytest.approx(50.0 / cell.optimum)
    assert cell.published_mean == 0.006
    # each episode: 10 decisions, 0.01 s, 600 nodes
    assert (cell.ms_per_decision, cell.nodes_per_decision) == (pytest.approx(1.0), 60.0)
    # Student's t with 3 degrees of freedom
    assert cell.interval_half_width == pytest.approx(3.1824 * cell.standard_error, rel=1e-4)


def test_a_single_episode_has_no_standard_error():
    cell = only([row(total_reward=1.0)])
    assert missing(cell.standard_error, cell.interval_half_width, cell.z)
    assert cell.verdict == "too few episodes"


def test_seeds_are_episodes_of_one_cell():
    cell = only(rows([1.0, 2.0], seed=0) + rows([3.0, 6.0], seed=1))
    assert (cell.mean_return, cell.episodes) == (3.0, 4)


def test_the_optimum_is_that_of_the_layouts_played():
    cell = only(
        [
            row(env="GSP/FourRooms-v0", index=i, total_reward=r, optimum=o)
            for i, (r, o) in enumerate([(0.3, 0.4), (0.5, 0.8)])
        ]
    )
    assert (cell.optimum, cell.draws_layouts) == (pytest.approx(0.6), True)
    assert cell.percent_of_optimum == pytest.approx(40.0 / 0.6)
    assert not cell.above_optimum


def test_an_optimum_of_some_layouts_alone_is_none():
    cell = only(
        [row(index=0, total_reward=0.3, optimum=0.4), row(index=1, total_reward=0.5)],
    )
    assert missing(cell.optimum, cell.percent_of_optimum)


def test_arguments_change_the_optimum_and_leave_nothing_published():
    cell = only(rows([1.0, 1.0], env_options='{"slip": 0.0}'))
    assert cell.optimum == pytest.approx(1.0)
    assert missing(cell.published_mean)
    assert cell.verdict == ""
    assert cell.environment == 'FrozenLake ({"slip": 0.0})'


def test_what_nobody_knows_is_left_empty():
    cell = only(rows([1.0, 2.0], env="Nobody/Knows-v0", algorithm="mine", preset=""))
    assert missing(cell.optimum, cell.percent_of_optimum, cell.published_mean, cell.z)
    assert cell.verdict == ""


def test_a_module_that_only_a_store_names_is_not_imported():
    assert missing(only(rows([1.0, 2.0], env="antigravity:Own-v0")).optimum)
    assert "antigravity" not in sys.modules


def test_an_environment_that_cannot_be_made_has_no_optimum():
    def broken():
        raise ZeroDivisionError

    gym.register("BrokenHere-v0", broken)
    try:
        assert missing(only(rows([1.0], env="BrokenHere-v0")).optimum)
    finally:
        del gym.registry["BrokenHere-v0"]


def test_episodes_without_a_finite_return_are_left_out_and_counted():
    found = [*rows([1.0, math.nan, math.inf, 3.0]), row(index=9, total_reward=None)]
    cell = only(found)
    assert (cell.mean_return, cell.episodes, cell.failed) == (2.0, 2, 3)
    notice = failures(label_episodes(frame(found)))
    assert notice.lines == ["uct in FrozenLake at 64: 3 of 5 episodes without a finite return, left out of the mean."]
    assert notice.commands == ["gsp run FrozenLake --algorithm uct --budget 64 --episodes 10 --preset paper"]


def test_a_failed_cell_is_marked_with_the_command_that_plays_it():
    cell = {
        "preset": "",
        "seed": 3,
        "options": "c=0.5",
        "env_options": '{"slip": 0.0}',
        "budget": "Budget(seconds=0.1)",
    }
    (command,) = failures(label_episodes(frame(rows([math.nan, 1.0], **cell)))).commands
    assert command == (
        "gsp run FrozenLake --algorithm uct --budget 'Budget(seconds=0.1)' --episodes 2 --seed 3 --set c=0.5 "
        """--env-set '{"slip": 0.0}'"""
    )
    assert failures(label_episodes(frame(rows([1.0])))).lines == []


def test_a_cell_whose_episodes_all_failed_is_kept_without_numbers():
    cells = measured([*rows([1.0, 2.0]), *rows([math.nan, math.nan], algorithm="ments")])
    failed = cells[cells.algorithm == "ments"].iloc[0]
    assert (failed.episodes, failed.failed) == (0, 2)
    assert missing(failed.mean_return, failed.optimum, failed.z, failed.ms_per_decision)
    assert not failed.above_optimum


def test_other_budgets_come_after_numbers_and_have_nothing_published():
    cells = measured(rows([1.0], budget="Budget(seconds=0.1)") + rows([1.0], budget=2048) + rows([1.0], budget=16))
    assert list(cells.budget) == ["16", "2048", "Budget(seconds=0.1)"]
    assert missing(cells.published_mean.iloc[-1])


def test_planners_stand_in_the_papers_order_and_are_told_apart():
    found = [
        *rows([1.0], algorithm="zeta", preset=""),
        *rows([1.0], algorithm="gs-power-uct", preset=""),
        *rows([1.0], algorithm="gs-power-uct", options="c=0.5"),
        *rows([1.0], algorithm="gs-power-uct"),
        *rows([1.0], algorithm="uct"),
    ]
    assert names_of(measured(found).planner) == [
        "uct (paper)",
        "gs-power-uct (paper)",
        "gs-power-uct (defaults)",
        "gs-power-uct (paper, c=0.5)",
        "zeta (defaults)",
    ]
    assert names_of(measured(paper(2)).planner) == [
        "uct", "power-uct", "ments", "gbop", "gs-power-uct", "gs-power-uct-f+",
    ]  # fmt: skip


def test_verdicts_are_for_the_papers_own_settings():
    cells = measured(
        [*rows([0.0, 1.0] * 20), *rows([0.0, 1.0] * 20, preset=""), *rows([0.0, 1.0] * 20, options="c=0.5")]
    )
    assert list(cells.published_mean) == [0.006] * 3
    assert list(cells.verdict) == ["better", "", ""]
    assert list(cells.z.isna()) == [False, True, True]


def test_numbers_like_the_papers_are_reproduced_and_shifted_ones_are_not():
    """Claim: returns with the published mean and spread are reproduced in all of 240 cells, at 1e-6 a cell."""
    cells = measured(paper(200))
    assert Counter(cells.verdict) == {"reproduced": 240}
    assert not cells.above_optimum.any()
    assert set(measured(paper(200, envs=["SysAdminRing"], shift=-3.0)).verdict) == {"not reproduced"}


def test_successes_alone_are_an_alarm_only_where_chance_cannot_explain_them():
    """Nobody was seen to fail: 0.9132^100 = 1e-4 and 0.9132^200 = 1e-8 decide, as if a failure returned 0."""
    for episodes, alarm in ((1, False), (20, False), (100, False), (200, True)):
        assert only(rows(np.ones(episodes))).above_optimum == alarm
    assert not only(rows(np.ones(200), env_options='{"slip": 0.0}')).above_optimum  # the optimum itself


def test_gaps_are_named():
    found = rows(np.ones(4), algorithm="uct", budget=16) + rows(np.ones(4), algorithm="uct", budget=32)
    found += rows(np.ones(2), algorithm="ments", budget=16) + rows(
        np.ones(4), env="GSP/FourRooms-v0", algorithm="uct", budget=16
    )
    notice = gaps(label_episodes(frame(found)), measured(found))
    assert notice.lines == [
        "ments in FrozenLake at 16: 2 episodes only.",
        "ments in FrozenLake at 32: no episodes.",
        "uct in FourRooms at 32: no episodes.",
        "ments in FourRooms at 16, 32: no episodes.",
    ]
    assert notice.commands == [
        "gsp bench --envs FrozenLake,FourRooms --algorithms ments --budgets 16,32 --episodes 4 --preset paper",
        "gsp bench --envs FourRooms --algorithms uct --budgets 32 --episodes 4 --preset paper",
    ]
    assert gaps(label_episodes(frame(paper(3))), measured(paper(3))).lines == []


def test_commands_import_what_registers_the_environments_and_the_planners():
    boom = {"env": "Boom-v0", "preset": "", "modules": "boom"}
    mine = {"algorithm": "mine", "preset": "", "modules": "boom my.planners"}
    found = [*rows([1.0, math.nan], **boom), *rows([1.0, 1.0], **mine, env="Boom-v0"), *rows([1.0, 1.0], preset="")]
    episodes = label_episodes(frame(found))
    assert sorted(commands(episodes)) == [
        "gsp bench --envs Boom-v0 --algorithms mine --budgets 64 --episodes 2 --import boom --import my.planners",
        "gsp bench --envs Boom-v0 --algorithms uct --budgets 64 --episodes 2 --import boom",
        "gsp bench --envs FrozenLake --algorithms uct --budgets 64 --episodes 2",
    ]
    (again,) = failures(episodes).commands
    assert again == "gsp run Boom-v0 --algorithm uct --budget 64 --episodes 2 --import boom"
    (gap,) = gaps(episodes, measured(found)).commands
    assert (
        gap
        == "gsp bench --envs FrozenLake --algorithms mine --budgets 64 --episodes 2 --import boom --import my.planners"
    )


def test_gaps_of_several_seeds_are_played_with_each():
    cells = [{"seed": seed, "algorithm": name} for seed in (1, 2) for name in ("uct", "brue")]
    found = [row(index=index, **cell) for cell in cells for index in range(4)]
    found += rows(np.ones(2), seed=2, algorithm="ments")
    notice = gaps(label_episodes(frame(found)), measured(found))
    assert notice.lines == ["ments in FrozenLake at 64: 2 episodes only."]
    assert [command.partition("--episodes ")[2] for command in notice.commands] == [
        "4 --preset paper --seed 1",
        "4 --preset paper --seed 2",
    ]


def test_failed_episodes_are_no_gap():
    found = rows([1.0, 1.0]) + rows([math.nan, math.nan], algorithm="ments")
    assert gaps(label_episodes(frame(found)), measured(found)).lines == []


def test_mixed_versions_machines_and_recipes_are_flagged():
    found = [*rows([1.0, 1.0]), row(index=5, versions='{"numpy": "1"}', machine='{"cpu": "another"}', recipe="Other()")]
    words = " ".join(warnings_on(label_episodes(frame(found))).lines)
    for kind in ("Mixed versions", "Mixed machines", "Mixed recipes"):
        assert kind in words
    assert warnings_on(label_episodes(frame(rows([1.0, 1.0])))).lines == []
