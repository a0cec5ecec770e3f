"""The file of Optuna's trials: whose it is, that one search at a time uses it, and its errors in words."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from gymnasium_gsp.errors import RecipeError

BUSY_SECONDS = 30.0  # how long to wait for another process that holds the file
_MISREAD = "?%{}"  # what Optuna and SQLAlchemy take for parts of an address and not of a file's name


@contextmanager
def opened(storage: Path) -> Iterator[Any]:
    """Optuna's storage in an SQLite file, made if it is not there, for this process alone.

    Two searches in one file would take up each other's trials, which look as if a killed process had left them.

    Raises:
        RecipeError: if the file is of another program, broken, or in use, at the beginning or later.
    """
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    _check(storage)
    with _alone(storage):
        try:
            trials = optuna.storages.RDBStorage(
                f"sqlite:///{storage}", engine_kwargs={"connect_args": {"timeout": BUSY_SECONDS}}
            )
        except Exception as error:  # whatever SQLAlchemy and Optuna say of a file that is broken, locked or newer
            raise _refusal(storage, _reason(error)) from None
        try:
            yield trials
        except (SQLAlchemyError, optuna.exceptions.OptunaError) as error:
            raise _refusal(
                storage, f"{_reason(error)}; what was played is kept, and the same command goes on"
            ) from None
        finally:
            trials.engine.dispose()


def _check(storage: Path) -> None:
    """Refuse a name that Optuna misreads, and an SQLite file of another program, which it would add its tables to."""
    wrong = [letter for letter in _MISREAD if letter in str(storage)]
    if wrong:
        raise _refusal(storage, f"Optuna cannot read {' '.join(wrong)} in a name")
    if not storage.exists():
        return
    try:  # mode rw, as only that can undo what a killed process has left half written
        connection = sqlite3.connect(f"{storage.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)
        with closing(connection):
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    except sqlite3.Error as error:
        raise _refusal(storage, str(error)) from None
    if names and "studies" not in names:
        raise _refusal(storage, "it is an SQLite file of another program, and was left as it was")


@contextmanager
def _alone(storage: Path) -> Iterator[None]:
    """Hold a lock beside the storage; SQLite's own, since it ends with the process, however that ends."""
    beside = storage.with_name(storage.name + "-lock")
    try:
        connection = sqlite3.connect(beside, timeout=0.0, isolation_level=None)
    except sqlite3.Error as error:
        raise _refusal(storage, str(error)) from None
    with closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            raise _refusal(storage, "another search is using it" if busy else f"{beside}: {error}") from None
        yield


def _reason(error: BaseException) -> str:
    """What SQLite says, where Optuna and SQLAlchemy have wrapped it."""
    inner = error.__cause__ or error
    return str(getattr(inner, "orig", None) or inner).partition("\n")[0]


def _refusal(storage: Path, words: str) -> RecipeError:
    return RecipeError(f"{storage} cannot be used as Optuna's storage: {words}; or give another --store")
