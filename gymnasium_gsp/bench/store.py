"""The store: every episode that a benchmark has played, one row each, in one table of one SQLite file.

SQLite keeps a rollback journal beside the file while it writes, so the store is one file whenever nobody writes, can be
copied, and a process that is killed leaves it as the last transaction did.  Readers and writers wait for each other.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

import numpy as np

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode
from gymnasium_gsp.bench.files import check_place, replace_file
from gymnasium_gsp.errors import RecipeError

if TYPE_CHECKING:
    import pandas as pd

APPLICATION_ID = 0x67737062  # "gspb"; marks an SQLite file as a store
SCHEMA = 4  # raised with every change of the columns; files of another schema are refused
KEY = (*Cell.model_fields, "index")
COLUMNS = (*Cell.model_fields, *(field.name for field in fields(Episode)))
_NUMBERS = {  # types that pandas may miss
    **dict.fromkeys(("total_reward", "seconds", "optimum", "regret"), float),
    "budget": object,
}


class StoreError(RecipeError):
    """A file of results that cannot be opened, read or written; what it held before is untouched."""


class Store:
    """A file of episodes, opened or created for writing; a context manager.

    Args:
        path: the file.
        busy_seconds: how long to wait for another process that reads or writes.

    Raises:
        RecipeError: for a place where no file can be written.
        StoreError: if the file cannot be opened, is broken, is not ours, or is of another schema.
    """

    def __init__(self, path: str | Path, busy_seconds: float = 30.0) -> None:
        self.path = Path(path)
        check_place(self.path)
        self._connection = _open(self.path, "rwc", busy_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; all that was added is in it already."""
        self._connection.close()

    def add(self, rows: Iterable[tuple[Cell, Episode]]) -> int:
        """Add episodes in one transaction, and leave out those that are there already; failures are replaced.

        Returns:
            How many were new or replaced.

        Raises:
            StoreError: if the file cannot be written, because the disk is full or another process holds it; nothing of
                these rows is kept then, and earlier rows are untouched.
        """
        records = [tuple(map(_native, (*dict(cell).values(), *astuple(episode)))) for cell, episode in rows]
        marks = ", ".join("?" * len(COLUMNS))
        with _named_errors(self.path, "written"), self._connection:
            before = self._connection.total_changes
            replaced = ", ".join(f'"{name}" = excluded."{name}"' for name in COLUMNS)
            query = f"INSERT INTO episodes VALUES ({marks}) ON CONFLICT DO UPDATE SET {replaced} WHERE failure <> ''"
            self._connection.executemany(query, records)
            return self._connection.total_changes - before

    def returns(self, cell: Cell) -> dict[int, float]:
        """The returns of a cell's episodes by their index, without those that failed."""
        found = self._select('"index", total_reward', cell)
        return {index: np.nan if value is None else value for index, value in found}

    def origins(self, cell: Cell) -> set[tuple[str, str]]:
        """The different (recipe, versions) of a cell's episodes, without those that failed."""
        return set(self._select("DISTINCT recipe, versions", cell))

    def _select(self, what: str, cell: Cell) -> list[tuple]:
        condition = " AND ".join(["failure = ''", *(f"{name} = ?" for name in Cell.model_fields)])
        with _named_errors(self.path, "read"):
            query = f"SELECT {what} FROM episodes WHERE {condition}"
            return self._connection.execute(query, tuple(dict(cell).values())).fetchall()


def read(path: str | Path, busy_seconds: float = 30.0) -> "pd.DataFrame":
    """Every episode of a store as a table, sorted by cell and index.

    Returns:
        One row an episode with the columns `COLUMNS`.  A budget is a number of simulations or a text, a preset, options
        or arguments that were not given are "".

    Raises:
        StoreError: if there is no such file, or it is broken, not ours, or of another schema.
    """
    import pandas as pd

    path = Path(path)
    with closing(_open(path, "rw", busy_seconds)) as connection, _named_errors(path, "read"):
        if not _columns(connection):  # an empty file
            return pd.DataFrame(columns=list(COLUMNS)).astype(_NUMBERS)
        return pd.read_sql_query(f"SELECT * FROM episodes ORDER BY {_quoted(KEY)}", connection).astype(_NUMBERS)


def export(store: Path, path: Path) -> int:
    """Write all episodes of a store to a CSV file; an older file stays until the new one is complete.

    Returns:
        How many episodes were written.

    Raises:
        RecipeError: for another ending, or a place that cannot be written.
    """
    if path.suffix.lower() != ".csv":
        raise RecipeError(f"episodes are exported to a file whose name ends in .csv, not {path.name!r}")
    if path.resolve() == store.resolve():
        raise RecipeError(f"{path} is the store itself; give another file")
    frame = read(store)
    replace_file(path, frame.to_csv(index=False).encode())
    return len(frame)


def _open(path: Path, mode: str, busy_seconds: float) -> sqlite3.Connection:
    """A connection to a store; a file that is no store is left as it was."""
    if mode == "rw" and not path.exists():
        raise StoreError(f"there is no store {path}; `gsp bench` makes one, or give another --store")
    with _named_errors(path, "opened"):
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=busy_seconds, isolation_level="EXCLUSIVE")
        try:
            _check_kind(connection, path)
            if mode == "rwc" and not _columns(connection):
                _create(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(
        f"""
        BEGIN EXCLUSIVE;
        CREATE TABLE IF NOT EXISTS episodes ({_quoted(COLUMNS)}, PRIMARY KEY ({_quoted(KEY)})) WITHOUT ROWID;
        PRAGMA application_id = {APPLICATION_ID};
        PRAGMA user_version = {SCHEMA};
        COMMIT;
        """
    )


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is neither empty nor a store of this schema."""

    def ask(query: str) -> object:
        return connection.execute(query).fetchone()[0]

    owner, schema = ask("PRAGMA application_id"), ask("PRAGMA user_version")
    if owner == 0 and ask("SELECT COUNT(*) FROM sqlite_schema") == 0:
        return
    if owner != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file of another program, not a store; give another --store")
    if schema != SCHEMA:
        raise StoreError(
            f"{path} was written by another version of gymnasium-gsp (schema {schema}; this one reads {SCHEMA}); give "
            "another --store, or go on with the version that wrote it"
        )
    if ask("PRAGMA quick_check(1)") != "ok" or _columns(connection) != COLUMNS:
        raise StoreError(f"{path} is a broken store and was left as it was; give another --store, or an older copy")


def _columns(connection: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(name for (name,) in connection.execute("SELECT name FROM pragma_table_info('episodes')"))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _native(value: object) -> object:
    """A number as SQLite takes it; numpy's own would be kept as bytes."""
    return value.item() if isinstance(value, np.generic) else value


_ADVICE = {
    sqlite3.SQLITE_FULL: "earlier rows are untouched; make room on the disk and give the same command again",
    sqlite3.SQLITE_IOERR: "earlier rows are untouched; make room on the disk and give the same command again",
    sqlite3.SQLITE_BUSY: "another process holds it; wait for that one and give the same command again",
    sqlite3.SQLITE_NOTADB: "it is no SQLite file or a broken one, and was left as it was; give another --store",
    sqlite3.SQLITE_CORRUPT: "it is no SQLite file or a broken one, and was left as it was; give another --store",
}


@contextmanager
def _named_errors(path: Path, deed: str) -> Iterator[None]:
    """Turn an error of SQLite into one sentence with the file's name and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        advice = _ADVICE.get(code, "earlier rows are untouched; give another --store, or a place that can be written")
        raise StoreError(f"{path} cannot be {deed}: {error}; {advice}") from error
