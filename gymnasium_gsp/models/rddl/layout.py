"""Where each state fluent is kept in the cells of a model, and the way between cells and pyRDDLGym's arrays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.models.rddl.graph import BOOL, INT, REAL

CELL_BITS = 64


@dataclass(frozen=True)
class StateFluent:
    """One grounded state fluent.

    Attributes:
        name: of the lifted fluent.
        index: which object it has for each parameter, by number.
        kind: BOOL, INT (whole numbers and objects) or REAL.
        cell: the cell it is kept in.
        bit: which bit of it, counted from the lowest; None for one that fills its cell.
    """

    name: str
    index: tuple[int, ...]
    kind: str
    cell: int
    bit: int | None


@dataclass(frozen=True)
class Layout:
    """The state fluents of an instance, Boolean ones first, 64 to a cell; every other one has a cell of its own.

    Attributes:
        fluents: in the order of their places.
        width: number of cells, at least 1.
    """

    fluents: tuple[StateFluent, ...]
    width: int

    def pack(self, values: Mapping[str, Any]) -> NDArray[np.int64]:
        """The cells of a value or array per lifted fluent, as pyRDDLGym keeps them, shape (width,)."""
        cells = np.zeros(self.width, np.uint64)
        for fluent in self.fluents:
            value = np.asarray(values[fluent.name])[fluent.index].item()
            if fluent.bit is not None:
                cells[fluent.cell] |= np.uint64(int(value) << fluent.bit)
            elif fluent.kind == REAL:
                cells[fluent.cell] = np.float64(value + 0.0).view(np.uint64)  # minus zero becomes zero
            else:
                cells[fluent.cell] = np.int64(value).view(np.uint64)
        return cells.view(np.int64)

    def unpack(self, cells: Sequence[int] | NDArray[np.int64]) -> dict[str, Any]:
        """Cells as pyRDDLGym's arrays, 0-dimensional for fluents without parameters."""
        values: dict[str, Any] = {}
        for name in dict.fromkeys(fluent.name for fluent in self.fluents):
            own = [fluent for fluent in self.fluents if fluent.name == name]
            shape = tuple(np.max([fluent.index for fluent in own], axis=0) + 1) if own[0].index else ()
            values[name] = np.zeros(shape, {BOOL: np.bool_, INT: np.int64, REAL: np.float64}[own[0].kind])
            for fluent in own:
                values[name][fluent.index] = self.read(cells, fluent.cell, fluent.bit, fluent.kind)
        return values

    @staticmethod
    def read(cells: Sequence[int] | NDArray[np.int64], cell: int, bit: int | None, kind: str) -> Any:
        """What stands at one place."""
        word = int(cells[cell])
        if bit is not None:
            return bool(word >> bit & 1)
        return float(np.int64(word).view(np.float64)) if kind == REAL else word


def lay_out(fluents: Iterable[tuple[str, tuple[int, ...], str]]) -> Layout:
    """Give each fluent (name, index, kind) a place."""
    fluents = list(fluents)
    flags = [fluent for fluent in fluents if fluent[2] == BOOL]
    others = [fluent for fluent in fluents if fluent[2] != BOOL]
    first = -(-len(flags) // CELL_BITS)
    placed = [StateFluent(*fluent, *divmod(place, CELL_BITS)) for place, fluent in enumerate(flags)]
    placed += [StateFluent(*fluent, first + place, None) for place, fluent in enumerate(others)]
    return Layout(tuple(placed), max(first + len(others), 1))
