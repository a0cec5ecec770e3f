"""A budget that is not given fits what a step costs, and can be given again; seconds cut a simulation."""

import time

import gymnasium as gym
from simulator.toys import Corridor

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.binding.simulated import SimulatedBinding


class Slow(Corridor):
    def step(self, action):
        time.sleep(0.02)
        return super().step(action)


def test_a_compiled_model_gets_simulations():
    agent = gsp.make_agent(gym.make("GSP/FrozenLake-v0"), seed=0)
    assert agent.budget == gsp.Budget(simulations=256)
    assert agent.chosen == {}


def test_the_choice_can_be_given_again_and_gives_the_same_numbers(monkeypatch):
    for microseconds, steps, depth in ((3, 16000, 128), (20, 1000, 8), (5e4, 16, 4)):
        monkeypatch.setattr(SimulatedBinding, "step_seconds", lambda self, cost=microseconds: cost * 1e-6)
        env = gym.wrappers.TimeLimit(Corridor(slip=0.25), 300)
        observation, info = env.reset(seed=0)
        chosen = gsp.make_agent(env, seed=0)
        assert chosen.budget == gsp.Budget(model_steps=steps)
        assert chosen.recipe.horizon == gsp.ingredients.FixedHorizon(depth)
        options = {name: parse_value(text) for name, text in chosen.describe()["chosen"].items()}
        given = gsp.make_agent(env, seed=0, budget=chosen.budget, **options)
        results = [agent.plan(observation, info) for agent in (chosen, given)]
        assert results[0].q_values.tolist() == results[1].q_values.tolist()
        assert results[0].model_steps == results[1].model_steps == steps


def test_options_of_a_user_stay():
    env = gym.wrappers.TimeLimit(Corridor(), 30)
    agent = gsp.make_agent(env, horizon=gsp.ingredients.FixedHorizon(3), retention="decision")
    assert agent.budget.model_steps is not None
    assert agent.recipe.horizon == gsp.ingredients.FixedHorizon(3)


def test_a_slow_step_is_taken_once_where_the_time_pays_for_less():
    env = gym.wrappers.TimeLimit(Slow(), 300)
    agent = gsp.make_agent(env, budget=gsp.Budget(seconds=0.01), seed=0)
    for _ in range(3):
        result = agent.plan(*env.reset(seed=0))
        assert (result.model_steps, result.stopped_by) == (1, "seconds")
