"""SysAdminRing: keep a ring of machines running that take each other down."""

from collections.abc import Sequence
from itertools import product
from math import cos, pi, prod, sin
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numba import types
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, uniform
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.errors import check_count
from gymnasium_gsp.models.model import Transition

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture

RUNS, DOWN, REBOOTED = "#2e9e5b", "#c9ced4", "#f0b429"  # colours

RUNNING_PROBABILITY = (0.0238, 0.525, 0.0475, 0.95)
"""Probability of running next, by own bit + 2 * predecessor's bit."""

MOST_MACHINES = 62
MOST_FOR_ROWS = 10


def sysadmin_ring_rules(params, state, action, rng, reward):
    """One step.  params: machines, RUNNING_PROBABILITY.  Bit i of the state: i runs.  Draws one value per machine."""
    machines = int(params[0])
    neither, own_only, other_only, both = params[1], params[2], params[3], params[4]
    one = types.uint64(1)
    own = types.uint64(state[0])
    other = (own << one) | (own >> types.uint64(machines - 1))
    after = types.uint64(0)
    running = types.uint64(0)
    for i in range(machines):
        # The table is chosen from, not indexed: that is what lets the compiler treat eight machines at a time.
        runs, other_runs = (own >> types.uint64(i)) & one, (other >> types.uint64(i)) & one
        probability = (both if runs else other_only) if other_runs else (own_only if runs else neither)
        up = types.uint64((uniform(rng) < probability) | (i == action))
        after |= up << types.uint64(i)
        running += up
    state[0] = types.int64(after)
    reward[0] = running / params[0]
    return RUNNING


class SysAdminRingEnv(CompiledEnv[NDArray[np.int8]]):
    """Keep a ring of machines running that take each other down, one reboot at a time.

    ## Description
    The benchmark of the paper's appendix: 20 machines in a ring, all down at first.  A rebooted machine runs
    afterwards, surely.  Any other runs afterwards with a probability that depends on itself and its predecessor (the
    machine before it; for machine 0, the last one):

    | it | predecessor | probability |
    |---|---|---|
    | down | down | 0.0238 |
    | down | running | 0.0475 |
    | running | down | 0.525 |
    | running | running | 0.95 |

    ## Action Space
    `Discrete(machines + 1)`: i reboots machine i; the last action does nothing.

    ## Observation Space
    `MultiBinary(machines)`: 1 for each machine that runs.

    ## Rewards
    The fraction of machines that run after the transition.  The paper does not say before or after; its return of
    8.57 for UCT at a budget of 16 fits after.  (The optimum is 18.27; counted before the transition, 17.83.)

    ## Episode End
    Never terminated; truncated after `horizon` steps.

    ## Arguments
    * `machines`: number of machines, 1 to 62.
    * `horizon`: steps until truncation.  `gym.make` also sets a time limit of 50; for more, give it
      `max_episode_steps` as well.
    """

    rules = staticmethod(sysadmin_ring_rules)
    draws = 20

    def __init__(self, render_mode: str | None = None, machines: int = 20, horizon: int = 50) -> None:
        self.machines = check_count("machines", machines, largest=MOST_MACHINES)
        self.draws = self.machines
        self.actions = self.machines + 1
        super().__init__(render_mode, horizon)
        self.observation_space = spaces.MultiBinary(self.machines)

    def _start(self) -> Sequence[int]:
        return (0,)

    def _params(self) -> NDArray[np.float64]:
        return np.array([self.machines, *RUNNING_PROBABILITY])

    def _bits(self, cells: Sequence[int]) -> list[int]:
        return [cells[0] >> i & 1 for i in range(self.machines)]

    def observe(self, cells: Sequence[int]) -> NDArray[np.int8]:
        """1 for each machine that runs."""
        return np.array(self._bits(cells), np.int8)

    def _is_state(self, cells: Sequence[int]) -> bool:
        return 0 <= cells[0] < 1 << self.machines

    def factors(self, cells: Sequence[int], action: int) -> tuple[float, ...]:
        """Probability of running after `action`, for each machine; they are independent of each other."""
        bits = self._bits(cells)
        return tuple(
            1.0 if i == action else RUNNING_PROBABILITY[bits[i] + 2 * bits[i - 1]] for i in range(self.machines)
        )

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """One row for each set of machines that may run afterwards.

        Raises:
            ValueError: if the ring is too large to write its rows out; `factors` gives the law of any ring.
        """
        if self.machines > MOST_FOR_ROWS:
            raise ValueError(
                f"the law of {self.machines} machines has up to 2**{self.machines} rows and is written out for at "
                f"most {MOST_FOR_ROWS} machines; use factors(cells, action), the probability of running per machine"
            )
        rows: list[Transition] = []
        choices = [((0, 1.0 - up), (1, up)) if up < 1.0 else ((1, 1.0),) for up in self.factors(cells, action)]
        for outcome in product(*choices):
            after = sum(bit << i for i, (bit, _) in enumerate(outcome))
            probability = prod(probability for _, probability in outcome)
            rows.append((probability, (after,), after.bit_count() / self.machines, False))
        return rows

    def get_action_meanings(self) -> list[str]:
        """The machine that an action reboots."""
        return [*(f"reboot {machine}" for machine in range(self.machines)), "wait"]

    def _picture(self, pixels: int) -> "Picture":
        from gymnasium_gsp.envs.picture import INK, Picture

        picture, bits = Picture(100.0, pixels), self._bits(self._cells.tolist())
        size = min(9.0, 38.0 * sin(pi / max(self.machines, 3)) * 0.8)
        turns = [2.0 * pi * machine / self.machines - pi / 2.0 for machine in range(self.machines)]
        places = [(50.0 + (48.0 - size) * cos(turn), 50.0 + (48.0 - size) * sin(turn)) for turn in turns]
        for machine, end in enumerate(places):  # a running predecessor supports, one that is down drags down
            picture.line(places[machine - 1], end, RUNS if bits[machine - 1] else DOWN, 0.25 * size)
        for machine, (x, y) in enumerate(places):
            if self._last_move is not None and self._last_move[1] == machine:
                picture.circle(x, y, 1.35 * size, REBOOTED)
            picture.circle(x, y, size, RUNS if bits[machine] else DOWN)
            picture.text(x, y, str(machine), 0.95 * size, "#ffffff" if bits[machine] else INK)
        picture.text(50.0, 46.0, f"{sum(bits)} of {self.machines}", 12.0)
        picture.text(50.0, 55.0, "running", 6.5)
        text = "" if self._last_move is None else self.get_action_meanings()[self._last_move[1]]
        picture.caption(self._steps_text(), text)
        return picture

    def state_name(self, cells: Sequence[int]) -> str:
        return "".join("#" if bit else "." for bit in self._bits(cells))

    def _draw_text(self) -> str:
        name = self.state_name(self._cells.tolist())
        return f"{name}  running: {name.count('#')} of {self.machines}\n"
