"""Points of a continuous action space: a grid of so many in each dimension, or one that refines, coarse ones first."""

import math
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError, check_count

MOST_POINTS = 33
"""Points of a grid that refines; in one dimension they are evenly spaced.  Every node has a row as long."""

LARGEST_GRID = 1024
"""Points of a grid whose numbers per dimension are given."""


def grid(space: spaces.Box, sizes: object) -> list[NDArray[Any]]:
    """Every combination of evenly spaced numbers in each dimension, both bounds included, the last running fastest.

    Args:
        space: a bounded space.
        sizes: how many numbers there are in each dimension, or in all of them alike.

    Raises:
        RecipeError: for an unbounded space, and for numbers that make no sense or too many points.
    """
    dimensions = math.prod(space.shape)
    each = list(sizes) if isinstance(sizes, Sequence) and not isinstance(sizes, str) else [sizes] * dimensions
    if len(each) != dimensions:
        raise RecipeError(f"actions={sizes!r} has {len(each)} numbers of points, and {space!r} {dimensions} dimensions")
    counts = [check_count("actions", size, 2, advice="; it counts the points in each dimension") for size in each]
    if math.prod(counts) > LARGEST_GRID:
        raise RecipeError(
            f"actions={sizes!r} makes {math.prod(counts):,} points in {dimensions} dimensions, and at most "
            f"{LARGEST_GRID:,} are searched; give fewer, or leave actions out for a grid that refines with the budget"
        )
    digits = np.stack(np.unravel_index(np.arange(math.prod(counts)), counts), axis=-1)
    return _points(space, digits / (np.array(counts) - 1.0))


def refining_grid(space: spaces.Box) -> list[NDArray[Any]]:
    """MOST_POINTS points, or fewer where there are no more, coarse ones first.

    They lie on the grid of the bounds and the centre; then, where that is used up, on the one that has a point more
    between each two, and so on.

    Raises:
        RecipeError: for an unbounded space.
    """
    dimensions, side, found = math.prod(space.shape), 3, dict[bytes, NDArray[np.float64]]()
    for spread in _low_discrepancy(dimensions):
        place = np.floor(spread * side) / (side - 1)
        found.setdefault(place.tobytes(), place)
        if len(found) == MOST_POINTS or dimensions == 0:
            break
        if len(found) == side**dimensions:
            side = 2 * side - 1
    return _points(space, np.array(list(found.values())))


def _low_discrepancy(dimensions: int) -> Iterator[NDArray[np.float64]]:
    """Points that fill the unit cube evenly, its centre first: steps of the square roots of primes (Richtmyer 1951)."""
    primes = (number for number in count(2) if all(number % divisor for divisor in range(2, math.isqrt(number) + 1)))
    step, place = np.sqrt(list(islice(primes, dimensions))), np.full(dimensions, 0.5)
    while True:
        yield place
        place = (place + step) % 1.0


def _points(space: spaces.Box, places: NDArray[np.float64]) -> list[NDArray[Any]]:
    """The elements of a space at these places, between 0 at the lower bound and 1 at the upper one; each once."""
    if not space.is_bounded("both"):
        raise RecipeError(
            f"{space!r} has no bounds, and actions are tried on a grid between bounds: give some with "
            "gymnasium.wrappers.TransformAction(env, lambda action: action, gymnasium.spaces.Box(-1.0, 1.0, "
            f"{space.shape})), or leave out a ClipAction, which takes them away"
        )
    low, high = (bound.reshape(-1).astype(float) for bound in (space.low, space.high))
    values = low * (1.0 - places) + high * places
    if space.dtype is not None and space.dtype.kind in "iub":
        values = np.rint(values)
    rows = np.clip(values, low, high).astype(space.dtype)
    return [row.reshape(space.shape) for row in {row.tobytes(): row for row in rows}.values()]
