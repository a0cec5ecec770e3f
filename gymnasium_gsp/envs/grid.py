"""The parent of the grid worlds, in which a move may slip, and the table of neighbours that their rules read."""

from collections.abc import Collection, Sequence

import numpy as np
from numba import njit

from gymnasium_gsp.envs.compiled_env import CompiledEnv, ObsT
from gymnasium_gsp.models.model import Cells, Transition


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

    def __init__(self, render_mode: str | None, horizon: int, slip: float) -> None:
        super().__init__(render_mode, horizon)
        is_number = isinstance(slip, int | float | np.number) and not isinstance(slip, bool)
        if not is_number or not 0.0 <= slip <= 0.5:
            raise ValueError(f"slip must be a number between 0 and 0.5, not {slip!r}")
        self.slip = float(slip)

    def _arrive(self, cells: Sequence[int], direction: int) -> tuple[Cells, float, bool]:
        """Next cells, reward and whether the episode ends, of going in a direction."""
        raise NotImplementedError

    def get_action_meanings(self) -> list[str]:
        """The directions."""
        return ["left", "down", "right", "up"]

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """At most three rows: turned left, turned right, as intended."""
        turns = ((self.slip, action + 3), (self.slip, action + 1), (1.0 - 2.0 * self.slip, action))
        return [(chance, *self._arrive(cells, turn & 3)) for chance, turn in turns if chance > 0.0]
