"""Which adapter serves which environment, and that it saves, restores and keys what it must."""

import gymnasium as gym
import numpy as np
import pytest
from simulator.toys import Corridor, Diary, NativeCorridor, Uncopyable

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.adapters import choose


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: gym.make("Taxi-v4"), "toy_text"),
        (lambda: gym.make("Blackjack-v1"), "Blackjack"),
        (lambda: gym.make("Acrobot-v1"), "classic_control"),
        (lambda: gym.make("GSP/FrozenLake-v0"), "clone_state/set_state of the environment"),
        (NativeCorridor, "clone_state/set_state of the environment"),
        (Corridor, "instance variables"),
        (Uncopyable, "replay of the actions from the reset seed"),
    ],
)
def test_each_family_has_its_adapter(make, name):
    assert choose(make().unwrapped).name == name


@pytest.mark.parametrize(
    ("env_id", "model"),
    [("FrozenLake-v1", "table"), ("CliffWalking-v1", "table"), ("Taxi-v4", "table"), ("Blackjack-v1", "simulator")],
)
def test_toy_text_with_a_table_is_planned_in_it(env_id, model):
    description = gsp.make_agent(gym.make(env_id), "uct").describe()
    assert model in description["model"]
    assert ("adapter" in description) == (model == "simulator")


def test_a_fickle_passenger_is_not_in_the_table():
    agent = gsp.make_agent(gym.make("Taxi-v4", fickle_passenger=True), "uct")
    assert "simulator" in agent.describe()["model"]


FAMILIES = [
    lambda: gym.make("Taxi-v4", is_rainy=True),
    lambda: gym.make("FrozenLake-v1", desc=None, map_name=None),
    lambda: gym.make("Blackjack-v1", natural=True),
    lambda: gym.make("CartPole-v1"),
    lambda: gym.make("MountainCar-v0"),
    lambda: gym.make("Acrobot-v1"),
    lambda: NativeCorridor(slip=0.3),
    lambda: Corridor(slip=0.3),
    Diary,
]


@pytest.mark.parametrize("make", FAMILIES)
def test_a_restored_sibling_goes_on_as_the_original_under_the_same_randomness(make):
    env = make()
    agent = gsp.make_agent(env, "uct", budget=3, seed=0, simulator=None, state_key=gsp.ObservationKey())
    simulator, adapter = agent._binding.simulator, agent._binding.adapter
    actions = np.random.default_rng(0)
    env.reset(seed=4)
    for _ in range(6):
        simulator.snapshot = adapter.save(env.unwrapped)
        adapter.load(simulator.raw, simulator.snapshot)
        simulator.raw.np_random.bit_generator.state = env.unwrapped.np_random.bit_generator.state
        action = int(actions.integers(env.action_space.n))
        mine, theirs = simulator.env.step(action), env.step(action)
        assert repr(mine[:4]) == repr(theirs[:4])
        if theirs[2] or theirs[3]:
            break


def test_the_hole_card_is_drawn_anew_and_never_keyed():
    env = gym.make("Blackjack-v1")
    agent = gsp.make_agent(env, "uct", budget=3, seed=0)
    env.reset(seed=0)
    live = agent._binding
    live.simulator.snapshot = live.adapter.save(env.unwrapped)
    cards, keys = set(), set()
    for _ in range(200):
        live.simulator.restore()
        cards.add(live.simulator.raw.dealer[1])
        keys.add(live.adapter.state_key(live.simulator.raw))
    assert cards == set(range(1, 11))
    assert len(keys) == 1


def test_the_taxis_passenger_makes_up_his_mind_anew():
    env = gym.make("Taxi-v4", fickle_passenger=True)
    agent = gsp.make_agent(env, "uct", budget=3, seed=0)
    env.reset(seed=0)
    live = agent._binding
    live.simulator.snapshot = live.adapter.save(env.unwrapped)
    minds = []
    for _ in range(300):
        live.simulator.restore()
        minds.append(live.simulator.raw.fickle_step)
    assert 40 < sum(minds) < 150  # of 300 with probability 0.3


def test_a_generator_in_a_sub_object_is_the_siblings_own():
    env = Diary()
    agent = gsp.make_agent(gym.wrappers.TimeLimit(env, 9), "uct", budget=3, seed=0)
    env.reset(seed=0)
    live = agent._binding
    live.adapter.load(live.simulator.raw, live.adapter.save(env))
    assert live.simulator.raw.road.generator is live.simulator.raw.np_random
    assert live.simulator.raw.road.generator is not env.np_random


def test_functions_and_the_environment_itself_may_be_variables():
    env = Corridor()
    env.bonus, env.me = (lambda position: position), env
    agent = gsp.make_agent(gym.wrappers.TimeLimit(env, 9), "uct", budget=20, seed=0)
    assert agent.describe()["adapter"].startswith("instance variables")
    wrapped = agent._binding.view.env
    assert agent.act(*wrapped.reset(seed=0)) in (0, 1)
    assert agent._binding.simulator.raw.me is agent._binding.simulator.raw
    env.peek = lambda: env.position
    agent = gsp.make_agent(wrapped, "uct", budget=20, seed=0)
    assert agent.act(*wrapped.reset(seed=0)) in (0, 1)
    assert agent._binding.simulator.raw.peek.__closure__[0].cell_contents is agent._binding.simulator.raw


def test_an_environment_that_forbids_copies_is_replayed(play):
    env = gym.wrappers.TimeLimit(Uncopyable(), 8)
    agent = gsp.make_agent(env, "gs-power-uct", budget=40, seed=0)
    assert "replay" in agent.describe()["adapter"]
    assert play(env, episodes=2, agent=agent) == [1.0, 1.0]


def test_replay_without_a_clock_is_told_of_new_episodes_by_reset():
    env = Uncopyable()
    agent = gsp.make_agent(env, "uct", budget=40, seed=0)
    for episode in range(2):
        agent.reset()
        observation, _ = env.reset(seed=episode)
        for _ in range(3):
            observation = env.step(agent.act(observation))[0]


def test_arguments_of_a_constructor_are_read_off_its_attributes():
    env = gym.wrappers.TimeLimit(NativeCorridor(length=9, slip=0.25), 12)
    simulator = gsp.make_agent(env, "uct")._binding.simulator
    assert (simulator.raw.length, simulator.raw.slip) == (9, 0.25)
    assert "length=9" in simulator.origin


def test_no_family_is_imported_before_it_is_used():
    import subprocess
    import sys

    families = "minigrid highway_env pyRDDLGym mujoco Box2D ale_py pygame torch"
    code = f"import sys, gymnasium_gsp.binding.check; print([m for m in {families.split()!r} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
