"""The store: every episode that a benchmark has played, one row each, in one SQLite file.

A file is written in transactions with a rollback journal, so it is one file whenever nobody writes, it can be copied,
and a process that is killed leaves it as the last transaction did.  Readers and several writers wait for each other.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from gymnasium_gsp.bench.protocol import Episode
from gymnasium_gsp.errors import RecipeError, unknown_name

APPLICATION_ID = 0x67737062  # "gspb"; what says that an SQLite file is ours
_BUSY = 30.0  # seconds to wait for another process that holds the file
_LARGEST = 2**63 - 1  # SQLite's largest whole number


class StoreError(RecipeError):
    """A file of results that cannot be opened, read or written; what it held before is untouched."""


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


_CELL = tuple(item.name for item in fields(Cell))
_EPISODE = tuple(item.name for item in fields(Episode))
COLUMNS = (*_CELL, *_EPISODE, "recipe", "versions", "machine")
"""The columns of the table `episodes`, and of an export, in order."""

_SCHEMA = """
CREATE TABLE episodes (
    env TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    preset TEXT NOT NULL,
    budget BLOB NOT NULL,
    seed INTEGER NOT NULL,
    options TEXT NOT NULL,
    env_options TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    total_reward REAL,
    decisions INTEGER NOT NULL,
    simulations INTEGER NOT NULL,
    model_steps INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    seconds REAL NOT NULL,
    optimum REAL,
    recipe TEXT NOT NULL,
    versions TEXT NOT NULL,
    machine TEXT NOT NULL,
    PRIMARY KEY (env, algorithm, preset, budget, seed, options, env_options, "index")
) WITHOUT ROWID
"""

MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = []
"""`MIGRATIONS[n - 1]` turns a file of schema n into one of schema n + 1, inside a transaction."""


def schema_version() -> int:
    """The schema that this version of the package writes."""
    return len(MIGRATIONS) + 1


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


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
        self.path, self.read_only, self._busy = Path(path), read_only, busy_seconds
        with self._named_errors("opened"):
            _check_file(self.path, read_only)
            self._connection = self._connect("ro" if read_only else "rwc")
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

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
        insert = f"INSERT OR IGNORE INTO episodes ({_quoted(COLUMNS)}) VALUES ({marks})"
        with self._named_errors("written"), self._transaction():
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
        query = f"SELECT {_quoted(COLUMNS)} FROM episodes {condition} ORDER BY {_quoted((*_CELL, 'index'))}"
        with self._named_errors("read"):
            found = self._connection.execute(query, values).fetchall()
        cells: dict[Cell, Cell] = {}
        return [_row(record, cells) for record in found]

    def cells(self) -> dict[Cell, int]:
        """How many episodes each cell has, sorted."""
        query = f"SELECT {_quoted(_CELL)}, COUNT(*) FROM episodes GROUP BY {_quoted(_CELL)} ORDER BY {_quoted(_CELL)}"
        with self._named_errors("read"):
            return {_cell(record): record[-1] for record in self._connection.execute(query)}

    def played(self, cell: Cell) -> set[int]:
        """The indices of the episodes that a cell has."""
        condition, values = _condition({name: getattr(cell, name) for name in _CELL})
        with self._named_errors("read"):
            found = self._connection.execute(f'SELECT "index" FROM episodes {condition}', values)
            return {index for (index,) in found}

    def origins(self, cell: Cell) -> set[tuple[str, str]]:
        """The different (recipe, versions) of the episodes that a cell has."""
        condition, values = _condition({name: getattr(cell, name) for name in _CELL})
        with self._named_errors("read"):
            found = self._connection.execute(f"SELECT DISTINCT recipe, versions FROM episodes {condition}", values)
            return set(found.fetchall())

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        return sqlite3.connect(address, uri=True, timeout=self._busy, isolation_level=None)

    def _prepare(self) -> None:
        """Make a new file ours, migrate an older one, and refuse all others."""
        try:
            found = self._inspect()
        except sqlite3.OperationalError as error:
            if not self.read_only or "readonly" not in str(error).replace(" ", ""):
                raise
            self._roll_back_journal()
            found = self._inspect()
        if found == schema_version():
            return
        if self.read_only:
            memory = sqlite3.connect(":memory:", isolation_level=None)
            self._connection.backup(memory)
            self._connection.close()
            self._connection = memory
        with self._transaction():
            found = self._inspect()  # another process may have been faster
            if found == 0:
                self._connection.execute(_SCHEMA)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            else:
                for migrate in MIGRATIONS[found - 1 :]:
                    migrate(self._connection)
            self._connection.execute(f"PRAGMA user_version = {schema_version()}")

    def _inspect(self) -> int:
        """The schema of the file; 0 for an empty one."""
        ask = self._connection.execute
        (owner,), (version,) = ask("PRAGMA application_id").fetchone(), ask("PRAGMA user_version").fetchone()
        (tables,) = ask("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        if owner == 0 and tables == 0:
            return 0
        if owner != APPLICATION_ID:
            raise StoreError(f"{self.path} is an SQLite file of another program, not a store; give another --store")
        if version > schema_version():
            raise StoreError(
                f"{self.path} was written by a newer gymnasium-gsp (schema {version}; this one knows "
                f"{schema_version()}); upgrade gymnasium-gsp, or give another --store"
            )
        (verdict,) = ask("PRAGMA quick_check(1)").fetchone()
        names = {name for (name,) in ask("SELECT name FROM pragma_table_info('episodes')")}
        if verdict != "ok" or (version == schema_version() and names != set(COLUMNS)):
            raise StoreError(f"{self.path} is a broken store ({verdict}); give another --store, or a copy from before")
        return version

    def _roll_back_journal(self) -> None:
        """Undo what a killed writer left half done; a connection that only reads cannot."""
        self._connection.close()
        writer = self._connect("rw")
        writer.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        writer.close()
        self._connection = self._connect("ro")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; the lock to write is taken first, so that nobody else can come between."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._commit()
        except BaseException:
            if self._connection.in_transaction:  # a full disk has rolled back by itself
                self._connection.execute("ROLLBACK")
            raise

    def _commit(self) -> None:
        """Commit, and wait for readers as long as for writers: SQLite itself lets a commit fail at the first one."""
        deadline = time.monotonic() + self._busy
        while True:
            try:
                self._connection.execute("COMMIT")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    @contextmanager
    def _named_errors(self, deed: str) -> Iterator[None]:
        """Turn what SQLite and the system say into one sentence with the file's name and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be {deed}: {error}; {_advice(error)}") from error
        except OSError as error:
            raise StoreError(f"{self.path} cannot be {deed}: {error.strerror or error}; give another --store") from None


def _advice(error: sqlite3.Error) -> str:
    message = str(error)
    if "full" in message or "disk I/O" in message:
        return "earlier rows are untouched; make room on the disk and give the same command again"
    if "locked" in message:
        return "another process holds it; wait for it and give the same command again"
    if "not a database" in message or "malformed" in message:
        return "it is broken or no SQLite file, and was left as it was; give another --store"
    return "earlier rows are untouched; give another --store, or a place that can be written"


def _check_file(path: Path, read_only: bool) -> None:
    """Refuse what SQLite answers with a riddle: a folder, a missing file or folder, a place that cannot be written."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; --store is a file, such as {path / 'results.sqlite'}")
    if read_only:
        if not path.exists():
            raise StoreError(f"there is no store {path}; `gsp bench` makes one, or give another --store")
        return
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent} for the store {path.name}; make it first")
    if path.exists() and not os.access(path, os.W_OK):
        raise StoreError(f"{path} cannot be written; give another --store, or change its permissions")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise StoreError(f"the folder {path.parent} cannot be written; give another --store")


def _condition(where: dict[str, Any]) -> tuple[str, list[Any]]:
    for name in where:
        if name not in _CELL:
            raise RecipeError(unknown_name("field of a cell", name, _CELL))
    terms = " AND ".join(f'"{name}" = ?' for name in where)
    return (f"WHERE {terms}" if terms else "", ["" if value is None else value for value in where.values()])


def _values(row: Row) -> tuple[Any, ...]:
    cell = tuple(getattr(row.cell, name) for name in _CELL)
    if not 0 <= row.cell.seed <= _LARGEST:
        raise StoreError(f"a store keeps seeds up to 2**63 - 1, not {row.cell.seed}")
    episode = tuple(getattr(row.episode, name) for name in _EPISODE)
    return (*("" if value is None else value for value in cell), *episode, row.recipe, row.versions, row.machine)


def _cell(record: tuple[Any, ...]) -> Cell:
    named = dict(zip(_CELL, record, strict=False))
    return Cell(**{**named, "preset": named["preset"] or None})


def _row(record: tuple[Any, ...], cells: dict[Cell, Cell]) -> Row:
    cell = _cell(record)
    last = len(_CELL) + len(_EPISODE)
    return Row(cells.setdefault(cell, cell), Episode(*record[len(_CELL) : last]), *record[last:])
