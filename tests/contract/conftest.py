"""What the contract tests share: the registries as parameters, and models whose step is a Python function.

A test that asks for `algorithm`, `settings` or `entry` runs for all that is registered, so that what is added is tested
at once.  `trials` and `trial_settings` are for what only sampling searches promise: slots to choose, Q as an average.
"""

import ctypes

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from kinds import averages

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.envs.compiled_env import EnvState

SETTINGS = [(name, preset) for name, found in gsp.ALGORITHMS.items() for preset in (None, *found.presets)]

TRIALS = [name for name in gsp.ALGORITHMS if averages(name)]
INCREMENT, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@pytest.fixture(params=list(gsp.ALGORITHMS))
def algorithm(request):
    """Name of a registered algorithm."""
    return request.param


@pytest.fixture(params=SETTINGS, ids=lambda pair: f"{pair[0]}-{pair[1] or 'default'}")
def settings(request):
    """Name of a registered algorithm and of one of its presets, or None."""
    return request.param


@pytest.fixture(params=TRIALS)
def trials(request):
    """Name of a registered algorithm that averages what it samples."""
    return request.param


@pytest.fixture(params=[pair for pair in SETTINGS if pair[0] in TRIALS], ids=lambda pair: f"{pair[0]}-{pair[1]}")
def trial_settings(request):
    """As `settings`, of those that average what they sample."""
    return request.param


@pytest.fixture(params=ENVIRONMENTS, ids=lambda entry: entry.name)
def entry(request):
    """One line of the environments' registry."""
    return request.param


@pytest.fixture(autouse=True)
def preset_for_entry(request):
    """Skip a preset in an environment that it has no settings for."""
    names = set(request.fixturenames)
    for pair in {"settings", "trial_settings"} & names if "entry" in names else ():
        name, preset = request.getfixturevalue(pair)
        entry = request.getfixturevalue("entry")
        if preset is not None and entry.name not in gsp.ALGORITHMS[name].presets[preset]:
            pytest.skip(f"{preset} has no settings for {entry.name}")


@pytest.fixture
def env(entry):
    """A registered environment after reset(seed=1), as `gym.make` wraps it."""
    made = gym.make(entry.id)
    made.reset(seed=1)
    return made


@pytest.fixture(scope="session")
def observe():
    """Function of an environment: what it shows at present."""
    return lambda env: env.unwrapped.observe(env.unwrapped.clone_state().cells)


@pytest.fixture(scope="session")
def same_result():
    """Function of two results: whether they agree in all but the time they took."""

    def same(left, right):
        return (
            all(
                getattr(left, name) == getattr(right, name)
                for name in (
                    "action",
                    "value",
                    "simulations",
                    "model_steps",
                    "nodes",
                    "graph_size",
                    "stopped_by",
                    "at_cap",
                )
            )
            and np.array_equal(left.q_values, right.q_values)
            and np.array_equal(left.visit_counts, right.visit_counts)
        )

    return same


def splitmix(word):
    """The 64 bits that the stream gives on reaching this word."""
    z = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@pytest.fixture(scope="session")
def word_bits():
    """Function of a stream's word: the 64 random bits it stands for."""
    return splitmix


@pytest.fixture(scope="session")
def python_step():
    """Function from Python rules to a step behind a ctypes pointer.

    The rules take (cells, action, draw), where `cells` is a list to be changed in place and `draw()` gives a number in
    [0, 1), and return (reward, terminated) or a whole number to be returned as the status.
    """

    def build(rules, width=1):
        def step(params, state, action, rng, reward):
            cells = (ctypes.c_int64 * width).from_address(state)
            stream = ctypes.c_uint64.from_address(rng)

            def draw():
                stream.value = stream.value + INCREMENT & MASK
                return (splitmix(stream.value) >> 11) * 2.0**-53

            values = list(cells)
            answer = rules(values, action, draw)
            cells[:] = values
            if isinstance(answer, int):
                return answer
            ctypes.c_double.from_address(reward).value = answer[0]
            return abi.TERMINATED if answer[1] else abi.RUNNING

        return ctypes_type(abi.STEP)(step)

    return build


@pytest.fixture(scope="session")
def recorded():
    """Function from a model to the same model behind a Python step, and the list of what it was asked.

    Per step: (cells before, action, cells after, reward, status, word of the stream before).
    """

    def wrap(model):
        inner = ctypes_type(abi.STEP)(model.step_pointer.address)
        seen = []

        def step(params, state, action, rng, reward):
            cells = (ctypes.c_int64 * model.width).from_address(state)
            before, word = tuple(cells), ctypes.c_uint64.from_address(rng).value
            status = inner(params, state, action, rng, reward)
            seen.append((before, action, tuple(cells), ctypes.c_double.from_address(reward).value, status, word))
            return status

        pointer = ctypes_type(abi.STEP)(step)
        same = {name: getattr(model, name) for name in ("actions", "width", "key_size", "params", "reward_bounds")}
        legal = model.legal_pointer
        return gsp.CompiledModel(pointer, **same, legal=legal, terminal=model.terminal, law=model.law), seen

    return wrap


class ModelEnv(gym.Env):
    """An environment around any model; it goes where it is told to.

    Args:
        model: the model.
        horizon: steps until truncation, or None.
        start: cells of the first state.
    """

    def __init__(self, model, horizon=None, start=(0,)):
        self.model, self.horizon, self.start = model, horizon, tuple(start)
        self.action_space = spaces.Discrete(model.actions)
        self.observation_space = spaces.Box(-np.inf, np.inf, (model.width,), np.int64)
        self.state = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.go(self.start, 0), {}

    def go(self, cells, elapsed, terminated=False):
        """Stand in a state; returns its observation."""
        self.state = EnvState(tuple(cells), elapsed, terminated, ())
        return self.observe(self.state.cells)

    def observe(self, cells):
        return np.array(cells, np.int64)

    def clone_state(self):
        return self.state

    def compiled_model(self):
        return self.model


@pytest.fixture(scope="session")
def model_env():
    """Function (model, horizon, start) to an environment around that model, whose `go(cells, elapsed)` moves it."""
    return ModelEnv


@pytest.fixture(scope="session")
def random_model():
    """Function (seed, states, actions) to a tabular model with rewards in [0, 1) and no ends."""

    def build(seed, states=4, actions=3):
        rng = np.random.default_rng(seed)
        return gsp.tabular_model_from_arrays(
            rng.dirichlet(np.ones(states), (states, actions)), rng.random((states, actions))
        )

    return build


@pytest.fixture(scope="session")
def corridor():
    """Function (length, cost, prize) to a corridor: action 1 goes on, action 0 stays; the last state ends it."""

    def build(length, cost=0.0, prize=1.0):
        table = []
        for state in range(length - 1):
            ends = state == length - 2
            gain = prize if ends else cost
            table.append([[(1.0, state, cost, False)], [(1.0, state + 1, gain, ends)]])
        table.append([[(1.0, length - 1, 0.0, True)]] * 2)
        return gsp.tabular_model(table)

    return build
