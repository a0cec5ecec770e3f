"""What the tests of simulators share: playing episodes, and the chance that a score is luck."""

import math

import pytest

import gymnasium_gsp as gsp


@pytest.fixture
def play():
    """Play episodes of an environment with an agent; returns their returns."""

    def run(env, episodes=1, seed=0, agent=None, name="gs-power-uct", **options):
        agent = agent or gsp.make_agent(env, name, seed=seed + 1000, **options)
        returns = []
        for episode in range(episodes):
            observation, info = env.reset(seed=seed + episode)
            total, ended = 0.0, False
            while not ended:
                observation, reward, terminated, truncated, info = env.step(agent.act(observation, info))
                total += float(reward)
                ended = terminated or truncated
            returns.append(total)
        return returns

    return run


@pytest.fixture
def luck():
    """The chance of at least so many successes in n trials of probability p."""

    def tail(successes, n, p):
        return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(successes, n + 1))

    return tail
