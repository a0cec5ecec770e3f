"""The border to compiled code: C signatures, the context record, memory, random streams, compilation.

Exported here is what a step or an ingredient of your own needs; `abi.signatures` documents all of it.
"""

from gymnasium_gsp.abi.context import ABI_VERSION, UNKNOWN, is_legal, notes, prior, scratch
from gymnasium_gsp.abi.signatures import FAILED, RUNNING, TERMINATED
from gymnasium_gsp.abi.stream import below, next_word, uniform

__all__ = [
    "ABI_VERSION",
    "FAILED",
    "RUNNING",
    "TERMINATED",
    "UNKNOWN",
    "below",
    "is_legal",
    "next_word",
    "notes",
    "prior",
    "scratch",
    "uniform",
]
