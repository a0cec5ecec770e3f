"""The border to compiled code: C signatures, pointers with those signatures, and compilation.

Exported here is what a step or an ingredient of your own needs; `abi.signatures` documents all of it.
"""

from gymnasium_gsp.abi.signatures import (
    ABI_VERSION,
    FAILED,
    RUNNING,
    TERMINATED,
    UNKNOWN,
    below,
    next_word,
    notes,
    scratch,
    uniform,
)

__all__ = [
    "ABI_VERSION",
    "FAILED",
    "RUNNING",
    "TERMINATED",
    "UNKNOWN",
    "below",
    "next_word",
    "notes",
    "scratch",
    "uniform",
]
