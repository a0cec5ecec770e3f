"""FrozenLake: cross a slippery lake without falling into a hole."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.envs.grid import GridEnv, draw_map, neighbours, slipped
from gymnasium_gsp.models.model import Cells

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture

TILES = {"S": "#f3e3c3", "F": "#d6eaf8", "H": "#d6eaf8", "G": "#dff2e1"}  # colours

MAP_8X8 = ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG")
"""Gymnasium's 8x8 map: S start, F frozen, H hole, G goal."""


def frozen_lake_rules(params, state, action, rng, reward):
    """One step.  params: slip, then per place: 0 frozen, 1 hole or 2 goal, and its neighbours.  Draws one value."""
    direction = slipped(uniform(rng), params[0], action)
    place = int(params[2 + 5 * state[0] + direction])
    tile = params[1 + 5 * place]
    state[0] = place
    reward[0] = 1.0 if tile == 2.0 else 0.0
    return TERMINATED if tile > 0.0 else RUNNING


class FrozenLakeEnv(GridEnv[int]):
    """Cross a frozen lake from the start to the goal; the ice is slippery.

    ## Description
    The benchmark of the paper's appendix: Gymnasium's 8x8 map, where an action is executed as given or turned to
    either side, each with probability 1/3.  Leaving the lake is not possible; the agent stays where it is.

    ## Action Space
    `Discrete(4)`: 0 left, 1 down, 2 right, 3 up.

    ## Observation Space
    `Discrete(rows * columns)`: row * columns + column.

    ## Rewards
    1 on reaching the goal, 0 otherwise.

    ## Episode End
    Terminated in a hole or at the goal; truncated after `horizon` steps.

    ## Arguments
    * `desc`: rows of the map, letters S, F, H, G.
    * `slip`: probability of being turned to each side; 0 makes the lake deterministic.
    * `horizon`: steps until truncation.  `gym.make` also sets a time limit of 200; for more, give it
      `max_episode_steps` as well.
    """

    rules = staticmethod(frozen_lake_rules)

    def __init__(
        self,
        render_mode: str | None = None,
        desc: Sequence[str] = MAP_8X8,
        slip: float = 1 / 3,
        horizon: int = 200,
    ) -> None:
        super().__init__(render_mode, horizon, slip)
        self.desc = read_map(desc)
        self._tiles = "".join(self.desc)
        self.columns = len(self.desc[0])
        self._neighbours = neighbours(self.columns, len(self.desc))
        self.observation_space = spaces.Discrete(len(self._tiles))  # type: ignore[assignment]

    def _start(self) -> Sequence[int]:
        return (self._tiles.index("S"),)

    def _params(self) -> NDArray[np.float64]:
        kinds = [max("FHG".find(tile), 0) for tile in self._tiles]
        return np.concatenate(([self.slip], np.column_stack((kinds, self._neighbours)).ravel()))

    def observe(self, cells: Sequence[int]) -> int:
        """The agent's place, row * columns + column."""
        return int(cells[0])

    def _is_state(self, cells: Sequence[int]) -> bool:
        return 0 <= cells[0] < len(self._tiles)

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether the place is a hole or the goal."""
        return self._tiles[cells[0]] in "HG"

    def _arrive(self, cells: Sequence[int], direction: int) -> tuple[Cells, float, bool]:
        place = self._neighbours[cells[0]][direction]
        return (place,), float(self._tiles[place] == "G"), self._tiles[place] in "HG"

    def _picture(self, pixels: int) -> "Picture":
        picture, side = self._grid_picture([TILES[tile] for tile in self._tiles], pixels), 96.0 / self.columns
        for place, tile in enumerate(self._tiles):
            x, y = self._centre(place)
            if tile == "H":
                picture.circle(x, y, 0.36 * side, "#123a5a")
                picture.circle(x, y + 0.04 * side, 0.29 * side, "#1f5f8b")
            elif tile == "G":
                picture.flag(x, y, side)
        self._draw_agent(picture)
        return picture

    def _draw_text(self) -> str:
        return draw_map(self.desc, int(self._cells[0]))


def read_map(desc: Sequence[str]) -> tuple[str, ...]:
    """A map as a tuple of equally long rows.

    Raises:
        ValueError: if it is no map with one start and a goal.
    """
    if not isinstance(desc, list | tuple) or not all(isinstance(row, str) for row in desc):
        raise ValueError(f"a map is a list of rows such as ['SF', 'HG'], not {desc!r}")
    text = "".join(desc)
    if not text or any(len(row) != len(desc[0]) for row in desc):
        raise ValueError(f"the rows of a map must be equally long and not empty, not {list(desc)!r}")
    if strange := sorted(set(text) - set("SFHG")):
        raise ValueError(f"the map holds {strange}; allowed letters: S, F, H, G")
    if text.count("S") != 1 or "G" not in text:
        raise ValueError(f"a map has exactly one 'S' and at least one 'G'; this one is {list(desc)!r}")
    return tuple(desc)
