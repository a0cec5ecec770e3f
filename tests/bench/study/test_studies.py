"""Each study at its smallest: the numbers are those of independent counts, and they repeat."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from gymnasium_gsp.bench.study import bias, convergence, overhead, sharing
from gymnasium_gsp.bench.study.fresh_search import FreshSearch
from gymnasium_gsp.bench.study.outcome import json_text
from gymnasium_gsp.bench.study.processes import random_process
from gymnasium_gsp.bench.study.slopes import fitted_slopes, slope_interval, student_interval
from gymnasium_gsp.bench.study.trajectories import clear, read, recorded
from gymnasium_gsp.search.ingredients.selection import Uniform
from gymnasium_gsp.search.recipe import Recipe


def rows(study, name):
    table = next(table for table in (*study.tables, *study.data) if table.name == name)
    return [dict(zip((column.key for column in table.columns), row, strict=True)) for row in table.rows]


def test_a_slope_is_that_of_a_straight_line():
    budgets = (16, 64, 256)
    errors = [[3.0 * n**-0.5 for n in budgets], [0.1 * n**0.25 for n in budgets]]
    np.testing.assert_allclose(fitted_slopes(errors, budgets), [-0.5, 0.25])
    assert np.isfinite(fitted_slopes([[1.0, 0.1, 0.0]], budgets)).all()


def test_the_bootstrap_of_a_slope_draws_whole_units():
    """Two units, slopes -1 and 0, so whoever draws one twice gets its slope; all alike leaves no width."""
    budgets = (10, 100)
    slope, low, high = slope_interval([[1.0, 0.1], [1.0, 1.0]], budgets)
    assert slope == pytest.approx(np.log10(0.55))
    assert (low, high) == pytest.approx((-1.0, 0.0))
    assert slope_interval([[1.0, 0.1]] * 5, budgets) == pytest.approx((-1.0, -1.0, -1.0))


def test_students_interval_by_hand():
    """Of 1, 2, 3: mean 2, standard error 1 / sqrt(3), t with 2 degrees of freedom 4.3027."""
    assert student_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))


def test_verdicts_look_at_the_interval():
    assert [convergence.judged(*ends) for ends in ((-0.8, -0.6), (-0.6, -0.4), (-0.4, 0.1))] == [
        "faster",
        "as n^-1/2",
        "slower",
    ]


def test_convergence_measures_every_variant_and_repeats():
    sizes = convergence.ConvergenceSizes((16, 64), 2, 2, 2, ("FactoredRiverSwim",), (8, 16))
    study = convergence.run(sizes, 3)
    assert json_text(study) == json_text(convergence.run(sizes, 3))
    assert study.data[0].rows != convergence.run(sizes, 4).data[0].rows
    found = rows(study, "slopes")
    assert {row["family"] for row in found} == {"tree", "graph of (state, depth)", "graph of states"}
    assert sum(row["place"] == "FactoredRiverSwim" for row in found) == 7
    every = rows(study, "errors")
    for row in found:
        mine = [one for one in every if (one["place"], one["planner"]) == (row["place"], row["planner"])]
        assert len(mine) == (8 if row["place"] == "random processes" else 4)
        ends = sorted({one["budget"] for one in mine})
        for name, budget in zip(("first", "last"), ends, strict=True):
            assert row[name] == pytest.approx(np.mean([one["error"] for one in mine if one["budget"] == budget]))
        assert row["low"] <= row["slope"] <= row["high"]


def test_bias_has_the_hand_made_limits_of_the_chain():
    """Half of the visits at depth 1: the mixture is 2.5, printed weights give 2 + 1/2^(1/p), normalised ones 3."""
    study = bias.run(bias.BiasSizes((16, 4096), 1, 2), 0)
    limits = {row["backup"]: row for row in rows(study, "all-shares") if row["share"] == 0.5}
    by_hand = {"targets": 2.5, "p = 1, printed": 2.5, "p = 2, printed": 2 + 0.5**0.5}
    for name, row in limits.items():
        assert row["limit"] == pytest.approx(by_hand.get(name, 3.0))
        assert row["mixture"] == pytest.approx(2.5)
        assert row["measured"] == pytest.approx(row["limit"], abs=0.03)
    floor = rows(study, "floor")
    assert all(row["floor"] == pytest.approx(0.5) for row in floor)
    assert abs(floor[-1]["shared"] - 0.5) < 0.02
    assert floor[-1]["apart"] < 0.05


def test_the_adaptive_horizon_is_the_papers():
    """H(n) = ceil(log n / (2 log 1/0.7)): 16 gives 3.89, 4096 gives 11.66."""
    study = bias.run(bias.BiasSizes((16, 4096), 1, 2), 0)
    assert [row["horizon"] for row in rows(study, "adaptive")] == [4, 12]
    assert json_text(study) == json_text(bias.run(bias.BiasSizes((16, 4096), 1, 2), 0))


def test_a_recorded_model_plays_what_the_model_plays():
    """Claim: the log takes nothing from the stream, and holds every step; identities, no false alarms."""
    model = random_process(5)
    logged = recorded(model, 400)
    recipe = Recipe(key="state_elapsed", selection=Uniform(), expansion="path")
    plain, watched = (FreshSearch(one, recipe, 4) for one in (model, logged))
    assert plain.plan(100, 1).value == watched.plan(100, 1).value
    trajectories = read(logged, 4)
    assert len(trajectories) == 100
    for steps in trajectories:
        assert len(steps) == 4
        assert steps[0][0] == (0,)
        assert all(before[2] == after[0] for before, after in pairwise(steps))
    clear(logged)
    assert read(logged, 4) == []


def test_a_tree_node_is_everything_that_led_there():
    a, b = ((0,), 0, (1,)), ((0,), 1, (1,))
    trajectories = [[a, ((1,), 0, (2,))], [b, ((1,), 0, (2,))], [a, ((1,), 0, None)]]
    assert {depth: sorted(counts) for depth, counts in sharing.tree_visits(trajectories, 1).items()} == {
        0: [3],
        1: [1, 2],
        2: [1, 1],
    }
    assert sharing.graph_visits(trajectories, 1) == {0: {(0,): 3}, 1: {(1,): 3}, 2: {(2,): 2}}


def test_the_sharing_identity_is_exact_at_every_depth():
    sizes = sharing.SharingSizes((8, 64), ("FactoredRiverSwim", "FourRooms"))
    study = sharing.run(sizes, 1)
    found = rows(study, "all-depths")
    assert len(found) == 2 * (36 + 51)
    for row in found:
        assert row["exact"]
        assert row["graph_visits"] == row["tree_visits"] <= row["budget"]
        assert row["graph_nodes"] <= row["tree_nodes"]
    for row in rows(study, "totals"):
        assert row["depths"] == row["identical"] == row["agreed"]
    assert json_text(study) == json_text(
        sharing.run(sharing.SharingSizes((8, 64), ("FactoredRiverSwim", "FourRooms")), 1)
    )


def test_a_miscounted_graph_would_be_found():
    trajectories = [[((0,), 0, (1,))], [((0,), 1, (1,))]]
    nodes = [{"tag": 0, "key": (0,), "visits": 2}, {"tag": 1, "key": (1,), "visits": 1}]
    root, below = sharing._counted("X", 2, nodes, trajectories, 1)
    assert root.agreed
    assert root.gain == 1 / root.tau == 1
    assert not below.agreed
    assert below.gain != 1 / below.tau


def test_overhead_says_what_a_root_inherits():
    """Nothing where a decision begins anew; under wide chance much less in a tree than in a graph of states."""
    anew, tree, graph = (
        overhead.cost("FrozenLake", algorithm, preset, 64, 12, 2).inherited
        for algorithm, preset in (("power-uct", "printed"), ("power-uct", overhead.KEPT), ("gs-power-uct-f+", "paper"))
    )
    assert anew == 0.0
    assert 0.0 < tree < 0.5
    assert graph > 1.0


def test_overhead_counts_repeat_and_stand_beside_the_published():
    sizes = overhead.OverheadSizes((8, 16), 3, ("FrozenLake",))
    untimed = [
        [{**row, "ms_per_decision": 0, "over_tree": 0} for row in rows(overhead.run(sizes, 2), "costs")]
        for _ in range(2)
    ]
    assert untimed[0] == untimed[1]
    tree = next(row for row in untimed[0] if row["algorithm"] == "power-uct" and row["budget"] == 16)
    assert tree["graph_size"] <= 17
    assert tree["published_nodes"] == 17.0
    assert tree["kibibytes"] > 0
    eight = [row for row in untimed[0] if row["budget"] == 8]
    assert all(row["published_ms"] is None for row in eight)
    graph = overhead.cost("FrozenLake", "gs-power-uct", "paper", 16, 3, 2)
    assert graph.new_nodes < graph.graph_size
    assert dataclasses.replace(graph, milliseconds=0.0) == dataclasses.replace(
        overhead.cost("FrozenLake", "gs-power-uct", "paper", 16, 3, 2), milliseconds=0.0
    )
