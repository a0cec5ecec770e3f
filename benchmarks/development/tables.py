"""Environments that are their transition table, as Gymnasium's toy_text has them, and tables made from rules."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
"""`table[state][action]` is a list of (probability, next state, reward, terminated)."""

State = TypeVar("State", bound=Hashable)
Outcomes = Iterable[tuple[float, State, float, bool]]


class TableEnv(gym.Env[Any, Any]):
    """A process by its table.

    Attributes:
        P: the table; the first state is 0.
        s: the present state.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as Gymnasium declares it
    s: int | None = None

    def __init__(self, table: Table) -> None:
        self.P = table
        self.observation_space = spaces.Discrete(len(table))
        self.action_space = spaces.Discrete(len(table[0]))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Go to the first state."""
        super().reset(seed=seed)
        self.s = 0
        return self.s, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Draw an outcome."""
        assert self.s is not None, "call reset() before step()"
        outcomes = self.P[self.s][int(action)]
        passed = np.cumsum([chance for chance, *_ in outcomes[:-1]])  # the last one absorbs rounding
        _, self.s, reward, ended = outcomes[np.searchsorted(passed, self.np_random.random(), "right")]
        return self.s, reward, ended, False, {}


def table_of(start: State, actions: int, outcomes: Callable[[State, int], Outcomes[State]]) -> Table:
    """The table of the states that a process can reach, numbered in the order in which they are met.

    Args:
        start: the first state.
        actions: number of actions.
        outcomes: of a state and an action, tuples (probability, next state, reward, terminated).
    """
    numbers, ends, table = {start: 0}, set(), {}
    states = [start]
    for number, state in enumerate(states):  # which grow meanwhile
        if state in ends:
            table[number] = {action: [(1.0, number, 0.0, True)] for action in range(actions)}
            continue
        table[number] = {}
        for action in range(actions):
            row = list(outcomes(state, action))
            for _, after, _, ended in row:
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                if ended:
                    ends.add(after)
            table[number][action] = [(chance, numbers[after], reward, ended) for chance, after, reward, ended in row]
    return table
