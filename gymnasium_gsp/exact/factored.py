"""Every state that a factored model can reach, enumerated in compiled code.

What `state_space.enumerate_model` does with a law in Python, for models that give theirs as factors: hundreds of times
as fast, so that instances with some hundred thousand states are within reach.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.factors import advance, settle
from gymnasium_gsp.models.model import Cells, Model

MOST_OUTCOMES = 60_000_000
"""Pairs of a state with an action and a next state that are kept: 24 bytes each."""

_DONE, _TOO_MANY_STATES, _TOO_MANY_OUTCOMES, _NO_DISTRIBUTION, _NO_ACTION = range(5)


class Enumerated(NamedTuple):
    """What was met, in the arrays of a `StateSpace`.

    Attributes:
        states: cells, shape (states, width).
        distance: fewest steps from the root.
        row: of each outcome that goes on, state * actions + action.
        next_state: of each, the number of the next state.
        probability: of each, its probability.
        reward: expected reward of one step, shape (expanded states, actions).
        legal: which actions a state has, shape (expanded states, actions).
    """

    states: NDArray[np.int64]
    distance: NDArray[np.int64]
    row: NDArray[np.int64]
    next_state: NDArray[np.int64]
    probability: NDArray[np.float64]
    reward: NDArray[np.float64]
    legal: NDArray[np.bool_]


def enumerate_factors(model: Model, start: Cells, horizon: int, limit: int, most_outcomes: int) -> Enumerated:
    """All states within `horizon` steps of `start`, breadth first, at most `limit` of them.

    Raises:
        RecipeError: if there are too many states or outcomes, a state without an action, or chances that are no
            distribution.
    """
    assert model.factors is not None
    legal = 0 if model.legal_pointer is None else model.legal_pointer.address
    run = compiled_entry(expand, nogil=True)
    cells = np.array(start, np.int64)
    law, first = model.factors.law.address, model.factors.first
    status, expanded, *arrays = run(
        law, legal, model.params, cells, model.actions, first, horizon, limit, most_outcomes
    )
    if status != _DONE:
        states = arrays[0]
        reason = {
            _TOO_MANY_STATES: f"too many states for an exact computation: {limit:,} were met when {expanded:,} of them "
            "were expanded; raise limit=, give a shorter horizon= or take a smaller instance",
            _TOO_MANY_OUTCOMES: f"too many outcomes for an exact computation: {most_outcomes:,} came from the first "
            f"{expanded:,} states; take a smaller instance",
            _NO_DISTRIBUTION: f"no law: the chances of state {tuple(states[expanded].tolist())} are no distribution",
            _NO_ACTION: f"no legal action in state {tuple(states[expanded].tolist())}, and the process has not ended "
            "there",
        }[status]
        raise RecipeError(f"{model.name} has {reason}")
    return Enumerated(*arrays)


@njit
def find(table, states, cells):
    """The place of a state in the hash table: where its number is, or where it belongs."""
    word = np.uint64(0x9E3779B97F4A7C15)
    for cell in cells:
        word = (word ^ np.uint64(cell)) * np.uint64(0xBF58476D1CE4E5B9)
        word ^= word >> np.uint64(29)
    place = np.int64(word & np.uint64(len(table) - 1))
    while table[place] >= 0:
        known = states[table[place]]
        same = True
        for cell in range(len(cells)):
            same &= known[cell] == cells[cell]
        if same:
            break
        place = (place + 1) & (len(table) - 1)
    return place


@njit
def doubled(array):
    """A copy with twice the room."""
    larger = np.empty((2 * array.shape[0], *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@njit
def rehashed(states, count):
    """A hash table of the first `count` states, at most a quarter full."""
    table = np.full(8 * len(states), -1, np.int64)
    for number in range(count):
        table[find(table, states, states[number])] = number
    return table


def expand(law, legal, params, start, actions, first, horizon, most_states, most_outcomes):
    """Take in the law of state after state, in the order in which they are met.

    Returns:
        A status, how many states were expanded, and the arrays of `Enumerated`.
    """
    states, distance = np.empty((1024, len(start)), np.int64), np.zeros(1024, np.int64)
    reward, allowed, latest = np.zeros((1024, actions)), np.ones((1024, actions)), np.full(1024, -1, np.int64)
    row, next_state, probability = np.empty(4096, np.int64), np.empty(4096, np.int64), np.empty(4096)
    states[0] = start
    table = rehashed(states, 1)
    outcomes, chances = np.zeros(len(first), np.int64), np.zeros(first[-1] + 1)
    after, gain = np.empty_like(start), np.zeros(1)
    count, rows, number, status = 1, 0, 0, _DONE
    while number < count and distance[number] < horizon and status == _DONE:
        cells = states[number].copy()
        if legal != 0:
            mask = allowed[number]
            if abi.call_legal(legal, address(params, 0), address(cells, 0), address(mask, 0)) < 1:
                status = _NO_ACTION
        for action in range(actions):
            if allowed[number, action] == 0.0 or status != _DONE:
                continue
            begin, unsettled, total = rows, 0, 0.0
            outcomes[:] = 0
            while unsettled >= 0 and status == _DONE:
                chance, ended = settle(law, params, cells, action, first, unsettled, outcomes, chances, after, gain)
                if np.isnan(chance):
                    status = _NO_DISTRIBUTION
                    break
                total += chance
                reward[number, action] += chance * gain[0]
                if ended != abi.TERMINATED:
                    place = find(table, states, after)
                    if table[place] < 0:
                        if count == most_states:
                            status = _TOO_MANY_STATES
                            break
                        if count == len(states):
                            states, distance, latest = doubled(states), doubled(distance), doubled(latest)
                            reward, allowed = doubled(reward), doubled(allowed)
                            reward[count:], allowed[count:], latest[count:] = 0.0, 1.0, -1
                            table = rehashed(states, count)
                            place = find(table, states, after)
                        states[count], distance[count], table[place] = after, distance[number] + 1, count
                        count += 1
                    then = table[place]
                    if latest[then] >= begin:
                        probability[latest[then]] += chance
                    else:
                        if rows == most_outcomes:
                            status = _TOO_MANY_OUTCOMES
                            break
                        if rows == len(row):
                            row, next_state, probability = doubled(row), doubled(next_state), doubled(probability)
                        row[rows], next_state[rows], probability[rows] = number * actions + action, then, chance
                        latest[then] = rows
                        rows += 1
                unsettled = advance(first, outcomes, chances)
            if status == _DONE and not abs(total - 1.0) <= 1e-9:
                status = _NO_DISTRIBUTION
        number += status == _DONE
    return (
        status,
        number,
        states[:count],
        distance[:count],
        row[:rows],
        next_state[:rows],
        probability[:rows],
        reward[:number],
        allowed[:number] > 0.0,
    )
