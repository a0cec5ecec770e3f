"""The exact optimum of finding a goal in a slippery maze, for one layout or on average over all of four rooms.

Doors and goal do not change within an episode, so each pair of doors and goal is a process of its own, with the
agent's place and the time as its state.  One backward induction gives the value of every start at once, and all goals
behind the same doors are computed side by side.
"""

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model

MOST_WORK = 2 * 10**10
"""Places times goals times doors times steps that are computed for an average: about a minute."""


def goal_values(
    neighbours: ArrayLike, goals: ArrayLike, slip: float, horizon: int, steps: int | None = None, elapsed: int = 0
) -> NDArray[np.float64]:
    """Optimal value of each place, for each goal; shape (places, goals), 0 at the goal itself.

    Args:
        neighbours: for each place, the places to the left, down, right and up of it, shape (places, 4).
        goals: places; the process ends on arriving there.
        slip: probability of being turned to each side.
        horizon: arriving at the t-th step of the episode is worth 1 - 0.9 * t / horizon.
        steps: the episode's time limit; `horizon` if not given.
        elapsed: steps of the episode that are over.

    Raises:
        RecipeError: if `neighbours` is no such table.
    """
    table = np.asarray(neighbours, np.int64)
    if table.ndim != 2 or table.shape[1] != 4 or table.min() < 0 or table.max() >= len(table):
        raise RecipeError(
            f"neighbours must hold four places for each place, shape (places, 4); it has the shape {table.shape}"
        )
    ends = np.asarray(goals, np.int64)
    goal_numbers = np.arange(len(ends))
    values = np.zeros((len(table), len(ends)))
    for time in range(horizon if steps is None else steps, elapsed, -1):
        values[ends, goal_numbers] = 1.0 - 0.9 * (time / horizon)
        left, down, right, up = values[table.T]
        # The intended move is at least as likely as both turns together would be at slip 1/2, so of two opposite
        # actions, which have their turns in common, the better one is the one with the better intended move.
        across = slip * (down + up) + (1.0 - 2.0 * slip) * np.maximum(left, right)
        along = slip * (left + right) + (1.0 - 2.0 * slip) * np.maximum(down, up)
        values = np.maximum(across, along)
    values[ends, goal_numbers] = 0.0
    return values


class FourRoomsValues:
    """Values in the layout of a FourRooms model; each question is answered by a backward induction of its own.

    Args:
        model: the model.
        steps: the episode's time limit.
    """

    def __init__(self, model: Model, steps: int) -> None:
        slip, goal, horizon, *neighbours = model.params.tolist()
        self._slip, self._goals, self._horizon, self._steps = slip, [int(goal)], int(horizon), steps
        self._neighbours = np.reshape(neighbours, (-1, 4))
        self._model = model

    def _at(self, elapsed: int) -> NDArray[np.float64]:
        """Value of each place."""
        return goal_values(self._neighbours, self._goals, self._slip, self._horizon, self._steps, elapsed)[:, 0]

    def value(self, state: ArrayLike) -> float:
        """V(s); the state knows its time."""
        place, elapsed = self._model.cells(state).tolist()
        return float(self._at(elapsed)[place])

    def q_values(self, state: ArrayLike, depth: int = 0) -> NDArray[np.float64]:
        """Q(s, a) for each action."""
        place, elapsed = self._model.cells(state).tolist()
        after = self._at(elapsed + 1)  # 0 at the goal
        assert self._model.law is not None
        rows = [self._model.law((place, elapsed), action) for action in range(self._model.actions)]
        return np.array([sum(p * (reward + after[cells[0]]) for p, cells, reward, _ in row) for row in rows])


def four_rooms_average(room_size: int, slip: float, horizon: int, steps: int | None = None) -> float:
    """Optimal expected return over all doors, starts and goals, every layout equally likely.

    A door is in each of the four pieces of wall; start and goal are two different places in the rooms.

    Raises:
        RecipeError: if there are too many layouts.
    """
    side, wall = 2 * room_size + 1, room_size
    rooms = 4 * room_size**2
    work = room_size**4 * rooms * (rooms + 4) * (horizon if steps is None else steps)
    if work > MOST_WORK or rooms < 2:
        raise RecipeError(
            f"the average over all layouts of rooms of size {room_size} takes {work:.2g} backups; allowed are "
            f"{MOST_WORK:.2g}; take the optimum of single layouts instead"
        )
    in_rooms = np.ones((side, side), bool)
    in_rooms[wall, :] = in_rooms[:, wall] = False
    first, last = range(wall), range(wall + 1, side)
    total = 0.0
    for upper, lower, left, right in product(first, last, first, last):
        floor = in_rooms.copy()
        floor[[upper, lower, wall, wall], [wall, wall, left, right]] = True
        goals = np.flatnonzero(in_rooms[floor])
        total += goal_values(_neighbours(floor), goals, slip, horizon, steps)[goals].sum()
    return float(total) / (room_size**4 * rooms * (rooms - 1))


def _neighbours(floor: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Neighbours of each floor cell, numbered row by row; itself where a wall or the border is."""
    number = np.full(np.array(floor.shape) + 2, -1)
    number[1:-1, 1:-1][floor] = np.arange(floor.sum())
    moved = (number[1:-1, :-2], number[2:, 1:-1], number[1:-1, 2:], number[:-2, 1:-1])
    own = np.arange(floor.sum())
    return np.stack([np.where(cells[floor] < 0, own, cells[floor]) for cells in moved], axis=1)
