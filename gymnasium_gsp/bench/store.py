"""The store: every episode that a benchmark has played, one row each, in one SQLite file."""

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from gymnasium_gsp.bench.protocol import Episode
from gymnasium_gsp.bench.store_file import (
    CELL,
    COLUMNS,
    EPISODE,
    StoreError,
    named_errors,
    open_file,
    quoted,
    transaction,
)
from gymnasium_gsp.errors import RecipeError, unknown_name

__all__ = ["Cell", "Row", "Store", "StoreError"]

_BUSY = 30.0  # seconds to wait for another process that holds the file
_LARGEST = 2**63 - 1  # SQLite's largest whole number


@dataclass(frozen=True)
class Cell:
    """What the episodes of one mean have in common.

    Attributes:
        env: the environment's full id.
        algorithm: name of a registered algorithm.
        preset: name of a set of its options; None for none.
        budget: simulations per decision, or another `Budget` as the call that makes it.
        seed: of the run.
        options: further options of the algorithm in canonical text, `bench.grid.options_text`; "" for none.
        env_options: arguments of the environment in canonical text, `bench.grid.arguments_text`; "" for none.
    """

    env: str
    algorithm: str
    preset: str | None
    budget: int | str
    seed: int
    options: str = ""
    env_options: str = ""


@dataclass(frozen=True)
class Row:
    """One episode in the store.

    Attributes:
        cell: where it belongs.
        episode: what was played; its `index` is unique in a cell.
        recipe: how the agent planned, as the call that makes it.
        versions: JSON object of versions: gymnasium_gsp, gymnasium, numpy, numba, python.
        machine: JSON object: cpu, cores, system; no host name.
    """

    cell: Cell
    episode: Episode
    recipe: str
    versions: str
    machine: str


class Store:
    """A file of episodes, opened or created; a context manager.

    Args:
        path: the file.
        read_only: never create or change it; an older schema is then read through a migrated copy in memory.
        busy_seconds: how long to wait for another process that writes.

    Raises:
        StoreError: if the file cannot be opened, is broken, is not ours, or is of a newer schema.
    """

    def __init__(self, path: str | Path, read_only: bool = False, busy_seconds: float = _BUSY) -> None:
        self.path, self._busy = Path(path), busy_seconds
        with named_errors(self.path, "opened"):
            self._connection: sqlite3.Connection = open_file(self.path, read_only, busy_seconds)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; every batch that was added is in it already."""
        self._connection.close()

    def add(self, rows: Iterable[Row]) -> int:
        """Add episodes in one transaction, and leave out those that are there already.

        Returns:
            How many were new.

        Raises:
            StoreError: if the file cannot be written, because the disk is full or another process holds it; nothing of
                this batch is kept then, and earlier rows are untouched.
        """
        values = [_values(row) for row in rows]
        if not values:
            return 0
        marks = ", ".join("?" * len(COLUMNS))
        insert = f"INSERT INTO episodes ({quoted(COLUMNS)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        with named_errors(self.path, "written"), transaction(self._connection, self._busy):
            before = self._connection.total_changes
            self._connection.executemany(insert, values)
            return self._connection.total_changes - before

    def rows(self, **where: Any) -> list[Row]:
        """All episodes, sorted by cell and index; or those with the given fields of a cell, as `env="GSP/..."`.

        Raises:
            RecipeError: for a field that a cell does not have.
            StoreError: if the file cannot be read.
        """
        condition, values = _condition(where)
        query = f"SELECT {quoted(COLUMNS)} FROM episodes {condition} ORDER BY {quoted((*CELL, 'index'))}"
        with named_errors(self.path, "read"):
            found = self._connection.execute(query, values).fetchall()
        cells: dict[Cell, Cell] = {}
        return [_row(record, cells) for record in found]

    def cells(self) -> dict[Cell, int]:
        """How many episodes each cell has, sorted."""
        query = f"SELECT {quoted(CELL)}, COUNT(*) FROM episodes GROUP BY {quoted(CELL)} ORDER BY {quoted(CELL)}"
        with named_errors(self.path, "read"):
            return {_cell(record): record[-1] for record in self._connection.execute(query)}

    def played(self, cell: Cell) -> set[int]:
        """The indices of the episodes that a cell has."""
        condition, values = _condition({name: getattr(cell, name) for name in CELL})
        with named_errors(self.path, "read"):
            found = self._connection.execute(f'SELECT "index" FROM episodes {condition}', values)
            return {index for (index,) in found}

    def origins(self, cell: Cell) -> set[tuple[str, str]]:
        """The different (recipe, versions) of the episodes that a cell has."""
        condition, values = _condition({name: getattr(cell, name) for name in CELL})
        with named_errors(self.path, "read"):
            found = self._connection.execute(f"SELECT DISTINCT recipe, versions FROM episodes {condition}", values)
            return set(found.fetchall())


def _condition(where: dict[str, Any]) -> tuple[str, list[Any]]:
    for name in where:
        if name not in CELL:
            raise RecipeError(unknown_name("field of a cell", name, CELL))
    terms = " AND ".join(f'"{name}" = ?' for name in where)
    return (f"WHERE {terms}" if terms else "", ["" if value is None else value for value in where.values()])


def _values(row: Row) -> tuple[Any, ...]:
    if row.cell.seed > _LARGEST:
        raise StoreError(f"a store keeps seeds up to 2**63 - 1, not {row.cell.seed}")
    cell = {name: getattr(row.cell, name) for name in CELL}
    numbers = {name: getattr(row.episode, name) for name in EPISODE}
    values = {**cell, **numbers, "recipe": row.recipe, "versions": row.versions, "machine": row.machine}
    values["preset"] = values["preset"] or ""
    return tuple(_native(values[name], kind) for name, kind in COLUMNS.items())


def _native(value: Any, kind: str) -> Any:
    """A number as SQLite takes it: numpy's own would be kept as bytes."""
    if kind.startswith("INTEGER"):
        return int(value)
    return float(value) if kind.startswith("REAL") and value is not None else value


def _cell(record: tuple[Any, ...]) -> Cell:
    named = dict(zip(CELL, record, strict=False))
    return Cell(**{**named, "preset": named["preset"] or None})


def _row(record: tuple[Any, ...], cells: dict[Cell, Cell]) -> Row:
    cell = _cell(record)
    last = len(CELL) + len(EPISODE)
    episode = dict(zip(EPISODE, record[len(CELL) : last], strict=True))
    if episode["total_reward"] is None:
        episode["total_reward"] = math.nan
    return Row(cells.setdefault(cell, cell), Episode(**episode), *record[last:])
