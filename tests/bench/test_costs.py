import pytest

from gymnasium_gsp.bench.costs import Costs


def test_nothing_is_known_at_first_and_a_mean_is_a_mean():
    costs = Costs()
    assert costs.seconds(("lake", "uct", 16)) is None
    costs.record(("lake", "uct", 16), 3, 3.0)
    costs.record(("lake", "uct", 16), 1, 5.0)
    assert costs.seconds(("lake", "uct", 16)) == pytest.approx(2.0)
    assert costs.measured(("lake", "uct", 16))


def test_one_budget_is_scaled_in_proportion_and_two_by_their_power_law():
    costs = Costs()
    costs.record(("lake", "gbop", 16), 1, 1.0)
    assert costs.seconds(("lake", "gbop", 64)) == pytest.approx(4.0)
    costs.record(("lake", "gbop", 64), 1, 8.0)
    assert costs.seconds(("lake", "gbop", 256)) == pytest.approx(64.0)
    assert costs.seconds(("lake", "gbop", 32)) == pytest.approx(8.0**0.5)
    assert not costs.measured(("lake", "gbop", 32))


def test_another_environment_says_more_than_another_algorithm():
    costs = Costs()
    costs.record(("lake", "uct", 16), 1, 1.0)
    costs.record(("rooms", "gbop", 16), 1, 50.0)
    assert costs.seconds(("lake", "gbop", 32)) == pytest.approx(100.0)
    assert costs.seconds(("lake", "ments", 16)) == pytest.approx(50.0**0.5)
