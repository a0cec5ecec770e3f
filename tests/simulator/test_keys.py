"""Keys tell states apart exactly, and nothing else."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from simulator.toys import Corridor

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.keys import KeyTable, cast_observation, float_key, freeze


def test_large_arrays_that_differ_in_one_cell_have_different_keys():
    left = np.zeros(2000)
    right = left.copy()
    right[1000] = 1.0
    assert str(left) == str(right)  # what other planners take for a key
    assert freeze(left) != freeze(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0.1, 0.1 + 1e-10),
        (np.float32([1]), np.float64([1])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.int8([1, 0]), np.int16([1])),
        ([1, 2], (1, 2)),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ((1, (2, 3)), ((1, 2), 3)),
        (b"1", "1"),
        ({1}, {2}),
        (None, 0),
    ],
)
def test_what_differs_has_different_keys(left, right):
    assert freeze(left) != freeze(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0.0, -0.0),
        (np.float64(-0.0), 0.0),
        (np.array([0.0, -0.0]), np.array([-0.0, 0.0])),
        ({"a": 1, "b": np.float32([-0.0])}, {"b": np.float32([0.0]), "a": 1}),
        (np.int64(3), 3),
        (np.arange(6)[::2], np.array([0, 2, 4])),
        (np.asfortranarray(np.eye(3)), np.eye(3)),
        ({2, 1}, {1, 2}),
    ],
)
def test_what_is_the_same_has_one_key(left, right):
    assert freeze(left) == freeze(right)
    assert hash(freeze(left)) == hash(freeze(right))


def test_rounding_is_asked_for():
    near = np.float64([0.1, 0.2]), np.float64([0.1 + 1e-6, 0.2])
    assert freeze(near[0]) != freeze(near[1])
    assert gsp.ObservationKey(decimals=3)(None, near[0]) == gsp.ObservationKey(decimals=3)(None, near[1])
    with pytest.raises(gsp.RecipeError, match="decimals"):
        gsp.ObservationKey(decimals=0.5)


@pytest.mark.parametrize("value", [float("nan"), np.array([1.0, np.nan]), {"a": (np.float32("nan"),)}])
def test_nan_is_refused(value):
    with pytest.raises(gsp.PlanningError, match="NaN"):
        freeze(value)


def test_nan_among_plain_numbers_is_refused():
    with pytest.raises(gsp.PlanningError, match="NaN"):
        float_key((1.0, float("nan")))
    assert float_key((1.0, float("inf"))) == (1.0, float("inf"))


def test_a_thing_without_content_is_refused():
    with pytest.raises(gsp.PlanningError, match="state_key"):
        freeze(object())


def test_to_change_an_observation_later_does_not_change_its_key():
    observation = np.zeros(3)
    key = freeze(observation)
    observation[0] = 5.0
    assert key == freeze(np.zeros(3))


class Collides:
    """All of them have one hash, and each is itself."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return self.number == other.number


def test_equal_hashes_stay_two_nodes():
    table = KeyTable()
    assert [table.number(Collides(number)) for number in (0, 1, 0)] == [0, 1, 0]
    env = gym.wrappers.TimeLimit(Corridor(), 8)
    plain = gsp.make_agent(env, "gs-power-uct", budget=60, seed=0)
    colliding = gsp.make_agent(env, "gs-power-uct", budget=60, seed=0, state_key=lambda raw, seen: Collides(seen))
    observation, _ = env.reset(seed=0)
    assert plain.plan(observation).graph_size == colliding.plan(observation).graph_size


def test_a_number_is_never_given_twice():
    table = KeyTable()
    for key in "abc":
        table.number(key)
    table.retain([1])
    assert len(table) == 1
    assert (table.number("b"), table.number("a")) == (1, 3)


@pytest.mark.parametrize(
    ("space", "told", "shown"),
    [
        (spaces.Discrete(5), np.array([3]), 3),
        (spaces.Box(0, 1, (2,)), [0.5, 1.0], np.float32([0.5, 1.0])),
        (spaces.Tuple((spaces.Discrete(3), spaces.Discrete(2))), [np.int64(1), 0], (1, 0)),
        (spaces.Dict({"a": spaces.Discrete(3)}), {"a": np.array(2)}, {"a": 2}),
    ],
)
def test_a_loop_may_change_the_types_of_an_observation(space, told, shown):
    assert freeze(cast_observation(space, told)) == freeze(cast_observation(space, shown))


def test_the_users_own_key_merges_what_it_says():
    env = gym.wrappers.TimeLimit(Corridor(length=9), 12)
    agent = gsp.make_agent(env, "gs-power-uct-f", budget=50, seed=0, state_key=lambda raw, seen: raw.position // 3)
    agent.plan(*env.reset(seed=0))
    assert agent.result.graph_size <= 3


def test_one_key_for_all_states_makes_a_tree_of_action_sequences():
    env = gym.wrappers.TimeLimit(Corridor(length=9, slip=0.5), 3)
    sizes = {}
    for name, key in (("states", None), ("sequences", lambda raw, seen: 0)):
        agent = gsp.make_agent(env, "uct-max", budget=2000, seed=0, state_key=key)
        agent.plan(*env.reset(seed=0))
        sizes[name] = agent.result.graph_size
    assert sizes["sequences"] == 1 + 2 + 4 + 8
    assert sizes["states"] > sizes["sequences"]


def test_a_users_key_must_have_content():
    env = gym.wrappers.TimeLimit(Corridor(), 12)
    agent = gsp.make_agent(env, "uct", budget=5, state_key=lambda raw, seen: raw)
    observation, _ = env.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match="no key can be made of a Corridor"):
        agent.plan(observation)
