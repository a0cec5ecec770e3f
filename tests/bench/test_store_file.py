import multiprocessing
import os
import resource
import sqlite3
import threading
import time

import pytest
from stored_rows import CELL_A, rows

from gymnasium_gsp.bench import store_file
from gymnasium_gsp.bench.store import Store, StoreError
from gymnasium_gsp.bench.store_file import APPLICATION_ID, COLUMNS


def foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 252006")
        connection.execute("CREATE TABLE episodes (env TEXT)")


def newer(path):
    with Store(path) as store:
        store.add(rows())
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def text(path):
    path.write_text("env,algorithm\n" * 500)


def cut(path):
    with Store(path) as store:
        store.add(rows(indices=range(500)))
    path.write_bytes(path.read_bytes()[:20_000])


def scratched(path):
    with Store(path) as store:
        store.add(rows(indices=range(500)))
    data = bytearray(path.read_bytes())
    data[4096:12288] = b"\xff" * 8192
    path.write_bytes(bytes(data))


def without_a_column(path):
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE episodes DROP COLUMN machine")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign, "of another program"),
        (newer, "newer gymnasium-gsp"),
        (text, "no SQLite file"),
        (cut, "broken"),
        (scratched, "broken"),
        (without_a_column, "broken"),
    ],
)
def test_other_files_are_refused_by_name_and_left_as_they_were(path, make, words, read_only):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words) as refused:
        Store(path, read_only=read_only)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_empty_file_is_a_new_store(path):
    path.touch()
    with Store(path, read_only=True) as store:
        assert store.rows() == []
    assert path.read_bytes() == b""
    with Store(path) as store:
        assert store.add(rows()) == 5


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="there is no folder"):
        Store(tmp_path / "none" / "results.sqlite")


def open_without_powers(path):
    """In a process that permissions stop, as they do not stop a superuser; says what was said and leaves with 7."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        Store(path)
    except StoreError as error:
        os._exit(7 if "cannot be written" in str(error) else 8)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX permissions")
@pytest.mark.parametrize("name", ["results.sqlite", "new.sqlite"])
def test_a_place_that_cannot_be_written_is_refused(filled, name):
    before = filled.read_bytes()
    filled.chmod(0o444)
    outside = [folder for folder in filled.parents[1:] if folder.name.startswith(("pytest-", "popen-"))]
    for folder in outside:
        folder.chmod(0o755)
    filled.parent.chmod(0o555)
    process = multiprocessing.get_context("fork").Process(target=open_without_powers, args=(filled.with_name(name),))
    process.start()
    process.join()
    filled.parent.chmod(0o755)
    assert process.exitcode == 7
    assert filled.read_bytes() == before


def old_file(path):
    """A store of a made-up schema 1, in which machines were not kept yet."""
    with sqlite3.connect(path) as connection:
        columns = {name: kind for name, kind in COLUMNS.items() if name != "machine"}
        spelt = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f'CREATE TABLE episodes ({spelt}, PRIMARY KEY (env, "index")) WITHOUT ROWID')
        connection.execute(
            f"INSERT INTO episodes VALUES ({', '.join('?' * len(columns))})",
            (
                "GSP/FrozenLake-v0",
                "uct",
                "paper",
                16,
                0,
                "",
                "",
                0,
                0.0,
                7,
                112,
                900,
                40,
                0.125,
                None,
                "Recipe()",
                "{}",
            ),
        )
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


def add_machine(connection):
    connection.execute("ALTER TABLE episodes ADD COLUMN machine TEXT NOT NULL DEFAULT '{}'")


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_schema_is_migrated(path, monkeypatch, read_only):
    monkeypatch.setattr(store_file, "MIGRATIONS", [add_machine])
    old_file(path)
    before = path.read_bytes()
    with Store(path, read_only=read_only) as store:
        assert store.rows() == rows(indices=[0])
    assert (path.read_bytes() == before) is read_only
    with Store(path) as store:
        assert store.rows() == rows(indices=[0])
    assert store_file.schema_version() == 2


def test_a_migration_that_fails_changes_nothing(path, monkeypatch):
    def fails_late(connection):
        add_machine(connection)
        connection.execute("DELETE FROM elsewhere")

    monkeypatch.setattr(store_file, "MIGRATIONS", [fails_late])
    old_file(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no such table"):
        Store(path)
    assert path.read_bytes() == before


def test_a_locked_store_is_refused_after_a_while(filled):
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(filled, busy_seconds=0.1) as store:
        assert store.rows() == rows()
        with pytest.raises(StoreError, match="another process holds it"):
            store.add(rows(indices=[9]))
        other.execute("ROLLBACK")
        assert store.add(rows(indices=[9])) == 1
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process holds it"):
        Store(filled, busy_seconds=0.1)
    other.close()


def test_a_writer_waits_for_a_reader(filled):
    reader = sqlite3.connect(filled, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM episodes").fetchone()

    def leave_later():
        time.sleep(0.3)
        reader.execute("ROLLBACK")

    waiting = threading.Thread(target=leave_later)
    with Store(filled, busy_seconds=20.0) as store:
        waiting.start()
        assert store.add(rows(indices=[9])) == 1
    waiting.join()
    reader.close()


def limited(path, most):
    """Add rows one by one with a limit on the size of files, as on a full disk; prints how many and what was said."""
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Store(path) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        for index in range(100, 5000, 20):
            try:
                store.add(rows(indices=range(index, index + 20)))
            except StoreError as error:
                print(index, error, flush=True)
                os._exit(7)


def test_a_full_disk_is_said_and_earlier_rows_are_untouched(filled):
    most = os.path.getsize(filled) + 40_000
    process = multiprocessing.get_context("spawn").Process(target=limited, args=(filled, most))
    process.start()
    process.join()
    assert process.exitcode == 7
    with Store(filled) as store:
        kept = sorted(store.played(CELL_A))
        assert len(kept) > 50
        assert kept == [*range(5), *range(100, 100 + len(kept) - 5)]


def test_a_store_at_its_largest_size_says_so(filled):
    with Store(filled) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="full; earlier rows are untouched; make room"):
            store.add(rows(indices=range(10, 1000)))
        assert store.rows() == rows()


def half_done(path):
    """Write a batch and die before its end, with pages of it in the file already."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("PRAGMA cache_spill = 1")
    connection.execute("BEGIN IMMEDIATE")
    marks = ", ".join("?" * len(COLUMNS))
    for index in range(100, 3000):
        connection.execute(
            f"INSERT INTO episodes VALUES ({marks})",
            ("e", "a", "", 16, 0, "", "", index, 0.0, 1, 1, 1, 1, 0.1, None, "r" * 50, "v", "m"),
        )
    os._exit(7)


@pytest.mark.parametrize("read_only", [False, True])
def test_what_a_killed_writer_left_half_done_is_undone(filled, read_only):
    process = multiprocessing.get_context("spawn").Process(target=half_done, args=(filled,))
    process.start()
    process.join()
    assert process.exitcode == 7
    assert filled.with_name(filled.name + "-journal").exists()
    with Store(filled, read_only=read_only) as store:
        assert store.rows() == rows()
