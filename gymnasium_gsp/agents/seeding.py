"""The seeds of every random stream: one formula for the agent's episodes, one for the episodes of a run."""

import secrets
import zlib

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import check_count

_AGENT = 0x61676E74  # spawn keys that keep the streams of agents and of runs apart, and both from Gymnasium's
_RUN = 0x72756E73


def check_seed(seed: object) -> int | None:
    """A seed as an int of at least 0, or None.

    Raises:
        RecipeError: if it is anything else.
    """
    return None if seed is None else check_count("a seed", seed, 0)


def fresh_seed(seed: object) -> int:
    """A seed as an int of at least 0; a random one in place of None."""
    number = check_seed(seed)
    return secrets.randbits(128) if number is None else number


def agent_stream(seed: int, episode: int) -> NDArray[np.uint64]:
    """(2,) uint64, the search's two streams in one episode of an agent with this seed."""
    return np.random.SeedSequence(seed, spawn_key=(_AGENT, episode)).generate_state(2, np.uint64).astype(np.uint64)


def simulator_seed(seed: int, episode: int) -> np.random.SeedSequence:
    """The seed of a simulator's own random streams, in one episode of an agent with this seed."""
    return np.random.SeedSequence(seed, spawn_key=(_AGENT, episode, 1))


def episode_seeds(seed: int, env_id: str, episode: int) -> tuple[int, int]:
    """Seeds of (environment, agent) for one episode of a run; the same for every algorithm and number of jobs."""
    name = zlib.crc32(env_id.encode())
    words = np.random.SeedSequence(seed, spawn_key=(_RUN, name, episode)).generate_state(2, np.uint32)
    return int(words[0]), int(words[1])
