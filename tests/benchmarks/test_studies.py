"""Each study at its smallest: the numbers are those of independent counts, and they repeat."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.searches import FreshSearch
from benchmarks.study import bias, convergence, overhead, sharing
from benchmarks.study.overhead import published_costs
from benchmarks.study.random_processes import random_process
from benchmarks.study.slopes import fitted_slopes, slope_interval, student_interval
from benchmarks.study.trajectories import clear, read, recorded
from gymnasium_gsp.search.ingredients.selection import Uniform
from gymnasium_gsp.search.recipe import Recipe


def frame(study, name):
    return next(table.rows for table in study.tables if table.name == name)


def rows(study, name):
    return frame(study, name).to_dict("records")


def numbers(study):
    """All that a study measured, as text."""
    return study.page() + "".join(table.rows.to_csv() for table in study.tables)


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
    assert [convergence.judge(*ends) for ends in ((-0.8, -0.6), (-0.6, -0.4), (-0.4, 0.1))] == [
        "faster",
        "as n^-1/2",
        "slower",
    ]


def test_convergence_measures_every_planner_and_repeats():
    sizes = convergence.Sizes((16, 64), 2, 2, 2, ("FactoredRiverSwim",), (8, 16))
    study = convergence.run(sizes, 3)
    assert numbers(study) == numbers(convergence.run(sizes, 3))
    errors, slopes = frame(study, "errors"), frame(study, "slopes")
    assert not errors.equals(frame(convergence.run(sizes, 4), "errors"))
    assert set(slopes["keys"]) == {"tree", "graph of (state, depth)", "graph of states"}
    assert (slopes["place"] == "FactoredRiverSwim").sum() == 7
    for row in slopes.to_dict("records"):
        mine = errors[(errors["place"] == row["place"]) & (errors["planner"] == row["planner"])]
        assert len(mine) == (8 if row["place"] == "random processes" else 4)
        for name, budget in zip(("first", "last"), sorted(set(mine["budget"])), strict=True):
            assert row[name] == pytest.approx(mine[mine["budget"] == budget]["error"].mean())
        assert row["low"] <= row["slope"] <= row["high"]


def test_bias_has_the_hand_made_limits_of_the_chain():
    """Half of the visits at depth 1: the mixture is 2.5, printed weights give 2 + 1/2^(1/p), normalised ones 3."""
    study = bias.run(bias.Sizes((16, 4096), 1, 2), 0)
    limits = {row["backup"]: row for row in rows(study, "all-shares") if row["share"] == 0.5}
    by_hand = {"targets": 2.5, "p = 1, printed": 2.5, "p = 2, printed": 2 + 0.5**0.5}
    for name, row in limits.items():
        assert row["own_limit"] == pytest.approx(by_hand.get(name, 3.0))
        assert row["mixture"] == pytest.approx(2.5)
        assert row["V(s)"] == pytest.approx(row["own_limit"], abs=0.03)
    floor = rows(study, "floor")
    assert all(row["formula"] == pytest.approx(0.5) for row in floor)
    assert abs(floor[-1]["shared"] - 0.5) < 0.02
    assert floor[-1]["depths apart"] < 0.05


def test_the_adaptive_horizon_is_the_papers():
    """H(n) = ceil(log n / (2 log 1/0.7)): 16 gives 3.89, 4096 gives 11.66."""
    study = bias.run(bias.Sizes((16, 4096), 1, 2), 0)
    assert list(frame(study, "adaptive")["H(n)"]) == [4, 12]
    assert numbers(study) == numbers(bias.run(bias.Sizes((16, 4096), 1, 2), 0))


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
    sizes = sharing.Sizes((8, 64), ("FactoredRiverSwim", "FourRooms"))
    study = sharing.run(sizes, 1)
    found = rows(study, "all-depths")
    assert len(found) == 2 * (36 + 51)
    for row in found:
        assert row["exact"]
        assert row["graph_visits"] == row["tree_visits"] <= row["n"]
        assert row["graph_nodes"] <= row["tree_nodes"]
    for row in rows(study, "totals"):
        assert row["depths"] == row["exact"] == row["log = store"]
    assert numbers(study) == numbers(sharing.run(sizes, 1))


def test_a_miscounted_graph_would_be_found():
    trajectories = [[((0,), 0, (1,))], [((0,), 1, (1,))]]
    nodes = [{"tag": 0, "key": (0,), "visits": 2}, {"tag": 1, "key": (1,), "visits": 1}]
    root, below = sharing.count_depths(nodes, trajectories, 1).to_dict("records")
    assert root["log = store"]
    assert root["exact"]
    assert root["gain"] == root["1 / tau"] == 1
    assert not below["log = store"]
    assert not below["exact"]
    assert below["gain"] != below["1 / tau"]


def test_overhead_says_what_a_root_inherits():
    """Nothing where a decision begins anew; under wide chance much less in a tree than in a graph of states."""
    anew, tree, graph = (
        overhead.cost("FrozenLake", algorithm, preset, 64, 12, 2)["inherited"]
        for algorithm, preset in (("power-uct", "printed"), ("power-uct", overhead.KEPT), ("gs-power-uct-f+", "paper"))
    )
    assert anew == 0.0
    assert 0.0 < tree < 0.5
    assert graph > 1.0


def test_overhead_counts_repeat_and_stand_beside_the_published():
    sizes = overhead.Sizes((8, 16), 3, ("FrozenLake",))
    first, again = (frame(overhead.run(sizes, 2), "costs").drop(columns=["ms", "over_tree"]) for _ in range(2))
    assert first.equals(again)
    tree = first[(first["algorithm"] == "power-uct") & (first["preset"] == "printed") & (first["n"] == 16)].iloc[0]
    assert tree["stored"] <= 17
    assert tree["published_nodes"] == 17.0
    assert tree["KiB"] > 0
    assert first[first["n"] == 8]["published_ms"].isna().all()
    graph = first[(first["algorithm"] == "gs-power-uct") & (first["preset"] == "paper") & (first["n"] == 16)].iloc[0]
    assert graph["new_nodes"] < graph["stored"]


def test_the_published_overhead_is_whole():
    costs = published_costs()
    assert len(costs) == 45
    assert costs["FourRooms", "power-uct", 16] == {"ms_per_decision": 0.0146, "expanded_nodes": 17.0}
