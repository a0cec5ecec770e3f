"""Exact values of factored models fluent by fluent, where one action may lead to too many states to list.

Given state and action, the bits of the next state are independent, so the expectation of a function of all of them is
taken bit by bit: taking it over one bit turns the axis of that bit into axes of the present bits on which its chance
depends.  A table of values therefore never has many more axes than the state has bits, if each chance depends on few.
`sysadmin` does the same with the symmetry of a ring; this works for any model whose factors name its bits.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.signatures import call_law, call_legal
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model

WIDE_ROW = 256
"""Next states of one state and action above which they are not listed where elimination will do."""

MOST_BITS = 20
"""Bits of a state for which a table of all states is kept."""

MOST_AXES = 26
"""Axes of two of the largest table on the way: 2**26 numbers, half a gigabyte, twice."""

_CHUNK = 12  # bits of an index that one gathering table takes


def can_eliminate(model: Model) -> bool:
    """Whether `eliminated_values` takes a model, as far as can be told without work."""
    return model.factors is not None and model.factors.bits is not None and len(model.factors.bits) <= MOST_BITS


def has_wide_rows(model: Model, root: ArrayLike) -> bool:
    """Whether some action at the root leads to more than WIDE_ROW next states."""
    assert model.factors is not None
    cells, params = model.cells(root), np.asarray(model.params)
    return any(model.factors.exceeds(WIDE_ROW, params, cells, action) for action in range(model.actions))


def eliminated_q_values(model: Model, horizon: int, discount: float = 1.0) -> Iterator[NDArray[np.float64]]:
    """Q(s, a) with 1, 2, ... `horizon` steps left, shape (actions, 2**bits), whether a state can be reached or not.

    Minus infinity for actions that a state lacks.

    Args:
        model: a model whose factors name the bits of its state.
        horizon: number of steps.
        discount: the discount.

    Raises:
        RecipeError: if the model does not, has too many bits, or needs too large tables.
    """
    if not can_eliminate(model):
        raise RecipeError(
            f"{model.name}: values are computed fluent by fluent for models whose factors name at most {MOST_BITS} "
            "independent bits; take backward_induction for others"
        )
    plans = [_plan(model, action) for action in range(model.actions)]
    room = np.empty((2, 1 << max(plan.axes for plan in plans)))
    values = np.zeros(len(plans[0].reward))
    for _ in range(horizon):
        q = [plan.reward + discount * plan.expectation(values, room) for plan in plans]
        legal = np.where([plan.legal for plan in plans], q, -np.inf)
        yield legal
        values = _largest(legal)


def eliminated_values(model: Model, horizon: int, discount: float = 1.0) -> NDArray[np.float64]:
    """Optimal value with `horizon` steps left, for each of the 2**bits states; arguments and errors as above."""
    last = deque(eliminated_q_values(model, horizon, discount), maxlen=1)
    return _largest(last[0]) if last else np.zeros(states_of(model))


def states_of(model: Model) -> int:
    """Number of states that the bits of a model have together."""
    assert model.factors is not None
    assert model.factors.bits is not None
    return 1 << len(model.factors.bits)


def _largest(q: NDArray[np.float64]) -> NDArray[np.float64]:
    best = q.max(axis=0)
    return np.where(np.isfinite(best), best, 0.0)  # a state without an action is none that can be reached


class EliminatedValues:
    """Action values for each depth of a finite horizon; arguments and errors as of `eliminated_q_values`."""

    def __init__(self, model: Model, horizon: int, discount: float = 1.0) -> None:
        self._model = model
        self._by_steps_left = list(eliminated_q_values(model, horizon, discount))

    def q_values(self, state: ArrayLike, depth: int = 0) -> NDArray[np.float64]:
        """Q(s, h, a) for each action; minus infinity for those that the state lacks."""
        if not 0 <= depth < len(self._by_steps_left):
            raise RecipeError(f"there are no actions at depth {depth}; allowed: 0 .. {len(self._by_steps_left) - 1}")
        return self._by_steps_left[-1 - depth][:, int(self._model.cells(state)[0])]


@dataclass(frozen=True)
class _Step:
    """The elimination of one bit.

    Attributes:
        position: of its axis in the table.
        before: axes of the table with it.
        after: axes of the table without it, and with what its chance depends on.
        chance: its chance, by the bits it depends on.
        low, high: index into `chance` from the low and high bits of an index into the new table.
    """

    position: int
    before: int
    after: int
    chance: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


@dataclass(frozen=True)
class _Plan:
    """What one action does: how expectations are taken, rewards, and where it is legal."""

    steps: list[_Step]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    reward: NDArray[np.float64]
    legal: NDArray[np.bool_]

    @property
    def axes(self) -> int:
        """Axes of the largest table."""
        return max([step.after for step in self.steps] + [step.before for step in self.steps])

    def expectation(self, values: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected value after one step, for each state; `room` is for tables on the way."""
        eliminate = compiled_entry(eliminate_bit, nogil=True)
        table = values
        for number, step in enumerate(self.steps):
            into = room[number % 2][: 1 << step.after]
            eliminate(table, step.position, step.before, step.chance, step.low, step.high, into)
            table = into
        states = np.arange(len(values))
        return table[self.low[states & ((1 << _CHUNK) - 1)] | self.high[states >> _CHUNK]]


def _plan(model: Model, action: int) -> _Plan:
    """In which order the bits of an action's next state are eliminated: each time what adds the fewest axes."""
    assert model.factors is not None
    assert model.factors.bits is not None
    bits = len(model.factors.bits)
    chances, reward, legal = np.empty((bits, 1 << bits)), np.empty(1 << bits), np.ones(1 << bits, np.bool_)
    tabulate = compiled_entry(write_chances, nogil=True)
    places, first = np.array(model.factors.bits, np.int64), model.factors.first
    mask = 0 if model.legal_pointer is None else model.legal_pointer.address
    tabulate(
        model.factors.law.address, mask, model.params, action, model.actions, places, first, chances, reward, legal
    )
    needs = [_dependencies(row, bits) for row in chances]
    axes, left, steps = [("next", bit) for bit in range(bits)], set(range(bits)), []
    while left:
        bit = min(left, key=lambda each: (len([j for j in needs[each] if ("now", j) not in axes]), each))
        left.remove(bit)
        position, before = axes.index(("next", bit)), len(axes)
        axes.remove(("next", bit))
        axes += [("now", j) for j in needs[bit] if ("now", j) not in axes]
        if len(axes) > MOST_AXES:
            raise RecipeError(
                f"{model.name}: eliminating fluent by fluent needs tables of more than 2**{MOST_AXES} numbers; take a "
                "smaller instance"
            )
        own = chances[bit][_spread(needs[bit])]
        low, high = _gather([axes.index(("now", j)) for j in needs[bit]], len(axes))
        steps.append(_Step(position, before, len(axes), own, low, high))
    low, high = _gather([bit for _, bit in axes], bits)
    return _Plan(steps, low, high, reward, legal)


def _dependencies(table: NDArray[np.float64], bits: int) -> list[int]:
    """The bits of the index on which a table depends."""
    halves = ((bit, table.reshape(-1, 2, 1 << bit)) for bit in range(bits))
    return [bit for bit, half in halves if not np.array_equal(half[:, 0], half[:, 1])]


def _spread(places: list[int]) -> NDArray[np.int64]:
    """For each combination of bits, the index that has them at these places and zeros elsewhere."""
    numbers = np.arange(1 << len(places))
    return sum(((numbers >> bit & 1) << place for bit, place in enumerate(places)), np.zeros_like(numbers))


def _gather(places: list[int], bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two tables by which the bits at these places of an index are put side by side: of its low and its high bits."""

    def of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return sum(((numbers >> place & 1) << bit for bit, place in enumerate(places)), np.zeros_like(numbers))

    return of(np.arange(1 << min(bits, _CHUNK))), of(np.arange(1 << max(bits - _CHUNK, 0)) << _CHUNK)


def eliminate_bit(table, position, before, chance, low, high, into):
    """Write the expectation over one bit: (1 - p) times the values without it plus p times those with it."""
    below, kept, chunk = (1 << position) - 1, (1 << (before - 1)) - 1, (1 << 12) - 1
    for index in range(len(into)):
        rest = index & kept
        place = (rest >> position) << (position + 1) | (rest & below)
        p = chance[low[index & chunk] | high[index >> 12]]
        without = table[place]
        into[index] = without + p * (table[place | (1 << position)] - without)


@njit
def after_outcomes(law, params, state, action, outcomes, chances, reward, cell):
    """The next state of given outcomes."""
    cell[0] = state
    call_law(
        law,
        address(params, 0),
        address(cell, 0),
        action,
        address(outcomes, 0),
        address(chances, 0),
        address(reward, 0),
    )
    return cell[0]


def write_chances(law, legal, params, action, actions, places, first, chances, rewards, allowed):
    """Write, for one action and every state, the chance of each next bit, the reward, and whether it is legal."""
    size = len(first) - 1
    none, every = np.zeros(size + 1, np.int64), np.ones(size + 1, np.int64)
    room, cell, reward, mask = np.zeros(first[-1] + 1), np.zeros(1, np.int64), np.zeros(1), np.ones(actions)
    for state in range(len(rewards)):
        low = after_outcomes(law, params, state, action, none, room, reward, cell)
        high = after_outcomes(law, params, state, action, every, room, reward, cell)
        rewards[state] = reward[0]
        for bit in range(len(places)):
            chance = 1.0 if places[bit] < 0 else room[first[places[bit]] + 1]
            chances[bit, state] = chance * (high >> bit & 1) + (1.0 - chance) * (low >> bit & 1)
        if legal != 0:
            cell[0] = state
            call_legal(legal, address(params, 0), address(cell, 0), address(mask, 0))
            allowed[state] = mask[action] > 0.0
