"""A model with a step behind a C pointer: a benchmark's, a table's, or a user's own function."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.pointers import Pointer, resolve
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.models.model import Law, RewardBounds

Function = object
"""A Python or numba function, a `@cfunc`, a ctypes pointer, a `Pointer`, or the address of a C function."""


@dataclass(frozen=True, eq=False, init=False)
class CompiledModel:
    """A decision process with a compiled step.

    The attributes are those of `models.model.Model`, and `step` and `legal` as they were given.

    Args:
        step: the rules, with the signature STEP of `abi` (a function, a `@cfunc`, a ctypes pointer or an
            address).
        actions: number of actions; they are 0 .. actions - 1.
        width: cells of 8 bytes in a state.
        key_size: number of leading cells that identify a state; None for all of them.
        params: float64 numbers, passed to every call of `step` and `legal`.
        reward_bounds: smallest and largest reward of one step, if known.
        legal: the legal actions of a state (signature LEGAL); None if every action is legal.
        terminal: Python function of a state's cells, true where the process has ended, if known.
        law: Python function (cells, action) -> rows of the exact transition law, if known.
        clock: index of a cell that counts the steps of the episode, if there is one; it must not be part of the key.
        name: name in errors and descriptions.

    Raises:
        RecipeError: if a value makes no sense, or `step` or `legal` cannot be called through a C pointer.
    """

    step: Function
    actions: int
    width: int
    key_size: int
    params: NDArray[np.float64]
    reward_bounds: RewardBounds | None
    legal: Function | None
    terminal: Callable[[NDArray[np.int64]], bool] | None
    law: Law | None
    clock: int | None
    name: str
    step_pointer: Pointer = field(init=False, repr=False)
    legal_pointer: Pointer | None = field(init=False, repr=False)
    rollout_pointer: None = field(init=False, repr=False)
    keys: None = field(init=False, repr=False)
    raised: list[BaseException] = field(init=False, repr=False)

    def __init__(
        self,
        step: Function,
        actions: int,
        width: int = 1,
        key_size: int | None = None,
        params: ArrayLike = (),
        reward_bounds: RewardBounds | None = None,
        legal: Function | None = None,
        terminal: Callable[[NDArray[np.int64]], bool] | None = None,
        law: Law | None = None,
        clock: int | None = None,
        name: str = "model",
    ) -> None:
        for label, number in (("actions", actions), ("width", width)):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
                raise RecipeError(f"{label} must be a whole number of at least 1, not {number!r}")
        key_size = width if key_size is None else int(key_size)
        if not 1 <= key_size <= width:
            raise RecipeError(f"key_size must be between 1 and the width {width}, not {key_size!r}")
        if clock is not None and not key_size <= clock < width:
            raise RecipeError(
                f"clock is cell {clock}, but a clock must lie behind the key, in cells {key_size} .. "
                f"{width - 1}: a key that holds the time merges nothing"
            )
        if reward_bounds is not None:
            low, high = map(float, reward_bounds)
            if not low <= high:
                raise RecipeError(f"reward_bounds must be (smallest, largest), not {reward_bounds!r}")
            reward_bounds = low, high
        numbers = np.ascontiguousarray(params, dtype=np.float64).reshape(-1)
        vars(self).update(
            step=step,
            actions=actions,
            width=width,
            key_size=key_size,
            params=numbers if numbers.size else np.zeros(1),
            reward_bounds=reward_bounds,
            legal=legal,
            terminal=terminal,
            law=law,
            clock=clock,
            name=name,
            step_pointer=resolve(step, "step"),
            legal_pointer=None if legal is None else resolve(legal, "legal"),
            rollout_pointer=None,
            keys=None,
            raised=[],
        )

    @property
    def needs_gil(self) -> bool:
        """Whether a call of the model runs Python code."""
        return self.step_pointer.needs_gil or (self.legal_pointer is not None and self.legal_pointer.needs_gil)

    def cells(self, state: ArrayLike) -> NDArray[np.int64]:
        """Convert a state to cells, see `models.model.Model.cells`."""
        array = np.atleast_1d(np.asarray(state))
        if array.dtype == np.float64 and array.shape == (self.width,):
            raise RecipeError(f"{self.name}: a state of float64 must be passed as .view(np.int64), its memory as cells")
        if array.shape != (self.width,) or array.dtype.kind not in "iub":
            raise RecipeError(f"{self.name}: a state has {self.width} whole numbers, not {state!r}")
        return array.astype(np.int64)
