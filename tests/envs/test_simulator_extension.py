"""Saving, restoring and doubling an environment: what a planner does beside a running episode."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.envs.compiled_env import EnvState

OTHER_LAYOUTS = [
    ("FrozenLake", {"slip": 0.2}),
    ("FrozenLake", {"desc": ["S" + "F" * 62 + "G"]}),
    ("PassengerGrid", {"passengers": [[1, 2], [0, 5], [6, 5]]}),
    ("PassengerGrid", {"slip": 0.2}),
    ("FactoredRiverSwim", {"length": 5}),
    ("SysAdminRing", {"machines": 19}),
    ("FourRooms", {"room_size": 4}),
    ("Sailing", {"size": 99}),
    ("Sailing", {"start": [0, 1, 0]}),
    ("Sailing", {"discount": 1.0}),
    ("FourRooms", {"slip": 0.2}),
    *[(entry.name, {"horizon": 7}) for entry in ENVIRONMENTS],
]


def bare(name, **arguments):
    """A bare environment of the registry."""
    return gym.make(f"GSP/{name}-v0", **arguments).unwrapped


def walk(env, steps, seed=0):
    """Random play that ends with the episode; returns what `step` returned."""
    actions = np.random.default_rng(seed)
    record = []
    for _ in range(steps):
        observation, *rest, _ = env.step(actions.integers(env.actions))
        record.append((np.array(observation).tolist(), *rest))
        if rest[1] or rest[2]:
            break
    return record


def random_state(env):
    """The state of the environment's generator."""
    return env.np_random.bit_generator.state


def test_state_is_a_small_plain_value(env):
    env.reset(seed=0)
    walk(env, 3)
    state = env.clone_state()
    assert len(pickle.dumps(state)) < 400
    assert pickle.loads(pickle.dumps(state)) == state
    assert hash(state) == hash(copy.deepcopy(state))


def test_state_holds_no_randomness(env):
    env.reset(seed=0)
    state = env.clone_state()
    env.np_random.random(5)
    assert env.clone_state() == state
    after = random_state(env)
    env.set_state(state)
    assert random_state(env) == after


def test_round_trip(env):
    env.reset(seed=0)
    walk(env, 4)
    state, generator = env.clone_state(), random_state(env)
    future = walk(env, 50, seed=1)
    env.set_state(state)
    env.np_random.bit_generator.state = generator
    assert env.clone_state() == state
    assert walk(env, 50, seed=1) == future


def test_another_stream_gives_another_future(env):
    """256 continuations of random play under fresh words are not all the same."""
    env.reset(seed=0)
    state = env.clone_state()
    futures = set()
    for _ in range(256):
        env.set_state(state)
        futures.add(repr(walk(env, 30, seed=1)))
    assert len(futures) > 1


def test_sibling_starts_where_the_original_is(env):
    env.reset(seed=0)
    walk(env, 4)
    sibling = env.make_simulator(seed=1)
    assert type(sibling) is type(env)
    assert sibling.unwrapped is sibling
    assert sibling.clone_state() == env.clone_state()
    assert np.array_equal(sibling.observe(sibling.clone_state().cells), env.observe(env.clone_state().cells))
    assert walk(sibling, 30) == walk(env.make_simulator(seed=1), 30)


def test_sibling_of_an_environment_that_has_not_begun(env):
    sibling = env.make_simulator(seed=1)
    assert sibling.clone_state().elapsed == 0
    walk(sibling, 5)


def test_playing_a_sibling_leaves_the_original_alone(env):
    env.reset(seed=0)
    walk(env, 4)
    before = pickle.dumps((env.clone_state(), random_state(env)))
    model = env.compiled_model()
    params = model.params.copy()
    sibling = env.make_simulator(seed=1)
    for seed in range(5):
        sibling.set_state(env.clone_state())
        walk(sibling, 30, seed)
        sibling.reset()
    assert pickle.dumps((env.clone_state(), random_state(env))) == before
    assert env.compiled_model() is model
    assert np.array_equal(model.params, params)


@pytest.mark.parametrize(("name", "arguments"), OTHER_LAYOUTS, ids=str)
def test_states_of_another_layout_are_refused(name, arguments):
    env, other = bare(name), bare(name, **arguments)
    env.reset(seed=0)
    other.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(ValueError, match="another layout"):
        env.set_state(other.clone_state())
    assert env.clone_state() == before


def test_states_of_another_environment_are_refused(env):
    env.reset(seed=0)
    other = bare("SysAdminRing" if type(env).__name__ != "SysAdminRingEnv" else "FrozenLake")
    other.reset(seed=0)
    with pytest.raises(ValueError, match="another layout"):
        env.set_state(other.clone_state())


@pytest.mark.parametrize("changed", [False, True], ids=["nothing", "state"])
@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        3,
        (0,),
        {"cells": None},
        {"cells": [0]},
        {"cells": ()},
        {"cells": (0, 0, 0)},
        {"cells": (2**62,)},
        {"cells": (2**70,)},
        {"cells": (-1,)},
        {"cells": (0.5,)},
        {"cells": (2**62, 0)},
        {"cells": (-1, 0)},
        {"elapsed": -1},
        {"elapsed": 1000},
        {"elapsed": 0.5},
        {"terminated": True},
        {"layout": None},
        {"layout": ()},
    ],
    ids=str,
)
def test_nonsense_is_refused(env, nonsense, changed):
    env.reset(seed=0)
    if changed:
        walk(env, 2)
    before = env.clone_state()
    with pytest.raises(ValueError, match=r"set_state wants|is no state|another layout"):
        env.set_state(before._replace(**nonsense) if isinstance(nonsense, dict) else nonsense)
    assert env.clone_state() == before


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("FrozenLake", (64,)),
        ("PassengerGrid", (8 * 42,)),
        ("PassengerGrid", (2 * 7 + 1,)),  # at passenger 0, who is not on board
        ("FactoredRiverSwim", (4,)),
        ("FactoredRiverSwim", (1 << 24,)),
        ("SysAdminRing", (1 << 20,)),
        ("Sailing", (80_000,)),
        ("FourRooms", (60, 0)),  # where the walls cross
        ("FourRooms", (121, 0)),
        ("FourRooms", (0, 1)),  # a clock that is not the time elapsed
    ],
)
def test_cells_just_outside_are_refused(name, cells):
    env = bare(name)
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(ValueError, match="is no state"):
        env.set_state(EnvState(cells, 0, False, before.layout))
    assert env.clone_state() == before


def two_layouts():
    """Two environments of FourRooms whose resets drew different layouts."""
    first, second = bare("FourRooms"), bare("FourRooms")
    first.reset(seed=0)
    second.reset(seed=1)
    assert first.clone_state().layout != second.clone_state().layout
    return first, second


def test_four_rooms_takes_a_siblings_layout():
    first, second = two_layouts()
    old = second.compiled_model()
    second.set_state(first.clone_state())
    assert second.clone_state() == first.clone_state()
    assert second.compiled_model() is not old
    assert np.array_equal(second.compiled_model().params, first.compiled_model().params)


def test_four_rooms_keeps_its_model_while_the_layout_stays():
    env, _ = two_layouts()
    model = env.compiled_model()
    state = env.clone_state()
    walk(env, 3)
    env.set_state(state)
    env.reset(seed=0)
    assert env.compiled_model() is model


def test_four_rooms_draws_a_layout_at_each_reset():
    env = bare("FourRooms")
    env.reset(seed=0)
    models, layouts = [], set()
    for _ in range(20):
        env.reset()
        layouts.add(env.clone_state().layout)
        models.append(env.compiled_model())
    assert len(layouts) == len(set(map(id, models))) == 20


def test_four_rooms_model_keeps_its_law_after_a_reset():
    env, _ = two_layouts()
    model, goal = env.compiled_model(), int(env.observe((0, 0))[1])
    laws = [model.law((place, 0), 2) for place in (0, 12, 100)]
    env.reset(seed=1)
    assert model.terminal(np.array([goal, 3]))
    assert [model.law((place, 0), 2) for place in (0, 12, 100)] == laws
    assert not env.is_terminal((goal, 3))


@pytest.mark.parametrize(
    ("goal", "doors"),
    [
        (60, None),
        (None, None),
        (121, None),
        (0, (5, 71, 55, 61, 62)),
        (0, (6, 71, 55, 61)),
        (0, (71, 5, 55, 61)),
        (0, [5, 71, 55, 61]),
        (0, 5),
    ],
)
def test_four_rooms_refuses_layouts_that_no_reset_draws(goal, doors):
    env, _ = two_layouts()
    before = env.clone_state()
    layout = (*before.layout[:-2], goal, before.layout[-1] if doors is None else doors)
    with pytest.raises(ValueError, match="another layout"):
        env.set_state(before._replace(layout=layout))
    assert env.clone_state() == before


def test_four_rooms_keeps_its_layout_when_it_refuses_a_state():
    first, second = two_layouts()
    before = first.clone_state()
    with pytest.raises(ValueError, match="is no state"):
        first.set_state(second.clone_state()._replace(elapsed=7))
    assert first.clone_state() == before
    assert first.compiled_model().params[1] == before.layout[-2]
