"""No planner may see the real environment's future, nor what the player cannot see.

Claim: scores are at most the optimum.  False alarms: 4.9 standard errors, or a binomial tail of one in a million.
"""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.toy_text.blackjack import BlackjackEnv
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from gymnasium_gsp.binding import adapters
from gymnasium_gsp.binding.adapters.toy_text import Blackjack, ToyText

ALARM, SIGMAS = 1e-6, 4.9
HANDS = -0.0466  # the best that can be done at Blackjack-v1 without seeing the hole card

TABLE, SIMULATOR = "table", "simulator"


class Leaky(ToyText):
    """A snapshot with the random stream in it: every simulation replays the real future."""

    def save(self, env):
        return super().save(env), env.np_random.bit_generator.state

    def load(self, env, snapshot):
        super().load(env, snapshot[0])
        env.np_random.bit_generator.state = snapshot[1]


class LeakyBlackjack(Blackjack):
    """The same, and the hole card stays where it lies."""

    def save(self, env):
        return super().save(env), env.np_random.bit_generator.state

    def load(self, env, snapshot):
        super().load(env, snapshot[0])
        env.np_random.bit_generator.state = snapshot[1]

    def redraw_hidden(self, env):
        pass


@pytest.fixture
def leak(monkeypatch):
    monkeypatch.setattr(adapters, "_adapters", [Leaky, LeakyBlackjack, *adapters.all_adapters()])


def above(returns, best):
    """How many standard errors the mean lies above the optimum."""
    return (np.mean(returns) - best) / (np.std(returns, ddof=1) / np.sqrt(len(returns)))


def lake_tail(play, luck, episodes, **options):
    env = gym.make("FrozenLake-v1")
    wins = int(sum(play(env, episodes=episodes, **options)))
    return luck(wins, episodes, lake_optimum())


def optimum(table, start, steps):
    """By backward induction over a table."""
    values = np.zeros(len(table))
    for _ in range(steps):
        values = np.array([max(expectation(row, values) for row in table[state].values()) for state in table])
    return values[start]


def expectation(row, values):
    return sum(p * (reward + (0.0 if ended else values[state])) for p, state, reward, ended in row)


def lake_optimum():
    return optimum(FrozenLakeEnv().P, 0, 100)


def test_the_optimum_of_the_lake():
    assert lake_optimum() == pytest.approx(0.744, abs=5e-4)


@pytest.mark.parametrize(("way", "episodes", "budget"), [(TABLE, 200, 300), (SIMULATOR, 60, 60)])
def test_frozen_lake_is_never_won_too_often(way, episodes, budget, play, luck):
    options = {"simulator": FrozenLakeEnv} if way == SIMULATOR else {}
    assert lake_tail(play, luck, episodes, budget=budget, name="uct", **options) > ALARM


def test_a_leaky_adapter_is_found_out_on_the_lake(leak, play, luck):
    assert lake_tail(play, luck, 60, budget=200, name="uct", simulator=FrozenLakeEnv) < ALARM


@pytest.mark.slow
def test_the_large_lake_is_never_won_too_often(play):
    returns = play(gym.make("FrozenLake8x8-v1"), episodes=300, budget=100, name="gs-power-uct-f")
    best = 0.9132  # as GSP/FrozenLake-v0: the same map in 200 steps
    assert np.mean(returns) <= best + SIGMAS * np.sqrt(best * (1 - best) / 300)


@pytest.mark.parametrize(
    ("way", "episodes", "budget"), [(TABLE, 60, 200), pytest.param(SIMULATOR, 60, 100, marks=pytest.mark.slow)]
)
def test_slippery_cliff_walking_is_never_too_good(way, episodes, budget, play):
    options = {"simulator": lambda: CliffWalkingEnv(is_slippery=True)} if way == SIMULATOR else {}
    env = gym.make("CliffWalking-v1", is_slippery=True, max_episode_steps=40)
    assert (
        above(
            play(env, episodes=episodes, budget=budget, **options), optimum(CliffWalkingEnv(is_slippery=True).P, 36, 40)
        )
        < SIGMAS
    )


def test_blackjack_is_never_too_good(play):
    returns = play(gym.make("Blackjack-v1"), episodes=1000, budget=60)
    assert above(returns, HANDS) < SIGMAS
    assert np.mean(returns) > -0.25  # and it plays, against about -0.4 for random hands


def test_a_leaky_adapter_is_found_out_at_blackjack(leak, play):
    # A fresh graph for each decision: a kept one would mix this hand's leaked future with those of other hands.
    options = {"simulator": BlackjackEnv, "retention": "decision"}
    returns = play(gym.make("Blackjack-v1"), episodes=600, budget=60, **options)
    assert above(returns, HANDS) > SIGMAS


@pytest.mark.slow
def test_to_leave_the_hole_card_where_it_lies_is_found_out(play, monkeypatch):
    monkeypatch.setattr(Blackjack, "redraw_hidden", lambda self, env: None)
    # By `uct`, whose tree is new at each decision, as above.
    returns = play(gym.make("Blackjack-v1"), episodes=6000, budget=400, name="uct")
    assert above(returns, HANDS) > SIGMAS
