"""An environment that fails in some of its episodes."""

import gymnasium as gym
import pytest

from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv


class FailingLake(FrozenLakeEnv):
    def reset(self, *, seed=None, options=None):
        if seed is not None and seed % 2:
            raise ZeroDivisionError("the ice is broken")
        return super().reset(seed=seed, options=options)


@pytest.fixture
def failing_lake():
    gym.register("FailingLake-v0", FailingLake, max_episode_steps=6)
    yield "FailingLake-v0"
    del gym.registry["FailingLake-v0"]
