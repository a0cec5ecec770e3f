"""The parent of the grid worlds, in which a move may slip, and the table of neighbours that their rules read."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from gymnasium_gsp.envs.compiled_env import CompiledEnv, ObsT
from gymnasium_gsp.models.model import Cells, Transition

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture

DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # left, down, right, up


@njit
def slipped(u, slip, action):
    """The direction in which the agent goes: turned left if u < slip, turned right if u < 2 slip, else as intended."""
    # Without branches: the processor cannot predict a random turn, and each misprediction costs a step's time.
    turn = int(u < slip) + int(u < 2.0 * slip)
    return (action + turn + (turn >> 1)) & 3


def neighbours(columns: int, rows: int, walls: Collection[int] = ()) -> list[tuple[int, ...]]:
    """The places to the left, down, right and up of each place.

    A place is row * columns + column, rows counted downwards.  At the border or a wall the agent stays.
    """
    table = []
    for place in range(columns * rows):
        x, y = place % columns, place // columns
        moves = ((x > 0, -1), (y < rows - 1, columns), (x < columns - 1, 1), (y > 0, -columns))
        table.append(tuple(place + by if inside and place + by not in walls else place for inside, by in moves))
    return table


def draw_map(rows: Sequence[str], place: int) -> str:
    """Rows of a map as text, the agent's place in brackets."""
    columns = len(rows[0])
    lines = []
    for y, row in enumerate(rows):
        lines.append("".join(f"[{c}]" if y * columns + x == place else f" {c} " for x, c in enumerate(row)))
    return "\n".join(lines) + "\n"


class GridEnv(CompiledEnv[ObsT]):
    """A grid world in which an action is executed as given or turned to either side.

    Beside what `CompiledEnv` asks for, a subclass implements `_arrive`, in place of `transitions`.

    Args:
        render_mode: "ansi" or None.
        horizon: steps until truncation.
        slip: probability of being turned to each side, at most 1/2.
    """

    draws = 1
    actions = 4
    columns: int
    _neighbours: list[tuple[int, ...]]

    def __init__(self, render_mode: str | None, horizon: int, slip: float) -> None:
        super().__init__(render_mode, horizon)
        is_number = isinstance(slip, int | float | np.number) and not isinstance(slip, bool)
        if not is_number or not 0.0 <= slip <= 0.5:
            raise ValueError(f"slip must be a number between 0 and 0.5, not {slip!r}")
        self.slip = float(slip)

    def _arrive(self, cells: Sequence[int], direction: int) -> tuple[Cells, float, bool]:
        """Next cells, reward and whether the episode ends, of going in a direction."""
        raise NotImplementedError

    @property
    def places(self) -> int:
        """Number of places in the grid, walls included."""
        return len(self._neighbours)

    def place(self, cells: Sequence[int]) -> int:
        """Where the agent is in a state: row * columns + column."""
        return cells[0] % self.places

    def state_name(self, cells: Sequence[int]) -> str:
        y, x = divmod(self.place(cells), self.columns)
        return f"({x}, {y})"

    def _grid_picture(self, tiles: Sequence[str], pixels: int) -> "Picture":
        """A picture of tiles in these colours, a goal's flag not included."""
        from gymnasium_gsp.envs.picture import Picture

        side = 96.0 / self.columns
        picture = Picture(4.0 + side * (len(tiles) // self.columns), pixels)
        for place, colour in enumerate(tiles):
            x, y = self._centre(place)
            picture.rectangle(x - 0.47 * side, y - 0.47 * side, 0.94 * side, 0.94 * side, colour, 0.12 * side)
        return picture

    def _draw_agent(self, picture: "Picture") -> None:
        """Draw the agent, the move that led here, and where it had wanted to go if it slipped."""
        from gymnasium_gsp.envs.picture import AGENT, FAINT, INK, WRONG

        place = self.place(self._cells.tolist())
        side, (x, y) = 96.0 / self.columns, self._centre(place)
        text, colour = f"slips {2.0 * self.slip:.0%}", FAINT
        if self._last_move is not None:
            (cells, action), names = self._last_move, self.get_action_meanings()
            before = self.place(cells)
            ways = [way for way in range(4) if self._neighbours[before][way] == place]
            (x0, y0), (across, down) = self._centre(before), DIRECTIONS[action]
            wanted = x0 + 0.62 * side * across, y0 + 0.62 * side * down
            text, colour = names[action], INK
            if action not in ways:
                text, colour = f"slipped: wanted {names[action]}, went {names[ways[0]]}", WRONG
                picture.arrow((x0, y0), wanted, FAINT, 0.07 * side)
            picture.circle(x0, y0, 0.12 * side, AGENT)
            picture.line((x0, y0), (x, y), AGENT, 0.08 * side)
        picture.agent(x, y, side)
        picture.caption(self._steps_text(), text, colour)

    def _centre(self, place: int) -> tuple[float, float]:
        """The middle of a tile in a picture."""
        side = 96.0 / self.columns
        return 2.0 + side * (place % self.columns + 0.5), 2.0 + side * (place // self.columns + 0.5)

    def get_action_meanings(self) -> list[str]:
        """The directions."""
        return ["left", "down", "right", "up"]

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """At most three rows: turned left, turned right, as intended."""
        turns = ((self.slip, action + 3), (self.slip, action + 1), (1.0 - 2.0 * self.slip, action))
        return [(chance, *self._arrive(cells, turn & 3)) for chance, turn in turns if chance > 0.0]
