"""A model that logs every step, and the trajectories read from its log.

The log is part of the model's parameters, so that any compiled step can be recorded:
    params[ADDRESS]   address of the recorded step
    params[WIDTH]     cells in a state
    params[FIRST]     index of the first entry
    params[COUNT]     number of entries
    params[INNER]...  the recorded step's own parameters
    then per entry    the state's cells, the action, the next state's cells, 1 if the process ended there
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.signatures import TERMINATED, call_step
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.compiled import CompiledModel

ADDRESS, WIDTH, FIRST, COUNT, INNER = range(5)

Step = tuple[tuple[int, ...], int, tuple[int, ...] | None]
"""One step: cells of the state, the action, and cells of the next state or None where the process ended."""


def logged_step(params, state, action, rng, reward):
    """Call the recorded step and log it."""
    width = int(params[WIDTH])
    entry = int(params[FIRST]) + int(params[COUNT]) * (2 * width + 2)
    for cell in range(width):
        params[entry + cell] = state[cell]
    params[entry + width] = action
    status = call_step(int(params[ADDRESS]), offset(params, INNER), state, action, rng, reward)
    for cell in range(width):
        params[entry + width + 1 + cell] = state[cell]
    params[entry + 2 * width + 1] = 1.0 if status == TERMINATED else 0.0
    params[COUNT] += 1.0
    return status


def recorded(model: CompiledModel, steps: int) -> CompiledModel:
    """Return the same model with a log of `steps` entries.

    Raises:
        RecipeError: if the model's legal actions depend on its parameters, or its step runs Python.
    """
    if model.legal_pointer is not None or model.needs_gil:
        raise RecipeError(f"{model.name} cannot be recorded: only compiled steps with all actions legal can")
    own: Any = model.params
    first = INNER + len(own)
    entry = 2 * model.width + 2
    header = (float(model.step_pointer.address), float(model.width), float(first), 0.0)
    log = np.concatenate((header, own, np.zeros(steps * entry)))
    return replace(model, step=logged_step, params=log)


def clear(model: CompiledModel) -> None:
    """Empty the log of a recorded model."""
    _params(model)[COUNT] = 0.0


def _params(model: CompiledModel) -> NDArray[np.float64]:
    params: Any = model.params
    return params


def read(model: CompiledModel, horizon: int) -> list[list[Step]]:
    """Return the logged trajectories; each ends where the process ended, or after `horizon` steps."""
    params, width = _params(model), model.width
    first, count = int(params[FIRST]), int(params[COUNT])
    entries = params[first : first + count * (2 * width + 2)].reshape(count, 2 * width + 2).astype(np.int64)
    trajectories: list[list[Step]] = []
    going_on = False
    for entry in entries.tolist():
        if not going_on:
            trajectories.append([])
        after = None if entry[-1] else tuple(entry[width + 1 : -1])
        trajectories[-1].append((tuple(entry[:width]), entry[width], after))
        going_on = after is not None and len(trajectories[-1]) < horizon
    return trajectories
