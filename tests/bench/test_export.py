import csv

import pytest

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.export import export, record
from gymnasium_gsp.bench.protocol import Episode
from gymnasium_gsp.bench.store import Cell, Row, Store
from gymnasium_gsp.bench.store_file import COLUMNS


@pytest.fixture
def store(tmp_path):
    cells = [Cell("GSP/FrozenLake-v0", "uct", preset, 16, 0, "a=(1, 2)", '{"b": "é"}') for preset in (None, "paper")]
    with Store(tmp_path / "results.sqlite") as store:
        store.add(
            Row(cell, Episode(index, 0.1 * index, 7, 112, 900, 40, 1 / 3, None if index else 0.7), 'R("x")', "{}", "{}")
            for cell in cells
            for index in range(3)
        )
        yield store


def test_csv_reads_back_the_same(store, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("older")
    assert export(store, path) == 6
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == list(COLUMNS)
    for line, row in zip(found, store.rows(), strict=True):
        expected = record(row)
        assert line == {name: "" if value is None else str(value) for name, value in expected.items()}
        assert float(line["seconds"]) == expected["seconds"]


def test_parquet_reads_back_the_same(store, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs gymnasium-gsp[parquet]")
    path = tmp_path / "results.parquet"
    assert export(store, path) == 6
    assert parquet.read_table(path).to_pylist() == [record(row) for row in store.rows()]


def test_what_cannot_be_written_is_refused_and_the_older_file_stays(store, tmp_path, monkeypatch):
    for name, words in (("results.csw", "'.csv'"), ("results", "ending"), ("none/results.csv", "cannot be written")):
        with pytest.raises(RecipeError, match=words):
            export(store, tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(RecipeError, match="is a folder"):
        export(store, tmp_path / "folder.csv")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    older = tmp_path / "results.parquet"
    older.write_text("older")
    with pytest.raises(RecipeError, match=r"gymnasium-gsp\[parquet\]"):
        export(store, older)
    assert older.read_text() == "older"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "results.parquet", "results.sqlite"]
