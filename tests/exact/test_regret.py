"""Regret along an episode: by hand, against enumeration, and against returns."""

from itertools import product

import gymnasium as gym
import numpy as np
import pytest
from small_processes import WAIT_OR_GO, corridor

import gymnasium_gsp  # noqa: F401  registers the environments
from gymnasium_gsp.exact import Regret, backward_induction, enumerate_model, episode_optimum, steps_until_over
from gymnasium_gsp.exact import regret as room
from gymnasium_gsp.exact.sysadmin import SysAdminValues
from gymnasium_gsp.models.tabular import tabular_model

# State 0: with probability 1/2 again, else the end; action 0 pays 1 each time, action 1 pays 3 at the end alone.
LEAVING = {0: {0: [(0.5, 0, 1.0, False), (0.5, 1, 1.0, True)], 1: [(0.5, 0, 0.0, False), (0.5, 1, 3.0, True)]}}
LEAVING[1] = {action: [(1.0, 1, 0.0, True)] for action in range(2)}


def test_decisions_are_summed_by_what_they_give_up():
    """Three steps left: Q(0) = (3.5, 3.25); two: (2, 2.5); in state 1 both actions pay 4."""
    regret = Regret(tabular_model(WAIT_OR_GO), 0, 3)
    assert (regret.optimum, regret.total) == (3.5, 0.0)
    regret.add(0, 1)
    assert regret.total == 0.25
    regret.add(0, 0)
    assert regret.total == 0.75
    regret.add(1, 1)
    assert regret.total == 0.75


def test_what_is_given_up_later_is_discounted_as_the_return_is():
    """Discount 1/2: with two steps left Q(0) = (1 + 1/2, (4 + 1) / 4), with one (1, 0)."""
    regret = Regret(tabular_model(WAIT_OR_GO), 0, 2, discount=0.5)
    assert regret.optimum == 1.5
    regret.add(0, 1)
    regret.add(0, 1)
    assert regret.total == 0.25 + 0.5 * 1.0


def test_without_a_time_limit_the_process_must_end_by_itself():
    """Leaving: V = 1 + V / 2 = 2 by action 0 alone, V = 3 / 2 + V / 2 = 3 by action 1; waiting may last for ever."""
    regret = Regret(tabular_model(LEAVING), 0, None)
    assert regret.optimum == pytest.approx(3.0, abs=1e-8)
    for _ in range(2):
        regret.add(0, 0)
    assert regret.total == pytest.approx(1.0, abs=1e-8)  # Q(0, 0) = 1 + 3 / 2
    assert Regret(tabular_model(WAIT_OR_GO), 0, None).optimum is None
    assert Regret(tabular_model(WAIT_OR_GO), 0, None, discount=0.5).optimum == pytest.approx(2.0, abs=1e-8)


def test_what_is_left_out_without_a_time_limit_is_below_the_tolerance():
    """After k steps 3 * 2^-k is to come, and the largest expected reward is 3/2: here the bound is the truth."""
    space = enumerate_model(tabular_model(LEAVING), 0)
    steps = steps_until_over(space, tolerance=1e-6)
    assert 3.0 - backward_induction(space, steps).value(0) <= 1.5e-6
    assert 3.0 - backward_induction(space, steps - 1).value(0) > 1.5e-6
    assert steps_until_over(enumerate_model(tabular_model(WAIT_OR_GO), 0)) is None


@pytest.mark.parametrize("arguments", [{"law": None}, {"law": lambda cells, action: [(0.5, cells, 0.0, False)]}])
def test_without_a_law_there_is_no_regret(arguments):
    regret = Regret(corridor(**arguments), 0, 3)
    regret.add(0, 0)
    assert (regret.optimum, regret.total) == (None, None)


def test_too_large_a_process_has_none(monkeypatch):
    monkeypatch.setattr(room, "MOST_OUTCOMES", 10)
    assert Regret(corridor(), 0, 30).total is None
    assert Regret(corridor(), 0, 4).total == 0.0
    monkeypatch.setattr(room, "MOST_VALUES", 10)
    assert Regret(corridor(), 0, 5).total is None


def test_a_state_that_the_law_does_not_lead_to_ends_the_sum():
    regret = Regret(corridor(), 0, 4)
    regret.add(17, 0)
    regret.add(1, 0)
    assert regret.total is None


def test_four_rooms_agree_with_their_enumeration():
    env = gym.make("GSP/FourRooms-v0").unwrapped
    env.reset(seed=4)
    start, model = env.clone_state(), env.compiled_model()
    truth = backward_induction(enumerate_model(model, start.cells, 50), 50)
    values = room.FourRoomsValues(model, 50)
    rng = np.random.default_rng(0)
    for number in rng.integers(len(truth.space), size=40):
        cells = truth.space.states[number].tolist()
        if cells[1] < 50 and np.isfinite(truth.values[cells[1], number]):
            np.testing.assert_allclose(values.q_values(cells), truth.q_values(cells, cells[1]), atol=1e-12)
    assert Regret(model, start.cells, 50).optimum == pytest.approx(episode_optimum(env), abs=1e-12)


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("machines", [1, 2, 5])
def test_rings_of_machines_agree_with_their_enumeration(machines, discount):
    model = gym.make("GSP/SysAdminRing-v0", machines=machines).unwrapped.compiled_model()
    truth = backward_induction(enumerate_model(model, 0), 6, discount)
    values = SysAdminValues(model, 6, discount)
    for depth, state in product((0, 3, 5), range(2**machines)):
        np.testing.assert_allclose(values.q_values(state, depth), truth.q_values(state, depth), atol=1e-13)


def test_too_large_a_ring_has_none(monkeypatch):
    monkeypatch.setitem(
        room.ORACLES, "SysAdminRing", lambda model, start, steps, discount: SysAdminValues(model, steps)
    )
    model = gym.make("GSP/SysAdminRing-v0", machines=40).unwrapped.compiled_model()
    assert Regret(model, 0, 3).optimum is None


def test_the_mean_regret_is_the_mean_loss():
    """Claim: optimum - return - regret has mean 0, for uniform play in PassengerGrid with 30 steps.

    Sample: 1,500 episodes with fixed seeds; the normal quantile 4.9 gives a false alarm of 1e-6.
    """
    env = gym.make("GSP/PassengerGrid-v0", horizon=30)
    rng, differences, losses = np.random.default_rng(1), [], []
    for episode in range(1500):
        env.reset(seed=episode)
        core, total, done = env.unwrapped, 0.0, False
        regret = Regret(core.compiled_model(), core.clone_state().cells, 30)
        while not done:
            action = int(rng.integers(4))
            regret.add(core.clone_state().cells, action)
            _, reward, terminated, truncated, _ = env.step(action)
            total, done = total + reward, terminated or truncated
        differences.append(regret.optimum - total - regret.total)
        losses.append(regret.optimum - total)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 4.9 * error
    assert np.mean(losses) > 4.9 * error  # so that the claim says something
