"""What is planned in is what there is: data, masks, keys, time limits."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from simulator.toys import Guessing

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.check import check_snapshot

Limit = gym.wrappers.TimeLimit


class Rect(gym.Env):
    """A walk whose place is held as a drawing library's data."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def __init__(self, kind):
        self.kind = kind

    def reset(self, *, seed=None, options=None):
        import pygame

        super().reset(seed=seed)
        self.surface, self.colour = pygame.Surface((2, 2)), pygame.Color("red")
        if self.kind == "Rect":
            self.me = pygame.Rect(4, 0, 1, 1)
        elif self.kind == "Vector2":
            self.me = pygame.Vector2(4, 0)
        else:
            sprite = pygame.sprite.Sprite()
            sprite.image, sprite.rect = self.surface, pygame.Rect(4, 0, 1, 1)
            self.group = pygame.sprite.Group(sprite)
        return 4, {}

    def step(self, action):
        me = self.me if hasattr(self, "me") else self.group.sprites()[0].rect
        me.x += 2 * action - 1
        return int(me.x), {8: 1.0, 0: 0.2}.get(me.x, -0.01), me.x in (0, 8), False, {}


@pytest.mark.parametrize("kind", ["Rect", "Vector2", "Group"])
def test_data_of_a_drawing_library_is_state(kind, play):
    pytest.importorskip("pygame", reason="pygame is absent")
    assert np.mean(play(Limit(Rect(kind), 20), episodes=5, budget=300)) > 0.9
    assert check_snapshot(Limit(Rect(kind), 20)).passed


class Masked(Guessing):
    """What is legal depends on the clock; an illegal action raises."""

    action_space = spaces.Discrete(3)

    def mask(self):
        return np.arange(3) == self.t % 3

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": self.mask()}

    def step(self, action):
        assert self.mask()[action], "an illegal action"
        self.t += 1
        return 0, float(action), False, False, {"action_mask": self.mask()}

    def state_key(self):
        return 0


@pytest.mark.parametrize("algorithm", [name for name in gsp.ALGORITHMS if name != "sparse-sampling"])
def test_a_mask_is_that_of_its_time(algorithm):
    env = Limit(Masked(), 12)
    agent = gsp.make_agent(env, algorithm, budget=40, seed=0, reward_bounds=(0.0, 2.0))
    observation, info = env.reset(seed=0)
    for step in range(12):
        assert agent.act(observation, info) == step % 3
        assert agent.predict(observation)[0] == step % 3
        observation, *_, info = env.step(step % 3)


def test_a_tuple_of_masks_masks_components():
    class Pairs(Guessing):
        action_space = spaces.MultiDiscrete([2, 2])

        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)[0], {"action_mask": (np.array([0, 1], np.int8), np.array([1, 0], np.int8))}

        def step(self, action):
            assert action.tolist() == [1, 0]
            info = {"action_mask": (np.array([0, 1], np.int8), np.array([1, 0], np.int8))}
            return 0, 0.0, False, False, info

    env = Limit(Pairs(), 5)
    agent = gsp.make_agent(env, "uct", budget=20, seed=0)
    assert agent.act(*env.reset(seed=0)).tolist() == [1, 0]


class Point:
    """Equal by content, and changed in place."""

    def __init__(self, place):
        self.place = place

    def __eq__(self, other):
        return self.place == other.place

    def __hash__(self):
        return hash(self.place)


class Pointed(gym.Env):
    observation_space, action_space = spaces.Discrete(4), spaces.Discrete(8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.point = Point(0)
        return 0, {}

    def step(self, action):
        before = self.point.place
        self.point.place = (1 if action == 0 else 2) if before == 0 else 3
        reward = 0.0 if before == 0 else float(action == 5) if before == 1 else 0.4
        return self.point.place, reward, before != 0, False, {}


def test_a_key_is_out_of_reach_of_later_changes():
    env = Limit(Pointed(), 10)
    agent = gsp.make_agent(env, "gs-power-uct", budget=800, seed=0)
    result = agent.plan(*env.reset(seed=0))
    assert result.graph_size <= 4
    assert result.q_values[:2].round(1).tolist() == [1.0, 0.4]


class Sighted(gym.Env):
    """`horizon` is how far a sensor looks."""

    observation_space, action_space = spaces.Discrete(12), spaces.Discrete(2)

    def __init__(self):
        self.horizon = self._max_episode_steps = 2
        self._elapsed_steps, self._has_reset = "never", False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 5
        return 5, {}

    def step(self, action):
        self.x += 2 * action - 1
        return self.x, {11: 1.0, 0: 0.1}.get(self.x, 0.0), self.x in (0, 11), False, {}


def test_an_attribute_is_no_time_limit(play):
    env = Limit(Sighted(), 60)
    assert gsp.make_agent(env, "uct").describe()["time limit"] == "60 steps"
    assert play(env, episodes=1, budget=400) == [1.0]


def test_a_time_limit_that_is_changed_counts():
    env = gym.make("CartPole-v1")
    agent = gsp.make_agent(env, "uct", budget=20, seed=0, hold=1)
    observation, info = env.reset(seed=0)
    limit = env
    while not isinstance(limit, Limit):
        limit = limit.env
    limit._max_episode_steps = 1
    agent.act(observation, info)
    assert agent.result.model_steps == 20
    assert agent.describe()["time limit"] == "1 steps"


def test_a_limit_that_nothing_enforces_is_dropped_with_one_warning():
    gym.register("Unlimited-v0", Sighted, max_episode_steps=3)
    try:
        env = gym.wrappers.RecordEpisodeStatistics(gym.make("Unlimited-v0").unwrapped)
        env.unwrapped.spec = gym.spec("Unlimited-v0")
        agent = gsp.make_agent(env, "gs-power-uct", budget=20, seed=0)
        observation, info = env.reset(seed=0)
        seen = []

        def play(steps):
            nonlocal observation, info
            for _ in range(steps):
                agent.act(observation, info)
                seen.append(agent.result.simulations)
                observation, *_, info = env.step(env.unwrapped.x % 2)

        play(3)
        with pytest.warns(RuntimeWarning, match="limit of 3 steps and is at step 3"):
            play(1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            play(2)
        assert seen == [20] * 6
    finally:
        gym.registry.pop("Unlimited-v0")
