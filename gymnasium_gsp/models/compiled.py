"""A model whose step is a C function: one of ours, a user's own, or any function pointer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.pointers import Pointer, resolve
from gymnasium_gsp.errors import RecipeError

Transition = tuple[float, tuple[int, ...], float, bool]
"""One row of a law: probability, next state's cells, reward, terminated."""


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """What a search needs to know of a decision process.

    Attributes:
        step: the rules, with the signature STEP of `abi` (a function, a `@cfunc`, a ctypes pointer or an
            address).
        actions: number of actions; they are 0 .. actions - 1.
        width: cells of 8 bytes in a state.
        key_size: how many of the first cells identify a state; `width` if not given.
        params: float64 numbers handed to every call of `step` and `legal`.
        reward_bounds: smallest and largest reward of one step, if known.
        legal: tells which actions a state has (signature LEGAL); every action where absent.
        terminal: Python function of a state's cells that says whether the process has ended there, if known.
        law: Python function (cells, action) -> rows of the exact transition law, if known.
        clock: index of a cell that counts the steps of the episode, if there is one; it must not be part of the key.
        name: how errors and descriptions call the model.
    """

    step: Any
    actions: int
    width: int = 1
    key_size: int | None = None
    params: ArrayLike = ()
    reward_bounds: tuple[float, float] | None = None
    legal: Any = None
    terminal: Callable[[NDArray[np.int64]], bool] | None = None
    law: Callable[[tuple[int, ...], int], Sequence[Transition]] | None = None
    clock: int | None = None
    name: str = "model"
    step_pointer: Pointer = field(init=False, repr=False)
    legal_pointer: Pointer | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for label, number in (("actions", self.actions), ("width", self.width)):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
                raise RecipeError(f"{label} must be a whole number of at least 1, not {number!r}")
        key_size = self.width if self.key_size is None else self.key_size
        if not 1 <= key_size <= self.width:
            raise RecipeError(f"key_size must be between 1 and the width {self.width}, not {key_size!r}")
        if self.clock is not None and not key_size <= self.clock < self.width:
            raise RecipeError(
                f"clock is cell {self.clock}, but a clock must lie behind the key, in cells {key_size} .. "
                f"{self.width - 1}: a key that holds the time merges nothing"
            )
        params = np.ascontiguousarray(self.params, dtype=np.float64).reshape(-1)
        if self.reward_bounds is not None:
            low, high = map(float, self.reward_bounds)
            if not low <= high:
                raise RecipeError(f"reward_bounds must be (smallest, largest), not {self.reward_bounds!r}")
            object.__setattr__(self, "reward_bounds", (low, high))
        object.__setattr__(self, "key_size", int(key_size))
        object.__setattr__(self, "params", params if params.size else np.zeros(1))
        object.__setattr__(self, "step_pointer", resolve(self.step, "step"))
        object.__setattr__(self, "legal_pointer", None if self.legal is None else resolve(self.legal, "legal"))

    @property
    def needs_gil(self) -> bool:
        """Whether a call of the model runs Python code."""
        return self.step_pointer.needs_gil or (self.legal_pointer is not None and self.legal_pointer.needs_gil)

    def cells(self, state: Any) -> NDArray[np.int64]:
        """A state (a whole number, or a sequence of `width` of them) as cells.

        Raises:
            RecipeError: if it has another number of cells or holds anything but whole numbers.
        """
        array = np.atleast_1d(np.asarray(state))
        if array.dtype == np.float64 and array.shape == (self.width,):
            raise RecipeError(f"{self.name}: a state of float64 must be passed as .view(np.int64), its memory as cells")
        if array.shape != (self.width,) or array.dtype.kind not in "iub":
            raise RecipeError(f"{self.name}: a state has {self.width} whole numbers, not {state!r}")
        return array.astype(np.int64)
