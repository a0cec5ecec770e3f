"""Random streams: splitmix64, one uint64 a stream, as steps and ingredients draw from them."""

import ctypes

from numba import njit, types


@njit
def next_word(rng):
    """Return 64 random bits from the stream at `rng`."""
    rng[0] += types.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> types.uint64(30))) * types.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> types.uint64(27))) * types.uint64(0x94D049BB133111EB)
    return z ^ (z >> types.uint64(31))


@njit
def uniform(rng):
    """Return one draw from [0, 1)."""
    return types.float64(next_word(rng) >> types.uint64(11)) * 1.1102230246251565e-16


@njit
def below(rng, n):
    """Return one draw from 0 .. n - 1."""
    return types.int64(((next_word(rng) >> types.uint64(32)) * types.uint64(n)) >> types.uint64(32))


def uniform_at(rng: int) -> float:
    """Return the draw that `uniform` makes, for callbacks into Python, from the stream at an address."""
    stream = ctypes.c_uint64.from_address(rng)
    z = stream.value = (stream.value + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return float((z ^ (z >> 31)) >> 11) * 2.0**-53
