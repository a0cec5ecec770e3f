"""Models from tables: what the step draws, what the law says, and what is refused."""

import ctypes

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.tabular import tabular_model, tabular_model_from_arrays

GOLDEN = 0x9E3779B97F4A7C15

# Two live states and an end.  Action 1 in state 0 names its successor 1 twice, and once more with another reward.
TABLE = {
    0: {0: [(1.0, 1, 0.5, False)],
        1: [(0.25, 1, 1.0, False), (0.25, 1, 1.0, False), (0.125, 1, -2.0, False), (0.375, 2, 3.0, True)]},
    1: {0: [(0.5, 0, 0.0, False), (0.0, 1, 9.0, False), (0.5, 2, 1.0, True)], 1: [(1.0, 1, 0.0, False)]},
    2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
}  # fmt: skip


def stepper(model):
    """The compiled step as a Python function (state, action, word) -> (status, next state, reward, word after)."""
    function = ctypes_type(abi.STEP)(model.step_pointer.address)

    def step(state, action, word):
        cells, rng = (ctypes.c_int64 * 1)(state), ctypes.c_uint64(word)
        reward = ctypes.c_double(float("nan"))
        status = function(
            model.params.ctypes.data, ctypes.addressof(cells), action, ctypes.addressof(rng), ctypes.addressof(reward)
        )
        return status, cells[0], reward.value, rng.value

    return step


def test_outcomes_that_agree_are_merged_and_impossible_ones_dropped():
    model = tabular_model(TABLE)
    # 1/4 + 1/4 of (1, reward 1) is one row; (1, reward -2) stays apart; sorted by next state, then reward.
    assert model.law((0,), 1) == [(0.125, (1,), -2.0, False), (0.5, (1,), 1.0, False), (0.375, (2,), 3.0, True)]
    assert model.law((1,), 0) == [(0.5, (0,), 0.0, False), (0.5, (2,), 1.0, True)]


def test_what_the_model_says_of_itself():
    model = tabular_model(TABLE, name="three states")
    assert (model.actions, model.width, model.key_size, model.name) == (2, 1, 1, "three states")
    assert model.reward_bounds == (-2.0, 3.0)  # the 9 has probability 0
    assert not model.needs_gil
    assert [model.terminal(model.cells(state)) for state in (0, 1, 2)] == [False, False, True]


def test_lists_and_dicts_give_the_same_model():
    listed = [[TABLE[state][action] for action in (0, 1)] for state in (0, 1, 2)]
    np.testing.assert_array_equal(tabular_model(listed).params, tabular_model(TABLE).params)


def test_only_an_absorbing_copy_is_terminal():
    # A table that names its start, 0, as the state after the end: 0 is entered by ends alone, and is no end.
    ends = [(1.0, 0, 1.0, True)]
    assert not tabular_model([[[(1.0, 1, 0.0, False)]], [ends]]).terminal(np.array([0]))
    # State 0 returns to itself; once by an end, once going on.
    assert tabular_model([[ends], [ends]]).terminal(np.array([0]))
    assert not tabular_model([[[(1.0, 0, 1.0, False)]], [ends]]).terminal(np.array([0]))


@pytest.mark.parametrize(("state", "action"), [(0, 0), (0, 1), (1, 0)])
def test_draws_follow_the_law(state, action):
    # Each count is binomial; 5.3 standard deviations have a false alarm of 1.2e-7, which for the 6 counts of the three
    # rows makes less than 1e-6 (and the seeds are fixed).
    model, n = tabular_model(TABLE), 4000
    step, word = stepper(model), 12345 + action
    counts: dict[tuple[int, float, bool], int] = {}
    for _ in range(n):
        status, after, reward, word = step(state, action, word)
        outcome = (after, reward, status == abi.TERMINATED)
        counts[outcome] = counts.get(outcome, 0) + 1
    rows = {(cells[0], reward, ended): p for p, cells, reward, ended in model.law((state,), action)}
    assert set(counts) == set(rows)
    for outcome, p in rows.items():
        assert abs(counts[outcome] - n * p) <= 5.3 * np.sqrt(n * p * (1 - p))


def test_every_step_draws_exactly_once():
    model = tabular_model(TABLE)
    step = stepper(model)
    for state in (0, 1, 2):
        for action in (0, 1):
            for word in (0, 1, 2**63, 2**64 - 1):
                *_, after = step(state, action, word)
                assert (after - word) * pow(GOLDEN, -1, 2**64) % 2**64 == 1


@pytest.mark.parametrize(("state", "action"), [(-1, 0), (3, 0), (0, 2), (0, -1)])
def test_a_state_or_action_that_does_not_exist_fails(state, action):
    model = tabular_model(TABLE)
    assert stepper(model)(state, action, 7)[0] == abi.FAILED
    with pytest.raises(RecipeError, match=r"states are 0 \.\. 2, actions 0 \.\. 1"):
        model.law((state,), action)


def word_that_draws(bits):
    """The stream's word before the draw of these 64 bits: splitmix64 backwards."""
    z = bits
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        unmixed = z
        for _ in range(3):
            unmixed = z ^ unmixed >> shift
        z = unmixed * pow(factor, -1, 2**64) % 2**64
    return (z - GOLDEN) % 2**64


def test_the_last_outcome_catches_rounding():
    # The row sums to 1 - 5e-10, and the largest draw, 1 - 2**-53, lies above that.
    model = tabular_model([[[(0.5, 0, 1.0, False), (0.5 - 5e-10, 0, 2.0, False)]]])
    assert stepper(model)(0, 0, word_that_draws(2**64 - 1))[:3] == (abi.RUNNING, 0, 2.0)
    assert stepper(model)(0, 0, word_that_draws(0))[:3] == (abi.RUNNING, 0, 1.0)
    # A draw of 1/2 belongs to the second outcome, the last one below it to the first.
    assert stepper(model)(0, 0, word_that_draws(2**63))[2] == 2.0
    assert stepper(model)(0, 0, word_that_draws(2**63 - 2**11))[2] == 1.0


@pytest.mark.parametrize(
    ("name", "terminal"),
    [("FrozenLake-v1", {5, 7, 11, 12, 15}), ("CliffWalking-v1", {47}), ("Taxi-v3", set()), ("Taxi-v4", set())],
)
def test_toy_text_tables_load(name, terminal):
    if name not in gym.registry:
        pytest.skip(f"this Gymnasium has no {name}")
    # Taxi's ends are also passed through by tables of states that no episode starts in, so none is marked.
    table = gym.make(name).unwrapped.P
    model = tabular_model(table, name=name)
    assert {state for state in table if model.terminal(model.cells(state))} == terminal
    for state in table:
        for action in range(model.actions):
            rows = model.law((state,), action)
            assert abs(sum(row[0] for row in rows) - 1.0) < 1e-12
            assert len({row[1:] for row in rows}) == len(rows)


def test_arrays_and_tables_agree():
    rng = np.random.default_rng(3)
    transitions = rng.dirichlet(np.ones(4), size=(4, 2)) * (rng.random((4, 2, 4)) < 0.7)
    transitions[..., 0] += 1.0 - transitions.sum(axis=2)
    rewards = rng.normal(size=(4, 2, 4))
    ends = np.array([False, False, False, True])
    table = {
        s: {a: [(transitions[s, a, t], t, rewards[s, a, t], ends[t]) for t in range(4)] for a in range(2)}
        for s in range(4)
    }
    arrays = tabular_model_from_arrays(transitions, rewards, ends)
    np.testing.assert_array_equal(arrays.params, tabular_model(table).params)
    by_outcome = tabular_model_from_arrays(transitions, rewards, np.broadcast_to(ends, (4, 2, 4)))
    np.testing.assert_array_equal(arrays.params, by_outcome.params)


def test_rewards_per_action_and_no_end():
    model = tabular_model_from_arrays(np.full((2, 1, 2), 0.5), [[1.0], [2.0]])
    assert model.law((1,), 0) == [(0.5, (0,), 2.0, False), (0.5, (1,), 2.0, False)]
    assert not model.terminal(np.array([1]))


def test_rewards_of_impossible_outcomes_do_not_matter():
    rewards = np.array([[[1.0, np.nan]], [[np.nan, 1.0]]])
    assert tabular_model_from_arrays(np.eye(2)[:, None, :], rewards).reward_bounds == (1.0, 1.0)


def with_row(row):
    """TABLE with another row for state 1, action 1."""
    return {**TABLE, 1: {0: TABLE[1][0], 1: row}}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            with_row([(0.5, 0, 0.0, False), (0.4, 1, 0.0, False)]),
            "state 1, action 1: .* sum to 0.9; they must sum to 1",
        ),
        (with_row([]), "state 1, action 1: .* sum to 0;"),
        (with_row([(-0.5, 0, 0.0, False), (1.5, 0, 0.0, False)]), "state 1, action 1: .* must not be negative"),
        (with_row([(float("nan"), 0, 0.0, False)]), "state 1, action 1: .* must not be negative"),
        (with_row([(1.0, 0, float("inf"), False)]), "state 1, action 1: .* the reward inf; rewards must be finite"),
        (with_row([(1.0, 3, 0.0, False)]), r"state 1, action 1: next state 3 does not exist; states are 0 \.\. 2"),
        (with_row([(1.0, 0.5, 0.0, False)]), "state 1, action 1: .* is no outcome; an outcome is"),
        (with_row([(1.0, 0, 0.0)]), "state 1, action 1: .* is no outcome"),
        (with_row([(1.0, 0, 0.0, "no")]), "state 1, action 1: .* is no outcome"),
        ({**TABLE, 1: {0: TABLE[1][0]}}, "state 1 has 1 actions and state 0 has 2"),
        ({0: TABLE[0], 2: TABLE[2]}, r"the states of a table must be numbered 0 \.\. 1, but 1 is missing"),
        ({**TABLE, 1: {0: TABLE[1][0], 2: TABLE[1][1]}}, "the actions of state 1 must be numbered"),
        ({}, "the states of a table are missing"),
        (7, "must be a dict or a list, not int"),
    ],
)
def test_tables_that_are_refused(table, message):
    with pytest.raises(RecipeError, match=message):
        tabular_model(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"transitions": np.ones((2, 1, 3))}, r"transitions has the shape \(2, 1, 3\)"),
        ({"transitions": np.ones(2)}, r"transitions has the shape \(2,\)"),
        ({"rewards": np.zeros(2)}, r"rewards has the shape \(2,\); allowed are \(2, 1\) and \(2, 1, 2\)"),
        ({"terminated": np.zeros((2, 1), bool)}, r"terminated has the shape \(2, 1\)"),
        ({"terminated": np.zeros(2)}, "the type float64; it must be bool"),
        ({"transitions": [[[0.5, 0.5]], [[0.5, 0.6]]]}, "state 1, action 0: .* sum to 1.1;"),
        ({"transitions": [[[0.5, 0.5]], [[-1.0, 2.0]]]}, "state 1, action 0: .* -1.0; probabilities must not"),
    ],
)
def test_arrays_that_are_refused(arguments, message):
    good = {"transitions": np.full((2, 1, 2), 0.5), "rewards": np.zeros((2, 1))}
    with pytest.raises(RecipeError, match=message):
        tabular_model_from_arrays(**{**good, **arguments})
