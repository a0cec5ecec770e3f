"""The planner plans in the process that the user sees, wrappers and all, or says that it cannot."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from simulator.toys import Corridor, Masked, NativeCorridor, Pair, ScaledCorridor, Stuck

import gymnasium_gsp as gsp


class Negated(gym.RewardWrapper):
    def reward(self, reward):
        return -reward


class Mirrored(gym.ActionWrapper):
    def action(self, action):
        return 1 - action


class Doubled(gym.ObservationWrapper):
    def observation(self, observation):
        return 2 * observation


class Recorded(gym.RewardWrapper, gym.utils.RecordConstructorArgs):
    def __init__(self, env, factor):
        gym.utils.RecordConstructorArgs.__init__(self, factor=factor)
        super().__init__(env)
        self.factor = factor

    def reward(self, reward):
        return self.factor * reward


class Needy(gym.RewardWrapper):
    def __init__(self, env, factor):
        super().__init__(env)

    def reward(self, reward):
        return reward


class Anything(gym.Wrapper):
    pass


class Declared(gym.Wrapper):
    gsp_neutral = True


def values(env, **options):
    agent = gsp.make_agent(env, "gs-power-uct", budget=200, seed=0, **options)
    return agent.plan(*env.reset(seed=0)).q_values, agent


def test_neutral_wrappers_are_left_out():
    env = wrappers.RecordEpisodeStatistics(wrappers.OrderEnforcing(wrappers.TimeLimit(Declared(Corridor()), 4)))
    q, agent = values(env)
    assert q.tolist() == [0.0, 1.0]  # four steps are left, and four are needed
    assert agent.describe()["wrappers left out"] == [
        "RecordEpisodeStatistics",
        "OrderEnforcing",
        "TimeLimit",
        "Declared",
    ]


@pytest.mark.parametrize("base", [Corridor, NativeCorridor, lambda: gym.make("FrozenLake-v1", is_slippery=False)])
def test_reward_wrappers_are_rebuilt_in_order(base):
    env = wrappers.TimeLimit(Recorded(wrappers.TransformReward(base(), lambda r: r + 1.0), factor=10.0), 1)
    q, agent = values(env)
    assert q.tolist() == [10.0] * len(q)  # (0 + 1) * 10, not 0 * 10 + 1
    assert agent.describe()["wrappers rebuilt"] == ["TransformReward", "Recorded"]


def test_action_wrappers_are_rebuilt():
    q, _ = values(wrappers.TimeLimit(Mirrored(Corridor()), 4))
    assert q.tolist() == [1.0, 0.0]


def test_wrappers_without_arguments_are_rebuilt_from_their_class():
    q, _ = values(wrappers.TimeLimit(Negated(Corridor(length=2)), 1))
    assert q.tolist() == [0.0, -1.0]


def test_observation_wrappers_are_seen_through():
    env = wrappers.TimeLimit(Doubled(gym.make("CartPole-v1").unwrapped), 10)
    _, agent = values(env)
    assert agent.describe()["wrappers rebuilt"] == ["Doubled"]
    observation, _ = env.reset(seed=1)
    agent.act(observation)
    with pytest.raises(gsp.PlanningError, match="observation"):
        agent.act(observation / 2)


def test_wrappers_that_remember_observations_do_no_harm_where_states_are_saved():
    env = wrappers.FrameStackObservation(gym.make("CartPole-v1"), 3)
    _, agent = values(env)
    assert "FrameStackObservation" in agent.describe()["wrappers left out"]
    with pytest.raises(gsp.RecipeError, match="FrameStackObservation cannot be rebuilt"):
        gsp.make_agent(env, "uct", state_key=gsp.ObservationKey())


@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (Anything, "Anything"),
        (lambda env: Needy(env, 2), "Needy"),
        (lambda env: wrappers.StickyAction(env, 0.5), "StickyAction"),
        (wrappers.NormalizeReward, "NormalizeReward"),
    ],
)
@pytest.mark.parametrize("make", [Corridor, lambda: gym.make("FrozenLake-v1"), lambda: gym.make("GSP/FrozenLake-v0")])
def test_what_may_change_the_process_is_refused_by_name(wrap, name, make):
    with pytest.raises(gsp.RecipeError, match=rf"the wrapper {name} .*simulator="):
        gsp.make_agent(wrap(make()), "uct")


def test_a_given_simulator_answers_for_the_wrappers():
    env = wrappers.TimeLimit(Anything(Corridor(length=2)), 1)
    q, _ = values(env, simulator=lambda: Negated(Corridor(length=2)))
    assert q.tolist() == [0.0, -1.0]


def test_our_own_environments_keep_their_wrappers_too():
    env = wrappers.TransformReward(gym.make("GSP/FrozenLake-v0"), lambda reward: 3.0 * reward)
    agent = gsp.make_agent(env, "gs-power-uct", budget=20, seed=0)
    assert agent.describe()["wrappers rebuilt"] == ["TransformReward"]
    assert agent.act(*env.reset(seed=0)) in range(4)


@pytest.mark.parametrize("factor", [1024.0, 1.0 / 1024.0])
@pytest.mark.parametrize("name", ["gs-power-uct", "gs-power-uct-f"])
def test_rewards_times_a_power_of_two_choose_the_same_actions(factor, name):
    def actions(factor):
        env = wrappers.TimeLimit(ScaledCorridor(factor), 12)
        agent = gsp.make_agent(env, name, budget=24, seed=5)
        observation, _ = env.reset(seed=0)
        taken = []
        for _ in range(10):
            taken.append(agent.act(observation))
            observation, _, terminated, truncated, _ = env.step(taken[-1])
            if terminated or truncated:
                break
        return taken

    assert actions(1.0) == actions(factor)


@pytest.mark.parametrize("space", [None, gym.spaces.MultiBinary(2), gym.spaces.MultiBinary((1, 2))])
def test_actions_of_several_parts_are_enumerated(space):
    env = wrappers.TimeLimit(Pair(space), 30)
    agent = gsp.make_agent(env, "gs-power-uct", budget=40, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(3):
        action = agent.act(observation)
        assert env.action_space.contains(action)
        assert len(agent.result.q_values) == (6 if space is None else 4)
        observation = env.step(action)[0]


def test_discrete_actions_may_start_anywhere():
    space = gym.spaces.Discrete(2, start=5)
    env = wrappers.TimeLimit(wrappers.TransformAction(Corridor(), lambda action: action - 5, space), 4)
    q, agent = values(env)
    assert q.tolist() == [0.0, 1.0]
    assert agent.act(*env.reset(seed=0)) == 6


def test_too_many_combinations_are_refused():
    with pytest.raises(gsp.RecipeError, match="4096 combinations, and at most 1024"):
        gsp.make_agent(Pair(gym.spaces.MultiBinary(12)), "uct")


def test_masks_of_infos_are_obeyed_by_search_and_playouts(play):
    for name in ("gs-power-uct", "uct"):
        assert play(wrappers.TimeLimit(Masked(), 12), budget=50, name=name) == [1.0]


def test_masks_change_with_the_state_for_actions_of_two_parts():
    class Alternating(gym.Env):
        action_space = gym.spaces.MultiDiscrete([2, 2])
        observation_space = gym.spaces.Discrete(7)

        def mask(self):
            return np.array([1, 0, 0, 1] if self.place % 2 else [0, 1, 1, 0], bool)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.place = 0
            return 0, {"action_mask": self.mask()}

        def step(self, action):
            number = int(2 * action[0] + action[1])
            assert self.mask()[number]
            self.place += 1
            return self.place, float(number), self.place == 6, False, {"action_mask": self.mask()}

    env = Alternating()
    agent = gsp.make_agent(env, "gs-power-uct", budget=100, seed=0)
    observation, info = env.reset(seed=0)
    total, ended = 0.0, False
    while not ended:
        observation, reward, ended, _, info = env.step(agent.act(observation, info))
        total += reward
    assert total == 3 * (2 + 3)


def test_masks_of_a_function_are_obeyed():
    env = wrappers.TimeLimit(Masked(), 12)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0, action_mask=lambda raw: raw.mask())
    observation, _ = env.reset(seed=0)
    assert agent.act(observation) == 1
    assert agent.result.visit_counts[0] == 0


def test_a_mask_must_be_told():
    env = wrappers.TimeLimit(Masked(), 12)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0)
    observation, info = env.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match=r"act\(observation, info\)"):
        agent.act(observation)
    assert agent.act(observation, info) == 1


def test_a_state_without_actions_is_named():
    env = wrappers.TimeLimit(Stuck(), 12)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0)
    with pytest.raises(gsp.PlanningError, match="shows 2 has no legal action"):
        agent.act(*env.reset(seed=0))
    agent = gsp.make_agent(env, "uct", budget=50, seed=0, action_mask=lambda raw: np.ones(3))
    with pytest.raises(gsp.PlanningError, match="3 entries for 2 actions"):
        agent.act(*env.reset(seed=0))


@pytest.mark.parametrize(
    "mask", [[np.nan, 1.0], [None, True], [0.5, 1.0], [2, 1], ["1", "0"], np.array([None, 1], object)]
)
def test_a_mask_holds_zeros_and_ones(mask):
    env = wrappers.TimeLimit(Stuck(), 12)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0, action_mask=lambda raw: mask)
    with pytest.raises(gsp.PlanningError, match="must hold a 1"):
        agent.act(*env.reset(seed=0))


def test_a_mask_of_objects_is_read_anew_each_time():
    """The bytes of such an array are addresses, and addresses are used again."""
    env = wrappers.TimeLimit(Corridor(), 12)
    only = {0: [0, 1], 1: [1, 0]}  # to and fro between the first two places

    def mask(raw):
        return np.array(only[raw.position], object)

    agent = gsp.make_agent(env, "uct", budget=50, seed=0, action_mask=mask)
    observation, info = env.reset(seed=0)
    for _ in range(8):
        action = agent.act(observation, info)
        assert action == 1 - observation
        observation, *_, info = env.step(action)


def test_reward_bounds_make_finite_powers_possible():
    env = wrappers.TimeLimit(Negated(Corridor()), 12)
    agent = gsp.make_agent(env, "gs-power-uct", budget=300, seed=0, p=2.5)
    with pytest.raises(gsp.PlanningError, match="reward_bounds"):
        agent.act(*env.reset(seed=0))
    agent = gsp.make_agent(env, "gs-power-uct", budget=300, seed=0, p=2.5, reward_bounds=(-1.0, 0.0))
    agent.act(*env.reset(seed=0))


def test_constants_changed_after_the_environment_was_made_are_planned_with():
    env = gym.make("CartPole-v1")
    env.unwrapped.force_mag = 0.0
    agent = gsp.make_agent(env, "uct", budget=20, seed=0)
    result = agent.plan(*env.reset(seed=0))
    assert result.q_values[0] == result.q_values[1]
    assert agent._binding.simulator.raw.force_mag == 0.0
    env.unwrapped.force_mag = 10.0
    agent.plan(*env.reset(seed=0))
    assert agent._binding.simulator.raw.force_mag == 10.0


def test_a_table_is_not_believed_where_a_subclass_steps_otherwise():
    class Bitter(FrozenLakeEnv):
        def step(self, action):
            answer = super().step(action)
            return answer[0], -answer[1], *answer[2:]

    env = wrappers.TimeLimit(Bitter(desc=["SG", "FF"], is_slippery=False), 4)
    q, agent = values(env)
    assert agent.describe()["adapter"] == "instance variables"
    assert q[2] == -1.0  # to the right lies the goal
    assert q[1] == 0.0


def test_a_wrapper_that_shows_the_larger_of_two_frames_is_rebuilt_and_not_compared(play):
    env = wrappers.MaxAndSkipObservation(gym.make("CartPole-v1", max_episode_steps=20), 2)
    assert play(env, budget=30)[0] > 0.0


def test_an_episode_cut_short_inside_the_environment_is_cut_short_in_simulations():
    class Hasty(Corridor):
        def reset(self, *, seed=None, options=None):
            self.t = 0
            return super().reset(seed=seed)

        def step(self, action):
            self.t += 1
            return *super().step(action)[:3], self.t >= 3, {}

    q, _ = values(Hasty())
    assert q.tolist() == [0.0, 0.0]  # the goal lies four steps away
