"""Where an episode begins and ends: new ones are noticed, finished ones answered, time limits kept."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import TimeLimit

import gymnasium_gsp as gsp


def stand(env, **changes):
    """Put an environment into its present state with some parts of it changed; returns what it shows."""
    bare = env.unwrapped
    state = bare.clone_state()._replace(**changes)
    if bare.clock is not None:
        cells = list(state.cells)
        cells[bare.clock] = state.elapsed
        state = state._replace(cells=tuple(cells))
    bare.set_state(state)
    return bare.observe(state.cells)


def graph_is_fresh(result):
    """Whether nothing of an earlier decision was there: the root is the one node that is not new."""
    return result.graph_size == result.nodes + 1


def test_plan_then_act_in_one_state_is_no_new_episode(algorithm, env, observe):
    """With the graph kept, the second decision stands on the first."""
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    observation = observe(env)
    first = agent.plan(observation)
    agent.act(observation)
    assert graph_is_fresh(first)
    assert agent.result.graph_size == first.graph_size + agent.result.nodes
    taught = 30 if agent.recipe.learning == "on_the_trail" else 1
    assert agent.result.visit_counts.sum() >= first.visit_counts.sum() + taught


def test_plan_twice_is_no_new_episode_either(algorithm, env, observe):
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    first, second = agent.plan(observe(env)), agent.plan(observe(env))
    assert second.graph_size == first.graph_size + second.nodes


def test_a_second_act_at_step_0_is_a_new_episode(algorithm, env, observe):
    """Nobody acts twice in one state, so the environment was reset in between."""
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    agent.act(observe(env))
    agent.act(observe(env))
    assert graph_is_fresh(agent.result)


def test_elapsed_steps_that_fell_are_a_new_episode(algorithm):
    env = gym.make("GSP/SysAdminRing-v0")
    env.reset(seed=0)
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    agent.act(stand(env, elapsed=4))
    agent.act(stand(env, elapsed=5))
    assert not graph_is_fresh(agent.result) or agent.recipe.key in ("path", "actions")
    agent.act(stand(env, elapsed=3))
    assert graph_is_fresh(agent.result)


def test_another_layout_is_a_new_episode(algorithm):
    """FourRooms at the same elapsed time, with the goal elsewhere: another MDP, of which nothing is known yet."""
    env = gym.make("GSP/FourRooms-v0")
    env.reset(seed=0)
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    agent.plan(stand(env))
    state = env.unwrapped.clone_state()
    *fixed, goal, doors = state.layout
    other = next(corner for corner in (0, 10, 110, 120) if corner not in (goal, state.cells[0]))
    agent.plan(stand(env, layout=(*fixed, other, doors)))
    assert graph_is_fresh(agent.result)


def test_reset_and_episode_start_are_new_episodes(algorithm, env, observe):
    agent = gsp.make_agent(env, algorithm, budget=30, seed=0, retention="episode")
    observation = observe(env)
    agent.plan(observation)
    agent.reset()
    agent.plan(observation)
    assert graph_is_fresh(agent.result)
    agent.plan(observation)
    assert not graph_is_fresh(agent.result)
    agent.predict(observation, episode_start=np.array([True]))
    assert graph_is_fresh(agent.result)


def test_each_episode_has_a_stream_of_its_own(algorithm, observe, same_result):
    """The second episode of one agent differs from the first, and equals the second of another with the same seed."""
    env = gym.make("GSP/SysAdminRing-v0")
    env.reset(seed=0)
    results = []
    for _ in range(2):
        agent = gsp.make_agent(env, algorithm, budget=60, seed=5)
        for _ in range(2):
            agent.act(observe(env))
            results.append(agent.result)
    first, second, again_first, again_second = results
    assert same_result(first, again_first)
    assert same_result(second, again_second)
    assert not same_result(first, second)


def test_reset_with_a_seed_begins_the_stream_anew(algorithm, env, observe, same_result):
    agent = gsp.make_agent(env, algorithm, budget=60, seed=5)
    agent.act(observe(env))
    first = agent.result
    agent.act(observe(env))
    agent.reset(seed=5)
    agent.act(observe(env))
    assert same_result(agent.result, first)


def test_the_root_is_where_the_environment_is(algorithm):
    """Two episodes in a row on a lake that is slippery: at each decision the search starts from the real state."""
    env = gym.make("GSP/FrozenLake-v0", desc=["SFF", "FFF", "FFG"], max_episode_steps=12)
    agent = gsp.make_agent(env, algorithm, budget=12, seed=0)
    for seed in range(2):
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            observation, _, terminated, truncated, _ = env.step(agent.act(observation))
            assert agent.result.graph_size <= 9 * 12 or agent.recipe.key in ("path", "actions")
            done = terminated or truncated
        assert env.action_space.contains(agent.act(observation))
        assert agent.result.stopped_by == "terminal"


def test_a_truncated_episode_gets_any_action_at_once(algorithm, env):
    """Worth exactly 0, and nothing is searched; the next episode is planned as ever."""
    agent = gsp.make_agent(env, algorithm, budget=gsp.Budget(simulations=10**9), seed=0)
    action = agent.act(stand(env, elapsed=env.unwrapped.horizon))
    assert env.action_space.contains(action)
    assert (agent.result.stopped_by, agent.result.value, agent.result.simulations) == ("terminal", 0.0, 0)
    env.reset(seed=2)
    agent.budget = gsp.Budget(simulations=8)
    agent.act(stand(env))
    assert agent.result.simulations == 8


@pytest.mark.parametrize("place", [19, 63], ids=["hole", "goal"])
def test_a_terminated_episode_gets_any_action_at_once(algorithm, place):
    env = gym.make("GSP/FrozenLake-v0")
    env.reset(seed=0)
    agent = gsp.make_agent(env, algorithm, budget=gsp.Budget(simulations=10**9), seed=0)
    action = agent.act(stand(env, cells=(place,), elapsed=3, terminated=True))
    assert env.action_space.contains(action)
    assert (agent.result.stopped_by, agent.result.value) == ("terminal", 0.0)


def test_an_environment_that_was_not_reset_is_refused(algorithm, entry):
    env = gym.make(entry.id)
    agent = gsp.make_agent(env, algorithm, budget=8, seed=0)
    with pytest.raises(ResetNeeded, match="reset"):
        agent.act(env.observation_space.sample())
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(agent.act(observation))


@pytest.mark.parametrize("left", [1, 2, 7])
def test_no_simulation_looks_beyond_the_time_limit(settings, python_step, left):
    """The state counts the steps: none is taken from a state so deep, whatever chooses the actions."""
    depths = []

    def rules(cells, action, draw):
        depths.append(cells[0])
        cells[0] += 1
        return draw(), False

    model = gsp.CompiledModel(python_step(rules), 3, reward_bounds=(0.0, 1.0))
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FourRooms-v0")
    gsp.plan(model, 0, recipe, 60, seed=0, elapsed=4, steps_left=left)
    played_out = recipe.key in ("path", "actions") or recipe.learning == "at_the_switch"
    assert max(depths) == min(left, getattr(recipe.horizon, "depth", left)) - 1 or played_out
    assert max(depths) < left


def test_the_smallest_of_all_time_limits_counts(trials):
    """gym.make's, a wrapper's, the environment's own: 7, 9 and 50 steps here, 4 of which are gone."""
    for env in (
        TimeLimit(gym.make("GSP/SysAdminRing-v0", max_episode_steps=9), 7),
        gym.make("GSP/SysAdminRing-v0", max_episode_steps=7),
        gym.make("GSP/SysAdminRing-v0", horizon=7),
        gym.make("GSP/SysAdminRing-v0", horizon=7, max_episode_steps=-1),
        gym.make("GSP/SysAdminRing-v0", max_episode_steps=30, horizon=7),
    ):
        observation, _ = env.reset(seed=0)
        for _ in range(4):
            observation, _, _, _, _ = env.step(0)
        agent = gsp.make_agent(env, trials, budget=40, seed=0)
        agent.act(observation)
        assert 0 < agent.result.model_steps <= 40 * 3
        assert "7 steps" in agent.describe()["time limit"]


def test_a_refused_decision_leaves_the_root_where_the_next_one_looks():
    """Three steps to the corner, a budget that is refused, and again: the answer is that of an agent never refused."""
    lake = FrozenLakeEnv(desc=["SFFF", "HHHF", "HHHG"], is_slippery=False)
    env = gym.wrappers.TimeLimit(lake, 7)
    agent = gsp.make_agent(env, "gs-power-uct", budget=400, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(3):
        agent.act(observation)
        observation, *_ = env.step(2)
    agent.budget = 0
    with pytest.raises(gsp.RecipeError, match="simulations"):
        agent.act(observation)
    agent.budget = 400
    result = agent.plan(observation)
    assert result.action == 1
    assert result.q_values.tolist() == [0.0, 1.0, 0.0, 0.0]
