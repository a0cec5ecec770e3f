"""Every loop that an agent must fit into."""

import functools
import importlib.util

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from simulator.toys import Corridor, NativeCorridor

import gymnasium_gsp as gsp

LIMIT = 12


def corridor(kind=Corridor, **arguments):
    return gym.wrappers.TimeLimit(kind(**arguments), LIMIT)


@pytest.mark.parametrize("kind", [Corridor, NativeCorridor])
def test_the_plain_loop_reaches_the_goal(kind, play):
    env = gym.wrappers.RecordEpisodeStatistics(corridor(kind))
    assert play(env, episodes=3, budget=64) == [1.0] * 3
    assert max(env.length_queue) < LIMIT


def test_a_new_episode_needs_no_reset_of_the_agent():
    env = corridor()
    agent = gsp.make_agent(env, "gs-power-uct", budget=32, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(2):
        observation = env.step(agent.act(observation))[0]
    first = agent._episode
    observation, _ = env.reset(seed=1)
    agent.act(observation)
    assert agent._episode == first + 1


def test_two_agents_interleaved_decide_as_if_alone():
    def decisions(interleaved):
        env = corridor(slip=0.2)
        agents = [gsp.make_agent(env, "gs-power-uct", budget=40, seed=seed) for seed in (1, 2)]
        observation, _ = env.reset(seed=0)
        values = []
        for _ in range(4):
            if interleaved:
                agents[1].plan(observation)
            values.append(agents[0].plan(observation).q_values.tolist())
            observation, _, terminated, _, _ = env.step(1)
            if terminated:
                break
        return values

    assert decisions(True) == decisions(False)


@pytest.mark.parametrize("vector", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_vector_has_a_planner_in_each_environment(vector, mode):
    make = [functools.partial(planning, seed) for seed in range(2)]
    envs = vector(make, autoreset_mode=mode)
    try:
        envs.reset(seed=0)
        finished = 0
        for _ in range(40):
            actions = np.array(envs.call("planned_action"))
            _, rewards, terminated, truncated, _ = envs.step(actions)
            ended = terminated | truncated
            assert (rewards == terminated).all()
            finished += int(ended.sum())
            if mode == AutoresetMode.DISABLED and ended.any():
                envs.reset(options={"reset_mask": ended})
        assert finished >= 4  # of at most twelve steps each
    finally:
        envs.close()


def planning(seed):
    return gsp.PlanningWrapper(corridor(), budget=48, seed=seed)


def test_a_planning_wrapper_answers_at_once_when_the_episode_has_ended():
    env = planning(0)
    with pytest.raises(gym.error.ResetNeeded):
        env.planned_action()
    env.reset(seed=0)
    for _ in range(4):
        env.step(1)
    assert env.planned_action() == 0
    with pytest.raises(gsp.PlanningError, match="no result before"):
        _ = env.agent.result


@pytest.mark.skipif(importlib.util.find_spec("moviepy") is None, reason="RecordVideo needs moviepy, which is absent")
def test_video_and_statistics_see_the_real_steps_only(tmp_path, play):
    env = gym.make("Blackjack-v1", render_mode="rgb_array")
    env = gym.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True)
    env = gym.wrappers.RecordEpisodeStatistics(env)
    returns = play(env, episodes=1, budget=100)
    assert list(env.return_queue) == returns
    assert env.length_queue[0] < 10
    env.close()
    assert len(list(tmp_path.glob("*.mp4"))) == 1


def test_recorded_frames_count_the_real_steps_only():
    env = gym.wrappers.RenderCollection(corridor(render_mode="rgb_array"), pop_frames=False)
    agent = gsp.make_agent(env, "gs-power-uct", budget=32, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(3):
        observation = env.step(agent.act(observation))[0]
    assert len(env.render()) == 4


@pytest.mark.skipif(importlib.util.find_spec("stable_baselines3") is None, reason="stable-baselines3 is absent")
@pytest.mark.parametrize("make", [corridor, functools.partial(gym.make, "CartPole-v1", max_episode_steps=20)])
def test_evaluate_policy_of_stable_baselines3(make):
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    env = Monitor(make())
    agent = gsp.make_agent(env, "gs-power-uct", budget=40, seed=0)
    mean, _ = evaluate_policy(agent, env, n_eval_episodes=2, warn=False)
    assert mean == (1.0 if env.unwrapped.__class__ is Corridor else 20.0)
