"""The command line of the studies: pages, files, and sizes that are refused before anything is measured."""

import pandas as pd
import pytest

from benchmarks.study.__main__ import main
from benchmarks.study.result import Table

SMALL = ("sharing", "--budgets", "4,16", "--envs", "FactoredRiverSwim")


def study(*arguments):
    main([str(argument) for argument in arguments])


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        study(*arguments)
    assert left.value.code == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    return answer.err


def test_a_study_ends_in_tables_and_findings(capsys):
    study(*SMALL)
    page = capsys.readouterr().out
    assert "Nodes of the graph and of the unrolled tree" in page
    assert "The identity holds exactly at 72 of 72 depths" in page
    assert "Seed 0; budgets 4, 16; envs FactoredRiverSwim." in page


def test_a_folder_gets_markdown_csv_and_svg_and_the_same_files_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    study(*SMALL, "-o", first)
    study(*SMALL, "-o", second)
    names = sorted(path.name for path in first.iterdir())
    assert names == ["sharing-all-depths.csv", "sharing-depths.csv", "sharing-totals.csv", "sharing.md", "sharing.svg"]
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    page = (first / "sharing.md").read_text()
    assert "(sharing.svg)" in page
    assert "| environment" in page
    assert (first / "sharing.svg").read_text().count("<svg") == 1
    assert list(pd.read_csv(first / "sharing-totals.csv")["n"]) == [4, 16]


def test_unknown_names_are_answered_with_the_known(capsys):
    assert "'convergence'" in refused(capsys, "convergance")
    assert "must be some of FrozenLake, PassengerGrid" in refused(capsys, "sharing", "--envs", "FrozenLak")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bias", "--envs", "FrozenLake"), "unrecognized arguments: --envs"),
        (("sharing", "--decisions", "3"), "unrecognized arguments: --decisions"),
        (("bias", "--budgets", "64,16"), "ascending order"),
        (("bias", "--budgets", "64,64"), "ascending order"),
        (("bias", "--budgets", "many"), "no whole numbers of simulations"),
        (("bias", "--budgets", "64"), "at least two numbers from 2"),
        (("bias", "--budgets", "1,64"), "at least two numbers from 2"),
        (("bias", "--budgets", "64,1000000000000"), "from 2 to 16,777,216"),
        (("convergence", "--env-budgets", "64"), "argument --env-budgets: must be at least two"),
        (("convergence", "--replicates", "1"), "--replicates: must be a whole number of at least 2, not 1"),
        (("convergence", "--processes", "0"), "--processes: must be a whole number of at least 1, not 0"),
        (("convergence", "--horizon", "-1"), "--horizon: must be a whole number of at least 1, not -1"),
        (("convergence", "--horizon", "2.5"), "--horizon: must be a whole number of at least 1, not 2.5"),
        (("overhead", "--decisions", "0"), "--decisions: must be a whole number of at least 1, not 0"),
        (("overhead", "--envs", "FrozenLake,FrozenLake"), "each once"),
        (("overhead", "--envs", ""), "must be some of"),
        (("bias", "--seed", "-1"), "--seed: must be a whole number of at least 0, not -1"),
    ],
)
def test_sizes_that_make_no_sense_are_refused_before_anything_is_measured(capsys, arguments, words):
    assert words in refused(capsys, *arguments)


def test_a_file_is_refused_as_a_folder_before_anything_is_measured(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr("benchmarks.study.sharing.run", None)
    assert "is a file" in refused(capsys, *SMALL, "-o", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_an_interrupted_study_writes_nothing(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.study.sharing.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study(*SMALL, "-o", tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_progress_goes_to_standard_error(capsys):
    study(*SMALL)
    answer = capsys.readouterr()
    assert answer.err.splitlines() == ["FactoredRiverSwim"]


def test_a_table_writes_each_kind_of_value():
    rows = pd.DataFrame({"name": ["a", "b"], "count": [1000, 2], "share": [0.5, None], "yes": [True, False]})
    page = Table("t", "T", rows, {"share": "{:.1f}".format}, ["A note."]).markdown()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    assert cells[0] == ["name", "count", "share", "yes"]
    assert cells[2:] == [["a", "1,000", "0.5", "yes"], ["b", "2", "", ""]]
    assert page.endswith("\n\nA note.")
