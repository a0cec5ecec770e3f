"""A store with a few rows, and environments that only some process knows."""

import gymnasium as gym
import pytest
from stored_rows import rows

from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv


class FailingLake(FrozenLakeEnv):
    """Fails in some of its episodes."""

    def reset(self, *, seed=None, options=None):
        if seed is not None and seed % 2:
            raise ZeroDivisionError("the ice is broken")
        return super().reset(seed=seed, options=options)


class BrokenLake(FrozenLakeEnv):
    def step(self, action):
        raise ZeroDivisionError("the ice is broken")


@pytest.fixture
def own_ids():
    """Environments that only this process has registered."""
    kinds = {"OwnLake": FrozenLakeEnv, "BrokenLake": BrokenLake, "FailingLake": FailingLake}
    for name, kind in kinds.items():
        gym.register(f"{name}-v0", kind, max_episode_steps=5)
    yield
    for name in kinds:
        del gym.registry[f"{name}-v0"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


@pytest.fixture
def filled(path):
    with Store(path) as store:
        store.add(rows())
    return path
