"""Small random processes, whose exact values are known."""

import numpy as np

from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.tabular import tabular_model_from_arrays


def random_process(seed: int, states: int = 6, actions: int = 3) -> CompiledModel:
    """Make a process whose actions lead everywhere, with Dirichlet(1) transitions and rewards from [0, 1)."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(states), size=(states, actions))
    return tabular_model_from_arrays(transitions, rng.random((states, actions)))


def layered_process(seed: int, layers: int, states: int = 6, actions: int = 3) -> CompiledModel:
    """Make a process with start state 0 and separate states for each depth 1 .. layers, drawn in the same way."""
    rng = np.random.default_rng(seed)
    count = 1 + layers * states
    transitions = np.zeros((count, actions, count))
    here = slice(0, 1)
    for layer in range(layers):
        below = slice(1 + layer * states, 1 + (layer + 1) * states)
        transitions[here, :, below] = rng.dirichlet(np.ones(states), size=(here.stop - here.start, actions))
        here = below
    transitions[range(here.start, count), :, range(here.start, count)] = 1.0
    return tabular_model_from_arrays(transitions, rng.random((count, actions)))


def return_range(model: CompiledModel, steps: float) -> float:
    """Return the largest minus the smallest return of so many steps, from the bounds on one reward."""
    assert model.reward_bounds is not None
    low, high = model.reward_bounds
    return steps * (high - low)
