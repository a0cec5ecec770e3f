"""Random streams of every common kind: how they are recognised, begun from a seed, and brought to another's place."""

import random
import sys
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np


class StreamType(NamedTuple):
    """The kind of a stream, enough to make another one.

    Attributes:
        family: "Generator", "BitGenerator", "RandomState", "Random", "torch" or "jax".
        detail: the class of the bit generator, the device, or whether a key is typed.
    """

    family: str
    detail: Any = None


def stream_type(value: Any) -> StreamType | None:
    """The kind of stream that a value is; None if it is none.

    A key of JAX is one, although it is a value: who holds it can compute everything that will be drawn.
    """
    if isinstance(value, np.random.Generator):
        return StreamType("Generator", type(value.bit_generator))
    if isinstance(value, np.random.BitGenerator):
        return StreamType("BitGenerator", type(value))
    if isinstance(value, np.random.RandomState):
        return StreamType("RandomState")
    if isinstance(value, random.Random):
        return StreamType("Random")
    module = getattr(type(value), "__module__", "")
    if module == "torch._C" and type(value).__name__ == "Generator":
        return StreamType("torch", str(value.device))
    if module.startswith(("jax.", "jax._src", "jaxlib")) and hasattr(value, "dtype"):
        if str(value.dtype).startswith("key<"):
            return StreamType("jax", True)
        if str(value.dtype) == "uint32" and value.shape in ((2,), (4,)):
            return StreamType("jax", False)
    return None


def new_stream(kind: StreamType, seed: np.random.SeedSequence) -> Any:
    """A stream of this kind that begins at a seed."""
    number = int(seed.generate_state(1, np.uint64)[0] >> 1)
    match kind.family:
        case "Generator":
            return np.random.Generator(kind.detail(seed))
        case "BitGenerator":
            return kind.detail(seed)
        case "RandomState":
            return np.random.RandomState(np.random.MT19937(seed))
        case "torch":
            import torch

            return torch.Generator(kind.detail).manual_seed(number)
        case "jax":
            import jax

            return (jax.random.key if kind.detail else jax.random.PRNGKey)(number >> 31)
    return random.Random(number)


def stream_place(stream: Any) -> Hashable:
    """Where a stream stands; it stays the same for as long as nothing is drawn."""
    kind = stream_type(stream)
    match kind.family if kind else "":
        case "Generator":
            return repr(stream.bit_generator.state)
        case "BitGenerator":
            return repr(stream.state)
        case "RandomState":
            return repr(stream.get_state(legacy=False))
        case "torch":
            return bytes(stream.get_state().numpy())
        case "jax":
            return repr(stream)
        case "Random" if not isinstance(stream, random.SystemRandom):
            return stream.getstate()
    return None


def follow_stream(stream: Any, original: Any) -> None:
    """Bring a stream to the place of another one of its kind; a key of JAX, a value, stays as it is.

    The operating system's has no place, so a stream that stands for it stays where it is.
    """
    if isinstance(original, random.SystemRandom) or isinstance(stream, random.SystemRandom):
        return
    if isinstance(stream, np.random.Generator):
        stream.bit_generator.state = original.bit_generator.state
    elif isinstance(stream, np.random.BitGenerator):
        stream.state = original.state
    elif isinstance(stream, np.random.RandomState):
        stream.set_state(original.get_state())
    elif isinstance(stream, random.Random):
        stream.setstate(original.getstate())
    elif hasattr(stream, "set_state"):
        stream.set_state(original.get_state())


def global_streams() -> tuple[Hashable, ...]:
    """Where the streams stand that a process shares: random, numpy.random, and torch where it is loaded."""
    torch = sys.modules.get("torch")
    tensor = None if torch is None else bytes(torch.get_rng_state().numpy())
    return random.getstate(), repr(np.random.get_state()), tensor
