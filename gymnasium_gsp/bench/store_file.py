"""The file of a store: opened or created, migrated if it is older, refused by name if it is anything else.

SQLite keeps a rollback journal beside the file while it writes, so the store is one file whenever nobody writes, can be
copied, and a process that is killed leaves it as the last transaction did.  Readers and writers wait for each other.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from gymnasium_gsp.errors import RecipeError

APPLICATION_ID = 0x67737062  # "gspb"; what says that an SQLite file is ours

CELL = {
    "env": "TEXT NOT NULL",
    "algorithm": "TEXT NOT NULL",
    "preset": "TEXT NOT NULL",  # "" for none, as two NULLs would not be equal in a key
    "budget": "BLOB NOT NULL",  # kept as it is given, a number or a text
    "seed": "INTEGER NOT NULL",
    "options": "TEXT NOT NULL",
    "env_options": "TEXT NOT NULL",
}
EPISODE = {
    "index": "INTEGER NOT NULL",
    "total_reward": "REAL",  # SQLite keeps NaN as NULL
    "decisions": "INTEGER NOT NULL",
    "simulations": "INTEGER NOT NULL",
    "model_steps": "INTEGER NOT NULL",
    "nodes": "INTEGER NOT NULL",
    "seconds": "REAL NOT NULL",
    "optimum": "REAL",
}
ORIGIN = {"recipe": "TEXT NOT NULL", "versions": "TEXT NOT NULL", "machine": "TEXT NOT NULL"}
COLUMNS = {**CELL, **EPISODE, **ORIGIN}
"""The columns of the table `episodes` and their types, in order."""

MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = []
"""`MIGRATIONS[n - 1]` turns a file of schema n into one of schema n + 1, inside a transaction."""


class StoreError(RecipeError):
    """A file of results that cannot be opened, read or written; what it held before is untouched."""


def schema_version() -> int:
    """The schema that this version of the package writes."""
    return len(MIGRATIONS) + 1


def quoted(names: Iterable[str]) -> str:
    """Names of columns as a list in SQL."""
    return ", ".join(f'"{name}"' for name in names)


def open_file(path: Path, read_only: bool, busy: float) -> sqlite3.Connection:
    """A connection to a store of the present schema.

    Args:
        path: the file; created if it is missing or empty.
        read_only: never create or change it; an older one is migrated in a copy in memory.
        busy: seconds to wait for another process that writes.

    Raises:
        StoreError: if it cannot be opened, is broken, is not ours, or is of a newer schema; it is left as it was.
    """
    _check_place(path, read_only)
    connection = _connect(path, "ro" if read_only else "rwc", busy)
    try:
        try:
            found = _inspect(connection, path)
        except sqlite3.OperationalError as error:
            if not read_only or error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            _roll_back(path, busy)
            found = _inspect(connection, path)
        if found != schema_version():
            if read_only:
                connection = _copy_in_memory(connection)
            with transaction(connection, busy):
                _bring_up_to_date(connection, _inspect(connection, path))  # another process may have been faster
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str, busy: float) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=busy, isolation_level=None)


def _copy_in_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(memory)
    connection.close()
    return memory


def _roll_back(path: Path, busy: float) -> None:
    """Undo what a killed writer left half done; a connection that only reads cannot."""
    writer = _connect(path, "rw", busy)
    writer.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    writer.close()


def _bring_up_to_date(connection: sqlite3.Connection, found: int) -> None:
    if found == 0:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
        key = quoted((*CELL, "index"))
        connection.execute(f"CREATE TABLE episodes ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    else:
        for migrate in MIGRATIONS[found - 1 :]:
            migrate(connection)
    connection.execute(f"PRAGMA user_version = {schema_version()}")


def _inspect(connection: sqlite3.Connection, path: Path) -> int:
    """The schema of a file; 0 for an empty one."""
    ask = connection.execute
    (owner,), (version,) = ask("PRAGMA application_id").fetchone(), ask("PRAGMA user_version").fetchone()
    (tables,) = ask("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    if owner == 0 and tables == 0:
        return 0
    if owner != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file of another program, not a store; give another --store")
    if version > schema_version():
        raise StoreError(
            f"{path} was written by a newer gymnasium-gsp (schema {version}; this one knows {schema_version()}); "
            "upgrade gymnasium-gsp, or give another --store"
        )
    (verdict,) = ask("PRAGMA quick_check(1)").fetchone()
    names = {name for (name,) in ask("SELECT name FROM pragma_table_info('episodes')")}
    if verdict != "ok" or (version == schema_version() and names != set(COLUMNS)):
        raise StoreError(f"{path} is a broken store and was left as it was; give another --store, or an older copy")
    return int(version)


@contextmanager
def transaction(connection: sqlite3.Connection, busy: float) -> Iterator[None]:
    """All or nothing; the lock to write is taken first, so that nobody else can come between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        _commit(connection, busy)
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back by itself
            connection.execute("ROLLBACK")
        raise


def _commit(connection: sqlite3.Connection, busy: float) -> None:
    """Commit, and wait for readers as long as for writers: SQLite itself may let a commit fail at the first one."""
    deadline = time.monotonic() + busy
    while True:
        try:
            connection.execute("COMMIT")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextmanager
def named_errors(path: Path, deed: str) -> Iterator[None]:
    """Turn what SQLite and the system say into one sentence with the file's name and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be {deed}: {error}; {_advice(error)}") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be {deed}: {error.strerror or error}; give another --store") from error


def _advice(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return "earlier rows are untouched; make room on the disk and give the same command again"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another process holds it; wait for that one and give the same command again"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return "it is no SQLite file or a broken one, and was left as it was; give another --store"
    return "earlier rows are untouched; give another --store, or a place that can be written"


def _check_place(path: Path, read_only: bool) -> None:
    """Refuse what SQLite answers with a riddle: a folder, a missing file or folder, a place that cannot be written."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; --store is a file, such as {path / 'results.sqlite'}")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no file; give another --store")
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
