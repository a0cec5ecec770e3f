import math
import sys
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest
from invented_rows import paper, row, rows

from gymnasium_gsp.bench.report.cells import half_width, measure, planners_of
from gymnasium_gsp.bench.report.provenance import gaps, provenance
from gymnasium_gsp.exact import shipped_optima


def only(found):
    (cell,) = measure(found)
    return cell


def test_the_numbers_of_a_cell_by_hand():
    cell = only(rows([0.0, 1.0, 1.0, 0.0], algorithm="uct", budget=64))
    assert (cell.mean, cell.standard_error) == (0.5, pytest.approx(math.sqrt(1 / 3) / 2))
    assert cell.optimum == shipped_optima()["GSP/FrozenLake-v0"]
    assert cell.share == pytest.approx(0.5 / cell.optimum)
    assert cell.published.mean == 0.006
    # each episode: 10 decisions, 0.01 s, 600 nodes
    assert (cell.ms_per_decision, cell.nodes_per_decision) == (pytest.approx(1.0), 60.0)
    assert half_width(cell) == pytest.approx(3.1824 * cell.standard_error, rel=1e-4)  # Student's t with 3 degrees


def test_a_single_episode_has_no_standard_error():
    cell = only([row(total_reward=1.0)])
    assert cell.standard_error is None
    assert half_width(cell) is None
    assert (cell.z, cell.verdict) == (None, "too few episodes")


def test_seeds_are_episodes_of_one_cell():
    cell = only(rows([1.0, 2.0], seed=0) + rows([3.0, 6.0], seed=1))
    assert cell.mean == 3.0
    assert list(cell.episodes) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_the_optimum_is_that_of_the_layouts_played():
    found = [
        row(env="GSP/FourRooms-v0", index=i, total_reward=r, optimum=o)
        for i, (r, o) in enumerate([(0.3, 0.4), (0.5, 0.8)])
    ]
    cell = only(found)
    assert cell.optimum == pytest.approx(0.6)
    assert cell.share == pytest.approx(0.4 / 0.6)
    assert not cell.alarm


def test_arguments_change_the_optimum_and_leave_nothing_published():
    cell = only(rows([1.0, 1.0], env_options='{"slip": 0.0}'))
    assert cell.optimum == pytest.approx(1.0)
    assert cell.published is None
    assert cell.verdict is None
    assert cell.environment.label == 'FrozenLake ({"slip": 0.0})'


def test_what_nobody_knows_is_left_empty():
    cell = only(rows([1.0, 2.0], env="Nobody/Knows-v0", algorithm="mine", preset=None))
    assert (cell.optimum, cell.share, cell.published, cell.published_cost, cell.z, cell.verdict) == (None,) * 6


def test_a_module_that_only_a_store_names_is_not_imported():
    assert only(rows([1.0, 2.0], env="antigravity:Own-v0")).optimum is None
    assert "antigravity" not in sys.modules


def test_an_environment_that_cannot_be_made_has_no_optimum():
    def broken():
        raise ZeroDivisionError

    gym.register("BrokenHere-v0", broken)
    try:
        assert only(rows([1.0], env="BrokenHere-v0")).optimum is None
    finally:
        del gym.registry["BrokenHere-v0"]


def test_episodes_without_a_finite_return_are_left_out_and_counted():
    found = [*rows([1.0, math.nan, math.inf, 3.0]), row(index=9, total_reward=None)]
    assert only(found).mean == 2.0
    assert "3 episodes without a finite return" in provenance(found).warnings()[0]


def test_other_budgets_come_after_numbers_and_have_nothing_published():
    cells = measure(rows([1.0], budget="Budget(seconds=0.1)") + rows([1.0], budget=2048) + rows([1.0], budget=16))
    assert [cell.budget for cell in cells] == [16, 2048, "Budget(seconds=0.1)"]
    assert cells[-1].published is None


def test_planners_stand_in_the_papers_order_and_are_told_apart():
    found = [
        *rows([1.0], algorithm="zeta", preset=None),
        *rows([1.0], algorithm="gs-power-uct", preset=None),
        *rows([1.0], algorithm="gs-power-uct", options="c=0.5"),
        *rows([1.0], algorithm="gs-power-uct"),
        *rows([1.0], algorithm="uct"),
    ]
    assert [planner.label for planner in planners_of(measure(found))] == [
        "uct (paper)",
        "gs-power-uct (paper)",
        "gs-power-uct (defaults)",
        "gs-power-uct (paper, c=0.5)",
        "zeta (defaults)",
    ]
    assert [planner.label for planner in planners_of(measure(paper(2)))] == [
        "uct", "power-uct", "ments", "gbop", "gs-power-uct", "gs-power-uct-f+",
    ]  # fmt: skip


def test_numbers_like_the_papers_are_reproduced_and_shifted_ones_are_not():
    """Claim: returns with the published mean and spread are reproduced in all of 240 cells, at 1e-6 a cell."""
    cells = measure(paper(200))
    assert Counter(cell.verdict for cell in cells) == {"reproduced": 240}
    assert not any(cell.alarm for cell in cells)
    shifted = [cell for cell in measure(paper(200, envs=["SysAdminRing"], shift=-3.0))]
    assert {cell.verdict for cell in shifted} == {"not reproduced"}


def test_gaps_are_named():
    found = rows(np.ones(4), algorithm="uct", budget=16) + rows(np.ones(4), algorithm="uct", budget=32)
    found += rows(np.ones(2), algorithm="ments", budget=16) + rows(
        np.ones(4), env="GSP/FourRooms-v0", algorithm="uct", budget=16
    )
    assert [str(gap) for gap in gaps(measure(found))] == [
        "uct at 32: no episodes in FourRooms.",
        "ments at 16: 2 episodes only in FrozenLake.",
        "ments at 32: no episodes in FrozenLake.",
        "ments at 16, 32: no episodes in FourRooms.",
    ]
    assert gaps(measure(paper(3))) == []


def test_mixed_versions_machines_and_recipes_are_flagged():
    found = [*rows([1.0, 1.0]), row(index=5, versions='{"numpy": "1"}', machine='{"cpu": "another"}', recipe="Other()")]
    words = " ".join(provenance(found).warnings())
    for kind in ("Mixed versions", "Mixed machines", "Mixed recipes"):
        assert kind in words
    assert provenance(rows([1.0, 1.0])).warnings() == []
