"""Regret: what the decisions of an episode give up against the optimum, by the exact law of the model they plan in.

The sum over an episode of V*(s_t) - Q*(s_t, a_t) has the mean of optimum - return, much less noise, and luck cannot
make it negative.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.dynamic_programming import backward_induction, steps_until_over
from gymnasium_gsp.exact.elimination import EliminatedValues, can_eliminate, has_wide_rows, states_of
from gymnasium_gsp.exact.four_rooms import FourRoomsValues
from gymnasium_gsp.exact.state_space import enumerate_model
from gymnasium_gsp.models.model import Cells, Model

MOST_OUTCOMES = 2_000_000
"""Triples of a state, an action and a next state that are taken in: some seconds of work, once in a process."""

MOST_VALUES = 1 << 23
"""Values that are kept, of states or, fluent by fluent, of actions, at each step: 64 megabytes."""


class Oracle(Protocol):
    """Optimal values; depth counts steps since the state that the oracle was made for."""

    def q_values(self, state: ArrayLike, depth: int = 0) -> NDArray[np.float64]:
        """Q*(s, a) for each action; minus infinity for those that the state lacks."""


OracleMaker: TypeAlias = Callable[[Model, Cells, int, float], Oracle]
"""Makes an oracle from a model, its first state, the steps until the time limit and the discount."""

ORACLES: dict[str, OracleMaker] = {
    "FourRooms": lambda model, start, steps, discount: FourRoomsValues(model, start[1] + steps)
}
"""Oracles that know more of a process than its law says, by the model's name; used where there is a time limit."""


@dataclass(frozen=True)
class _Process:
    """A process and where it begins; C functions of the state, the action and params alone decide which it is."""

    step: int
    legal: int
    params: bytes
    start: Cells
    steps_left: int | None
    discount: float
    model: Model = field(compare=False)


class Regret:
    """The regret of one episode.

    Attributes:
        optimum: best expected return from the first state on; None where it is out of reach: without an exact law, with
            too many states, or without a time limit in a process that may go on for ever.
        total: regret of the decisions added so far; None where the optimum is.

    Args:
        model: what is planned in.
        cells: the first state.
        steps_left: steps until the time limit, None if there is none.
        discount: of the return.
    """

    def __init__(self, model: Model, cells: ArrayLike, steps_left: int | None, discount: float = 1.0) -> None:
        self._oracle = _oracle_of(model, cells, steps_left, discount)
        self._discount, self._timed, self._decisions = discount, steps_left is not None, 0
        self.optimum: float | None = None
        self.total: float | None = None
        if self._oracle is not None:
            self.optimum, self.total = float(self._oracle.q_values(cells).max()), 0.0

    def add(self, cells: ArrayLike, action: int) -> None:
        """Add a decision; they are to be added in turn.

        Args:
            cells: the state.
            action: number of the action taken.
        """
        if self._oracle is None or self.total is None:
            return
        try:
            q = self._oracle.q_values(cells, self._decisions if self._timed else 0)
        except RecipeError:  # a state that the law does not lead to: the environment does not follow it
            self.optimum = self.total = None
            return
        self.total += self._discount**self._decisions * float(q.max() - q[action])
        self._decisions += 1


def _oracle_of(model: Model, cells: ArrayLike, steps_left: int | None, discount: float) -> Oracle | None:
    if model.law is None and model.factors is None:  # a simulator, for one
        return None
    start = tuple(model.cells(cells).tolist())
    legal = 0 if model.legal_pointer is None else model.legal_pointer.address
    step, params = model.step_pointer.address, model.params.tobytes()
    return _make_oracle(_Process(step, legal, params, start, steps_left, discount, model))


@lru_cache(maxsize=4)
def _make_oracle(process: _Process) -> Oracle | None:
    model, steps = process.model, process.steps_left
    try:
        if model.name in ORACLES and steps is not None:
            return ORACLES[model.name](model, process.start, steps, process.discount)
        if steps is not None and can_eliminate(model) and has_wide_rows(model, process.start):
            small = steps * model.actions * states_of(model) <= MOST_VALUES
            return EliminatedValues(model, steps, process.discount) if small else None
        space = enumerate_model(model, process.start, steps, most_outcomes=MOST_OUTCOMES)
        if steps is None:
            steps = steps_until_over(space, process.discount)
        if steps is None or (steps + 1) * len(space) > MOST_VALUES:
            return None
        return backward_induction(space, steps, process.discount)
    except (RecipeError, NotImplementedError):
        return None
