"""The times of a Python simulator add up, and the deepcopy search is a search."""

import random

import gymnasium as gym
import pytest

from benchmarks.python_speed import ALGORITHMS, CASES, Line, compare_with_copying, deepcopy_search, overhead

LIMIT = 20


def line():
    return gym.wrappers.TimeLimit(Line(), LIMIT)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_simulators_share_is_part_of_the_whole(algorithm):
    found = overhead(line(), "line", algorithm, 1)
    assert 0.0 < found.simulator < found.whole
    assert found.steps > LIMIT
    assert found.planning == found.whole - found.simulator


def test_timing_leaves_the_agent_and_its_environment_as_they_were():
    env = line()
    compare_with_copying(env, "line", 1)
    assert env.unwrapped.place == 32
    assert env._elapsed_steps == 0


def test_the_deepcopy_search_takes_every_simulation_to_the_end():
    env = gym.wrappers.TimeLimit(Line(), LIMIT)
    env.reset(seed=0)
    steps = deepcopy_search(env, 10, [0, 1], random.Random(0))
    assert steps == 10 * LIMIT


@pytest.mark.parametrize("name", [name for name, (package, _) in CASES.items() if package is None])
def test_every_case_can_be_made(name):
    env, _ = CASES[name][1]()
    env.reset(seed=0)
