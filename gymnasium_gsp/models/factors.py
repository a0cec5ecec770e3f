"""The exact law of a step in factors: its random choices one after the other, each with its distribution.

A factored model gives its law as one C function (LAW of `abi.signatures`).  It is a step whose random choices are
given: `outcomes` holds the value of each choice; `state` becomes the next state and `reward` that of these outcomes;
and `chances` receives, choice after choice, the probability of each of its values given the outcomes of earlier ones.
Rows of the joint law follow by walking through the outcomes that have a chance.
"""

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.abi.signatures import FAILED, TERMINATED, call_law
from gymnasium_gsp.errors import RecipeError

MOST_ROWS = 1 << 20
"""Rows of the law of one state and action that are written out."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A factored law.

    Attributes:
        law: C function with the signature LAW.
        sizes: number of values of each choice.
        bits: of each bit of the state's only cell, the choice with two values that decides it, or -1 if none does; None
            where that is not how the state is made, or rewards or ends depend on choices.
        first: where the chances of each choice begin, and behind the last one where they end.
    """

    law: Pointer
    sizes: tuple[int, ...]
    bits: tuple[int, ...] | None = None
    first: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", np.cumsum([0, *self.sizes], dtype=np.int64))

    def rows(
        self, params: NDArray[np.float64], cells: tuple[int, ...], action: int
    ) -> list[tuple[float, tuple[int, ...], float, bool]]:
        """The joint law of one state and action: rows (probability, next cells, reward, terminated).

        Raises:
            RecipeError: if it has more than MOST_ROWS rows, or chances that are no distribution.
        """
        room = 64
        while (count := self._write(room, params, np.array(cells, np.int64), action)[0]) > room:
            room *= 4
            if room > MOST_ROWS:
                raise RecipeError(f"the law of state {cells}, action {action} has more than {MOST_ROWS:,} rows")
        if count < 0:
            raise RecipeError(f"the chances of state {cells}, action {action} are no distribution")
        _, *columns = self._write(count, params, np.array(cells, np.int64), action)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [(probability, tuple(after), reward, ended) for after, probability, reward, ended in rows]

    def exceeds(self, most: int, params: NDArray[np.float64], cells: NDArray[np.int64], action: int) -> bool:
        """Whether the joint law of one state and action has more rows than this."""
        return self._write(most, params, cells, action)[0] > most

    def _write(self, room: int, params: NDArray[np.float64], cells: NDArray[np.int64], action: int) -> tuple:
        """The number of rows as `write_rows` counts them, and the columns that it writes."""
        columns = np.zeros((room, len(cells)), np.int64), np.zeros(room), np.zeros(room), np.zeros(room, np.bool_)
        count = compiled_entry(write_rows, nogil=False)(self.law.address, params, cells, action, self.first, *columns)
        return count, *columns


@njit
def first_value(chances, begin, end):
    """The first value of a choice that has a chance, or -1."""
    for place in range(begin, end):
        if chances[place] > 0.0:
            return place - begin
    return -1


@njit
def settle(law, params, cells, action, first, unsettled, outcomes, chances, after, reward):
    """Give every choice from `unsettled` on the first value that has a chance, after those before it.

    Args:
        law: address of the LAW.
        params: as for every call of a model.
        cells: the state.
        action: the action.
        first: where the chances of each choice begin.
        unsettled: the first choice whose outcome is not decided.
        outcomes: the outcomes; written.
        chances: written, as `after` and `reward` are.
        after: cells of the next state.
        reward: one cell.

    Returns:
        The probability of these outcomes, NaN if the chances are no distribution, and the status of the step.
    """
    while True:
        after[:] = cells
        status = call_law(
            law,
            address(params, 0),
            address(after, 0),
            action,
            address(outcomes, 0),
            address(chances, 0),
            address(reward, 0),
        )
        settled, probability = status != FAILED, 1.0
        if not settled:
            return np.nan, status
        for choice in range(len(first) - 1):
            if choice >= unsettled:
                value = first_value(chances, first[choice], first[choice + 1])
                if value < 0:
                    return np.nan, status
                if value != outcomes[choice]:
                    outcomes[choice] = value
                    settled = False
            probability *= chances[first[choice] + outcomes[choice]]
        if settled:
            return probability, status


@njit
def advance(first, outcomes, chances):
    """Go to the next outcomes that have a chance: the first choice to settle anew, or -1 after the last."""
    for choice in range(len(first) - 2, -1, -1):
        for value in range(outcomes[choice] + 1, first[choice + 1] - first[choice]):
            if chances[first[choice] + value] > 0.0:
                outcomes[choice] = value
                return choice + 1
    return -1


def write_rows(law, params, cells, action, first, after, probability, reward, terminated):
    """Write the joint law of one state and action, as many rows as there is room for.

    Returns:
        The number of rows, counted no further than one more than there is room for; -1 if the chances are no
        distribution.
    """
    outcomes, chances = np.zeros(len(first), np.int64), np.zeros(first[-1] + 1)
    now, gain = np.empty_like(cells), np.zeros(1)
    count, unsettled = 0, 0
    while unsettled >= 0:
        chance, status = settle(law, params, cells, action, first, unsettled, outcomes, chances, now, gain)
        if np.isnan(chance):
            return -1
        if count == len(after):
            return count + 1
        after[count], probability[count], reward[count] = now, chance, gain[0]
        terminated[count] = status == TERMINATED
        count += 1
        unsettled = advance(first, outcomes, chances)
    return count
