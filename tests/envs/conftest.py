"""Every test that asks for `entry` or `env` runs once for each registered benchmark."""

import gymnasium as gym
import pytest

from gymnasium_gsp.envs import ENVIRONMENTS


@pytest.fixture(params=ENVIRONMENTS, ids=lambda entry: entry.name)
def entry(request):
    """One line of the registry."""
    return request.param


@pytest.fixture
def env(entry):
    """The bare environment with its default arguments, not yet reset."""
    return gym.make(entry.id).unwrapped
