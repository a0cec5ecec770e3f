"""Enumeration, backward induction and value iteration, on numbers derived by hand."""

import numpy as np
import pytest
from small_processes import WAIT_OR_GO, corridor

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import backward_induction, enumerate_model, truncated_value, value_iteration
from gymnasium_gsp.models.tabular import tabular_model, tabular_model_from_arrays


@pytest.fixture(scope="module")
def space():
    return enumerate_model(tabular_model(WAIT_OR_GO), 0)


def random_model(states=6, actions=3, seed=0):
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(states), size=(states, actions))
    return transitions, rng.random((states, actions)), rng


def test_terminal_states_are_not_enumerated(space):
    assert space.states.tolist() == [[0], [1]]
    assert space.distance.tolist() == [0, 1]
    assert space.horizon is None


def test_backward_induction(space):
    truth = backward_induction(space, 3)
    # One step left: V(0) = max(1, 0), V(1) = 4.  Two: V(0) = max(1 + 1, 4/2 + 1/2).  Three: max(1 + 2.5, 2 + 1.25).
    np.testing.assert_allclose(truth.values, [[3.5, 4.0], [2.5, 4.0], [1.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(truth.q_values(0), [3.5, 3.25])
    np.testing.assert_allclose(truth.q_values(0, depth=1), [2.0, 2.5])
    assert truth.value(1, depth=2) == 4.0
    assert truth.value(2) == 0.0  # terminal


def test_discount_and_leaf_values(space):
    # discount 1/2, V_0 = (8, 20): V(0) = max(1 + 4, (20/2 + 8/2) / 2) = 7; the end after state 1 has no V_0.
    truth = backward_induction(space, 1, discount=0.5, leaf_value=[8.0, 20.0])
    np.testing.assert_allclose(truth.values[0], [7.0, 4.0])
    by_function = backward_induction(space, 1, discount=0.5, leaf_value=lambda cells: 8.0 + 12.0 * cells[0])
    np.testing.assert_array_equal(by_function.values, truth.values)
    # V_0 = 8 everywhere: max(1 + 4, 4).
    assert backward_induction(space, 1, 0.5, 8.0).value(0) == 5.0
    assert truncated_value(tabular_model(WAIT_OR_GO), 0, 1, 0.5, 8.0) == 5.0


def test_value_iteration(space):
    # discount 1/2: staying is worth 1 / (1 - 1/2) = 2, going (4/2 + 2/2) / 2 = 1.5.
    solution = value_iteration(space, 0.5, tolerance=1e-12)
    np.testing.assert_allclose(solution.values, [2.0, 4.0], atol=1e-12)
    np.testing.assert_allclose(solution.q_values(0), [2.0, 1.5], atol=1e-12)
    assert solution.value(2) == 0.0
    assert solution.error_bound <= 1e-12


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9, 0.99])
def test_error_bound_of_value_iteration_holds(discount):
    transitions, rewards, _ = random_model()
    space = enumerate_model(tabular_model_from_arrays(transitions, rewards), 0)
    loose, exact = value_iteration(space, discount, 1e-2), value_iteration(space, discount, 1e-11)
    greedy = exact.space.q_values(exact.values, discount).argmax(axis=1)
    order = [number for (number,) in space.states.tolist()]
    matrix = transitions[order, greedy][:, order]
    solved = np.linalg.solve(np.eye(6) - discount * matrix, rewards[order, greedy])
    np.testing.assert_allclose(exact.values, solved, atol=1e-10)
    assert np.abs(loose.values - solved).max() <= loose.error_bound + 1e-10 <= 1e-2 + 1e-10


def test_a_horizon_bounds_the_enumeration():
    # A corridor without end: from n to n + 1, reward n.  Three steps from 5 earn 5 + 6 + 7.
    model = corridor()
    assert truncated_value(model, 5, 3) == 18.0
    space = enumerate_model(model, 5, horizon=3)
    assert space.states[:, 0].tolist() == [5, 6, 7, 8]
    truth = backward_induction(space, 3)
    # State 8 is met after three steps only; what it would be worth earlier is not known.
    assert np.isnan(truth.values[:3, 3]).all()
    np.testing.assert_array_equal(truth.values[[0, 1, 2, 3], [0, 1, 2, 3]], [18.0, 13.0, 7.0, 0.0])


def test_enumerating_less_changes_no_known_value():
    transitions, rewards, _ = random_model(states=12)
    transitions = np.where(transitions > 0.15, transitions, 0.0)  # sparse, so that some states are far
    transitions[:, :, 0] += 1.0 - transitions.sum(axis=2)
    model = tabular_model_from_arrays(transitions, rewards)
    whole = backward_induction(enumerate_model(model, 0), 2)
    part = backward_induction(enumerate_model(model, 0, horizon=2), 2)
    assert part.value(0) == pytest.approx(whole.value(0), abs=1e-15)


def test_an_ended_root_is_worth_nothing():
    space = enumerate_model(tabular_model(WAIT_OR_GO), 2)
    assert len(space) == 1
    assert backward_induction(space, 4, leaf_value=7.0).values.tolist() == [[0.0]] * 5
    assert value_iteration(space, 0.9).values.tolist() == [0.0]


def only_action_one_above_zero(params, state, mask):
    mask[0] = 1.0 if state[0] == 0 else 0.0
    mask[1] = 1.0 if state[0] < 3 else 0.0
    return int(mask[0] + mask[1])


def test_illegal_actions():
    model = corridor(legal=only_action_one_above_zero)
    space = enumerate_model(model, 0, horizon=2)
    assert space.legal[:2].tolist() == [[True, True], [False, True]]
    assert backward_induction(space, 2).q_values(1, depth=1).tolist() == [-np.inf, 1.0]
    with pytest.raises(RecipeError, match=r"state \(3,\) has no legal action"):
        enumerate_model(model, 0, horizon=4)


@pytest.mark.parametrize("leaf_value", [[1.0], np.zeros((2, 1)), np.zeros(3)])
def test_leaf_values_of_the_wrong_shape(space, leaf_value):
    with pytest.raises(RecipeError, match=r"leaf_value \(V_0\) has the shape .*, shape \(2,\)"):
        backward_induction(space, 1, leaf_value=leaf_value)


def test_leaf_values_that_are_no_numbers(space):
    with pytest.raises(RecipeError, match="must be finite"):
        backward_induction(space, 1, leaf_value=[0.0, float("nan")])


def test_a_model_without_law():
    with pytest.raises(RecipeError, match=r"corridor has no exact law.*law=function"):
        enumerate_model(corridor(law=None), 0, horizon=3)


def test_too_many_states():
    with pytest.raises(RecipeError, match=r"corridor has too many states.*: 50 were met when 49 .*; raise limit="):
        enumerate_model(corridor(), 0, limit=50)
    assert len(enumerate_model(corridor(), 0, horizon=49, limit=50)) == 50


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0.5, (1,), 0.0, False), r"the law of state \(0,\), action 0 sums to 0.5; it must sum to 1"),
        ((-1.0, (1,), 0.0, False), r"state \(0,\), action 0 has a row with probability -1.0"),
        ((1.0, (1,), float("nan"), False), "and reward nan; allowed are"),
    ],
)
def test_laws_that_are_none(row, message):
    with pytest.raises(RecipeError, match=message):
        enumerate_model(corridor(law=lambda cells, action: [row]), 0, horizon=1)


def test_horizons_and_discounts_that_are_refused(space):
    part = enumerate_model(corridor(), 0, horizon=3)
    with pytest.raises(RecipeError, match=r"enumerated for 3 steps.*horizon of 4; call enumerate_model with horizon=4"):
        backward_induction(part, 4)
    with pytest.raises(RecipeError, match=r"enumerated for 3 steps only.*without a horizon"):
        value_iteration(part, 0.9)
    with pytest.raises(RecipeError, match=r"discount of at least 0 and below 1.*backward_induction"):
        value_iteration(space, 1.0)
    with pytest.raises(RecipeError, match="discount between 0 and 1"):
        backward_induction(space, 3, discount=1.5)
    with pytest.raises(RecipeError, match="there are no actions at depth 3"):
        backward_induction(space, 3).q_values(0, depth=3)


def test_a_tolerance_below_rounding_still_ends():
    transitions, rewards, _ = random_model()
    space = enumerate_model(tabular_model_from_arrays(transitions, rewards), 0)
    assert value_iteration(space, 0.99, 1e-300).error_bound < 1e-10
