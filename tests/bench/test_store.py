import dataclasses
import math
import multiprocessing

import numpy as np
import pytest
from stored_rows import CELL_A, CELL_B, rows

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.protocol import Episode
from gymnasium_gsp.bench.store import Cell, Row, Store, StoreError
from gymnasium_gsp.bench.store_file import CELL, EPISODE


def test_columns_are_the_fields_of_a_row():
    assert list(CELL) == [field.name for field in dataclasses.fields(Cell)]
    assert list(EPISODE) == [field.name for field in dataclasses.fields(Episode)]


def test_what_was_added_comes_back(path):
    given = [
        *rows(),
        *rows(CELL_B),
        *rows(dataclasses.replace(CELL_A, budget="Budget(seconds=0.1)", options="a=1", env_options='{"slip": 0}')),
        *rows(dataclasses.replace(CELL_A, budget=2048, seed=2**63 - 1), optimum=0.75),
    ]
    with Store(path) as store:
        assert store.add(given) == len(given)
    with Store(path, read_only=True) as store:
        found = store.rows()
        assert sorted(found, key=repr) == sorted(given, key=repr)
        assert store.rows(preset=None) == rows(CELL_B)
        assert {row.cell.budget for row in store.rows(env=CELL_A.env, preset="paper", seed=0)} == {
            16,
            "Budget(seconds=0.1)",
        }
        assert store.played(CELL_A) == set(range(5))
        assert store.played(dataclasses.replace(CELL_A, seed=5)) == set()
        assert store.cells()[CELL_B] == 5
        assert store.origins(CELL_A) == {("Recipe()", "{}")}


def test_a_budget_in_numbers_comes_before_texts_and_is_sorted_as_a_number(path):
    with Store(path) as store:
        for budget in ("Budget(seconds=0.1)", 1024, 16, 256):
            store.add(rows(dataclasses.replace(CELL_A, budget=budget), [0]))
        assert [row.cell.budget for row in store.rows()] == [16, 256, 1024, "Budget(seconds=0.1)"]


def test_numbers_of_numpy_and_a_return_that_is_none_are_kept(path):
    odd = Row(CELL_A, Episode(np.int64(0), np.float32(0.5), np.int64(1), 2, 3, 4, np.float64(0.5)), "", "", "")
    lost = Row(CELL_A, Episode(1, math.nan, 1, 2, 3, 4, 0.5), "", "", "")
    with Store(path) as store:
        store.add([odd, lost])
        first, second = store.rows()
    assert first.episode == Episode(0, 0.5, 1, 2, 3, 4, 0.5)
    assert math.isnan(second.episode.total_reward)


def test_nothing_is_ever_doubled_and_the_first_stays(filled):
    with Store(filled) as store:
        assert store.add(rows(indices=range(3, 8), seconds=9.0)) == 3
        assert [row.episode.seconds for row in store.rows()] == [0.125] * 5 + [9.0] * 3
        assert store.add([]) == 0


def test_a_batch_is_all_or_nothing(filled):
    broken = [*rows(indices=[7]), *rows(indices=[8], nodes=None)]
    with Store(filled) as store:
        with pytest.raises(TypeError):
            store.add(broken)
        with pytest.raises(StoreError, match="NOT NULL"):
            store.add([*rows(indices=[7]), dataclasses.replace(rows()[0], recipe=None)])
        assert store.rows() == rows()
        assert store.add(rows(indices=[7])) == 1


def test_a_seed_that_sqlite_cannot_hold_is_refused(path):
    with Store(path) as store, pytest.raises(StoreError, match="2\\*\\*63"):
        store.add(rows(dataclasses.replace(CELL_A, seed=2**63)))


def test_unknown_fields_get_the_nearest(filled):
    with Store(filled) as store, pytest.raises(RecipeError, match="'algorithm'"):
        store.rows(algoritm="uct")


def test_a_reader_creates_and_changes_nothing(path, filled):
    before = filled.read_bytes()
    missing = path.with_name("missing.sqlite")
    with pytest.raises(StoreError, match="there is no store"):
        Store(missing, read_only=True)
    assert not missing.exists()
    with Store(filled, read_only=True) as store:
        assert store.rows() == rows()
        with pytest.raises(StoreError, match="readonly"):
            store.add(rows(indices=[9]))
    assert filled.read_bytes() == before


def test_odd_names_of_files(tmp_path):
    path = tmp_path / "100% & what? #1 é.sqlite"
    with Store(path) as store:
        store.add(rows())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


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
        with Store(path, read_only=True) as store:
            seen.append(len(store.rows()))
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    with Store(path) as store:
        assert store.rows() == rows(indices=range(61))
    assert seen == sorted(seen)
