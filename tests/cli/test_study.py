import csv
import json
import sys

import pytest
from typer.testing import CliRunner

from gymnasium_gsp.bench.study import outcome
from gymnasium_gsp.cli import app

SMALL = ("sharing", "--budgets", "4,16", "--envs", "FactoredRiverSwim")


def gsp(*arguments):
    return CliRunner().invoke(app, ["study", *map(str, arguments)])


def refused(*arguments):
    answer = gsp(*arguments)
    assert answer.exit_code == 2, answer.output
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stdout == ""
    return answer.stderr


def test_a_study_ends_in_tables_and_findings():
    answer = gsp(*SMALL)
    assert answer.exit_code == 0, answer.output
    assert "Nodes of the graph and of the unrolled tree" in answer.stdout
    assert "The identity holds exactly at 72 of 72 depths" in answer.stdout
    assert "Seed 0; budgets 4, 16; envs FactoredRiverSwim." in answer.stdout


def test_a_folder_gets_markdown_csv_and_svg_and_the_same_files_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    assert f"written: {first / 'sharing.md'}" in gsp(*SMALL, "-o", first).stdout.replace("\n", "")
    gsp(*SMALL, "-o", second)
    names = sorted(path.name for path in first.iterdir())
    assert names == ["sharing-all-depths.csv", "sharing-depths.csv", "sharing-totals.csv", "sharing.md", "sharing.svg"]
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    document = (first / "sharing.md").read_text()
    assert "(sharing.svg)" in document
    assert "| environment | n |" in document
    assert (first / "sharing.svg").read_text().count("<svg") == 1
    with (first / "sharing-totals.csv").open(newline="") as file:
        assert [row["budget"] for row in csv.DictReader(file)] == ["4", "16"]


def test_json_is_one_object():
    found = json.loads(gsp(*SMALL, "--json", "--seed", 7).stdout)
    assert (found["study"], found["seed"]) == ("sharing", 7)
    assert found["sizes"] == {"budgets": [4, 16], "envs": ["FactoredRiverSwim"]}
    assert all(row["exact"] for row in found["tables"]["all-depths"])


def test_unknown_names_are_answered_with_the_nearest():
    assert "Did you mean 'convergence'?" in refused("convergance")
    assert "Did you mean 'FrozenLake'?" in refused("sharing", "--envs", "FrozenLak")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bias", "--envs", "FrozenLake"), "the study bias has no --envs; its sizes are --budgets, --processes"),
        (("sharing", "--decisions", "3"), "has no --decisions"),
        (("bias", "--budgets", "64,16"), "ascending order"),
        (("bias", "--budgets", "many"), "whole numbers of simulations"),
        (("bias", "--budgets", "64"), "at least two numbers from 2"),
        (("bias", "--budgets", "1,64"), "at least two numbers from 2"),
        (("bias", "--budgets", "64,1000000000000"), "from 2 to 16,777,216"),
        (("convergence", "--env-budgets", "64"), "env_budgets must be at least two"),
        (("convergence", "--replicates", "1"), "replicates must be at least 2, not 1"),
        (("convergence", "--processes", "0"), "processes must be a whole number of at least 1"),
        (("convergence", "--horizon", "-1"), "horizon must be a whole number of at least 1"),
        (("overhead", "--decisions", "0"), "decisions must be a whole number of at least 1"),
        (("overhead", "--envs", "FrozenLake,FrozenLake"), "each once"),
        (("overhead", "--envs", ""), "unknown benchmark"),
        (("bias", "--seed", "-1"), "a seed is a whole number of at least 0"),
    ],
)
def test_sizes_that_make_no_sense_are_refused_before_anything_is_measured(arguments, words):
    assert words in refused(*arguments)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "has the name of a file" in refused(*SMALL, "-o", tmp_path / "x.md")
    assert "there is no folder" in refused(*SMALL, "-o", tmp_path / "missing" / "folder")
    assert "is a file" in refused(*SMALL, "-o", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    gsp(*SMALL, "-o", tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    answer = gsp(*SMALL, "--seed", 5, "-o", tmp_path)
    assert answer.exit_code == 2
    assert "No space left on device" in answer.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_missing_packages_are_named_with_the_command_that_installs_them(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert "needs SciPy; install with: pip install 'gymnasium-gsp[benchmark]'" in refused("convergence")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    words = refused(*SMALL, "-o", tmp_path / "folder")
    assert "a plot needs matplotlib; install with: pip install 'gymnasium-gsp[plots]'" in words
    assert gsp(*SMALL).exit_code == 0  # the terminal needs no plot


def test_a_number_that_json_does_not_know_becomes_null():
    assert [outcome._json_value(value) for value in (float("nan"), float("inf"), 1.5, True, None)] == [
        None,
        None,
        1.5,
        True,
        None,
    ]


def test_ctrl_c_writes_nothing(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("gymnasium_gsp.bench.study.sharing.run", interrupted)
    answer = gsp(*SMALL, "-o", tmp_path / "folder")
    assert answer.exit_code == 130
    assert not (tmp_path / "folder").exists()
