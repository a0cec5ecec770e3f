"""Search on top of a policy that Stable-Baselines3 has trained: PPO alone, and with more and more simulations.

It needs Stable-Baselines3 and, for LunarLander, Box2D: pip install 'gymnasium-gsp[sb3,box2d]'
"""

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO

import gymnasium_gsp as gsp


def episode(env, player, seed):
    """Play one episode with anything that has `predict`; returns its return."""
    observation, _ = env.reset(seed=seed)
    start, total, done = True, 0.0, False
    while not done:
        action, _ = player.predict(observation, episode_start=[start], deterministic=True)
        observation, reward, terminated, truncated, _ = env.step(action)
        start, total, done = False, total + float(reward), terminated or truncated
    return total


def planner(env, model, budget, **options):
    """An agent that searches in `env` on top of the model."""
    learned = gsp.from_sb3(model)
    settings = {
        "key": "actions",  # noise in the engines keeps states from recurring
        "value_function": learned.value_function,
        "prior": learned.prior,
        "discount": learned.discount,
    }
    return gsp.make_agent(env, "puct", budget=budget, seed=0, **{**settings, **options})


def main(env_id="LunarLander-v3", training=50_000, budgets=(32, 128, 512), episodes=10):
    """Train and play; returns the returns of each player by name."""
    model = PPO("MlpPolicy", env_id, seed=0, device="cpu").learn(training)
    env = gym.make(env_id)
    players = {"PPO alone": model}
    for budget in budgets:
        players[f"{budget} simulations"] = planner(env, model, budget)
    return {name: [episode(env, player, seed) for seed in range(episodes)] for name, player in players.items()}


if __name__ == "__main__":
    for name, returns in main().items():
        print(f"{name:16} {np.mean(returns):8.1f} +- {np.std(returns, ddof=1) / len(returns) ** 0.5:.1f}")
