"""Search on top of PPO against PPO alone: episodes are kept, and differences are paired."""

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp

pytest.importorskip("stable_baselines3", reason="stable-baselines3 is absent")

from stable_baselines3 import PPO

from benchmarks import learned_values
from examples.search_on_ppo import planner


class Counting:
    """A player that counts its decisions."""

    def __init__(self):
        self.decisions = 0

    def predict(self, observation, **options):
        self.decisions += 1
        return 0, None


def test_what_was_played_is_not_played_again(tmp_path):
    env, file, player = gym.make("CartPole-v1"), tmp_path / "episodes.jsonl", Counting()
    first = learned_values.play(env, {"left": player}, range(3), file)
    decisions = player.decisions
    assert learned_values.play(env, {"left": player}, range(3), file) == first
    assert player.decisions == decisions
    more = learned_values.play(env, {"left": player}, range(4), file)
    assert more["left"][:3] == first["left"]
    assert len(file.read_text().splitlines()) == 4


def test_an_episode_depends_on_its_seed_alone(tmp_path):
    env = gym.make("CartPole-v1", max_episode_steps=20)
    agent = gsp.make_agent(env, "uct", budget=5, seed=0)
    learned_values.play(env, {"uct": agent}, range(2), tmp_path / "one.jsonl")
    learned_values.play(env, {"uct": agent}, range(1, 2), tmp_path / "other.jsonl")
    assert (tmp_path / "one.jsonl").read_text().splitlines()[1:] == (tmp_path / "other.jsonl").read_text().splitlines()


def test_the_table_pairs_by_seed():
    rows = learned_values.table({"alone": [1.0, 5.0, 3.0], "search": [2.0, 6.0, 5.0]}).splitlines()
    assert rows[1].split() == ["alone", "3.0", "(1.2)"]
    assert rows[2].split() == ["search", "4.3", "(1.2)", "+1.3", "(0.3)", "4.0"]


def test_costs_are_those_of_every_leaf_batch(monkeypatch):
    monkeypatch.setattr(learned_values, "ROUNDS", 1)
    monkeypatch.setattr(learned_values, "CALLS", 64)
    model = PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu")
    rows = [row.split() for row in learned_values.costs("CartPole-v1", model).splitlines()]
    assert [row[0] for row in rows] == ["none", "1", "8", "32"]
    assert np.array([row[1:] for row in rows], float).min() > 0.0
    assert planner(gym.make("CartPole-v1"), model, 4, leaf_batch=2).recipe.leaf_batch == 2
