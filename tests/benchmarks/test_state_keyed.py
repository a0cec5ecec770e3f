"""Limits of state-keyed graphs, on numbers derived by hand."""

import math

import numpy as np
import pytest

from benchmarks.study.state_keyed import (
    depth_mixture,
    policy_matrix,
    state_keyed_limit,
    uniform_policy,
    visits_by_depth,
)
from gymnasium_gsp.abi import RUNNING
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import backward_induction, enumerate_model
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.tabular import tabular_model_from_arrays

# State 0 goes to 1 or 2 with equal chances; 2 goes to 1; 1 stays for a reward of 1.  So 1 is met at depths 1, 2, ...
FORK, LOOP, DETOUR = range(3)


@pytest.fixture(scope="module")
def fork():
    transitions, rewards = np.zeros((3, 2, 3)), np.zeros((3, 2))
    transitions[FORK, :, [LOOP, DETOUR]] = 0.5
    transitions[[DETOUR, LOOP], :, LOOP] = 1.0
    rewards[LOOP] = 1.0
    return enumerate_model(tabular_model_from_arrays(transitions, rewards), FORK)


def test_visits_by_depth_are_chances_of_being_there(fork):
    visits = visits_by_depth(fork, uniform_policy(fork), 2)
    at = [fork.number(state) for state in (FORK, LOOP, DETOUR)]
    np.testing.assert_allclose(visits[:, at], [[1, 0, 0], [0, 0.5, 0.5], [0, 1, 0]])


def test_the_mixture_weighs_the_values_of_each_depth(fork):
    """With horizon 2, V(loop, 1) = 1 and V(loop, 2) = 0; of 1.5 visits 0.5 are at depth 1: 1/3."""
    mixture = depth_mixture(backward_induction(fork, 2), visits_by_depth(fork, uniform_policy(fork), 2))
    assert mixture[fork.number(LOOP)] == pytest.approx(1 / 3)
    with pytest.raises(RecipeError, match="have the shape"):
        depth_mixture(backward_induction(fork, 3), visits_by_depth(fork, uniform_policy(fork), 2))


def test_a_state_that_is_never_met_has_no_mixture(fork):
    policy = np.zeros((len(fork), 2))
    policy[:, 0] = 1.0
    mixture = depth_mixture(backward_induction(fork, 1), visits_by_depth(fork, policy, 1))
    assert np.isfinite(mixture).all()
    only_root = depth_mixture(backward_induction(fork, 0), visits_by_depth(fork, policy, 0))
    assert np.isnan(only_root[fork.number(LOOP)])


@pytest.mark.parametrize(
    ("weights", "p", "expected"),
    [
        ("normalised", 1.0, 2.0),  # the fixed point of V = 1 + V/2
        ("normalised", math.inf, 2.0),
        ("targets", 1.0, 0.4),  # a third of the visits leaves: V = (1 + V/2) / 3
        ("printed", 1.0, 0.4),
        ("printed", 2.0, 1 / (math.sqrt(3) - 0.5)),  # the fixed point of V = sqrt((1 + V/2)^2 / 3)
    ],
)
def test_limits_of_a_loop_by_hand(fork, weights, p, expected):
    limit = state_keyed_limit(fork, uniform_policy(fork), 2, p, weights, discount=0.5)
    assert limit[fork.number(LOOP)] == pytest.approx(expected)


def test_a_mean_of_targets_keeps_what_was_evaluated_at_the_horizon(fork):
    """With V_0 = 3: V = (1 + V/2) / 3 + 2 at the loop, so V = 2.8."""
    limit = state_keyed_limit(fork, uniform_policy(fork), 2, 1.0, "targets", discount=0.5, leaf_value=3.0)
    assert limit[fork.number(LOOP)] == pytest.approx(2.8)


def test_a_loop_with_reward_has_no_limit_without_discount(fork, monkeypatch):
    monkeypatch.setattr("benchmarks.study.state_keyed.MOST_SWEEPS", 100)
    with pytest.raises(RecipeError, match="no limit after 100 sweeps"):
        state_keyed_limit(fork, uniform_policy(fork), 2)


def test_a_horizon_of_the_enumeration_is_refused(fork):
    short = enumerate_model(fork.model, FORK, horizon=1)
    with pytest.raises(RecipeError, match="enumerate the model without a horizon"):
        state_keyed_limit(short, uniform_policy(short), 1)


def test_a_policy_by_function_and_by_numbers_is_the_same(fork):
    by_function = policy_matrix(fork, lambda cells: [0.0, 1.0])
    np.testing.assert_array_equal(by_function, policy_matrix(fork, [1, 1, 1]))
    np.testing.assert_array_equal(by_function, [[0.0, 1.0]] * 3)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0], r"has the shape \(1,\); it must be one whole number per state, shape \(3,\)"),
        ([0, 2, 0], r"an action that does not exist; allowed: 0 \.\. 1"),
        ([[0.5, 0.5], [0.5, 0.6], [1.0, 0.0]], r"policy of state \(\d,\) is \[0.5, 0.6\]"),
        ([[0.5, 0.5], [-0.5, 1.5], [1.0, 0.0]], r"policy of state \(\d,\)"),
    ],
)
def test_policies_that_are_refused(fork, policy, message):
    with pytest.raises(RecipeError, match=message):
        policy_matrix(fork, policy)


def test_a_policy_takes_legal_actions_alone():
    def step(params, state, action, rng, reward):
        reward[0] = 0.0
        state[0] += 1
        return RUNNING

    def legal(params, state, mask):
        mask[0] = 1.0 if state[0] == 0 else 0.0
        mask[1] = 1.0
        return int(mask[0] + mask[1])

    def law(cells, action):
        return [(1.0, (cells[0] + 1,), 0.0, False)]

    space = enumerate_model(CompiledModel(step, 2, law=law, legal=legal), 0, horizon=1)
    space.legal[1] = [False, True]
    np.testing.assert_array_equal(uniform_policy(space), [[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(RecipeError, match=r"policy of state \(1,\) is \[1.0, 0.0\]; .* legal actions \[1\]"):
        policy_matrix(space, [0, 0])
