"""The model protocol: everything that a search or an exact computation may ask of a decision process."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gymnasium_gsp.abi.pointers import Pointer
from gymnasium_gsp.models.factors import Factors

Cells = tuple[int, ...]
"""A state as whole numbers."""

Transition = tuple[float, Cells, float, bool]
"""One row of a law: probability, next state's cells, reward, terminated."""

Law = Callable[[Cells, int], Sequence[Transition]]
"""The exact law: the rows of taking an action in a state."""

RewardBounds = tuple[float, float]
"""Smallest and largest reward of one step."""


class StateKeys(Protocol):
    """The numbers that a simulator gives to its states; they live and die with the graph of a search."""

    def __len__(self) -> int:
        """Number of keys that are held."""

    def bytes_each(self) -> int:
        """Estimate of the memory that one more key takes, in bytes."""

    def retain(self, numbers: Iterable[int]) -> None:
        """Forget every key but those with these numbers."""


@runtime_checkable
class Model(Protocol):
    """A decision process to plan in.

    Every model has every attribute; what it does not offer is None.  States are `width` cells of 8 bytes, actions are
    numbered 0 .. actions - 1.  Pointers have the signatures of `gymnasium_gsp.abi.signatures`.

    Attributes:
        name: name in errors and descriptions.
        actions: number of actions.
        width: number of cells in a state.
        key_size: number of leading cells that identify a state.
        params: float64 numbers, passed to every call of `step` and `legal`.
        clock: index of the cell that counts the steps of the episode; it is never part of the key.
        reward_bounds: smallest and largest reward of one step.
        step_pointer: one step (STEP).
        legal_pointer: the legal actions of a state (LEGAL); where None, every action is legal.
        rollout_pointer: a whole playout in one call (VALUE); where None, the search plays out step by step.
        law: the exact law.
        factors: the exact law as a C function, one random choice at a time.
        terminal: function of a state's cells, true where the process has ended.
        keys: the table of a simulator's states; None if the cells themselves identify a state.
        needs_gil: whether a call runs Python code.
    """

    @property
    def name(self) -> str: ...
    @property
    def actions(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def key_size(self) -> int: ...
    @property
    def params(self) -> NDArray[np.float64]: ...
    @property
    def clock(self) -> int | None: ...
    @property
    def reward_bounds(self) -> RewardBounds | None: ...
    @property
    def step_pointer(self) -> Pointer: ...
    @property
    def legal_pointer(self) -> Pointer | None: ...
    @property
    def rollout_pointer(self) -> Pointer | None: ...
    @property
    def law(self) -> Law | None: ...
    @property
    def factors(self) -> Factors | None: ...
    @property
    def terminal(self) -> Callable[[NDArray[np.int64]], bool] | None: ...
    @property
    def keys(self) -> StateKeys | None: ...
    @property
    def needs_gil(self) -> bool: ...

    def cells(self, state: ArrayLike) -> NDArray[np.int64]:
        """Convert a state to cells, shape (width,).

        Args:
            state: a whole number, or a sequence of `width` of them.

        Raises:
            RecipeError: if it has another number of cells or holds anything but whole numbers.
        """
