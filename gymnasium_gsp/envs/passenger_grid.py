"""PassengerGrid: collect passengers on a slippery grid and deliver them to the goal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numba import types
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.envs.grid import GridEnv, draw_map, neighbours, slipped
from gymnasium_gsp.errors import check_count
from gymnasium_gsp.models.model import Cells

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture

FLOOR, GOAL, EMPTY = "#e9edf1", "#dff2e1", "#cfd6dd"  # colours
PASSENGER = "#5b4bb7"

LARGEST_SIDE = 256
MOST_PASSENGERS = 16


def passenger_grid_rules(params, state, action, rng, reward):
    """One step.  params: places, goal, slip, then per place: bit of its passenger, neighbours.  Draws one value."""
    direction = slipped(uniform(rng), params[2], action)
    # Unsigned, because Python's division of signed numbers rounds down and takes three times as long.
    places = types.uint64(params[0])
    place = types.int64(types.uint64(state[0]) % places)
    mask = types.int64(types.uint64(state[0]) // places)
    place = int(params[4 + 5 * place + direction])
    mask |= int(params[3 + 5 * place])
    state[0] = mask * types.int64(places) + place
    reward[0] = 0.0
    if place != int(params[1]):
        return RUNNING
    picked = 0
    while mask:
        mask &= mask - 1
        picked += 1
    reward[0] = float((1 << picked) - 1)
    return TERMINATED


class PassengerGridEnv(GridEnv[NDArray[np.int64]]):
    """Collect passengers on a slippery grid and deliver them to the goal.

    ## Description
    The benchmark of the paper's appendix: 7x6 cells, start (0, 0), goal (6, 0), passengers at (1, 2), (0, 5) and
    (6, 4).  Whoever's cell the agent enters is on board from then on.  An action is executed as given with
    probability 1/2 or turned to either side with 1/4 each; at the border the agent stays where it is.  The paper
    does not say where y grows; here it grows downwards, so that `down` leads from the start to the passengers.

    ## Action Space
    `Discrete(4)`: 0 left, 1 down, 2 right, 3 up.

    ## Observation Space
    `MultiDiscrete([width, height, 2**passengers])`: x, y, and a mask whose bit i says that passenger i is on board.

    ## Rewards
    On reaching the goal 2**n - 1 for n passengers on board, that is 0, 1, 3 or 7; 0 otherwise.

    ## Episode End
    Terminated at the goal, with or without passengers; truncated after `horizon` steps.

    ## Arguments
    * `width`, `height`: size of the grid, at most 256 each.
    * `start`, `goal`: cells [x, y].
    * `passengers`: list of 1 to 16 cells [x, y], different from each other and from start and goal.
    * `slip`: probability of being turned to each side; 0 makes the grid deterministic.
    * `horizon`: steps until truncation.  `gym.make` also sets a time limit of 70; for more, give it
      `max_episode_steps` as well.
    """

    rules = staticmethod(passenger_grid_rules)

    def __init__(
        self,
        render_mode: str | None = None,
        width: int = 7,
        height: int = 6,
        start: Sequence[int] = (0, 0),
        goal: Sequence[int] = (6, 0),
        passengers: Sequence[Sequence[int]] = ((1, 2), (0, 5), (6, 4)),
        slip: float = 0.25,
        horizon: int = 70,
    ) -> None:
        super().__init__(render_mode, horizon, slip)
        self.columns = check_count("width", width, largest=LARGEST_SIDE)
        self.rows = self.height = check_count("height", height, largest=LARGEST_SIDE)
        self.start = self._check_cell("start", start)
        self.goal = self._check_cell("goal", goal)
        self.passengers = self._check_passengers(passengers)
        self.reward_bounds = (0.0, float(2 ** len(self.passengers) - 1))
        self._places = self.columns * self.rows
        self._goal = self._place(self.goal)
        self._bits = {self._place(cell): 1 << index for index, cell in enumerate(self.passengers)}
        self._neighbours = neighbours(self.columns, self.rows)
        self.observation_space = spaces.MultiDiscrete([self.columns, self.rows, 2 ** len(self.passengers)])

    def _check_cell(self, name: str, cell: Sequence[int]) -> tuple[int, int]:
        if not isinstance(cell, list | tuple) or len(cell) != 2:
            raise ValueError(f"{name} must be [x, y], not {cell!r}")
        return (
            check_count(f"x of {name}", cell[0], 0, self.columns - 1),
            check_count(f"y of {name}", cell[1], 0, self.rows - 1),
        )

    def _check_passengers(self, passengers: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
        if not isinstance(passengers, list | tuple) or not 1 <= len(passengers) <= MOST_PASSENGERS:
            raise ValueError(f"passengers must be a list of 1 to {MOST_PASSENGERS} cells [x, y], not {passengers!r}")
        cells = tuple(self._check_cell(f"passenger {index}", cell) for index, cell in enumerate(passengers))
        if len({self.start, self.goal, *cells}) < len(cells) + 2:
            raise ValueError(
                f"start, goal and passengers must be different cells, not {self.start}, {self.goal} and {list(cells)}"
            )
        return cells

    def _place(self, cell: tuple[int, int]) -> int:
        return cell[1] * self.columns + cell[0]

    def _start(self) -> Sequence[int]:
        return (self._place(self.start),)

    def _params(self) -> NDArray[np.float64]:
        bits = [self._bits.get(place, 0) for place in range(self._places)]
        table = np.column_stack((bits, self._neighbours))
        return np.concatenate(([self._places, self._goal, self.slip], table.ravel()))

    def _arguments(self) -> dict[str, Any]:
        # The attribute `width` is the number of cells in a state.
        return {**super()._arguments(), "width": self.columns, "height": self.rows}

    def observe(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """x, y and the mask of passengers on board."""
        mask, place = divmod(cells[0], self._places)
        return np.array([place % self.columns, place // self.columns, mask], np.int64)

    def _is_state(self, cells: Sequence[int]) -> bool:
        mask, place = divmod(cells[0], self._places)
        waiting_here = self._bits.get(place, 0) & ~mask
        return 0 <= mask < 1 << len(self.passengers) and not waiting_here

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether the agent is at the goal."""
        return cells[0] % self._places == self._goal

    def _arrive(self, cells: Sequence[int], direction: int) -> tuple[Cells, float, bool]:
        mask, place = divmod(cells[0], self._places)
        place = self._neighbours[place][direction]
        mask |= self._bits.get(place, 0)
        arrived = place == self._goal
        reward = float(2 ** mask.bit_count() - 1) if arrived else 0.0
        return (mask * self._places + place,), reward, arrived

    def _picture(self, pixels: int) -> "Picture":
        mask, place = divmod(int(self._cells[0]), self._places)
        tiles = [GOAL if other == self._goal else FLOOR for other in range(self._places)]
        picture, side = self._grid_picture(tiles, pixels), 96.0 / self.columns
        x, y = self._centre(self._goal)
        picture.flag(x, y - 0.1 * side, 0.75 * side)
        picture.text(x, y + 0.33 * side, f"pays {2 ** mask.bit_count() - 1}", 0.24 * side)
        for cell, bit in self._bits.items():
            waiting, size = not mask & bit, 0.9 * side
            _draw_person(picture, *self._centre(cell), size, PASSENGER if waiting else EMPTY)
        self._draw_agent(picture)
        x, y = self._centre(place)
        for index in range(mask.bit_count()):  # on board
            _draw_person(picture, x + side * (0.27 * index - 0.3), y + 0.3 * side, 0.62 * side, PASSENGER)
        return picture

    def state_name(self, cells: Sequence[int]) -> str:
        return f"{super().state_name(cells)} with {(cells[0] // self._places).bit_count()}"

    def _draw_text(self) -> str:
        mask, place = divmod(int(self._cells[0]), self._places)
        waiting = {cell for cell, bit in self._bits.items() if not mask & bit}
        letters = ["G" if p == self._goal else "P" if p in waiting else "." for p in range(self._places)]
        rows = ["".join(letters[i : i + self.columns]) for i in range(0, self._places, self.columns)]
        return draw_map(rows, place) + f"on board: {mask.bit_count()} of {len(self.passengers)}\n"


def _draw_person(picture: "Picture", x: float, y: float, size: float, colour: str) -> None:
    picture.circle(x, y - 0.16 * size, 0.13 * size, colour)
    picture.rectangle(x - 0.18 * size, y, 0.36 * size, 0.32 * size, colour, 0.14 * size)
