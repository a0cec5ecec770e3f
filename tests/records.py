"""Records of the compiled border, made by hand for tests."""

import numpy as np

from gymnasium_gsp.abi.context import ABI_VERSION, CONTEXT_DTYPE, CONTEXT_SIZE, context_length

LONGEST = 8  # depths that have notes


def made_context(actions, **fields):
    """(cells, record): a context's memory as float64, and its record, fields as attributes."""
    cells = np.zeros(context_length(actions, LONGEST))
    record = cells[:CONTEXT_SIZE].view(CONTEXT_DTYPE).view(np.recarray)[0]
    for name, value in {
        "version": ABI_VERSION,
        "actions": actions,
        "discount": 1.0,
        "range": 1.0,
        "top": 1.0,
        **fields,
    }.items():
        record[name] = value
    return cells, record
