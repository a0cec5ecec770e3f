"""What a planner promises of any environment: it reads only, plans what there is, and never knows the future."""

import functools
import hashlib
import random
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.check import check_snapshot

Limit = gym.wrappers.TimeLimit


class Base(gym.Env):
    """Guess what is drawn; nothing is observed."""

    observation_space, action_space = spaces.Discrete(64), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.begin()
        return self.observe(), {}

    def begin(self):
        pass

    def observe(self):
        return 0

    def step(self, action):
        drawn = self.draw()
        self.t += 1
        return self.observe(), float(action == drawn), False, False, {}

    def seed_of_stream(self):
        return int(self.np_random.integers(1 << 30))


# Streams of every kind, which planning must not follow.


class Held(Base):
    """A stream in an attribute."""

    def __init__(self, make, draw_from):
        self.make, self.draw_from = make, draw_from

    def begin(self):
        self.rng = self.make(self.seed_of_stream())

    def draw(self):
        return int(self.draw_from(self.rng))


def torch_stream(seed):
    return pytest.importorskip("torch", reason="torch is absent").Generator().manual_seed(seed)


def torch_draw(rng):
    import torch

    return torch.randint(2, (1,), generator=rng)


class JaxKey(Base):
    """A key that every step splits."""

    def begin(self):
        self.key = pytest.importorskip("jax", reason="jax is absent").random.key(self.seed_of_stream())

    def draw(self):
        import jax

        self.key, use = jax.random.split(self.key)
        return int(jax.random.bernoulli(use))


class OldJaxKey(JaxKey):
    """The same with a key that is an array."""

    def begin(self):
        self.key = pytest.importorskip("jax", reason="jax is absent").random.PRNGKey(self.seed_of_stream())


class Slotted:
    __slots__ = ("rng",)


class Nested(Base):
    """Streams in lists, in slots and below dicts."""

    def begin(self):
        self.rngs = [np.random.default_rng(self.seed_of_stream())]
        self.deep = {"a": {"b": Slotted()}}
        self.deep["a"]["b"].rng = np.random.RandomState(self.seed_of_stream())

    def draw(self):
        return int(self.rngs[0].integers(2)) ^ int(self.deep["a"]["b"].rng.randint(2))


class Bound(Base):
    """A method of a stream, and a function around one."""

    def begin(self):
        rng = np.random.default_rng(self.seed_of_stream())
        self.method = rng.random
        self.partial = functools.partial(rng.integers, 2)
        self.function = lambda: rng.integers(2)

    def draw(self):
        return int(self.method() < 0.5) ^ int(self.partial()) ^ int(self.function())


HONEST = {
    "Generator": lambda: Held(np.random.default_rng, lambda rng: rng.integers(2)),
    "Philox": lambda: Held(lambda seed: np.random.Generator(np.random.Philox(seed)), lambda rng: rng.integers(2)),
    "RandomState": lambda: Held(np.random.RandomState, lambda rng: rng.randint(2)),
    "BitGenerator": lambda: Held(np.random.PCG64, lambda rng: rng.random_raw() >> 40 & 1),
    "Random": lambda: Held(random.Random, lambda rng: rng.randrange(2)),
    "torch": lambda: Held(torch_stream, torch_draw),
    "jax": JaxKey,
    "old jax": OldJaxKey,
    "nested": Nested,
    "bound": Bound,
}


@pytest.mark.parametrize("kind", HONEST)
def test_a_copied_stream_does_not_foretell_coins(kind):
    """Claim: of 30 fair coins about half are guessed; more than the binomial quantile of 1e-6 is foreknowledge."""
    env = Limit(HONEST[kind](), 30)
    observation, info = env.reset(seed=0)
    agent = gsp.make_agent(env, "gs-power-uct", budget=10, seed=1)
    guessed = sum(env.step(agent.act(observation, info))[1] for _ in range(30))
    assert guessed <= stats.binom.isf(1e-6, 30, 0.5)


@pytest.mark.parametrize("kind", HONEST)
def test_an_honest_stream_passes_the_check(kind):
    report = check_snapshot(Limit(HONEST[kind](), 30))
    assert report.passed, str(report)


# Futures that no list of types can find.


class PreList(Base):
    def begin(self):
        self.coins = self.np_random.integers(2, size=100).tolist()

    def draw(self):
        return self.coins[self.t]


class PreListWithClock(PreList):
    def observe(self):
        return self.t


class Iterating(Base):
    def begin(self):
        self.coins = iter(self.np_random.integers(2, size=100).tolist())

    def draw(self):
        return next(self.coins)


class Congruential(Base):
    def begin(self):
        self.number = self.seed_of_stream()

    def draw(self):
        self.number = (1103515245 * self.number + 12345) % (1 << 31)
        return self.number >> 16 & 1


class Hashed(Base):
    def begin(self):
        self.secret = self.seed_of_stream()

    def draw(self):
        return hashlib.sha256(f"{self.secret},{self.t}".encode()).digest()[0] & 1


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


class Gusts(Base):
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


class OneShot(Base):
    def begin(self):
        self.coin = int(self.np_random.integers(2))

    def step(self, action):
        return 0, float(action == self.coin), True, False, {}


class NativeList(PreList):
    def clone_state(self):
        return self.t, tuple(self.coins)

    def set_state(self, state):
        self.t, self.coins = state[0], list(state[1])


class LeakingNative(Base):
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


def test_an_agent_says_once_what_the_check_would_fail():
    kind = type("Fresh", (PreList,), {})
    with pytest.warns(RuntimeWarning, match="Fresh: .*redraw_hidden"):
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


# The real environment is only read.


class Game:
    position = goal = 0

    def start(self, rng):
        self.position, self.goal = 0, int(rng.integers(3, 9))


class Played(gym.Env):
    """Plays on an object that its constructor was given."""

    observation_space, action_space = spaces.MultiDiscrete([10, 10]), spaces.Discrete(2)

    def __init__(self, game):
        self.game = game

    def observe(self):
        return np.array([self.game.position, self.game.goal])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.game.start(self.np_random)
        return self.observe(), {}

    def step(self, action):
        self.game.position = min(max(self.game.position + 2 * int(action) - 1, 0), 9)
        done = self.game.position == self.game.goal
        return self.observe(), float(done), done, False, {}


class NativePlayed(Played):
    def clone_state(self):
        return self.game.position, self.game.goal

    def set_state(self, state):
        self.game.position, self.game.goal = state


class Board(gym.Env):
    """Writes to the list that it was given, or to one that all environments share."""

    observation_space, action_space = spaces.Discrete(10), spaces.Discrete(2)
    shared: list = [0]  # noqa: RUF012 - the mistake that is tried

    def __init__(self, board=[0]):  # noqa: B006 - the same
        if board is not None:
            self.board = board

    @property
    def place(self):
        return self.board if hasattr(self, "board") else self.shared

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place[0] = 4
        return 4, {}

    def step(self, action):
        self.place[0] += 2 * action - 1
        return self.place[0], float(self.place[0] == 9), self.place[0] in (0, 9), False, {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Played(Game()),
        lambda: NativePlayed(Game()),
        Board,
        lambda: Board([0]),
        lambda: Board(None),
    ],
)
def test_what_the_constructor_was_given_is_only_read(make):
    """With an agent and without one an environment does the same."""

    def play(agent):
        env = Limit(make(), 15)
        env.reset(seed=1)
        shown = [np.array(env.step(1)[0]).tolist()]
        if agent:
            agent = gsp.make_agent(env, "gs-power-uct", budget=100, seed=0)
            agent.act(np.array(shown[0]))
        for _ in range(3):
            shown.append(np.array(env.step(0)[0]).tolist())
            if agent:
                agent.act(np.array(shown[-1]))
        return shown

    assert play(True) == play(False)


_LEVEL = {"depth": 0}


class Module(Base):
    """Keeps its state in the module."""

    def begin(self):
        _LEVEL["depth"] = 0

    def draw(self):
        return _LEVEL["depth"] % 2

    def step(self, action):
        _LEVEL["depth"] += 1
        return super().step(action)


class OnClass(Base):
    count = 0

    def draw(self):
        OnClass.count += 1
        return OnClass.count % 2


@pytest.mark.parametrize(("kind", "name"), [(Module, "_LEVEL"), (OnClass, "OnClass.count")])
def test_state_of_a_module_or_a_class_is_named(kind, name):
    _LEVEL["depth"] = 0
    report = check_snapshot(Limit(kind(), 20))
    assert any(row.outcome == "FAILED" and name in row.note for row in report.rows), str(report)
    _LEVEL["depth"] = 0
    with pytest.warns(RuntimeWarning, match=name):
        gsp.make_agent(Limit(type("Sub", (kind,), {})(), 20), "uct")


def test_a_reset_that_changes_the_module_is_refused():
    _LEVEL["depth"] = 3
    with pytest.raises(gsp.RecipeError, match=r"_LEVEL, which every environment of this kind shares"):
        gsp.make_agent(Limit(Module(), 20), "uct")


# What is planned in is what there is.


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


class Masked(Base):
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
    class Pairs(Base):
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
    agent = gsp.make_agent(env, "uct", budget=20, seed=0)
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
