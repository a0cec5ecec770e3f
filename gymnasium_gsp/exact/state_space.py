"""Every state that a model can reach, with its exact law, as flat arrays."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact.factored import MOST_OUTCOMES, Enumerated, enumerate_factors
from gymnasium_gsp.models.legal import legal_actions
from gymnasium_gsp.models.model import Cells, Model, Transition

_ELSEWHERE = "(rings of machines and four rooms have oracles of their own, see gymnasium_gsp.exact)"

LIMIT = 200_000
"""States that `enumerate_model` takes in before it gives up: about a minute of work, and some hundred megabytes."""

LeafValue = float | Sequence[float] | NDArray[np.float64] | Callable[[Cells], float] | None
"""V_0: one number for all states, one per state in the order of `StateSpace.states`, a function of the cells, or 0."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The states that can be reached from a root and in which the process goes on, and what each action does there.

    Attributes:
        model: the model that was enumerated.
        states: cells, shape (states, width); the root is the first.
        distance: fewest steps from the root, shape (states,).
        row: of each outcome that goes on, state * actions + action; in ascending order.
        next_state: of each such outcome, the number of the next state.
        probability: of each such outcome, its probability.
        reward: expected reward of one step, shape (states, actions); NaN where the law was not asked for.
        legal: which actions a state has, shape (states, actions).
        horizon: how many steps the enumeration went; None if no state is left unexpanded.
        ended: whether the process has ended at the root, which then is the only state, worth 0.
    """

    model: Model
    states: NDArray[np.int64]
    distance: NDArray[np.int64]
    row: NDArray[np.int64]
    next_state: NDArray[np.int64]
    probability: NDArray[np.float64]
    reward: NDArray[np.float64]
    legal: NDArray[np.bool_]
    horizon: int | None
    ended: bool
    _numbers: dict[Cells, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, cells: Cells) -> bool:
        return tuple(cells) in self._numbers

    def number(self, state: ArrayLike) -> int:
        """The index of a state in `states`.

        Raises:
            RecipeError: if it cannot be reached from the root, or the process has ended there.
        """
        cells = tuple(self.model.cells(state).tolist())
        if cells not in self._numbers:
            raise RecipeError(
                f"{self.model.name}: state {cells} is not among the {len(self):,} states in which the process goes on "
                f"after the root {tuple(self.states[0].tolist())}; enumerate the model from another root"
            )
        return self._numbers[cells]

    def pick(self, values: NDArray[np.float64], state: ArrayLike) -> float:
        """The value of a state; 0 where the process has ended.

        Raises:
            RecipeError: if the state cannot be reached from the root.
        """
        cells = tuple(self.model.cells(state).tolist())
        return 0.0 if cells not in self and has_ended(self.model, cells) else float(values[self.number(cells)])

    def q_values(self, values: NDArray[np.float64], discount: float, number: int | None = None) -> NDArray[np.float64]:
        """Q(s, a) = r(s, a) + discount * sum of P(s' | s, a) V(s'); minus infinity for actions that a state lacks.

        NaN wherever the law of a state was not asked for, or a value is NaN.

        Args:
            values: V of every state.
            discount: the discount.
            number: of a single state, in place of all.

        Returns:
            Values of shape (states, actions), or (actions,) for a single state.
        """
        states = slice(None) if number is None else slice(number, number + 1)
        reward, actions = self.reward[states], self.reward.shape[1]
        first = 0 if number is None else number * actions
        outcomes = slice(*np.searchsorted(self.row, (first, first + reward.size)))
        weighted = self.probability[outcomes] * values[self.next_state[outcomes]]
        sums = np.bincount(self.row[outcomes] - first, weighted, reward.size)
        q = np.where(self.legal[states], reward + discount * sums.reshape(reward.shape), -np.inf)
        return q if number is None else q[0]

    def leaf_values(self, leaf_value: LeafValue) -> NDArray[np.float64]:
        """V_0 of every state.

        Raises:
            RecipeError: if it is not one finite number per state.
        """
        if leaf_value is None:
            return np.zeros(len(self))
        if callable(leaf_value):
            leaf_value = [leaf_value(tuple(cells)) for cells in self.states.tolist()]
        values = np.asarray(leaf_value, np.float64)
        if values.shape not in ((), (len(self),)):
            raise RecipeError(
                f"leaf_value (V_0) has the shape {values.shape}; it must be one number, one per state in the order of "
                f"StateSpace.states, shape {(len(self),)}, or a function of a state's cells"
            )
        if not np.isfinite(values).all():
            raise RecipeError("leaf_value (V_0) must be finite, but holds NaN or infinity")
        return np.zeros(1) if self.ended else np.broadcast_to(values, (len(self),)).copy()


def enumerate_model(
    model: Model,
    root: ArrayLike,
    horizon: int | None = None,
    limit: int = LIMIT,
    most_outcomes: int = MOST_OUTCOMES,
) -> StateSpace:
    """All states that the process can reach from `root`, breadth first.

    Cells are the full state, so a clock cell makes a state of its own of each step; such a model needs a `horizon`.

    Args:
        model: a model with an exact law.
        root: a state of it.
        horizon: look no further than so many steps.
        limit: most states to take in.
        most_outcomes: most triples of a state, an action and a next state to take in.

    Raises:
        RecipeError: if the model has no law, or one that is no distribution, or too many states or outcomes.
    """
    start = tuple(model.cells(root).tolist())
    ended = has_ended(model, start)
    if model.factors is not None and not ended:
        steps = 2**62 if horizon is None else horizon
        return _padded(model, enumerate_factors(model, start, steps, limit, most_outcomes), horizon)
    if model.law is None:
        raise RecipeError(
            f"{model.name} has no exact law, so nothing exact can be computed from it; give its CompiledModel "
            "law=function(cells, action) -> rows (probability, next cells, reward, terminated)"
        )
    depth = 0 if ended else math.inf if horizon is None else horizon
    return _padded(model, _enumerate(model, start, depth, limit, most_outcomes), horizon, ended)


def _padded(model: Model, met: Enumerated, horizon: int | None, ended: bool = False) -> StateSpace:
    """What was met as a `StateSpace`, also the states that were not expanded."""
    count, expanded = len(met.states), len(met.reward)
    reward = np.full((count, model.actions), 0.0 if ended else np.nan)
    legal = np.ones((count, model.actions), np.bool_)
    reward[:expanded], legal[:expanded] = met.reward, met.legal
    return StateSpace(
        model=model,
        **met._replace(reward=reward, legal=legal)._asdict(),
        horizon=None if ended or expanded == count else horizon,
        ended=ended,
        _numbers={cells: number for number, cells in enumerate(map(tuple, met.states.tolist()))},
    )


def _enumerate(model: Model, start: Cells, horizon: float, limit: int, most_outcomes: int) -> Enumerated:
    """The states within a horizon, and the law of each that is nearer, read in the order in which they are met."""
    numbers, states, distance = {start: 0}, [start], [0]
    outcomes: list[tuple[int, int, float]] = []
    reward: list[list[float]] = []
    legal: list[list[bool]] = []
    for number, cells in enumerate(states):  # which grow meanwhile
        if distance[number] >= horizon:
            break
        if len(outcomes) > most_outcomes:
            raise RecipeError(
                f"{model.name} has too many outcomes for an exact computation: more than {most_outcomes:,} came from "
                f"the first {number:,} states; take a smaller instance {_ELSEWHERE}"
            )
        legal.append(legal_actions(model, cells).tolist())
        reward.append([0.0] * model.actions)
        for action in np.flatnonzero(legal[-1]).tolist():
            for probability, after, gain, terminated in _law(model, cells, action):
                reward[-1][action] += probability * gain
                if terminated or probability == 0.0:
                    continue
                after = tuple(after)
                if after not in numbers:
                    if len(states) >= limit:
                        raise RecipeError(
                            f"{model.name} has too many states for an exact computation: {limit:,} were met when "
                            f"{number:,} of them were expanded; raise limit=, give a shorter horizon= or take a "
                            f"smaller instance {_ELSEWHERE}"
                        )
                    numbers[after] = len(states)
                    states.append(after)
                    distance.append(distance[number] + 1)
                outcomes.append((number * model.actions + action, numbers[after], probability))
    row, next_state, chances = np.array(outcomes, np.float64).reshape(-1, 3).T
    return Enumerated(
        states=np.array(states, np.int64).reshape(-1, model.width),
        distance=np.array(distance, np.int64),
        row=row.astype(np.int64),
        next_state=next_state.astype(np.int64),
        probability=chances,
        reward=np.array(reward, np.float64).reshape(-1, model.actions),
        legal=np.array(legal, np.bool_).reshape(-1, model.actions),
    )


def _law(model: Model, cells: Cells, action: int) -> Sequence[Transition]:
    """The law of one action in one state.

    Raises:
        RecipeError: if there is none, or it is no distribution with finite rewards.
    """
    assert model.law is not None
    try:
        rows = model.law(cells, action)
    except ValueError as error:
        raise RecipeError(
            f"{model.name} gives no law for state {cells}, action {action}: {error} {_ELSEWHERE}"
        ) from error
    for probability, _, reward, _ in rows:
        if probability < 0.0 or not math.isfinite(reward):
            raise RecipeError(
                f"{model.name}: the law of state {cells}, action {action} has a row with probability "
                f"{probability!r} and reward {reward!r}; allowed are probabilities of at least 0, finite rewards"
            )
    total = sum(probability for probability, *_ in rows)
    if not abs(total - 1.0) <= 1e-9:
        raise RecipeError(
            f"{model.name}: the law of state {cells}, action {action} sums to {total!r}; it must sum to 1"
        )
    return rows


def has_ended(model: Model, cells: Sequence[int]) -> bool:
    """Return whether the model says that the process has ended in a state."""
    return model.terminal is not None and bool(model.terminal(model.cells(cells)))
