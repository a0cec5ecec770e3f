"""A store as a table for other programs: CSV, or Parquet with pyarrow."""

import csv
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from gymnasium_gsp.bench.store import Row, Store
from gymnasium_gsp.bench.store_file import CELL, COLUMNS, EPISODE
from gymnasium_gsp.errors import RecipeError, unknown_name


def record(row: Row) -> dict[str, Any]:
    """One episode by the names of the columns; a budget is a text, since not every budget is a number."""
    cell = {name: getattr(row.cell, name) for name in CELL}
    episode = {name: getattr(row.episode, name) for name in EPISODE}
    origin = {"recipe": row.recipe, "versions": row.versions, "machine": row.machine}
    return {**cell, **episode, **origin, "budget": str(row.cell.budget)}


def export(store: Store, path: Path) -> int:
    """Write all episodes to a file, by its ending; an older file stays until the new one is complete.

    Returns:
        How many episodes were written.

    Raises:
        RecipeError: for another ending, a place that cannot be written, or Parquet without pyarrow.
    """
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise RecipeError(unknown_name("ending of an export", ending or path.name, WRITERS))
    if path.is_dir():
        raise RecipeError(f"{path} is a folder; give a file, such as {path / 'results.csv'}")
    if path.resolve() == store.path.resolve():
        raise RecipeError(f"{path} is the store itself; give another file")
    rows = store.rows()
    try:
        _replace(path, lambda file: WRITERS[ending](file, map(record, rows)))
    except OSError as error:
        raise RecipeError(f"{path} cannot be written: {error.strerror or error}") from error
    return len(rows)


def _replace(path: Path, write: Callable[[Path], None]) -> None:
    """Write under another name in the same folder, then rename."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        unfinished = Path(file.name)
    try:
        write(unfinished)
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _write_csv(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Comma-separated, a header first; what is None is empty, floats are written so that they read back the same."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(COLUMNS))
        writer.writeheader()
        writer.writerows(records)


def _write_parquet(path: Path, records: Iterable[dict[str, Any]]) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise RecipeError("Parquet needs pyarrow: pip install 'gymnasium-gsp[parquet]'; CSV needs nothing") from error
    kinds = {"INTEGER": arrow.int64(), "REAL": arrow.float64()}
    fields = [(name, kinds.get(kind.partition(" ")[0], arrow.string())) for name, kind in COLUMNS.items()]
    table = arrow.Table.from_pylist(list(records), schema=arrow.schema(fields))
    parquet.write_table(table, path)


WRITERS: dict[str, Callable[[Path, Iterable[dict[str, Any]]], None]] = {".csv": _write_csv, ".parquet": _write_parquet}
"""What writes a file, by its ending."""
