import csv
import dataclasses
import math
import multiprocessing
import os
import resource
import sqlite3
import threading
import time

import numpy as np
import pandas as pd
import pytest
from stored_rows import CELL_A, CELL_B, rows

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.episode import Episode
from gymnasium_gsp.bench.store import COLUMNS, SCHEMA, Store, StoreError, export, read


def frame(rows):
    """The table of these rows."""
    table = pd.DataFrame([{**dict(cell), **vars(episode)} for cell, episode in rows], columns=list(COLUMNS))
    kinds = dict.fromkeys(("total_reward", "seconds", "optimum", "regret"), float)
    return table.astype({**kinds, "budget": object})


def indices(path, cell=CELL_A):
    with Store(path) as store:
        return sorted(store.returns(cell))


def holds(path, expected):
    """Whether a store has exactly these rows."""
    found = read(path)
    in_order = sorted(expected, key=lambda row: (row[0].preset, row[1].index))
    pd.testing.assert_frame_equal(found, frame(in_order), check_dtype=False)
    return True


def test_the_columns():
    assert (
        *("env", "algorithm", "preset", "budget", "seed", "options", "env_options", "wrap", "simulator", "index"),
        *("total_reward", "decisions", "simulations", "model_steps", "nodes", "seconds", "optimum", "regret", "recipe"),
        *("versions", "machine", "failure", "modules"),
    ) == COLUMNS


def test_a_failure_is_replaced_by_the_episode_and_never_the_other_way(path):
    (played,), (failed,) = rows(indices=[0]), rows(indices=[0], failure="ZeroDivisionError", recipe="")
    with Store(path) as store:
        assert store.add([failed]) == 1
        assert store.returns(CELL_A) == {}
        assert store.origins(CELL_A) == set()
        assert store.add([played]) == 1
        assert store.add([failed]) == 0
        assert store.returns(CELL_A) == {0: 0.0}
    assert holds(path, [played])


def test_what_was_added_comes_back(path):
    given = [
        *rows(CELL_B),
        *rows(),
        *rows(CELL_A.changed(budget=2048, seed=2**63 - 1), optimum=0.75, regret=0.125),
        *rows(CELL_A.changed(budget="Budget(seconds=0.1)", options="p=1", env_options='{"slip": 0}')),
    ]
    with Store(path) as store:
        assert store.add(given) == len(given)
        assert store.returns(CELL_A) == {index: 0.5 * index for index in range(5)}
        assert store.returns(CELL_A.changed(seed=5)) == {}
        assert store.origins(CELL_A) == {("Recipe()", "{}")}
    pd.testing.assert_frame_equal(read(path), frame(given), check_dtype=False)


def test_budgets_are_sorted_as_numbers_before_texts_and_kept_as_they_are(path):
    with Store(path) as store:
        for budget in ("Budget(seconds=0.1)", 1024, 16, 256):
            store.add(rows(CELL_A.changed(budget=budget), [0]))
    assert list(map(type, read(path)["budget"])) == [int, int, int, str]
    assert list(read(path)["budget"]) == [16, 256, 1024, "Budget(seconds=0.1)"]


def test_numbers_of_numpy_and_a_return_that_is_none_are_kept(path):
    odd = CELL_A, Episode(np.int64(0), np.float32(0.5), np.int64(1), 2, 3, 4, np.float64(0.5))
    lost = CELL_A, Episode(1, math.nan, 1, 2, 3, 4, 0.5)
    with Store(path) as store:
        store.add([odd, lost])
        assert store.returns(CELL_A)[0] == 0.5
        assert math.isnan(store.returns(CELL_A)[1])
    assert read(path)["decisions"].tolist() == [1, 1]
    assert read(path)["total_reward"].isna().tolist() == [False, True]


def test_nothing_is_ever_doubled_and_the_first_stays(filled):
    with Store(filled) as store:
        assert store.add(rows(indices=range(3, 8), seconds=9.0)) == 3
        assert store.add([]) == 0
    assert read(filled)["seconds"].tolist() == [0.125] * 5 + [9.0] * 3


def test_rows_are_added_all_or_not_at_all(filled):
    unstorable = CELL_A, dataclasses.replace(rows()[0][1], index=8, recipe=object())
    with Store(filled) as store:
        with pytest.raises(StoreError, match="cannot be written"):
            store.add([*rows(indices=[7]), unstorable])
        assert sorted(store.returns(CELL_A)) == [0, 1, 2, 3, 4]
        assert store.add(rows(indices=[7])) == 1


def test_a_reader_creates_and_changes_nothing(path, filled):
    before = filled.read_bytes()
    missing = path.with_name("missing.sqlite")
    with pytest.raises(StoreError, match="there is no store"):
        read(missing)
    assert not missing.exists()
    assert holds(filled, rows())
    assert filled.read_bytes() == before


def test_a_store_that_must_not_be_written_can_be_read(filled):
    filled.chmod(0o444)
    assert holds(filled, rows())


def test_odd_names_of_files(tmp_path):
    path = tmp_path / "100% & what? #1 é.sqlite"
    with Store(path) as store:
        store.add(rows())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert holds(path, rows())


def write_many(path, start, count):
    with Store(path) as store:
        for index in range(start, start + count):
            store.add(rows(indices=[index, index + 1]))


def test_two_writers_and_a_reader_at_once(path):
    Store(path).close()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, start, 40)) for start in (0, 20)]
    for writer in writers:
        writer.start()
    seen = []
    while any(writer.is_alive() for writer in writers):
        seen.append(len(read(path)))
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert holds(path, rows(indices=range(61)))
    assert seen == sorted(seen)


def foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 252006")
        connection.execute("CREATE TABLE episodes (env TEXT)")


def of_another_schema(path):
    with Store(path) as store:
        store.add(rows())
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")


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


@pytest.mark.parametrize("opened", [Store, read])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (foreign, "of another program"),
        (of_another_schema, "another version of gymnasium-gsp"),
        (text, "no SQLite file"),
        (cut, "broken"),
        (scratched, "broken"),
        (without_a_column, "broken"),
    ],
)
def test_other_files_are_refused_by_name_and_left_as_they_were(path, make, words, opened):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words) as refused:
        opened(path)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_empty_file_is_a_new_store(path):
    path.touch()
    assert read(path).empty
    assert list(read(path).columns) == list(COLUMNS)
    assert path.read_bytes() == b""
    with Store(path) as store:
        assert store.add(rows()) == 5


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(RecipeError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(RecipeError, match="there is no folder"):
        Store(tmp_path / "none" / "results.sqlite")


def open_without_powers(path):
    """In a process that permissions stop, as they do not stop a superuser; says what was said and leaves with 7."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        Store(path)
    except RecipeError as error:
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


def test_a_locked_store_is_refused_after_a_while(filled):
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(filled, busy_seconds=0.1) as store:
        assert len(store.returns(CELL_A)) == 5
        with pytest.raises(StoreError, match="another process holds it"):
            store.add(rows(indices=[9]))
        other.execute("ROLLBACK")
        assert store.add(rows(indices=[9])) == 1
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process holds it"):
        Store(filled, busy_seconds=0.1)
    with pytest.raises(StoreError, match="another process holds it"):
        read(filled, busy_seconds=0.1)
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
    kept = indices(filled)
    assert len(kept) > 50
    assert kept == [*range(5), *range(100, 100 + len(kept) - 5)]


def test_a_store_at_its_largest_size_says_so(filled):
    with Store(filled) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="full; earlier rows are untouched; make room"):
            store.add(rows(indices=range(10, 1000)))
    assert holds(filled, rows())


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
            ("e", "a", "", 16, 0, "", "", "", "", index, 0.0, 1, 1, 1, 1, 0.1, None, None, "r" * 50, "v", "m", "", ""),
        )
    os._exit(7)


@pytest.mark.parametrize("opened", [indices, read])
def test_what_a_killed_writer_left_half_done_is_undone(filled, opened):
    process = multiprocessing.get_context("spawn").Process(target=half_done, args=(filled,))
    process.start()
    process.join()
    assert process.exitcode == 7
    assert filled.with_name(filled.name + "-journal").exists()
    assert len(opened(filled)) == 5
    assert holds(filled, rows())


def test_csv_reads_back_the_same(filled, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("older")
    with Store(filled) as store:
        odd = Episode(0, 0.1, 7, 112, 900, 40, 1 / 3, optimum=0.7, regret=0.6, recipe='R("x")')
        store.add([(CELL_B.changed(env_options={"b": "é"}), odd)])
    assert export(filled, path) == 6
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == list(COLUMNS)
    table = read(filled)
    for line, record in zip(lines, table.to_dict("records"), strict=True):
        assert line == {name: "" if pd.isna(value) else str(value) for name, value in record.items()}
        assert float(line["seconds"]) == record["seconds"]
    assert {line["env_options"] for line in lines} == {"", '{"b": "\\u00e9"}'}


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(filled, tmp_path):
    for name, words in (
        ("results.parquet", "ends in .csv"),
        ("results", "ends in .csv"),
        ("none/results.csv", "there is no folder"),
    ):
        with pytest.raises(RecipeError, match=words):
            export(filled, tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(RecipeError, match="is a folder"):
        export(filled, tmp_path / "folder.csv")
    own = tmp_path / "own.csv"
    filled.rename(own)
    with pytest.raises(RecipeError, match="is the store itself"):
        export(own, own)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "own.csv"]
