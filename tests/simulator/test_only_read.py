"""The real environment is only read."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from simulator.toys import Guessing

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.check import check_snapshot

Limit = gym.wrappers.TimeLimit


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


class Module(Guessing):
    """Keeps its state in the module."""

    def begin(self):
        _LEVEL["depth"] = 0

    def draw(self):
        return _LEVEL["depth"] % 2

    def step(self, action):
        _LEVEL["depth"] += 1
        return super().step(action)


class OnClass(Guessing):
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
