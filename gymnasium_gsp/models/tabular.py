"""A model from transition tables: toy_text's `P`, or arrays of probabilities and rewards.

Both become one packed array of float64, which a compiled step reads:

    params[0], params[1]     numbers of states and actions
    params[2 + s * A + a]    where the outcomes of action a in state s start, as an index into params;
                             one more entry says where the last row ends
    then per outcome         cumulative probability, next state, reward, RUNNING or TERMINATED
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.compilation import compiled_pointer
from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.abi.signatures import FAILED, RUNNING, STEP, TERMINATED
from gymnasium_gsp.abi.stream import uniform
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.model import Transition

_HEADER = 2
_RECORD = 4
_TOLERANCE = 1e-9

Outcome = tuple[float, int, float, bool]
"""One entry of a table: probability, next state, reward, terminated."""

Table = Mapping[int, Mapping[int, Sequence[Outcome]]] | Sequence[Sequence[Sequence[Outcome]]]
"""`table[state][action]` is a list of outcomes; dicts and lists may be mixed."""


def tabular_rules(params, state, action, rng, reward):
    """One step by table lookup.  Draws one value; the last outcome of a row absorbs the rounding of the sums."""
    u = uniform(rng)
    states, actions = int(params[0]), int(params[1])
    if state[0] < 0 or state[0] >= states or action < 0 or action >= actions:
        return FAILED
    row = _HEADER + state[0] * actions + action
    first = int(params[row])
    at = first
    # Counting all sums below the draw avoids a branch that the processor cannot predict.
    for record in range(first, int(params[row + 1]) - _RECORD, _RECORD):
        at += _RECORD * int(u >= params[record])
    state[0] = int(params[at + 1])
    reward[0] = params[at + 2]
    return int(params[at + 3])


_Outcomes = NDArray[np.float64]
"""All outcomes of a model, one a row: state * actions + action, next state, reward, terminated, probability."""


def tabular_model(table: Table, name: str = "table") -> CompiledModel:
    """The model of a table like toy_text's `env.unwrapped.P`.

    A state is terminal if some of its outcomes return to it and every outcome that enters it terminates.  Outcomes of
    one row that agree in next state, reward and terminated are merged.

    Args:
        table: `table[state][action]` is a list of (probability, next state, reward, terminated); dicts or lists.
        name: how errors and descriptions call the model.

    Raises:
        RecipeError: if it is no such table; names the first state and action that are wrong.
    """
    states = _in_order(table, "the states of a table")
    rows = [_in_order(actions, f"the actions of state {state}") for state, actions in enumerate(states)]
    for state, actions in enumerate(rows):
        if len(actions) != len(rows[0]):
            raise RecipeError(
                f"state {state} has {len(actions)} actions and state 0 has {len(rows[0])}; "
                "every state must have the same number of actions"
            )
    flat = [
        (index * len(rows[0]) + action, *_read_outcome(outcome, index, action, len(rows)))
        for index, actions in enumerate(rows)
        for action, outcomes in enumerate(actions)
        for outcome in outcomes
    ]
    return _assemble(np.array(flat, np.float64).reshape(-1, 5), len(rows), len(rows[0]), name)


def tabular_model_from_arrays(
    transitions: ArrayLike, rewards: ArrayLike, terminated: ArrayLike | None = None, name: str = "arrays"
) -> CompiledModel:
    """The model of an array of transition probabilities and one of rewards.

    Args:
        transitions: probabilities, of shape (states, actions, states).
        rewards: rewards, of shape (states, actions) or (states, actions, states).
        terminated: bool, of shape (states,) if entering a state always ends the process, or
            (states, actions, states); nothing ends it where absent.
        name: how errors and descriptions call the model.

    Raises:
        RecipeError: if the shapes do not fit or a row is no distribution; names the first state and action that are
            wrong.
    """
    probabilities = np.asarray(transitions, np.float64)
    shape = probabilities.shape
    if len(shape) != 3 or shape[0] != shape[2] or 0 in shape:
        raise RecipeError(f"transitions has the shape {shape}; it must be (states, actions, states), none of them 0")
    gains = np.asarray(rewards, np.float64)
    if gains.shape not in (shape[:2], shape):
        raise RecipeError(f"rewards has the shape {gains.shape}; allowed are {shape[:2]} and {shape}")
    ends = np.zeros(shape[0], bool) if terminated is None else np.asarray(terminated)
    if ends.dtype != np.bool_ or ends.shape not in ((shape[0],), shape):
        raise RecipeError(
            f"terminated has the shape {ends.shape} and the type {ends.dtype}; it must be bool of shape "
            f"{(shape[0],)} or {shape}"
        )
    where = np.nonzero(probabilities)
    state, action, next_state = where
    outcomes = np.column_stack(
        (
            state * shape[1] + action,
            next_state,
            gains[where[: gains.ndim]],
            ends[next_state] if ends.ndim == 1 else ends[where],
            probabilities[where],
        )
    )
    return _assemble(outcomes, shape[0], shape[1], name, ends if ends.ndim == 1 else None)


def _in_order(entries: Any, what: str) -> list[Any]:
    """The entries of a dict with keys 0, 1, ... or of a list, in that order."""
    if not isinstance(entries, Mapping | Sequence) or isinstance(entries, str):
        raise RecipeError(f"{what} must be a dict or a list, not {type(entries).__name__}")
    if not entries:
        raise RecipeError(f"{what} are missing; there must be at least one")
    if isinstance(entries, Mapping):
        if absent := [number for number in range(len(entries)) if number not in entries]:
            raise RecipeError(f"{what} must be numbered 0 .. {len(entries) - 1}, but {absent[0]} is missing")
        return [entries[number] for number in range(len(entries))]
    return list(entries)


def _read_outcome(outcome: Any, state: int, action: int, states: int) -> tuple[int, float, bool, float]:
    """One entry as (next state, reward, terminated, probability)."""
    try:
        probability, next_state, reward, terminated = outcome
        if terminated not in (0, 1):
            raise ValueError
        entry = operator.index(next_state), float(reward), bool(terminated), float(probability)
    except (TypeError, ValueError):
        raise RecipeError(
            f"state {state}, action {action}: {outcome!r} is no outcome; an outcome is "
            "(probability, next state, reward, terminated)"
        ) from None
    if not 0 <= entry[0] < states:
        raise RecipeError(
            f"state {state}, action {action}: next state {next_state!r} does not exist; states are 0 .. {states - 1}"
        )
    return entry


def _check(outcomes: _Outcomes, states: int, actions: int) -> None:
    """Refuse rows that are no distribution, and rewards that are no finite number."""

    def where(row: int) -> str:
        return f"state {row // actions}, action {row % actions}"

    row, _, reward, _, probability = outcomes.T
    for numbers, right, rule in (
        (probability, probability >= 0.0, "the probability {}; probabilities must not be negative"),
        (reward, np.isfinite(reward), "the reward {}; rewards must be finite"),
    ):
        if not right.all():
            first = int(np.argmin(right))
            raise RecipeError(f"{where(int(row[first]))}: an outcome has {rule.format(numbers[first])}")
    sums = np.bincount(row.astype(int), probability, states * actions)
    if (wrong := ~(np.abs(sums - 1.0) <= _TOLERANCE)).any():
        first = int(np.argmax(wrong))
        raise RecipeError(
            f"{where(first)}: the probabilities of its outcomes sum to {sums[first]:.12g}; they must sum to 1 within "
            f"{_TOLERANCE:g} (a terminal state's row may return to itself, terminated)"
        )


def _merge(outcomes: _Outcomes) -> _Outcomes:
    """Sorted by row, outcomes that agree in everything but probability made one, those of probability 0 dropped."""
    kinds, kind = np.unique(outcomes[:, :4], axis=0, return_inverse=True)
    merged: _Outcomes = np.column_stack((kinds, np.bincount(kind.reshape(-1), outcomes[:, 4])))
    return merged[merged[:, 4] > 0.0]


def _terminal_states(outcomes: _Outcomes, states: int, actions: int) -> NDArray[np.bool_]:
    """Flag the absorbing copies of an end: states that return to themselves and whose every entry terminates.

    To be entered by ends alone is not enough: tables that name the start as the state after an end look like that.
    """
    row, next_state = outcomes[:, :2].T.astype(int)
    returning = np.bincount(next_state[row // actions == next_state], minlength=states)
    running = np.bincount(next_state[outcomes[:, 3] == 0.0], minlength=states)
    return (returning > 0) & (running == 0)


def _row_sums(probability: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cumulative probabilities, row by row."""
    sums = probability.copy()
    lengths = np.diff(starts)
    for position in range(1, int(lengths.max())):
        at = starts[:-1][lengths > position] + position
        sums[at] += sums[at - 1]
    return sums


def _assemble(
    raw: _Outcomes, states: int, actions: int, name: str, ends: NDArray[np.bool_] | None = None
) -> CompiledModel:
    """The model of some outcomes; `ends` says which states are terminal, where that was given."""
    _check(raw, states, actions)
    outcomes = _merge(raw)
    terminal = _terminal_states(outcomes, states, actions) if ends is None else ends.copy()
    row, next_state, reward, terminated, probability = outcomes.T
    starts = np.searchsorted(row, np.arange(states * actions + 1))
    sums = _row_sums(probability, starts)
    records = np.column_stack((sums, next_state, reward, np.where(terminated, TERMINATED, RUNNING)))
    first = _HEADER + len(starts)

    def check(state: Any, action: int = 0) -> int:
        if not 0 <= state < states or not 0 <= action < actions:
            raise RecipeError(
                f"{name}: state {state}, action {action} does not exist; states are 0 .. {states - 1}, actions "
                f"0 .. {actions - 1}"
            )
        return int(state)

    def law(cells: tuple[int, ...], action: int) -> list[Transition]:
        number = check(cells[0], action) * actions + action
        rows = outcomes[starts[number] : starts[number + 1], 1:].tolist()
        return [(chance, (int(after),), gain, ended == 1.0) for after, gain, ended, chance in rows]

    return CompiledModel(
        step=Pointer(compiled_pointer(tabular_rules, STEP).address),
        actions=actions,
        params=np.concatenate(([states, actions], first + _RECORD * starts, records.reshape(-1))),
        reward_bounds=(float(reward.min()), float(reward.max())),
        terminal=lambda cells: bool(terminal[check(cells[0])]),
        law=law,
        name=name,
    )
