"""Planning leaves no trace in the real environment, and nothing of an environment stays in a graph."""

import gc

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.toy_text.taxi import TaxiEnv
from simulator.toys import Corridor, Diary, NativeCorridor

import gymnasium_gsp as gsp

MAKERS = {
    "table": lambda: gym.make("FrozenLake-v1"),
    "toy_text": lambda: gym.make("Taxi-v4", is_rainy=True, fickle_passenger=True),
    "blackjack": lambda: gym.make("Blackjack-v1"),
    "classic_control": lambda: gym.make("CartPole-v1", max_episode_steps=30),
    "native": lambda: gym.wrappers.TimeLimit(NativeCorridor(slip=0.2), 15),
    "generic": lambda: gym.wrappers.TimeLimit(Corridor(slip=0.2), 15),
    "generator in a sub-object": lambda: gym.wrappers.TimeLimit(Diary(), 15),
}


def trace(env, agent):
    """What an observer of the real environment can tell, step by step, under actions drawn beforehand."""
    env = gym.wrappers.RecordEpisodeStatistics(env)
    if agent:
        agent = gsp.make_agent(env, "gs-power-uct", budget=12, seed=3)
    actions = np.random.default_rng(5)
    seen = []
    env.action_space.seed(7)
    env.observation_space.seed(8)
    for episode in range(2):
        observation, info = env.reset(seed=episode)
        for _ in range(12):
            if agent:
                agent.act(observation, info)
                agent.predict(observation) if not isinstance(observation, tuple | dict) else None
            observation, reward, terminated, truncated, info = env.step(int(actions.integers(2)))
            stream = env.unwrapped.np_random.bit_generator.state
            info.get("episode", {}).pop("t", None)
            seen.append(repr((observation, reward, terminated, truncated, info, stream, env.episode_lengths)))
            if terminated or truncated:
                break
    return seen, env.action_space.sample(), repr(env.observation_space.sample()), env.unwrapped.np_random_seed


@pytest.mark.parametrize("name", MAKERS)
def test_the_real_future_is_the_same_with_and_without_planning(name):
    assert trace(MAKERS[name](), False) == trace(MAKERS[name](), True)


def test_the_global_streams_are_left_alone():
    import random

    env = gym.make("Blackjack-v1")
    agent = gsp.make_agent(env, "gs-power-uct", budget=50, seed=0)
    observation, _ = env.reset(seed=0)
    before = random.getstate(), repr(np.random.get_state())
    agent.act(observation)
    assert (random.getstate(), repr(np.random.get_state())) == before


@pytest.mark.parametrize("name", ["toy_text", "generator in a sub-object", "classic_control"])
def test_one_seed_gives_one_search_and_another_seed_another(name):
    def values(seed):
        env = MAKERS[name]()
        agent = gsp.make_agent(env, "uct", budget=60, seed=seed)
        return agent.plan(*env.reset(seed=0)).q_values.tolist()

    assert values(1) == values(1)
    assert values(1) != values(2)


def test_a_planner_does_not_draw_what_the_environment_draws():
    env = gym.make("Taxi-v4", is_rainy=True)
    agent = gsp.make_agent(env, "uct", budget=1, seed=0, simulator=lambda: TaxiEnv(is_rainy=True))
    agent.plan(*env.reset(seed=0))
    own = agent._binding.simulator.raw.np_random.bit_generator.state["state"]
    assert own["inc"] != env.unwrapped.np_random.bit_generator.state["state"]["inc"]


def test_no_environment_hangs_on_the_graph():
    env = MAKERS["generic"]()
    agent = gsp.make_agent(env, "gs-power-uct", budget=100, seed=0)
    agent.act(*env.reset(seed=0))
    search = agent._search
    found, queue = set(), [search.store, search.model.keys]
    while queue:
        thing = queue.pop()
        if id(thing) in found or isinstance(thing, type):
            continue
        found.add(id(thing))
        assert not isinstance(thing, gym.Env)
        queue += gc.get_referents(thing)


def test_a_long_episode_keeps_to_its_cap():
    env = gym.wrappers.TimeLimit(gym.make("Pendulum-v1").unwrapped, 200)
    env = gym.wrappers.DiscretizeAction(env, bins=3)
    agent = gsp.make_agent(env, "gs-power-uct", budget=gsp.Budget(model_steps=400), seed=0, max_nodes=500)
    observation, info = env.reset(seed=0)
    for _ in range(199):
        observation, *_, info = env.step(agent.act(observation, info))
        assert agent.result.graph_size <= 500
        assert len(agent._search.model.keys) <= 2 * 500 + 4096 + 400


def test_the_memory_of_keys_is_part_of_the_bound():
    env = MAKERS["classic_control"]()
    agent = gsp.make_agent(env, "gs-power-uct", budget=gsp.Budget(model_steps=3000), seed=0, memory=1 << 18)
    agent.act(*env.reset(seed=0))
    keys = agent._search.model.keys
    assert agent.result.graph_size * (agent._search.store.bytes_per_node + keys.bytes_each()) <= 1 << 18
    assert 4 * 24 < keys.bytes_each() < 1000  # four floats


def test_keys_are_dropped_with_the_graph():
    env = MAKERS["classic_control"]()
    agent = gsp.make_agent(env, "uct", budget=50, seed=0)
    for seed in range(3):
        agent.act(*env.reset(seed=seed))
        assert len(agent._search.model.keys) <= 51 * 30
    keys = agent._search.model.keys
    agent._search.begin_episode()
    agent.act(*env.reset(seed=9))
    assert len(keys) <= agent.result.model_steps + 1


def test_an_agent_travels_by_pickle():
    import pickle

    env = MAKERS["generic"]()
    agent = gsp.make_agent(env, "gs-power-uct", budget=20, seed=0)
    observation, info = env.reset(seed=0)
    agent.act(observation, info)
    other = pickle.loads(pickle.dumps(agent))
    assert other.act(observation, info) in (0, 1)
