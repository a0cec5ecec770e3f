"""A model with a step behind a C pointer: a benchmark's, a table's, or a user's own function."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.pointers import Pointer, resolve
from gymnasium_gsp.errors import RecipeError, check_count
from gymnasium_gsp.models.factors import Factors
from gymnasium_gsp.models.model import Law, RewardBounds

Function = object
"""A Python or numba function, a `@cfunc`, a ctypes pointer, a `Pointer`, or the address of a C function."""


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A decision process with a compiled step; it has every attribute of `models.model.Model`.

    Attributes:
        step: the rules, with the signature STEP of `abi` (a function, a `@cfunc`, a ctypes pointer or an
            address).
        actions: number of actions; they are 0 .. actions - 1.
        width: cells of 8 bytes in a state.
        key_size: number of leading cells that identify a state; all of them if 0.
        params: float64 numbers, passed to every call of `step` and `legal`.
        reward_bounds: smallest and largest reward of one step, if known.
        legal: the legal actions of a state (signature LEGAL); every action is legal if None.
        terminal: Python function of a state's cells, true where the process has ended, if known.
        law: Python function (cells, action) -> rows of the exact transition law, if known.
        factors: the same law as a C function, one random choice at a time, if known.
        clock: index of a cell that counts the steps of the episode, if there is one; it must not be part of the key.
        name: name in errors and descriptions.

    Raises:
        RecipeError: if a value makes no sense, or `step` or `legal` cannot be called through a C pointer.
    """

    step: Function
    actions: int
    width: int = 1
    key_size: int = 0
    params: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    reward_bounds: RewardBounds | None = None
    legal: Function | None = None
    terminal: Callable[[NDArray[np.int64]], bool] | None = None
    law: Law | None = None
    factors: Factors | None = None
    clock: int | None = None
    name: str = "model"
    step_pointer: Pointer = field(init=False, repr=False)
    legal_pointer: Pointer | None = field(init=False, repr=False)
    rollout_pointer: None = field(default=None, init=False, repr=False)
    keys: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_count("actions", self.actions)
        check_count("width", self.width)
        key_size = int(self.key_size) or self.width
        if not 1 <= key_size <= self.width:
            raise RecipeError(f"key_size must be between 1 and the width {self.width}, not {key_size!r}")
        if self.clock is not None and not key_size <= self.clock < self.width:
            raise RecipeError(
                f"clock is cell {self.clock}, but a clock must lie behind the key, in cells {key_size} .. "
                f"{self.width - 1}: a key that holds the time merges nothing"
            )
        bounds = self.reward_bounds
        if bounds is not None:
            low, high = map(float, bounds)
            if not low <= high:
                raise RecipeError(f"reward_bounds must be (smallest, largest), not {bounds!r}")
            bounds = low, high
        params = np.ascontiguousarray(self.params, dtype=np.float64).reshape(-1)
        vars(self).update(
            key_size=key_size,
            params=params if params.size else np.zeros(1),
            reward_bounds=bounds,
            step_pointer=resolve(self.step, "step"),
            legal_pointer=None if self.legal is None else resolve(self.legal, "legal"),
        )

    @property
    def needs_gil(self) -> bool:
        """Return whether a call of the model runs Python code."""
        return self.step_pointer.needs_gil or (self.legal_pointer is not None and self.legal_pointer.needs_gil)

    def cells(self, state: ArrayLike) -> NDArray[np.int64]:
        """Convert a state to cells, see `models.model.Model.cells`."""
        array = np.atleast_1d(np.asarray(state))
        if array.dtype == np.float64 and array.shape == (self.width,):
            raise RecipeError(f"{self.name}: a state of float64 must be passed as .view(np.int64), its memory as cells")
        if array.shape != (self.width,) or array.dtype.kind not in "iub":
            raise RecipeError(
                f"{self.name}: a state has {self.width} whole numbers, not {state!r}; a step that uses more "
                "cells needs CompiledModel(..., width=)"
            )
        return array.astype(np.int64)
