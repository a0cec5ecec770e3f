"""Cells of continuous states: keys by which near states share a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.errors import PlanningError, RecipeError


@dataclass(frozen=True)
class Cells:
    """Key states by cells of the numbers in a Box observation, so that near states share a node.

    Attributes:
        widths: width of a cell in each number; infinite to leave a number out.  A cell lies around 0.
        of: the numbers of the "observation", or of the saved "state" where the adapter keys it by plain numbers.
    """

    widths: tuple[float, ...]
    of: Literal["observation", "state"] = "observation"

    def __post_init__(self) -> None:
        try:
            widths = tuple(map(float, self.widths))
        except (TypeError, ValueError):
            widths = ()
        if not widths or not all(width > 0.0 for width in widths):
            raise RecipeError(f"Cells need a width above 0 for each number of the observation, not {self.widths!r}")
        if self.of not in ("observation", "state"):
            raise RecipeError(f"Cells are of the 'observation' or of the 'state', not of {self.of!r}")
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "_per_number", [1.0 / width for width in widths])

    def __call__(self, env: BareEnv, observation: Any) -> tuple[int, ...]:
        """The cell of an observation."""
        return self.cell(numbers_of(observation))

    def cell(self, numbers: Sequence[float]) -> tuple[int, ...]:
        """The cell of some numbers.

        Raises:
            PlanningError: if there are more or fewer than widths, or one is NaN or infinite.
        """
        scales = self._per_number  # type: ignore[attr-defined]
        try:
            return tuple([round(number * scale) for number, scale in zip(numbers, scales, strict=True)])
        except (ValueError, OverflowError) as error:
            raise PlanningError(
                f"{self} cannot key {list(numbers)}: {error}. Every number must be finite and have a width of its own"
            ) from error


def numbers_of(observation: Any) -> list[float]:
    """The numbers of a Box observation."""
    if type(observation) is np.ndarray and observation.ndim == 1:
        return observation.tolist()
    return np.ravel(observation).tolist()
