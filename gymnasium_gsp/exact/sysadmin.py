"""The exact optimum of a ring of machines, without writing out its transition matrix.

Given state and action, the machines' next bits are independent, so the expectation of a function of all bits can be
taken bit by bit.  Taking it over machine i turns the axis of its next bit into axes of what its probability depends
on: its present bit and its predecessor's.  Done in the order i = n - 1, ..., 0, the axis for the predecessor is the one
that the following machine needs anyway, so the table never has more than n + 1 axes of two.

The ring looks the same from every machine.  So values do not change when the ring is turned, and rebooting machine a
is worth what rebooting machine 0 is worth after turning the ring by a: one table serves all reboots.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model

MOST_MACHINES = 24


def sysadmin_values(machines: int, running: ArrayLike, horizon: int, discount: float = 1.0) -> NDArray[np.float64]:
    """Optimal value with `horizon` steps left, for each of the 2**machines states.

    Args:
        machines: number of machines; bit i of a state says that machine i runs.
        running: probability of running next, running[own bit][predecessor's bit]; shape (2, 2).
        horizon: number of steps.
        discount: the discount.

    Raises:
        RecipeError: if the ring is too large, or these are no probabilities.
    """
    for values in _stages(machines, running, horizon, discount):  # noqa: B007, the last one is wanted
        pass
    return values


def _stages(machines: int, running: ArrayLike, horizon: int, discount: float) -> Iterator[NDArray[np.float64]]:
    """The values with 0, 1, ... and `horizon` steps left; see `sysadmin_values`."""
    _check_machines(machines)
    table = np.asarray(running, np.float64)
    if table.shape != (2, 2) or not ((table >= 0.0) & (table <= 1.0)).all():
        raise RecipeError(
            f"running must hold a probability for [own bit][predecessor's bit], shape (2, 2), not {running!r}"
        )
    reward, orbit = _reward(machines), _orbits(np.arange(2**machines), machines)
    values = np.zeros(2**machines)
    yield values
    for _ in range(horizon):
        idle, reboot_first = _expectations(reward + discount * values, machines, table)
        best = np.full(orbit.max() + 1, -np.inf)
        np.maximum.at(best, orbit, reboot_first)
        values = np.maximum(idle, best[orbit])
        yield values


def _check_machines(machines: int) -> None:
    if not 1 <= machines <= MOST_MACHINES:
        raise RecipeError(
            f"the optimum of {machines} machines needs tables of 2**{machines + 1} numbers; allowed are 1 to "
            f"{MOST_MACHINES} machines"
        )


def _reward(machines: int) -> NDArray[np.float64]:
    """What arriving in each state pays: the share of machines that run there."""
    states = np.arange(2**machines)
    return np.asarray(sum((states >> i) & 1 for i in range(machines)) / machines, np.float64)


class SysAdminValues:
    """Optimal action values of a SysAdminRing model at every step of an episode.

    One value is kept for each class of states that turning the ring makes equal, at each step; action values follow
    from these when they are asked for, in some milliseconds with 20 machines.  Making it takes some seconds then.

    Args:
        model: the model.
        steps: the episode's time limit.
        discount: of the return.

    Raises:
        RecipeError: if the ring is too large.
    """

    def __init__(self, model: Model, steps: int, discount: float = 1.0) -> None:
        self._machines, self._running = ring_of(model)
        _check_machines(self._machines)
        states = np.arange(2**self._machines)
        self._orbit = _orbits(states, self._machines)
        kept = np.unique(self._orbit, return_index=True)[1]
        paid = _reward(self._machines)
        self._model, self._steps = model, steps
        self._after = [
            paid[kept] + discount * values[kept]
            for values in _stages(self._machines, self._running, steps - 1, discount)
        ]

    def q_values(self, state: ArrayLike, depth: int = 0) -> NDArray[np.float64]:
        """Q*(s, a) for each action, `depth` steps after the start of the episode.

        Next bits are taken out one after the other, the highest first; a rebooted machine runs for sure.
        """
        bits = (int(self._model.cells(state)[0]) >> np.arange(self._machines)) & 1
        chances = self._running[bits, np.roll(bits, 1)]
        q, table = np.empty(self._machines + 1), self._after[self._steps - depth - 1][self._orbit]
        for machine in range(self._machines - 1, -1, -1):
            down, up = table.reshape(2, -1)
            rest = up
            for other in range(machine - 1, -1, -1):
                rest = rest[: len(rest) // 2] + chances[other] * (rest[len(rest) // 2 :] - rest[: len(rest) // 2])
            q[machine] = rest.item()
            table = down + chances[machine] * (up - down)
        q[self._machines] = table.item()
        return q


def ring_of(model: Model) -> tuple[int, NDArray[np.float64]]:
    """The number of machines of a SysAdminRing model, and running[own bit][predecessor's bit]."""
    machines, down_down, up_down, down_up, up_up = model.params.tolist()
    return int(machines), np.array([[down_down, down_up], [up_down, up_up]])


def _orbits(states: NDArray[np.int64], machines: int) -> NDArray[np.int64]:
    """For each state, the number of its class: two states are in one class if turning the ring makes them equal."""
    smallest, turned = states, states
    for _ in range(machines - 1):
        turned = (turned >> 1) | ((turned & 1) << (machines - 1))
        smallest = np.minimum(smallest, turned)
    return np.unique(smallest, return_inverse=True)[1]


def _expectations(
    after: NDArray[np.float64], machines: int, running: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expectation of a function of the next state, for each present state: idle, and after rebooting machine 0.

    States are axes of two, the highest bit first.  Next bits leave at the front, present bits come in at the back.
    """
    if machines == 1:
        down, up = after
        return down + running.diagonal() * (up - down), np.full(2, up)
    down, up = after.reshape(2, -1, 1)
    table = _take_out(np.repeat(down, 2, axis=1), np.repeat(up, 2, axis=1), running)
    for _ in range(machines - 2):
        down, up = table.reshape(2, -1, 2)
        table = _take_out(down, up, running)
    # Machine 0 is left.  The bit of its predecessor, machine n - 1, came in first, so it now stands at the front.
    down, up = table.reshape(2, 2, -1, 2)
    idle = down + running.T[:, None, :] * (up - down)
    return idle.reshape(-1), up.reshape(-1)


def _take_out(down: NDArray[np.float64], up: NDArray[np.float64], running: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expectation over one machine's next bit.

    Args:
        down: values if it is down next, shape (others, its own present bit).
        up: values if it runs next.
        running: probability of running, [own bit][predecessor's bit].

    Returns:
        Values of shape (others, its own present bit, its predecessor's present bit).
    """
    change = up - down
    result = np.empty((*down.shape, 2))
    # Four long strided passes: broadcasting over axes of two would be several times slower.
    for own in (0, 1):
        for predecessor in (0, 1):
            part = result[:, own, predecessor]
            np.multiply(change[:, own], running[own, predecessor], out=part)
            part += down[:, own]
    return result
