"""The agent reads the environment it is bound to and touches nothing of it; wrappers and loops work as ever."""

import gc
import threading
import types
import weakref

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import RecordEpisodeStatistics, TransformAction

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.values import parse_value


def streams(env):
    """The states of all generators that an environment owns."""
    owners = (env.unwrapped, env.action_space, env.observation_space)
    return [owner.np_random.bit_generator.state for owner in owners]


def play(env, agent, steps):
    """Everything that a user sees of the environment, with an agent planning at each step or without one."""
    seen = []
    observation, info = env.reset(seed=11)
    for step in range(steps):
        if agent is not None:
            agent.act(observation, info)
            agent.plan(observation)
        observation, reward, terminated, truncated, info = env.step(step * 7 % env.action_space.n)
        seen.append((np.array(observation).tolist(), reward, terminated, truncated))
        seen.append((repr(info.get("episode", {}).get("r")), env.episode_count))
        seen.append((env.unwrapped.clone_state(), streams(env)))
        if terminated or truncated:
            observation, info = env.reset()
    return seen


def test_planning_changes_nothing_that_the_environment_does(settings, entry):
    """States, rewards, generators, wrappers' counters: bit for bit the same with and without planning."""
    name, preset = settings
    wrapped = [RecordEpisodeStatistics(gym.make(entry.id)) for _ in range(2)]
    for env in wrapped:
        env.action_space.seed(5)
        env.observation_space.seed(6)
    agent = gsp.make_agent(wrapped[0], name, budget=6, preset=preset, seed=11)
    assert play(wrapped[0], agent, 20) == play(wrapped[1], None, 20)


def test_predict_draws_nothing_from_the_environments_spaces(env, observe):
    env.observation_space.seed(3)
    agent = gsp.make_agent(env, "uct", budget=4, seed=0)
    before = streams(env)
    agent.predict(observe(env))
    assert streams(env) == before


def test_the_observation_may_be_overwritten_afterwards(algorithm, same_result):
    """Nodes hold numbers of their own: what a user does to an array that was passed in changes no graph."""
    results = []
    for spoil in (False, True):
        env = gym.make("GSP/FactoredRiverSwim-v0")
        observation, _ = env.reset(seed=0)
        agent = gsp.make_agent(env, algorithm, budget=20, seed=0)
        for _ in range(3):
            action = agent.act(observation)
            if spoil:
                observation[:] = 99
            observation, *_ = env.step(action)
            results.append(agent.result)
    assert all(same_result(left, right) for left, right in zip(results[:3], results[3:], strict=True))


def test_an_environment_that_cannot_be_copied_is_planned_in(env, observe):
    """A renderer's lock, a socket, a window: the agent never copies the environment."""
    env.unwrapped.window = threading.Lock()
    agent = gsp.make_agent(env, "gs-power-uct", budget=8, seed=0)
    assert env.action_space.contains(agent.act(observe(env)))


def environments_behind(start):
    """Environments that hang from `start`, not looking into modules, classes, compilers and functions' globals.

    The type is asked for, as `isinstance` would follow a weak reference.
    """
    found, seen, todo = [], set(), [start]
    while todo:
        item = todo.pop()
        kind = type(item)
        if id(item) in seen or issubclass(kind, types.ModuleType | type) or kind.__module__.startswith("numba"):
            continue
        seen.add(id(item))
        if issubclass(kind, gym.Env | gym.Wrapper):
            found.append(item)
        parts = gc.get_referents(item)
        todo += [part for part in parts if not (kind is types.FunctionType and part is item.__globals__)]
    return found


def test_no_environment_hangs_from_the_graph(algorithm, env, observe):
    agent = gsp.make_agent(env, algorithm, budget=50, seed=0)
    agent.act(observe(env))
    assert not environments_behind(agent._search.store)
    assert not environments_behind(agent.result)
    assert not any(found is env.unwrapped or found is env for found in environments_behind(agent._search))


def test_models_of_layouts_gone_by_are_let_go():
    """FourRooms draws another layout in each episode; none of the old ones stays in memory."""
    env = gym.make("GSP/FourRooms-v0")
    agent = gsp.make_agent(env, "gs-power-uct", budget=4, seed=0)
    models = []
    for seed in range(12):
        observation, _ = env.reset(seed=seed)
        agent.act(observation)
        models.append(weakref.ref(env.unwrapped.compiled_model()))
    gc.collect()
    assert sum(model() is not None for model in models) <= 1


@pytest.mark.parametrize("batched", [False, True])
def test_predict_has_the_shape_that_evaluation_loops_expect(algorithm, env, observe, batched):
    """One observation, or a batch of one with a leading axis, as a vector environment of one gives it."""
    agent = gsp.make_agent(env, algorithm, budget=6, seed=0)
    observation = np.asarray(observe(env))
    given = observation[None] if batched else observation
    started = np.ones((1,), bool)
    for _ in range(2):
        action, state = agent.predict(given, state=None, episode_start=started, deterministic=True)
        assert state is None
        assert np.shape(action) == ((1,) if batched else ())
        assert env.action_space.contains(np.ravel(action)[0])
        started = np.zeros((1,), bool)


def test_predict_refuses_a_batch_of_two(env, observe):
    agent = gsp.make_agent(env, "uct", budget=6, seed=0)
    with pytest.raises(gsp.RecipeError, match=r"bound to one environment.*2 observations"):
        agent.predict(np.stack([observe(env)] * 2))


def test_the_usual_loop_plays_an_episode(algorithm):
    """The loop that every user of Gymnasium writes."""
    env = gym.make("GSP/FactoredRiverSwim-v0")
    agent = gsp.make_agent(env, algorithm, budget=16, seed=0)
    observation, info = env.reset(seed=0)
    steps, done = 0, False
    while not done:
        action = agent.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        steps, done = steps + 1, terminated or truncated
    assert steps == 35
    assert agent.result.simulations == 16
    for name in ("action", "value", "q_values", "visit_counts", "nodes", "graph_size", "model_steps", "seconds"):
        assert hasattr(agent.result, name)


def test_a_loop_of_evaluation_with_predict_plays_episodes():
    """The loop of Stable-Baselines3's `evaluate_policy`, written out for one environment."""
    env = gym.make("GSP/FrozenLake-v0", desc=["SF", "FG"])
    agent = gsp.make_agent(env, "gs-power-uct", budget=32, seed=0)
    returns, states = [], None
    observation, _ = env.reset(seed=0)
    started, total = np.array([True]), 0.0
    while len(returns) < 3:
        actions, states = agent.predict(np.array([observation]), state=states, episode_start=started)
        observation, reward, terminated, truncated, _ = env.step(actions[0])
        started, total = np.array([terminated or truncated]), total + reward
        if started[0]:
            returns.append(total)
            total, (observation, _) = 0.0, env.reset()
    assert returns == [1.0, 1.0, 1.0]


def test_describe_says_what_is_planned_with_what(settings, entry, env):
    name, preset = settings
    told = gsp.make_agent(env, name, budget=5, preset=preset, seed=0).describe()
    assert told["algorithm"] == name
    assert told["environment"] == entry.id
    assert told["time limit"] == f"{entry.max_episode_steps} steps"
    recipe = gsp.make_recipe(name, preset=preset, env_id=entry.id)
    assert told["recipe"]["selection"] == repr(recipe.selection)
    slots = {slot: parse_value(text) for slot, text in told["recipe"].items()}
    assert gsp.Recipe(**slots) == recipe.settled(timed=True)
    assert all(isinstance(text, str) for text in told["not covered by the theorem because"])


@pytest.mark.parametrize("actions", [2, 6])
def test_a_wrapper_with_other_actions_gets_its_own_or_is_refused(actions):
    """The model has four actions, the environment that the user sees two or six: never an action that it has not."""
    env = TransformAction(gym.make("GSP/FrozenLake-v0"), lambda action: action % 4, spaces.Discrete(actions))
    observation, _ = env.reset(seed=0)
    try:
        chosen = {gsp.make_agent(env, "uct", budget=1, seed=seed).act(observation) for seed in range(60)}
    except gsp.RecipeError:
        return
    assert chosen == set(range(actions))
