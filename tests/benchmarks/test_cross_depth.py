"""The cross-depth gap, on numbers derived by hand."""

import gymnasium as gym
import numpy as np
import pytest
from small_processes import WAIT_OR_GO, corridor

import gymnasium_gsp  # noqa: F401  registers the environments
from benchmarks.study.cross_depth import cross_depth_gap
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import backward_induction, enumerate_model
from gymnasium_gsp.models.tabular import tabular_model, tabular_model_from_arrays


def test_the_cross_depth_gap():
    truth = backward_induction(enumerate_model(tabular_model(WAIT_OR_GO), 0), 3)
    # V(0, h) = 3.5, 2.5, 1 and V(1, h) = 4 before the horizon.
    gap = cross_depth_gap(truth, {0: {0, 2}, (1,): [1, 2], 2: {2, 3}})
    assert gap.gaps == {(0,): 2.5, (1,): 0.0, (2,): 0.0}
    assert gap.largest == 2.5
    # The Bellman residual of V_0 = 0 is 4, in state 1; discount 1 counts it once per depth between the two.
    assert gap.bounds == {(0,): 8.0, (1,): 4.0, (2,): 4.0}
    assert cross_depth_gap(truth, {0: {1}}).largest == 0.0
    assert cross_depth_gap(truth, {}).largest == 0.0


def test_the_paper_bounds_every_gap():
    # (discount**(H - largest depth) - discount**(H - smallest depth)) / (1 - discount) * |B V_0 - V_0|.
    rng = np.random.default_rng(9)
    transitions, rewards = rng.dirichlet(np.ones(6), size=(6, 3)), rng.random((6, 3))
    space = enumerate_model(tabular_model_from_arrays(transitions, rewards), 0)
    leaf_value = rng.random(6)
    truth = backward_induction(space, 8, 0.9, leaf_value)
    gap = cross_depth_gap(truth, {state: {state, 8 - state, 7} for state in range(6)})
    residual = np.abs(truth.values[7] - leaf_value).max()
    for state in range(6):
        near, far = min(state, 8 - state), max(state, 8 - state, 7)
        assert gap.bounds[state,] == pytest.approx((0.9 ** (8 - far) - 0.9 ** (8 - near)) / 0.1 * residual)
        assert 0.0 < gap.gaps[state,] <= gap.bounds[state,]


def test_depths_that_cannot_be():
    truth = backward_induction(enumerate_model(corridor(), 5, horizon=3), 3)
    with pytest.raises(RecipeError, match=r"state \(7,\) cannot be met at depth 1"):
        cross_depth_gap(truth, {7: {1, 2}})
    with pytest.raises(RecipeError, match=r"state \(7,\) was met at depths \[2, 4\]; allowed are some of 0 .. 3"):
        cross_depth_gap(truth, {7: {2, 4}})
    with pytest.raises(RecipeError, match=r"state \(99,\) is not among the 4 states"):
        cross_depth_gap(truth, {99: {2}})


def test_the_cross_depth_gap_where_the_clock_is_no_part_of_the_key():
    env = gym.make("GSP/FourRooms-v0", room_size=2)
    env.reset(seed=1)
    model, root = env.unwrapped.compiled_model(), env.unwrapped.clone_state().cells
    truth = backward_induction(enumerate_model(model, root, horizon=10), 10)
    by_key = cross_depth_gap(truth, {root[0]: {0, 2, 4}})
    values = [truth.value((root[0], depth), depth) for depth in (0, 2, 4)]
    assert by_key.largest == max(values) - min(values) > 0.0
