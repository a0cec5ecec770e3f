"""Futures that no list of types can find, and layouts, which are hidden state and no future."""

import hashlib
import os
import random
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats
from simulator.toys import Guessing

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.check import check_snapshot

Limit = gym.wrappers.TimeLimit


class PreList(Guessing):
    def begin(self):
        self.coins = self.np_random.integers(2, size=100).tolist()

    def draw(self):
        return self.coins[self.t]


class PreListWithClock(PreList):
    def observe(self):
        return self.t


class Iterating(Guessing):
    def begin(self):
        self.coins = iter(self.np_random.integers(2, size=100).tolist())

    def draw(self):
        return next(self.coins)


class Congruential(Guessing):
    def begin(self):
        self.number = self.seed_of_stream()

    def draw(self):
        self.number = (1103515245 * self.number + 12345) % (1 << 31)
        return self.number >> 16 & 1


class Hashed(Guessing):
    def begin(self):
        self.secret = self.seed_of_stream()

    def draw(self):
        return hashlib.sha256(f"{self.secret},{self.t}".encode()).digest()[0] & 1


def next_key(key):
    """A key of JAX's form, two words that can only be read, hashed."""
    return np.frombuffer(hashlib.sha256(key.tobytes()).digest()[:8], np.uint32)


class HostKey(Guessing):
    """What `np.asarray(jax.random.PRNGKey(seed))` is, split at each step."""

    def begin(self):
        self.key = next_key(np.array([self.seed_of_stream()]))

    def draw(self):
        self.key = next_key(self.key)
        return int(self.key[0] & 1)


class DrivenKey(HostKey):
    """The action decides how often is drawn."""

    def step(self, action):
        if action:
            self.draw()
        return super().step(action)


class Buffered(Guessing):
    """A stream in bytes that are written over, deep inside."""

    def begin(self):
        self.deep = {"a": [{"b": {"c": [{"d": bytearray(str(self.seed_of_stream()), "ascii")}]}}]}

    def draw(self):
        inner = self.deep["a"][0]["b"]["c"][0]
        inner["d"] = bytearray(hashlib.sha256(inner["d"]).digest())
        return inner["d"][0] & 1


class SavedTwister(Guessing):
    """The state of a generator of Python as a tuple, set in each step."""

    def begin(self):
        self.state = random.Random(self.seed_of_stream()).getstate()

    def draw(self):
        rng = random.Random()
        rng.setstate(self.state)
        drawn = rng.randrange(2)
        self.state = rng.getstate()
        return drawn


class Deck(gym.Env):
    """Take cards from a shuffled deck, or stop; more than 21 is nothing."""

    observation_space, action_space = spaces.Discrete(64), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.deck = [*range(1, 11)] * 4
        self.np_random.shuffle(self.deck)
        self.hand = 0
        return 0, {}

    def step(self, action):
        if action == 0:
            return self.hand, float(self.hand if self.hand <= 21 else 0), True, False, {}
        self.hand += self.deck.pop()
        return self.hand, 0.0, self.hand > 21, False, {}


class Gusts(Guessing):
    """Numbers, none of which comes twice."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)

    def begin(self):
        self.x, self.gusts = 0.0, self.np_random.normal(size=100).tolist()

    def observe(self):
        return np.array([self.x])

    def step(self, action):
        self.x += 2 * action - 1 + self.gusts[self.t]
        self.t += 1
        return self.observe(), -abs(self.x), False, False, {}


class OneShot(Guessing):
    def begin(self):
        self.coin = int(self.np_random.integers(2))

    def step(self, action):
        return 0, float(action == self.coin), True, False, {}


class NativeList(PreList):
    def clone_state(self):
        return self.t, tuple(self.coins)

    def set_state(self, state):
        self.t, self.coins = state[0], list(state[1])


class LeakingNative(Guessing):
    """A snapshot with the stream in it."""

    def begin(self):
        self.rng = np.random.default_rng(self.seed_of_stream())

    def draw(self):
        return int(self.rng.integers(2))

    def clone_state(self):
        return self.rng

    def set_state(self, state):
        self.rng.bit_generator.state = state.bit_generator.state


FUTURES = [
    PreList,
    PreListWithClock,
    Iterating,
    Congruential,
    Hashed,
    HostKey,
    DrivenKey,
    Buffered,
    SavedTwister,
    Deck,
    Gusts,
    OneShot,
    NativeList,
    LeakingNative,
]


@pytest.mark.parametrize("kind", FUTURES)
def test_a_future_that_travels_with_the_snapshot_fails_the_check(kind):
    report = check_snapshot(Limit(kind(), 40))
    failed = [row for row in report.rows if row.outcome == "FAILED"]
    assert [row.claim for row in failed] == ["no copy knows the future"], str(report)
    assert "redraw_hidden()" in failed[0].note


class Global(Guessing):
    """The stream that the whole process shares."""

    def begin(self):
        pass

    def draw(self):
        return int(np.random.rand() < 0.5)


class Entropy(Global):
    """Bytes of the operating system."""

    def draw(self):
        return os.urandom(1)[0] % 2


class System(Global):
    """The operating system's stream of Python."""

    def begin(self):
        self.rng = random.SystemRandom()

    def draw(self):
        return self.rng.randrange(2)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (PreList, "redraw_hidden"),
        (SavedTwister, "redraw_hidden"),
        (Global, "a global stream"),
        (Entropy, "with one seed part ways"),
        (System, "what no seed repeats"),
    ],
)
def test_an_agent_says_once_what_the_check_would_fail(kind, words):
    kind = type("Fresh", (kind,), {})
    with pytest.warns(RuntimeWarning, match=f"Fresh: .*{words}"):
        gsp.make_agent(Limit(kind(), 40), "uct")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gsp.make_agent(Limit(kind(), 40), "uct")


class Redrawn(PreList):
    def redraw_hidden(self):
        self.coins = self.np_random.integers(2, size=100).tolist()

    def state_key(self):
        return self.t


class RedrawnNative(NativeList):
    redraw_hidden, state_key = Redrawn.redraw_hidden, Redrawn.state_key


@pytest.mark.parametrize("kind", [Redrawn, RedrawnNative])
def test_the_remedy_helps(kind):
    env = Limit(kind(), 100)
    assert check_snapshot(env).passed
    agent = gsp.make_agent(env, "gs-power-uct", budget=60, seed=1)
    observation, info = env.reset(seed=0)
    assert sum(env.step(agent.act(observation, info))[1] for _ in range(100)) <= stats.binom.isf(1e-6, 100, 0.5)


# Layouts, which are hidden state: a note.


class HiddenGoal(gym.Env):
    """The goal lies left or right; what it pays falls with time."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.goal, self.x, self.t = 8 * int(self.np_random.integers(2)), 4, 0
        return self.x, {}

    def step(self, action):
        self.x += 2 * action - 1
        self.t += 1
        return self.x, float(self.x == self.goal) * (1 - self.t / 100), self.x in (0, 8), False, {}


class Walls(gym.Env):
    """A map of which only the nearest cells are seen, and a first place that is not told."""

    observation_space, action_space = spaces.MultiBinary(3), spaces.Discrete(3)

    def observe(self):
        x, y = self.place
        return np.array([self.walls[x + 1, y], self.walls[x, y + 1], self.walls[x - 1, y]], np.int8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.walls, self.t = np.ones((12, 12), np.int8), 0
        self.walls[1:-1, 1:-1] = self.np_random.random((10, 10)) < 0.3
        self.place = int(self.np_random.integers(1, 11)), 5
        return self.observe(), {}

    def step(self, action):
        self.t += 1
        dx, dy = ((1, 0), (0, 1), (-1, 0))[action]
        x, y = self.place[0] + dx, self.place[1] + dy
        if not self.walls[x, y]:
            self.place = x, y
        return self.observe(), 1 - self.t / 50 if self.place[1] > 8 else 0.0, self.place[1] > 8, False, {}


class Coarse(gym.Env):
    """Place and speed, of which a rounded place is seen."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def observe(self):
        return int(np.clip(round(self.x) + 4, 0, 8))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.speed = self.np_random.normal(size=2).tolist()
        return self.observe(), {}

    def step(self, action):
        self.speed += 0.1 * (2 * action - 1)
        self.x += self.speed
        return self.observe(), float(self.observe() == 8), abs(self.x) > 4, False, {}


@pytest.mark.parametrize("kind", [HiddenGoal, Walls, Coarse])
def test_a_layout_is_noted_and_never_fails(kind):
    report = check_snapshot(Limit(kind(), 40))
    assert report.passed, str(report)
    row = next(row for row in report.rows if row.claim == "no copy knows the future")
    assert row.note.startswith("note: ")


@pytest.mark.parametrize("name", ["MiniGrid-DoorKey-8x8-v0", "MiniGrid-FourRooms-v0", "MiniGrid-Empty-Random-6x6-v0"])
def test_minigrid_passes(name):
    pytest.importorskip("minigrid", reason="minigrid is absent")
    report = check_snapshot(f"minigrid:{name}")
    assert report.passed, str(report)


@pytest.mark.parametrize("wind", [False, True])
def test_the_lander_passes(wind):
    pytest.importorskip("Box2D", reason="Box2D is absent")
    report = check_snapshot(gym.make("LunarLander-v3", enable_wind=wind))
    assert report.passed, str(report)
