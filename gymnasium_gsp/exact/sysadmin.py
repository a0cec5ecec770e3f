"""The exact optimum of a ring of machines, without writing out its transition matrix.

Given state and action, the machines' next bits are independent, so the expectation of a function of all bits can be
taken bit by bit.  Taking it over machine i turns the axis of its next bit into axes of what its probability depends
on: its present bit and its predecessor's.  Done in the order i = n - 1, ..., 0, the axis for the predecessor is the one
that the following machine needs anyway, so the table never has more than n + 1 axes of two.

The ring looks the same from every machine.  So values do not change when the ring is turned, and rebooting machine a
is worth what rebooting machine 0 is worth after turning the ring by a: one table serves all reboots.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.errors import RecipeError

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
    if not 1 <= machines <= MOST_MACHINES:
        raise RecipeError(
            f"the optimum of {machines} machines needs tables of 2**{machines + 1} numbers; allowed are 1 to "
            f"{MOST_MACHINES} machines"
        )
    table = np.asarray(running, np.float64)
    if table.shape != (2, 2) or not ((table >= 0.0) & (table <= 1.0)).all():
        raise RecipeError(
            f"running must hold a probability for [own bit][predecessor's bit], shape (2, 2), not {running!r}"
        )
    states = np.arange(2**machines)
    reward = sum((states >> i) & 1 for i in range(machines)) / machines
    orbit = _orbits(states, machines)
    values = np.zeros(len(states))
    for _ in range(horizon):
        idle, reboot_first = _expectations(reward + discount * values, machines, table)
        best = np.full(orbit.max() + 1, -np.inf)
        np.maximum.at(best, orbit, reboot_first)
        values = np.maximum(idle, best[orbit])
    return values


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
