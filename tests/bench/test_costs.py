import pytest

from gymnasium_gsp.bench.costs import Costs


def test_nothing_is_known_at_first_and_a_mean_is_a_mean():
    costs = Costs([("lake", "uct", 16)])
    assert costs.seconds(0) is None
    costs.record(0, 3, 3.0)
    costs.record(0, 1, 5.0)
    assert costs.seconds(0) == pytest.approx(2.0)
    assert costs.measured(0)


def test_one_budget_is_scaled_in_proportion_and_two_by_their_power_law():
    costs = Costs([("lake", "gbop", budget) for budget in (16, 32, 64, 256)])
    costs.record(0, 1, 1.0)
    assert costs.seconds(2) == pytest.approx(4.0)
    costs.record(2, 1, 8.0)
    assert costs.seconds(3) == pytest.approx(64.0)
    assert costs.seconds(1) == pytest.approx(8.0**0.5)
    assert not costs.measured(1)


def test_another_environment_says_more_than_another_algorithm():
    costs = Costs([("lake", "uct", 16), ("rooms", "gbop", 16), ("lake", "gbop", 32), ("lake", "ments", 16)])
    costs.record(0, 1, 1.0)
    costs.record(1, 1, 50.0)
    assert costs.seconds(2) == pytest.approx(100.0)
    assert costs.seconds(3) == pytest.approx((1.0 + 50.0) / 2)


def test_series_that_differ_in_other_options_have_costs_of_their_own():
    costs = Costs([("lake", "uct", 16), ("lake", "uct", 16), ("lake", "uct", 16)])
    costs.record(0, 10, 0.01)
    assert costs.seconds(1) == pytest.approx(0.001)
    assert not costs.measured(1)
    costs.record(1, 1, 5.0)
    assert costs.seconds(1) == pytest.approx(5.0)
    assert costs.seconds(0) == pytest.approx(0.001)
