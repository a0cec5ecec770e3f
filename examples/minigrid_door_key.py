"""Find the key, open the door, reach the goal: MiniGrid, `pip install minigrid`."""

import gymnasium as gym
import minigrid

import gymnasium_gsp as gsp

gym.register_envs(minigrid)


def main(env_id: str = "MiniGrid-DoorKey-5x5-v0", budget: int = 1000, seed: int = 0) -> float:
    """Play one episode; returns its return, above 0 if the goal was reached."""
    env = gym.make(env_id)
    agent = gsp.make_agent(env, "gs-power-uct-f", budget=gsp.Budget(model_steps=40 * budget), seed=0, discount=0.99)
    observation, info = env.reset(seed=seed)
    total, done = 0.0, False
    while not done:
        observation, reward, terminated, truncated, info = env.step(agent.act(observation, info))
        total, done = total + float(reward), terminated or truncated
    return total


if __name__ == "__main__":
    print("return", main())
