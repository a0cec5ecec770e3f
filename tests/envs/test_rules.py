"""The compiled step of each environment against its written law, and against `Env.step`.

A kind of step is a state with an action.  Small environments are tested in every kind that can occur; the ring of 20
machines in a sample.
"""

import copy
import ctypes

import gymnasium as gym
import numpy as np
import pytest
from numba import njit
from scipy.stats import binom

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.pointers import ctypes_type

GOLDEN_RATIO_INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)
FALSE_ALARM = 1e-6
SAMPLE = 40_000
RINGS = [("SysAdminRing", {}), ("SysAdminRing", {"machines": 62})]
LARGEST_RIVERS = [("FactoredRiverSwim", {"length": 256, "chains": 7})]
VARIANTS = [
    ("FrozenLake", {}),
    ("FrozenLake", {"desc": ["SFHF", "FFFF", "HFFG"], "slip": 0.1}),
    ("FrozenLake", {"slip": 0}),
    ("PassengerGrid", {}),
    (
        "PassengerGrid",
        {"width": 3, "height": 4, "start": [1, 1], "goal": [2, 3], "passengers": [[0, 0], [2, 0]], "slip": 0.5},
    ),
    ("FactoredRiverSwim", {}),
    ("FactoredRiverSwim", {"length": 5, "chains": 2}),
    ("FactoredRiverSwim", {"length": 2, "chains": 1}),
    ("FactoredRiverSwim", {"length": 2, "chains": 4}),
    ("SysAdminRing", {"machines": 4}),
    ("SysAdminRing", {"machines": 1}),
    ("FourRooms", {}),
    ("FourRooms", {"room_size": 2, "slip": 0.4, "horizon": 9}),
    ("Sailing", {"size": 4}),
    ("Sailing", {"size": 2, "start": [1, 0, 4], "discount": 1.0}),
]


def make(name, arguments):
    """A bare environment after its first reset."""
    env = gym.make(f"GSP/{name}-v0", **arguments).unwrapped
    env.reset(seed=0)
    return env


def kinds(env):
    """Every kind of step that can occur; with a clock, at its first and last step and in between."""
    times = (0, env.horizon // 2, env.horizon - 1)
    clocks = [()] if env.clock is None else [(time,) for time in times]
    places, waiting = set(), [env.clone_state().cells[: env.key_size]]
    while waiting:
        place = waiting.pop()
        if place in places:
            continue
        places.add(place)
        for action in range(env.actions):
            rows = env.transitions((*place, *clocks[0]), action)
            waiting += [after[: env.key_size] for _, after, _, end in rows if not end]
    return [(place + clock, action) for place in sorted(places) for clock in clocks for action in range(env.actions)]


def ring_kinds(env, number):
    """Kinds of steps of a ring: random states, each with a random action or none."""
    generator = np.random.default_rng(7)
    states = [0, 2**env.machines - 1, *map(int, generator.integers(2**env.machines, size=number - 2))]
    actions = [int(action) if action % 2 else env.machines for action in generator.integers(env.actions, size=number)]
    return [((state,), action) for state, action in zip(states, actions, strict=True)]


def all_kinds(env):
    """`kinds`, or a sample where there are too many."""
    return ring_kinds(env, 60) if getattr(env, "machines", 0) > 10 else kinds(env)


class Step:
    """The compiled step of an environment, called through its pointer with a given word as the stream."""

    def __init__(self, env):
        self.model = env.compiled_model()
        self.function = ctypes_type(abi.STEP)(self.model.step_pointer.address)

    def __call__(self, cells, action, word):
        """Next cells, reward, status, and the stream's word afterwards."""
        state, reward = np.array(cells, np.int64), ctypes.c_double(np.nan)
        stream = ctypes.c_uint64(word)
        status = self.function(
            self.model.params.ctypes.data, state.ctypes.data, action, ctypes.addressof(stream), ctypes.addressof(reward)
        )
        return tuple(state.tolist()), reward.value, status, stream.value


@njit
def sample(function, params, cells, action, rng, states, rewards, statuses):
    """Take the same step from the same state again and again, on one stream."""
    for i in range(len(rewards)):
        states[i] = cells
        statuses[i] = abi.call_step(
            function,
            address(params, 0),
            address(states.reshape(-1), i * len(cells)),
            action,
            address(rng, 0),
            address(rewards, i),
        )


class Sampler:
    """Draws of one step after the other, all on one stream."""

    def __init__(self, env, word):
        self.model = env.compiled_model()
        self.rng = np.array([word], np.uint64)
        self.states = np.zeros((SAMPLE, self.model.width), np.int64)
        self.rewards = np.zeros(SAMPLE)
        self.statuses = np.zeros(SAMPLE, np.int64)

    def __call__(self, cells, action):
        """Fill states, rewards and statuses with SAMPLE draws."""
        sample(
            self.model.step_pointer.address,
            self.model.params,
            np.array(cells, np.int64),
            action,
            self.rng,
            self.states,
            self.rewards,
            self.statuses,
        )


def assert_binomial(counts, probabilities, tests):
    """No count lies in the two tails of its binomial law that together hold FALSE_ALARM / tests."""
    counts, probabilities = np.array(counts), np.clip(probabilities, 0.0, 1.0)
    tail = np.minimum(binom.cdf(counts, SAMPLE, probabilities), binom.sf(counts - 1, SAMPLE, probabilities))
    assert counts.size <= tests
    assert 2.0 * tail.min() >= FALSE_ALARM / tests


@pytest.mark.parametrize(("name", "arguments"), VARIANTS + RINGS, ids=str)
def test_each_step_draws_the_same_number_of_values(name, arguments):
    env = make(name, arguments)
    step, words = Step(env), np.random.default_rng(1)
    for cells, action in all_kinds(env):
        for word in map(int, words.integers(2**64, size=3, dtype=np.uint64)):
            after = step(cells, action, word)[3]
            assert (after - word) * GOLDEN_RATIO_INVERSE % 2**64 == env.draws


@pytest.mark.parametrize(("name", "arguments"), VARIANTS + RINGS + LARGEST_RIVERS, ids=str)
def test_env_step_is_the_compiled_step(name, arguments):
    """Given the 64-bit word that the environment draws, the pointer says what `step` is about to return."""
    env = make(name, arguments)
    step, actions = Step(env), np.random.default_rng(2)
    for elapsed in range(400):
        state, action = env.clone_state(), int(actions.integers(env.actions))
        word = int(copy.deepcopy(env.np_random).integers(2**64, dtype=np.uint64))
        cells, reward, status, _ = step(state.cells, action, word)
        observation, given, terminated, truncated, _ = env.step(action)
        assert env.clone_state() == (cells, state.elapsed + 1, status == abi.TERMINATED, state.layout)
        assert np.array_equal(observation, env.observe(cells))
        assert (given, terminated, truncated) == (reward, status == abi.TERMINATED, state.elapsed + 1 == env.horizon)
        if terminated or truncated:
            env.reset(seed=elapsed)
            step = Step(env)


@pytest.mark.parametrize(("name", "arguments"), VARIANTS, ids=str)
def test_law(name, arguments):
    """Claim: each outcome of each kind of step has the probability that `transitions` gives, and there are no others.

    SAMPLE draws per kind, an exact binomial test per outcome; all tests of one environment together raise a false
    alarm with a probability below 1e-6 (Bonferroni).
    """
    env = make(name, arguments)
    draw = Sampler(env, word=2026)
    counts, probabilities = [], []
    for cells, action in kinds(env):
        outcomes = {}
        for probability, *outcome in env.transitions(cells, action):
            outcomes[tuple(outcome)] = outcomes.get(tuple(outcome), 0.0) + probability
        assert sum(outcomes.values()) == pytest.approx(1.0, abs=1e-12)
        draw(cells, action)
        seen = 0
        for (after, reward, terminated), probability in outcomes.items():
            hits = (draw.states == after).all(axis=1)
            hits &= (draw.rewards == reward) & (draw.statuses == (abi.TERMINATED if terminated else abi.RUNNING))
            counts.append(np.count_nonzero(hits))
            probabilities.append(probability)
            seen += counts[-1]
            assert env.is_terminal(after) == terminated
        assert seen == SAMPLE
    assert_binomial(counts, probabilities, tests=len(counts))


@pytest.mark.parametrize(("name", "arguments"), RINGS, ids=str)
def test_law_of_large_rings(name, arguments):
    """Claim: machines run with the probabilities of `factors`, pairwise independently.

    SAMPLE draws per kind, an exact binomial test per pair of machines and per machine, in 60 kinds; all tests
    together raise a false alarm with a probability below 1e-6 (Bonferroni).
    """
    env = make(name, arguments)
    draw = Sampler(env, word=2027)
    machines = np.arange(env.machines)
    pairs = np.triu_indices(env.machines)
    all_tests = 60 * len(pairs[0])
    for cells, action in ring_kinds(env, 60):
        draw(cells, action)
        running = (draw.states >> machines & 1).astype(np.float32)
        assert np.array_equal(draw.rewards, running.sum(axis=1, dtype=np.float64) / env.machines)
        assert (draw.statuses == abi.RUNNING).all()
        factors = np.array(env.factors(cells, action))
        together = np.outer(factors, factors)
        np.fill_diagonal(together, factors)
        assert_binomial(np.rint(running.T @ running)[pairs], together[pairs], tests=all_tests)


@pytest.mark.parametrize(("name", "arguments"), VARIANTS, ids=str)
def test_reward_bounds_are_the_smallest_and_largest_reward(name, arguments):
    env = make(name, arguments)
    rewards = [row[2] for cells, action in kinds(env) for row in env.transitions(cells, action)]
    assert (min(rewards), max(rewards)) == env.reward_bounds == env.compiled_model().reward_bounds


def test_rows_of_a_small_ring_are_the_product_of_its_factors():
    env = make("SysAdminRing", {"machines": 4})
    for cells, action in kinds(env):
        rows = env.transitions(cells, action)
        assert sum(row[0] for row in rows) == pytest.approx(1.0, abs=1e-12)
        marginals = [sum(p for p, (after,), _, _ in rows if after >> i & 1) for i in range(4)]
        assert marginals == pytest.approx(env.factors(cells, action), abs=1e-12)


def test_rows_of_a_large_ring_are_refused():
    env = make("SysAdminRing", {"machines": 11})
    with pytest.raises(ValueError, match=r"at most 10 machines; use factors"):
        env.transitions((0,), 0)


def test_four_rooms_draws_uniformly():
    """Claim: each door, the start and the goal are uniform over the places where they may be; start and goal differ.

    SAMPLE resets, an exact binomial test per place; all tests together raise a false alarm with a probability below
    1e-6 (Bonferroni).
    """
    env = make("FourRooms", {"room_size": 2})
    seen = np.zeros((6, env.side**2), np.int64)
    for _ in range(SAMPLE):
        observation, _ = env.reset()
        seen[np.arange(6), observation] += 1
        assert observation[0] != observation[1]
    rooms = [y * 5 + x for y in (0, 1, 3, 4) for x in (0, 1, 3, 4)]
    allowed = [rooms, rooms, [2, 7], [17, 22], [10, 11], [13, 14]]
    counts = np.concatenate([row[places] for row, places in zip(seen, allowed, strict=True)])
    probabilities = np.concatenate([np.full(len(places), 1 / len(places)) for places in allowed])
    assert counts.sum() == 6 * SAMPLE
    assert_binomial(counts, probabilities, tests=len(counts))
