"""Streams of every kind, which planning must not follow."""

import functools
import random

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats
from simulator.toys import Guessing

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.check import check_snapshot

Limit = gym.wrappers.TimeLimit


class Held(Guessing):
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


class JaxKey(Guessing):
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


class Nested(Guessing):
    """Streams in lists, in slots and below dicts."""

    def begin(self):
        self.rngs = [np.random.default_rng(self.seed_of_stream())]
        self.deep = {"a": {"b": Slotted()}}
        self.deep["a"]["b"].rng = np.random.RandomState(self.seed_of_stream())

    def draw(self):
        return int(self.rngs[0].integers(2)) ^ int(self.deep["a"]["b"].rng.randint(2))


class Bound(Guessing):
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
