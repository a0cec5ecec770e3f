"""Random small environments: no algorithm returns an illegal action, or moves the real environment.

An environment keeps its place in one of many containers, draws from one of many streams, masks its actions by place or
clock, and shares objects with its constructor's caller.  A step with an illegal action raises, in simulations, too.
"""

import random
from collections import deque
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gymnasium_gsp as gsp

STATES = 5
CONTAINERS = {
    "attribute": lambda: SimpleNamespace(place=0),
    "list": lambda: [0],
    "array": lambda: np.zeros(1, np.int64),
    "dict": lambda: {"place": 0},
    "deque": lambda: deque([0]),
    "nested": lambda: {"inner": [SimpleNamespace(place=0)]},
}
STREAMS = {
    "np_random": None,
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
    "Random": random.Random,
    "list of PCG64": lambda seed: [np.random.Generator(np.random.PCG64(seed))],
}
ALGORITHMS = [name for name in gsp.ALGORITHMS if name != "sparse-sampling"]  # which refuses simulators


class Container:
    """One whole number in a container that is written in place."""

    def __init__(self, held):
        self.held = held

    def _owner(self):
        return self.held["inner"][0] if isinstance(self.held, dict) and "inner" in self.held else self.held

    def read(self):
        owner = self._owner()
        if isinstance(owner, SimpleNamespace):
            return owner.place
        return int(owner["place" if isinstance(owner, dict) else 0])

    def write(self, place):
        owner = self._owner()
        if isinstance(owner, SimpleNamespace):
            owner.place = place
        else:
            owner["place" if isinstance(owner, dict) else 0] = place


class RandomEnv(gym.Env):
    """A random Markov decision process of a few states."""

    observation_space = spaces.Discrete(STATES)

    def __init__(self, rules, container, board):
        self.rules, self.container, self.board = rules, container, board
        self.action_space = spaces.Discrete(rules["actions"], start=rules["first"])
        table = np.random.default_rng(rules["seed"])
        self.successors = table.integers(STATES, size=(STATES, rules["actions"], 2)).tolist()
        self.rewards = table.random((STATES, rules["actions"])).tolist()
        self.legal = table.random((STATES + 3, rules["actions"])) < 0.6
        self.legal[np.arange(STATES + 3), table.integers(rules["actions"], size=STATES + 3)] = True

    def mask(self):
        row = {"place": self.container.read(), "clock": STATES + self.clock % 3}.get(self.rules["mask"])
        return np.ones(self.rules["actions"], bool) if row is None else self.legal[row]

    def info(self):
        return {} if self.rules["mask"] == "none" else {"action_mask": self.mask()}

    def draw(self):
        stream = self.stream[0] if isinstance(self.stream, list) else self.stream
        return stream.random()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        make = STREAMS[self.rules["stream"]]
        self.stream = self.np_random if make is None else make(int(self.np_random.integers(1 << 30)))
        self.clock, self.board[0] = 0, 0
        self.container.write(0)
        return 0, self.info()

    def step(self, action):
        number = int(action) - self.rules["first"]
        assert self.mask()[number], f"{action} is illegal"
        place = self.container.read()
        self.clock += 1
        self.board[0] += 1
        self.container.write(self.successors[place][number][int(self.draw() < 0.3)])
        ended = self.rules["ends"] and self.container.read() == STATES - 1
        return self.container.read(), self.rewards[place][number], ended, False, self.info()

    def everything(self):
        stream = self.stream[0] if isinstance(self.stream, list) else self.stream
        state = stream.getstate() if isinstance(stream, random.Random) else None
        state = repr(stream.get_state()) if isinstance(stream, np.random.RandomState) else state
        return self.container.read(), self.clock, self.board[0], state or repr(stream.bit_generator.state)


class Native(RandomEnv):
    """The same with methods that save it; its stream is that of Gymnasium."""

    def clone_state(self):
        return self.container.read(), self.clock, self.board[0]

    def set_state(self, state):
        self.clock, self.board[0] = state[1:]
        self.container.write(state[0])


@st.composite
def environments(draw):
    """A function that makes an environment anew, with objects that its caller holds."""
    native = draw(st.booleans())
    rules = {
        "seed": draw(st.integers(0, 999)),
        "actions": draw(st.integers(2, 4)),
        "first": draw(st.sampled_from([0, 1])),
        "mask": draw(st.sampled_from(["none", "place", "clock"])),
        "stream": "np_random" if native else draw(st.sampled_from(list(STREAMS))),
        "ends": draw(st.booleans()),
    }
    held, limit = draw(st.sampled_from(list(CONTAINERS))), draw(st.integers(1, 12))

    def make():
        env = (Native if native else RandomEnv)(rules, Container(CONTAINERS[held]()), [0])
        return gym.wrappers.TimeLimit(env, limit)

    return make


@st.composite
def cases(draw):
    """An environment, an algorithm, and a seed for both."""
    return draw(environments()), draw(st.sampled_from(ALGORITHMS)), draw(st.integers(0, 99)), draw(st.booleans())


def check(case):
    """Play an episode with an agent and, by the same actions, without one."""
    make, algorithm, seed, late = case
    planned, alone = make(), make()
    options = {"budget": 12, "seed": seed, "reward_bounds": (0.0, 1.0)}
    agent = None if late else gsp.make_agent(planned, algorithm, **options)
    observation, info = planned.reset(seed=seed)
    alone.reset(seed=seed)
    agent = agent or gsp.make_agent(planned, algorithm, **options)
    ended = False
    while not ended:
        action = agent.act(observation, info)
        assert "action_mask" not in info or info["action_mask"][action - planned.action_space.start]
        assert planned.unwrapped.everything() == alone.unwrapped.everything()
        observation, reward, terminated, truncated, info = planned.step(action)
        assert (observation, reward, terminated, truncated) == alone.step(action)[:4]
        ended = terminated or truncated
    assert planned.unwrapped.everything() == alone.unwrapped.everything()


SETTINGS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck), "database": None}


@settings(max_examples=60, **SETTINGS)
@given(cases())
def test_actions_are_legal_and_the_environment_is_only_read(case):
    check(case)


@pytest.mark.slow
@settings(max_examples=1000, **SETTINGS)
@given(cases())
def test_a_thousand_random_environments(case):
    check(case)
