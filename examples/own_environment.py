"""Plan in an environment of your own.  Nothing but Gymnasium's interface is needed."""

import gymnasium as gym

import gymnasium_gsp as gsp


class Ice(gym.Env):
    """Walk over eight cells of ice to the far end; every third step slips back."""

    observation_space, action_space = gym.spaces.Discrete(8), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return self.cell, {}

    def step(self, action):
        forward = bool(action) and self.np_random.random() > 1 / 3
        self.cell = min(self.cell + 1, 7) if forward else max(self.cell - 1, 0)
        return self.cell, -1.0, self.cell == 7, False, {}


def main() -> float:
    """Play one episode; returns its return."""
    env = gym.wrappers.TimeLimit(Ice(), max_episode_steps=60)
    agent = gsp.make_agent(env, "gs-power-uct", budget=200, seed=0)
    observation, _ = env.reset(seed=0)
    total, done = 0.0, False
    while not done:
        observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
        total, done = total + reward, terminated or truncated
    return total


if __name__ == "__main__":
    print(gsp.check_snapshot(gym.wrappers.TimeLimit(Ice(), 60)))
    print("return", main())
