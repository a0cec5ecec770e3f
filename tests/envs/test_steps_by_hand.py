"""Single steps whose outcome is worked out by hand from the rules in the docstrings."""

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp.abi import uniform

LEFT, DOWN, RIGHT, UP = range(4)
GRIDS = ["FrozenLake", "PassengerGrid", "FourRooms"]


def make(name, **arguments):
    """A bare environment after its first reset."""
    env = gym.make(f"GSP/{name}-v0", **arguments).unwrapped
    env.reset(seed=0)
    return env


def step_from(env, cells, action, elapsed=0):
    """What `step` returns from the given cells."""
    env.set_state(env.clone_state()._replace(cells=cells, elapsed=elapsed, terminated=False))
    return env.step(action)


def next_uniform(env):
    """The number in [0, 1) that the next step draws, by the recipe in `abi`."""
    state = env.np_random.bit_generator.state
    word = np.array([env.np_random.integers(2**64, dtype=np.uint64)])
    env.np_random.bit_generator.state = state
    with np.errstate(over="ignore"):
        return uniform.py_func(word)


@pytest.mark.parametrize(
    ("action", "frozen_lake", "passenger_grid", "four_rooms"),
    [
        (LEFT, 8, [0, 1, 0], 11),
        (DOWN, 17, [1, 2, 1], 23),
        (RIGHT, 10, [2, 1, 0], 13),
        (UP, 1, [1, 0, 0], 1),
    ],
)
def test_directions_without_slip(action, frozen_lake, passenger_grid, four_rooms):
    """From x = 1, y = 1, below which the first passenger waits."""
    assert step_from(make("FrozenLake", slip=0), (9,), action)[0] == frozen_lake
    assert step_from(make("PassengerGrid", slip=0), (8,), action)[0].tolist() == passenger_grid
    assert step_from(make("FourRooms", slip=0), (12, 0), action)[0][0] == four_rooms


@pytest.mark.parametrize("name", GRIDS)
def test_a_small_number_turns_left_a_larger_one_right(name):
    env, straight = make(name, slip=0.2), make(name, slip=0)
    start = (3 * 8 + 1,) if name == "FrozenLake" else env.clone_state().cells
    turns = set()
    for i in range(200):
        action, u = i % 4, next_uniform(env)
        turn = -1 if u < 0.2 else 1 if u < 0.4 else 0
        turns.add(turn)
        turned = step_from(env, start, action)
        assert np.array_equal(turned[0], step_from(straight, start, (action + turn) % 4)[0])
    assert turns == {-1, 0, 1}


@pytest.mark.parametrize(
    ("place", "action", "after", "reward", "terminated"),
    [
        (55, DOWN, 63, 1.0, True),  # the goal
        (11, DOWN, 19, 0.0, True),  # a hole
        (0, LEFT, 0, 0.0, False),
        (7, UP, 7, 0.0, False),
        (7, RIGHT, 7, 0.0, False),
        (56, DOWN, 56, 0.0, False),
    ],
)
def test_frozen_lake(place, action, after, reward, terminated):
    assert step_from(make("FrozenLake", slip=0), (place,), action)[:3] == (after, reward, terminated)


@pytest.mark.parametrize(("mask", "reward"), [(0, 0), (1, 1), (2, 1), (4, 1), (3, 3), (5, 3), (6, 3), (7, 7)])
def test_passenger_grid_pays_by_number_on_board(mask, reward):
    observation, paid, terminated, _, _ = step_from(make("PassengerGrid", slip=0), (mask * 42 + 5,), RIGHT)
    assert observation.tolist() == [6, 0, mask]
    assert (paid, terminated) == (reward, True)


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        ([1, 3, 6], UP, [1, 2, 7]),
        ([0, 4, 0], DOWN, [0, 5, 2]),
        ([5, 4, 2], RIGHT, [6, 4, 6]),
        ([2, 2, 1], LEFT, [1, 2, 1]),
    ],
)
def test_passenger_grid_takes_passengers_on_board(before, action, after):
    x, y, mask = before
    observation, paid, terminated, _, _ = step_from(make("PassengerGrid", slip=0), (mask * 42 + y * 7 + x,), action)
    assert observation.tolist() == after
    assert (paid, terminated) == (0.0, False)


@pytest.mark.parametrize(
    ("positions", "action", "reward"),
    [
        ((0, 0, 0), 0b000, 0.3 / 6),
        ((0, 0, 0), 0b111, 0.0),
        ((3, 0, 0), 0b001, 1.2 / 6),
        ((3, 0, 0), 0b100, 0.1 / 6),
        ((0, 0, 3), 0b100, 1.2 / 6),
        ((3, 3, 2), 0b111, 2.0 / 6),
        ((3, 3, 3), 0b011, 2.0 / 6),
        ((3, 3, 3), 0b111, 7.0 / 6),
        ((2, 2, 2), 0b111, 0.0),  # even where all three arrive: the reward is that of before the move
    ],
)
def test_factored_river_swim_pays_before_the_move(positions, action, reward):
    cell = sum(position << 8 * chain for chain, position in enumerate(positions))
    assert step_from(make("FactoredRiverSwim"), (cell,), action)[1] == pytest.approx(reward, abs=1e-15)


def test_factored_river_swim_rests_downstream():
    env = make("FactoredRiverSwim")
    assert step_from(env, (3 | 1 << 8 | 0 << 16,), 0)[0].tolist() == [2, 0, 0]


@pytest.mark.parametrize(("chains", "bonus", "factor"), [(1, 2, 2), (2, 3, 4), (3, 4, 6), (7, 8, 14)])
def test_factored_river_swim_with_other_numbers_of_rivers(chains, bonus, factor):
    env = make("FactoredRiverSwim", chains=chains, length=2)
    cell = sum(1 << 8 * chain for chain in range(chains))
    assert step_from(env, (cell,), 2**chains - 1)[1] == pytest.approx((chains + bonus) / factor, abs=1e-15)


def test_sysadmin_ring_looks_at_the_machine_before():
    env = make("SysAdminRing")
    idle = env.actions - 1
    first, last = env.factors((1,), idle), env.factors((1 << 19,), idle)
    assert first == (0.525, 0.0475, *[0.0238] * 18)
    assert last == (0.0475, *[0.0238] * 18, 0.525)
    assert env.factors((0b11,), idle)[1] == 0.95
    assert env.factors((0,), 7) == (*[0.0238] * 7, 1.0, *[0.0238] * 12)


def test_sysadmin_ring_pays_after_the_move():
    observation, reward, terminated, _, _ = step_from(make("SysAdminRing"), (0,), 7)
    assert observation[7] == 1
    assert observation.dtype == np.int8
    assert reward == observation.sum() / 20 > 0
    assert not terminated


@pytest.mark.parametrize(("elapsed", "reward"), [(0, 0.982), (24, 0.55), (49, 0.1)])
def test_four_rooms_pays_less_for_later(elapsed, reward):
    env = make("FourRooms", slip=0)
    env.set_state(env.clone_state()._replace(layout=(*env.clone_state().layout[:4], 13, (5, 71, 55, 61))))
    observation, paid, terminated, truncated, _ = step_from(env, (12, elapsed), RIGHT, elapsed)
    assert observation.tolist() == [13, 13, 5, 71, 55, 61]
    assert paid == pytest.approx(reward, abs=1e-15)
    assert (terminated, truncated) == (True, elapsed == 49)


@pytest.mark.parametrize(
    ("place", "action", "after"),
    [
        (4, RIGHT, 5),  # through the upper door
        (5, RIGHT, 6),
        (5, DOWN, 5),  # the wall below the door
        (15, RIGHT, 15),  # the wall beside the room
        (44, DOWN, 55),  # through the left door
        (45, DOWN, 45),
        (10, RIGHT, 10),
        (110, DOWN, 110),
    ],
)
def test_four_rooms_has_walls_and_doors(place, action, after):
    env = make("FourRooms", slip=0)
    env.set_state(env.clone_state()._replace(layout=(*env.clone_state().layout[:4], 13, (5, 71, 55, 61))))
    assert step_from(env, (place, 0), action)[0][0] == after


@pytest.mark.parametrize(
    ("before", "heading", "place", "reward", "terminated"),
    [
        ([5, 5, 0], 0, [5, 6], -1.0, False),  # with the wind, along y
        ([5, 5, 0], 1, [6, 6], -2.0, False),
        ([5, 5, 0], 2, [6, 5], -3.0, False),
        ([5, 5, 0], 3, [6, 4], -4.0, False),
        ([5, 5, 2], 7, [4, 6], -4.0, False),
        ([5, 5, 7], 6, [4, 5], -2.0, False),
        ([5, 5, 5], 4, [5, 4], -2.0, False),
        ([5, 5, 5], 5, [4, 4], -1.0, False),
        ([5, 5, 0], 4, [5, 5], -4.0, False),  # into the wind: not legal, the boat stays
        ([0, 5, 6], 6, [0, 5], -4.0, False),  # off the lake: the same, whatever the wind
        ([8, 8, 1], 1, [9, 9], -1.0, True),
        ([8, 9, 1], 2, [9, 9], -2.0, True),
    ],
)
def test_sailing(before, heading, place, reward, terminated):
    env = make("Sailing", size=10)
    x, y, wind = before
    observation, paid, ended, _, _ = step_from(env, ((x * 10 + y) * 8 + wind,), heading)
    assert observation[:2].tolist() == place
    assert (observation[2] - wind) % 8 in (0, 1, 7)
    assert (paid, ended) == (reward, terminated)


@pytest.mark.parametrize(
    ("state", "headings"),
    [([0, 0, 0], {0, 1, 2}), ([0, 0, 5], {0, 2}), ([5, 5, 3], {0, 1, 2, 3, 4, 5, 6}), ([9, 4, 6], {0, 4, 5, 6, 7})],
)
def test_headings_that_sailing_allows(state, headings):
    env = make("Sailing", size=10, start=state)
    _, info = env.reset(seed=0)
    assert set(np.flatnonzero(info["action_mask"]).tolist()) == headings
    assert info["action_mask"].dtype == np.int8


def test_the_wind_turns_as_published():
    """Rows of the source's matrix, from wind to wind."""
    env = make("Sailing", size=10)
    law = [{cells[0] & 7: p for p, cells, _, _ in env.transitions((55 * 8 + wind,), 0)} for wind in (0, 1, 4, 7)]
    assert law == [
        {0: 0.4, 1: 0.3, 7: 0.3},
        {0: 0.4, 1: 0.3, 2: 0.3},
        {3: 0.4, 4: 0.2, 5: 0.4},
        {0: 0.4, 6: 0.3, 7: 0.3},
    ]
