"""Small environments that users might write, each with one peculiarity."""

from typing import ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Corridor(gym.Env):
    """Walk to the right end of a corridor; with `slip`, every other step goes the other way."""

    metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(self, length=5, slip=0.0, render_mode=None):
        self.length, self.slip, self.render_mode = length, slip, render_mode
        self.observation_space = spaces.Discrete(length)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position = 0
        return self.position, {}

    def step(self, action):
        right = bool(action)
        if self.slip and self.np_random.random() < self.slip:
            right = not right
        self.position = min(self.position + 1, self.length - 1) if right else max(self.position - 1, 0)
        ended = self.position == self.length - 1
        return self.position, float(ended), ended, False, {}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


class NativeCorridor(Corridor):
    """The same with the two methods of our own protocol."""

    def clone_state(self):
        return self.position

    def set_state(self, state):
        self.position = state


class ScaledCorridor(Corridor):
    """Every reward times a factor, with a small cost a step."""

    def __init__(self, factor=1.0):
        super().__init__(slip=0.25)
        self.factor = factor

    def step(self, action):
        position, reward, terminated, truncated, info = super().step(action)
        return position, self.factor * (reward - 0.125), terminated, truncated, info


class EzCorridor(Corridor, gym.utils.EzPickle):
    """A copy of it is silently a new one."""

    def __init__(self):
        Corridor.__init__(self)
        gym.utils.EzPickle.__init__(self)


class Uncopyable(Corridor):
    """Can be neither copied nor pickled, like an environment behind a native handle."""

    def __init__(self, length=5, slip=0.0):
        super().__init__(length, slip)
        self.handle = Handle()


class Handle:
    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle a handle")

    def __deepcopy__(self, memo):
        raise TypeError("cannot copy a handle")


class Lying(Corridor):
    """Its snapshot restores something else."""

    def clone_state(self):
        return self.position

    def set_state(self, state):
        self.position = min(state + 1, self.length - 2)


class Odd(Corridor):
    """Misbehaves on demand, `where` it is told to."""

    def __init__(self, how="", where=2):
        super().__init__()
        self.how, self.where = how, where

    def step(self, action):
        answer = super().step(action)
        if self.position != self.where:
            return answer
        if self.how == "raises":
            raise KeyError("in the middle of a simulation")
        if self.how == "interrupts":
            raise KeyboardInterrupt
        if self.how == "four":
            return answer[:4]
        if self.how == "nothing":
            return None
        if self.how == "reward":
            return answer[0], float("nan"), *answer[2:]
        if self.how == "text":
            return answer[0], "much", *answer[2:]
        return answer


class NaNs(gym.Env):
    """Observes NaN after the first step."""

    observation_space = spaces.Box(-1.0, 1.0, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self):
        self.value = np.zeros(2, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.value = np.zeros(2, np.float32)
        return self.value, {}

    def step(self, action):
        self.value = np.full(2, np.nan, np.float32)
        return self.value, 0.0, False, False, {}


class Masked(Corridor):
    """Only `right` is legal in the first cell, which is told by info; taking `left` there raises."""

    def mask(self):
        return np.array([self.position > 0, True])

    def reset(self, *, seed=None, options=None):
        observation, _ = super().reset(seed=seed)
        return observation, {"action_mask": self.mask()}

    def step(self, action):
        if not self.mask()[action]:
            raise AssertionError("an illegal action was simulated")
        answer = super().step(action)
        return (*answer[:4], {"action_mask": self.mask()})


class Stuck(Masked):
    """Nothing is legal in the third cell."""

    def mask(self):
        return np.array([self.position > 0, True]) & (self.position != 2)


class Pair(Corridor):
    """Two actions at once: the corridor is walked if both say so."""

    def __init__(self, space=None):
        super().__init__()
        self.space = space
        self.action_space = space or spaces.MultiDiscrete([2, 3])

    def step(self, action):
        assert self.action_space.contains(action), action
        return super().step(int(np.all(np.asarray(action) == np.max(np.stack([action, np.ones_like(action)]), 0))))


class Diary(Corridor):
    """Observes dicts and tuples, and keeps a generator where nobody looks for one."""

    def __init__(self):
        super().__init__()
        self.observation_space = spaces.Dict(
            {"place": spaces.Discrete(5), "pair": spaces.Tuple((spaces.Box(0, 9, (2,)), spaces.Discrete(2)))}
        )
        self.road = Road()

    def seen(self):
        pair = (np.full(2, self.position, np.float32), self.position % 2)
        return {"place": self.position, "pair": pair}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.road.generator = self.np_random
        return self.seen(), {}

    def step(self, action):
        moves = self.road.generator.random() < 0.5
        answer = super().step(action) if moves else (0, 0.0, False, False, {})
        return (self.seen(), *answer[1:])


class Road:
    generator = None


class Timed(Corridor):
    """Counts its own steps, and says so."""

    gsp_clocks = ("t",)

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.t += 1
        return super().step(action)


class Card(Corridor):
    """A hidden card decides what the goal is worth; nobody sees it before."""

    def reset(self, *, seed=None, options=None):
        answer = super().reset(seed=seed)
        self.redraw_hidden()
        return answer

    def redraw_hidden(self):
        self.card = int(self.np_random.integers(10))

    def clone_state(self):
        return self.position, self.card

    def set_state(self, state):
        self.position, self.card = state

    def state_key(self):
        return self.position

    def step(self, action):
        answer = super().step(action)
        return answer[0], answer[1] * self.card, *answer[2:]


class Global(Corridor):
    """Draws from the global stream."""

    def step(self, action):
        return super().step(int(np.random.random() < 0.5))


class Forgetful(Corridor):
    """Its snapshot leaves out what decides the future."""

    def reset(self, *, seed=None, options=None):
        self.ice = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.ice += 1
        return super().step(action if self.ice % 2 else 0)

    def clone_state(self):
        return self.position

    def set_state(self, state):
        self.position = state


class Guessing(gym.Env):
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


class Throw(gym.Env):
    """Throw at a target for three steps: the reward is minus the squared distance, the target stands elsewhere then."""

    observation_space = spaces.Discrete(4)

    def __init__(self, space=None):
        self.space = space
        self.action_space = spaces.Box(-1.0, 1.0, (1,)) if space is None else space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.thrown = 0
        return 0, {}

    def step(self, action):
        assert self.action_space.contains(action), action
        target = (0.3, -0.7, 1.0)[self.thrown]
        self.thrown += 1
        return self.thrown, -float(np.sum((action - target) ** 2)), self.thrown == 3, False, {}
