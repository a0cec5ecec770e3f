"""Every model has every attribute of the protocol, so that nobody has to guess."""

import gymnasium as gym
import pytest
from simulator.toys import Corridor, Masked

import gymnasium_gsp as gsp
from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.models.model import Model


def one_step(params, state, action, rng, reward):
    reward[0] = 1.0
    return 2


def simulator(env, **options):
    """The model that an agent plans in, bound to an environment behind callbacks."""
    env = gym.wrappers.TimeLimit(env, 9)
    agent = gsp.make_agent(env, "uct", budget=2, seed=0, **options)
    observation, info = env.reset(seed=0)
    return agent._binding.root(observation, info).model


MODELS = {
    "compiled": lambda: gsp.CompiledModel(one_step, 2),
    "table": lambda: gsp.tabular_model([[[(1.0, 0, 1.0, True)]]]),
    "benchmark": lambda: gym.make("GSP/FrozenLake-v0").unwrapped.compiled_model(),
    "simulator": lambda: simulator(Corridor()),
    "masked simulator": lambda: simulator(Masked()),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_keeps_the_protocol(name):
    model = MODELS[name]()
    assert isinstance(model, Model)
    assert isinstance(model.step_pointer, Pointer)
    assert model.needs_gil == ("simulator" in name)
    assert (model.keys is not None) == (model.rollout_pointer is not None) == ("simulator" in name)
    assert (model.legal_pointer is not None) == (name == "masked simulator")
    assert model.step_pointer.raised == []
    assert 1 <= model.key_size <= model.width


def test_something_else_is_no_model():
    assert not isinstance(gym.make("GSP/FrozenLake-v0"), Model)
    assert not isinstance(object(), Model)
