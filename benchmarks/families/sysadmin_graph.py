"""SysAdminRing's machines in a random network: each depends on one to three others."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from gymnasium import spaces
from numba import njit, types
from numpy.typing import NDArray

from gymnasium_gsp.abi import RUNNING, uniform
from gymnasium_gsp.abi.compilation import compiled_pointer
from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.abi.signatures import LAW
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.envs.sysadmin_ring import RUNNING_PROBABILITY
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.factors import Factors

MOST_MACHINES = 40
MOST_EXACT = 12
"""Machines of a network whose optimum is computed: some seconds."""

_MOST_PREDECESSORS = 3
_TABLE = 1 + len(RUNNING_PROBABILITY)  # where the masks of predecessors begin


@njit
def count_bits(word):
    """Number of bits that are 1."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit
def running_probability(params, state, action, machine):
    """The probability that a machine runs next: linear in the share of its predecessors that run."""
    if action == machine:
        return 1.0
    mask, own = types.int64(params[_TABLE + machine]), (state >> machine) & 1
    share = count_bits(state & mask) / count_bits(mask)
    return params[1 + own] + share * (params[3 + own] - params[1 + own])


def sysadmin_graph_rules(params, state, action, rng, reward):
    """One step.  params: machines, RUNNING_PROBABILITY, for each machine the mask of its predecessors."""
    machines, before, after = types.int64(params[0]), state[0], 0
    for machine in range(machines):
        after |= int(uniform(rng) < running_probability(params, before, action, machine)) << machine
    state[0] = after
    reward[0] = count_bits(before) / machines
    return RUNNING


def sysadmin_graph_law(params, state, action, outcomes, chances, reward):
    """The same step with its random choices given, one for each machine."""
    machines, before, after = types.int64(params[0]), state[0], 0
    for machine in range(machines):
        up = running_probability(params, before, action, machine)
        chances[2 * machine], chances[2 * machine + 1] = 1.0 - up, up
        after |= outcomes[machine] << machine
    state[0] = after
    reward[0] = count_bits(before) / machines
    return RUNNING


class SysAdminGraphEnv(CompiledEnv[NDArray[np.int8]]):
    """Keep a random network of machines running, one reboot at a time.

    As SysAdminRing, but each machine has one to three predecessors, the probability of running is linear in the share
    of them that runs, and the reward is the fraction of machines that run before the transition, so that exact values
    can be computed machine by machine.  Action i reboots machine i, the last one does nothing.

    Args:
        machines: their number, 2 to 40.
        seed: of the network.
        horizon: steps until truncation.
    """

    rules = staticmethod(sysadmin_graph_rules)

    def __init__(self, render_mode: str | None = None, machines: int = 12, seed: int = 0, horizon: int = 50) -> None:
        if not 2 <= machines <= MOST_MACHINES:
            raise ValueError(f"machines must be between 2 and {MOST_MACHINES}, not {machines!r}")
        self.machines, self.seed, rng = machines, seed, np.random.default_rng(seed)
        self.actions, self.draws = machines + 1, machines
        super().__init__(render_mode, horizon)
        self.observation_space = spaces.MultiBinary(machines)
        others = [np.delete(np.arange(machines), machine) for machine in range(machines)]
        counts = np.minimum(rng.integers(1, _MOST_PREDECESSORS + 1, machines), machines - 1)
        chosen = [rng.choice(row, count, replace=False) for row, count in zip(others, counts, strict=True)]
        self._masks = [sum(1 << int(machine) for machine in row) for row in chosen]

    def _start(self) -> Sequence[int]:
        return (0,)

    def _params(self) -> NDArray[np.float64]:
        return np.array([self.machines, *RUNNING_PROBABILITY, *self._masks], np.float64)

    def compiled_model(self) -> CompiledModel:
        """The model, with its law in factors where exact values are within reach."""
        if self._model is None:
            model, machines, factors = super().compiled_model(), self.machines, None
            if machines <= MOST_EXACT:
                law = Pointer(compiled_pointer(sysadmin_graph_law, LAW).address)
                factors = Factors(law, (2,) * machines, tuple(range(machines)))
            self._model = replace(model, law=None, factors=factors)
        return self._model

    def observe(self, cells: Sequence[int]) -> NDArray[np.int8]:
        """1 for each machine that runs."""
        return np.array([cells[0] >> machine & 1 for machine in range(self.machines)], np.int8)

    def _is_state(self, cells: Sequence[int]) -> bool:
        return 0 <= cells[0] < 1 << self.machines

    def _draw_text(self) -> str:
        return f"{self.observe(self._cells.tolist()).tolist()}\n"
