"""Sailing: cross a lake diagonally while the wind turns."""

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces
from numba import njit
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.errors import RecipeError, check_count
from gymnasium_gsp.models.model import Cells, Transition

LARGEST_SIZE = 1000

EAST = (0, 1, 1, 1, 0, -1, -1, -1)
NORTH = (1, 1, 0, -1, -1, -1, 0, 1)
"""How far each heading leads: x by EAST[heading], y by NORTH[heading]."""

WIND_TURNS = (
    (0.3, 0.4, 0.3),
    (0.4, 0.3, 0.3),
    (0.4, 0.3, 0.3),
    (0.4, 0.3, 0.3),
    (0.4, 0.2, 0.4),
    (0.3, 0.3, 0.4),
    (0.3, 0.3, 0.4),
    (0.3, 0.3, 0.4),
)
"""Of each wind, the probabilities that it turns to the heading before it, stays, or turns to the one after it."""

INTO_THE_WIND = 4


def angle(heading, wind):
    """The angle between a heading and the wind, in eighths of a circle: 0 with the wind to 4 against it."""
    apart = abs(heading - wind)
    return min(apart, 8 - apart)


def destination(size, place, heading):
    """The place x * size + y that a heading leads to, or -1 off the lake."""
    x, y = place // size + EAST[heading], place % size + NORTH[heading]
    return x * size + y if 0 <= x < size and 0 <= y < size else -1


_angle, _destination = njit(angle), njit(destination)


def sailing_rules(params, state, action, rng, reward):
    """One step.  params: size, then per wind: probabilities of turning back and of not turning on.  Draws one value."""
    size = int(params[0])
    place, wind = state[0] >> 3, state[0] & 7
    into = _angle(action, wind)
    after = _destination(size, place, action)
    if into == INTO_THE_WIND or after < 0:
        into, after = INTO_THE_WIND - 1, place
    u = uniform(rng)
    turn = int(u >= params[1 + 2 * wind]) + int(u >= params[2 + 2 * wind]) - 1
    state[0] = after << 3 | ((wind + turn) & 7)
    reward[0] = -1.0 - into
    return TERMINATED if after == size * size - 1 else RUNNING


def sailing_legal(params, state, mask):
    """The headings that stay on the lake and do not go into the wind."""
    size, count = int(params[0]), 0
    for heading in range(8):
        sails = _angle(heading, state[0] & 7) != INTO_THE_WIND
        sails &= _destination(size, state[0] >> 3, heading) >= 0
        mask[heading] = 1.0 if sails else 0.0
        count += int(sails)
    return count


class SailingEnv(CompiledEnv[NDArray[np.int64]]):
    """Sail across a lake while the wind turns at random.

    ## Description
    The problem of R. Vanderbei (Optimal sailing strategies, Princeton, 1996), without delays for a change of tack, as
    B. Bonet and H. Geffner play it (Action selection for MDPs: Anytime AO* versus UCT, AAAI 2012): a square lake, the
    goal in the corner opposite to the first one.  After each step the wind turns by one eighth of a circle or stays.
    Their figures are mean discounted costs of episodes of 100 steps on a lake of 100 x 100.

    ## Action Space
    `Discrete(8)`: the heading, 0 along y, 2 along x, 1 between them and so on round the circle.  `info["action_mask"]`
    says which are legal: a boat can neither sail into the wind (heading = wind + 4) nor off the lake.  `step` takes
    other headings too; the boat then stays, for 4.

    ## Observation Space
    `MultiDiscrete([size, size, 8])`: x, y, and the heading that the wind blows along.

    ## Rewards
    -1, -2, -3 or -4 for 0 to 3 eighths of a circle between heading and wind.

    ## Episode End
    Terminated at the goal (size - 1, size - 1); truncated after `horizon` steps.

    ## Arguments
    * `size`: places along each side, 2 to 1,000.
    * `start`: first state [x, y, wind].
    * `discount`: of the return that episodes are judged by, above 0 and at most 1; rewards are not discounted.
    * `horizon`: steps until truncation.  `gym.make` also sets a time limit of 100; for more, give it
      `max_episode_steps` as well.
    """

    rules = staticmethod(sailing_rules)
    legal = staticmethod(sailing_legal)
    draws = 1
    actions = 8
    reward_bounds = (-4.0, -1.0)

    def __init__(
        self,
        render_mode: str | None = None,
        size: int = 100,
        start: Sequence[int] = (0, 0, 0),
        discount: float = 0.95,
        horizon: int = 100,
    ) -> None:
        super().__init__(render_mode, horizon)
        self.size = check_count("size", size, 2, LARGEST_SIZE)
        self.start = self._check_start(start)
        is_number = isinstance(discount, int | float | np.number) and not isinstance(discount, bool)
        if not is_number or not 0.0 < discount <= 1.0:
            raise RecipeError(f"discount must be a number above 0 and at most 1, not {discount!r}")
        self.discount = float(discount)
        self._goal = self.size**2 - 1
        self.observation_space = spaces.MultiDiscrete([self.size, self.size, 8])

    def _check_start(self, start: Sequence[int]) -> tuple[int, int, int]:
        if not isinstance(start, list | tuple) or len(start) != 3:
            raise RecipeError(f"start must be [x, y, wind], not {start!r}")
        x, y = (check_count(f"{name} of start", at, 0, self.size - 1) for name, at in zip("xy", start, strict=False))
        if x == y == self.size - 1:
            raise RecipeError(f"start must not be the goal [{x}, {y}]")
        return x, y, check_count("wind of start", start[2], 0, 7)

    def _start(self) -> Sequence[int]:
        x, y, wind = self.start
        return ((x * self.size + y) << 3 | wind,)

    def _params(self) -> NDArray[np.float64]:
        thresholds = [(back, back + stay) for back, stay, _ in WIND_TURNS]
        return np.concatenate(([self.size], np.ravel(thresholds)))

    def observe(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """x, y and the wind."""
        return np.array([*divmod(cells[0] >> 3, self.size), cells[0] & 7], np.int64)

    def _is_state(self, cells: Sequence[int]) -> bool:
        return 0 <= cells[0] < 8 * self.size**2

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether the boat is at the goal."""
        return cells[0] >> 3 == self._goal

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """Three rows: the wind turns back, stays, turns on."""
        place, wind = cells[0] >> 3, cells[0] & 7
        into, after = angle(action, wind), destination(self.size, place, action)
        if into == INTO_THE_WIND or after < 0:
            into, after = INTO_THE_WIND - 1, place
        winds = zip(WIND_TURNS[wind], (wind - 1, wind, wind + 1), strict=True)
        rows: list[tuple[float, Cells]] = [(chance, (after << 3 | then & 7,)) for chance, then in winds]
        return [(chance, then, -1.0 - into, after == self._goal) for chance, then in rows]

    def _draw_text(self) -> str:
        x, y, wind = self.observe(self._cells.tolist()).tolist()
        rows = [
            ["[.]" if (column, row) == (x, y) else " . " for column in range(self.size)] for row in range(self.size)
        ]
        rows[-1][-1] = rows[-1][-1].replace(".", "G")
        return "\n".join(map("".join, reversed(rows))) + f"\nwind along {wind}\n"
