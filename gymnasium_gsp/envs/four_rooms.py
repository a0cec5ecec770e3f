"""FourRooms: find the way through doors that are elsewhere in each episode."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.envs.compiled_env import Layout
from gymnasium_gsp.envs.grid import GridEnv, draw_map, neighbours, slipped
from gymnasium_gsp.errors import check_count
from gymnasium_gsp.models.model import Cells

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture

WALL, DOOR = "#3c4858", "#f0b429"
FLOORS = ("#d9e8f5", "#f5e4c8", "#d9edd3", "#eddcea")  # of the four rooms

LARGEST_ROOM = 100


def four_rooms_rules(params, state, action, rng, reward):
    """One step.  params: slip, goal, horizon, then the neighbours of each place.  Draws one value."""
    direction = slipped(uniform(rng), params[0], action)
    place = int(params[3 + 4 * state[0] + direction])
    elapsed = state[1] + 1
    state[0] = place
    state[1] = elapsed
    if place != int(params[1]):
        reward[0] = 0.0
        return RUNNING
    reward[0] = 1.0 - 0.9 * (elapsed / params[2])
    return TERMINATED


class FourRoomsEnv(GridEnv[NDArray[np.int64]]):
    """Find the way to the goal through doors that are elsewhere in each episode.

    ## Description
    The benchmark of the paper's appendix: 11x11 cells, cut into four rooms by a wall at x = 5 and one at y = 5.  At
    reset a door is drawn in each of the four pieces of wall, then start and goal among the cells of the rooms (no
    walls, no doors).  The paper does not say that start and goal differ; here they do, because an episode that starts
    at its goal would be over before its first step.  An action is executed as given with probability 1/2 or turned to
    either side with 1/4 each; at a wall or the border the agent stays where it is.

    Where the doors and the goal are decides the MDP: it is the layout, not the state.  The state is the agent's place
    and the steps taken, which the reward needs.

    ## Action Space
    `Discrete(4)`: 0 left, 1 down, 2 right, 3 up.

    ## Observation Space
    `MultiDiscrete([side**2] * 6)`: agent, goal, and the doors in the upper, lower, left and right piece of wall, each
    as y * side + x.

    ## Rewards
    On reaching the goal with the t-th step (the first has t = 1) 1 - 0.9 * t / horizon; 0 otherwise.

    ## Episode End
    Terminated at the goal; truncated after `horizon` steps.

    ## Arguments
    * `room_size`: side of a room, 1 to 100; the grid's side is 2 * room_size + 1.
    * `slip`: probability of being turned to each side; 0 makes the moves deterministic.
    * `horizon`: steps until truncation, also in the reward.  `gym.make` also sets a time limit of 50; for more, give
      it `max_episode_steps` as well.
    """

    rules = staticmethod(four_rooms_rules)
    width = 2
    clock: ClassVar[int | None] = 1
    draws_layout = True

    def __init__(
        self,
        render_mode: str | None = None,
        room_size: int = 5,
        slip: float = 0.25,
        horizon: int = 50,
    ) -> None:
        super().__init__(render_mode, horizon, slip)
        self.room_size = check_count("room_size", room_size, largest=LARGEST_ROOM)
        self.side = self.columns = 2 * self.room_size + 1
        self.reward_bounds = (0.0, 1.0 - 0.9 * (1 / self.horizon))
        first, middle, last = range(self.room_size), self.room_size, range(self.room_size + 1, self.side)
        self._wall_pieces = (
            [y * self.side + middle for y in first],
            [y * self.side + middle for y in last],
            [middle * self.side + x for x in first],
            [middle * self.side + x for x in last],
        )
        self._rooms = [y * self.side + x for y in (*first, *last) for x in (*first, *last)]
        self._drawn: tuple[int, tuple[int, ...]] | None = None
        self._floor: frozenset[int] = frozenset()
        self._neighbours: list[tuple[int, ...]] = []
        self.observation_space = spaces.MultiDiscrete([self.side**2] * 6)

    def _start(self) -> Sequence[int]:
        doors = [piece[self.np_random.integers(self.room_size)] for piece in self._wall_pieces]
        start = int(self.np_random.integers(len(self._rooms)))
        goal = int(self.np_random.integers(len(self._rooms) - 1))
        self._lay_out(self._rooms[goal + (goal >= start)], tuple(doors))
        return self._rooms[start], 0

    def _lay_out(self, goal: int, doors: tuple[int, ...]) -> None:
        if self._drawn != (goal, doors):
            self._drawn = goal, doors
            self._floor = frozenset((*self._rooms, *doors))
            self._neighbours = neighbours(self.side, self.side, set(range(self.side**2)) - self._floor)
            self._forget_model()

    def _present(self) -> tuple[int, tuple[int, ...]]:
        """The goal and the doors."""
        if self._drawn is None:
            raise ResetNeeded("goal and doors are drawn at reset; call env.reset() first")
        return self._drawn

    def _params(self) -> NDArray[np.float64]:
        return np.concatenate(([self.slip, self._present()[0], self.horizon], *self._neighbours))

    def _layout(self) -> Layout:
        return *self._fixed_layout, *self._present()

    def _set_layout(self, layout: Layout) -> None:
        fixed, drawn = layout[:-2], layout[-2:]
        if fixed != self._fixed_layout or (drawn != self._drawn and not self._can_be_drawn(*drawn)):
            raise self._foreign_layout()
        self._lay_out(*drawn)

    def _can_be_drawn(self, goal: int, doors: object) -> bool:
        """Return whether a reset may draw this goal and these doors."""
        return (
            goal in self._rooms
            and isinstance(doors, tuple)
            and len(doors) == len(self._wall_pieces)
            and all(door in piece for door, piece in zip(doors, self._wall_pieces, strict=True))
        )

    def observe(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Places of the agent, the goal and the four doors."""
        goal, doors = self._present()
        return np.array([cells[0], goal, *doors], np.int64)

    def _is_state(self, cells: Sequence[int]) -> bool:
        return cells[0] in self._floor

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether the agent is at the goal."""
        return cells[0] == self._present()[0]

    def _arrive(self, cells: Sequence[int], direction: int) -> tuple[Cells, float, bool]:
        place, elapsed = self._neighbours[cells[0]][direction], cells[1] + 1
        arrived = self.is_terminal((place,))
        return (place, elapsed), 1.0 - 0.9 * (elapsed / self.horizon) if arrived else 0.0, arrived

    def _picture(self, pixels: int) -> "Picture":
        (goal, doors), middle = self._present(), self.room_size
        tiles = [WALL] * self.side**2
        for place in self._rooms:
            tiles[place] = FLOORS[(place % self.side > middle) + 2 * (place // self.side > middle)]
        for door in doors:
            tiles[door] = DOOR
        picture = self._grid_picture(tiles, pixels)
        picture.flag(*self._centre(goal), 96.0 / self.side)
        self._draw_agent(picture)
        return picture

    def _draw_text(self) -> str:
        goal, doors = self._present()
        letters = {place: "." for place in self._rooms} | {door: "+" for door in doors} | {goal: "G"}
        rows = ["".join(letters.get(y * self.side + x, "#") for x in range(self.side)) for y in range(self.side)]
        return draw_map(rows, int(self._cells[0]))
