"""Keep a network running: a domain of the planning competition of 2011, `pip install pyRDDLGym rddlrepository`."""

import pyRDDLGym

import gymnasium_gsp as gsp


def main(
    domain: str = "SysAdmin_MDP_ippc2011", instance: str = "1", budget: int = 100, steps: int | None = None
) -> float:
    """Play one episode, or its first steps; returns the return."""
    env = pyRDDLGym.make(domain, instance)
    agent = gsp.make_agent(env, "gs-power-uct", budget=gsp.Budget(simulations=budget), seed=0)
    observation, _ = env.reset(seed=0)
    total, done = 0.0, False
    for _ in range(steps or env.horizon):
        if done:
            break
        observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
        total, done = total + float(reward), terminated or truncated
    return total


if __name__ == "__main__":
    print("return", main())
