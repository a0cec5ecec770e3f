"""The legal actions of one state, asked of a model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.abi.signatures import LEGAL
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Model


def legal_actions(model: Model, cells: Sequence[int]) -> NDArray[np.bool_]:
    """Flag the legal actions of a state, shape (actions,).

    Raises:
        RecipeError: if it has none.
    """
    if model.legal_pointer is None:
        return np.ones(model.actions, np.bool_)
    function = ctypes_type(LEGAL)(model.legal_pointer.address)
    state, mask = np.array(cells, np.int64), np.zeros(model.actions)
    count = function(model.params.ctypes.data, state.ctypes.data, mask.ctypes.data)
    if count < 1 or not mask.any():
        raise RecipeError(
            f"{model.name}: state {tuple(cells)} has no legal action, and the process has not ended there"
        )
    return mask > 0.0
