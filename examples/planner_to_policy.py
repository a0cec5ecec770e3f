"""From a planner to a policy: record its episodes with Minari, clone its behaviour, compare both; the extra `minari`.

Minari keeps data sets in the folder of the environment variable MINARI_DATASETS_PATH, or in ~/.minari/datasets.
"""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import minari
import numpy as np

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import FixedHorizon

Policy = Callable[[Any, dict[str, Any]], Any]  # of an observation and its info


def play(env: gym.Env, act: Policy, episodes: int, seed: int) -> list[float]:
    """Play some episodes; returns their returns."""
    returns = []
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode)
        total, done = 0.0, False
        while not done:
            observation, reward, terminated, truncated, info = env.step(act(observation, info))
            total, done = total + float(reward), terminated or truncated
        returns.append(total)
    return returns


def clone(dataset: minari.MinariDataset, steps: int = 2000) -> Policy:
    """Fit a linear softmax policy of the observation to the actions of a data set; it plays its likeliest action."""
    episodes = list(dataset.iterate_episodes())
    observations = np.concatenate([episode.observations[:-1] for episode in episodes])
    actions = np.concatenate([episode.actions for episode in episodes])
    mean, scale = observations.mean(axis=0), observations.std(axis=0)
    features = np.column_stack([(observations - mean) / scale, np.ones(len(actions))])
    taken = np.eye(dataset.action_space.n)[actions]
    weights = np.zeros((features.shape[1], taken.shape[1]))
    for _ in range(steps):  # gradient ascent on the log-likelihood
        chances = np.exp(features @ weights)
        chances /= chances.sum(axis=1, keepdims=True)
        weights += features.T @ (taken - chances) / len(actions)
    return lambda observation, info: int(np.argmax(np.append((observation - mean) / scale, 1.0) @ weights))


def main(
    dataset_id: str = "cartpole/planner-v0", recorded: int = 10, evaluated: int = 50, max_episode_steps: int = 500
) -> tuple[float, float]:
    """Record, clone and evaluate; returns the mean returns of the planner and of its clone."""
    env = gym.make("CartPole-v1", max_episode_steps=max_episode_steps)
    collector = minari.DataCollector(env)
    agent = gsp.make_agent(collector, budget=gsp.Budget(model_steps=200), seed=0, horizon=FixedHorizon(16))
    planned = play(collector, agent.act, recorded, seed=0)
    described = agent.describe()
    dataset = collector.create_dataset(
        dataset_id,
        algorithm_name=f"gymnasium-gsp {described['algorithm']}",
        description=f"episodes of a planner with access to the simulator, {described['budget']} a decision",
    )
    cloned = play(env, clone(dataset), evaluated, seed=10_000)  # in episodes that the planner has not seen
    return float(np.mean(planned)), float(np.mean(cloned))


if __name__ == "__main__":
    print("mean return of the planner {:.1f}, of the policy {:.1f}".format(*main()))
