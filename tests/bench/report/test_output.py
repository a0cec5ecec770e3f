import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from invented_rows import paper, row, rows

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.report.contents import make_report
from gymnasium_gsp.bench.report.lines import COLOURS, lines_of
from gymnasium_gsp.bench.report.output import check_extras, check_output, write_report
from gymnasium_gsp.bench.report.page import STYLE, page

EVIL = "\"><script>alert(1)</script>$x$ & '"


@pytest.fixture(scope="module")
def small():
    """A report on two environments, three planners and two budgets."""
    found = paper(12, envs=("FrozenLake", "FourRooms"), algorithms=("uct", "gs-power-uct"), budgets=(16, 256))
    return make_report([*found, *rows(np.ones(12), algorithm="mine", preset=None, budget=16)])


@pytest.fixture(scope="module")
def evil():
    """A report on names that were chosen to break a page."""
    names = {"env": EVIL, "algorithm": EVIL, "options": EVIL, "recipe": EVIL, "versions": EVIL, "machine": EVIL}
    return make_report([row(index=index, preset=EVIL, total_reward=float(index), **names) for index in range(6)])


def test_a_folder_gets_everything(small, tmp_path):
    written, left_out = write_report(small, tmp_path / "out")
    assert sorted(path.name for path in written) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert {path.name for path in written} == {
        "report.html", "report.md", "report-figure.svg", "report-score.svg", "tables.tex",
        "cells.csv", "scores.csv", "paired.csv",
    }  # fmt: skip
    assert left_out == []
    for target in re.findall(r"\]\(([^)]+)\)", (tmp_path / "out" / "report.md").read_text()):
        assert (tmp_path / "out" / target).exists()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.html", b"<!doctype html>"),
        ("x.csv", b"environment,planner,budget,mean_return"),
        ("x.tex", b"% \\usepackage"),
        ("x.svg", b"<?xml"),
        ("x.pdf", b"%PDF"),
        ("x.PNG", b"\x89PNG"),
    ],
)
def test_the_name_says_what_is_written(small, tmp_path, name, begins):
    assert write_report(small, tmp_path / name) == ([tmp_path / name], [])
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_rows_give_the_same_files(small, tmp_path):
    for folder in ("a", "b"):
        write_report(small, tmp_path / folder)
        write_report(small, tmp_path / folder / "x.pdf")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_document_keeps_what_was_written_by_hand(small, tmp_path):
    document = tmp_path / "results.md"
    write_report(small, document)
    fresh = document.read_text()
    edited = fresh.replace("<!-- /cells -->", "<!-- /cells -->\n\nUCT is better, because its targets are returns.")
    edited = edited.replace("<!-- overhead -->", "").replace("0.9132", "9.9999")
    document.write_text(edited)
    written, left_out = write_report(small, document)
    assert left_out == ["overhead"]
    assert sorted(path.name for path in written) == ["results-figure.svg", "results-score.svg", "results.md"]
    again = document.read_text()
    assert "UCT is better, because its targets are returns." in again
    assert again.replace("\n\nUCT is better, because its targets are returns.", "") == fresh.replace(
        "<!-- overhead -->", ""
    )


def test_markers_written_by_hand_are_filled(small, tmp_path):
    document = tmp_path / "results.md"
    document.write_text(
        "# Mine\n\n<!-- cells --><!-- /cells -->\n\nThe end, <!-- /cells --> and <!-- figure --> alone.\n"
    )
    _, left_out = write_report(small, document)
    assert "cells" not in left_out
    text = document.read_text()
    assert text.startswith("# Mine\n\n<!-- cells -->\n\n| environment | planner |")
    assert text.endswith("<!-- /cells -->\n\nThe end, <!-- /cells --> and <!-- figure --> alone.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]


def test_a_document_without_markers_is_left_as_it_was(small, tmp_path):
    document = tmp_path / "notes.md"
    document.write_text("# My notes\n")
    with pytest.raises(RecipeError, match=r"notes\.md.*no marker.*left as it was"):
        write_report(small, document)
    assert document.read_text() == "# My notes\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("name", ["x.docx", "x.sqlite", "missing/x.html", "missing/folder/below"])
def test_places_that_make_no_sense_are_refused(tmp_path, name):
    with pytest.raises(RecipeError, match=r"must end in|there is no folder"):
        check_output(tmp_path / name)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    with pytest.raises(RecipeError, match="is no file"):
        check_output(tmp_path / "pipe.html")


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(RecipeError, match="is a file, and a name without a suffix"):
        check_output(tmp_path / "notes")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(RecipeError, match="cannot be written"):
        check_output(tmp_path / "x.html")


def test_a_full_disk_leaves_what_was_there(small, tmp_path, monkeypatch):
    page_file = tmp_path / "x.html"
    page_file.write_text("the report of yesterday")

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RecipeError, match=r"x\.html cannot be written: No space left on device"):
        write_report(small, page_file)
    assert page_file.read_text() == "the report of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    check_extras()
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(RecipeError, match=r"needs SciPy; install with: pip install 'gymnasium-gsp\[all\]'"):
        check_extras()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RecipeError, match="needs SciPy and matplotlib"):
        check_extras()


def test_the_page_holds_everything_and_asks_for_nothing(small):
    text = page(small)
    assert text.count("<svg") > 5
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text.replace("xlink:href", "href"))
    assert "@import" not in text
    assert "<script" not in text
    identifiers = re.findall(r'\bid="([^"]*)"', text)
    assert len(identifiers) == len(set(identifiers))
    for target in re.findall(r'href="#([^"]*)"', text):
        assert target in identifiers
    for section in small.sections:
        assert f'id="{section.name}"' in text


def test_names_from_a_store_cannot_break_the_page(evil, tmp_path):
    text = page(evil)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 10
    write_report(evil, tmp_path / "out")  # neither do they break a figure, a document or a file's name


def test_the_planner_is_found_by_name_or_label():
    found = rows(np.ones(6), algorithm="uct") + rows(np.zeros(6), algorithm="ments")
    tables = {table.name: table for section in make_report(found, "uct").sections for table in section.tables}
    assert tables["paired-grid"].title.startswith("uct minus")
    assert tables["paired-grid"].rows[0][:2] == ("FrozenLake", "ments")
    with pytest.raises(RecipeError, match=r"unknown planner 'utc'\. Did you mean 'uct'"):
        make_report(found, "utc")


def test_without_known_optima_the_report_says_why_there_is_no_score():
    found = rows([1.0, 2.0], env="Own-v0", preset=None) + rows([1.0, 2.0], env="Other-v0", preset=None)
    sections = {section.name: section for section in make_report(found).sections}
    assert sections["score"].words == ["None: the optimum is not known, or not above 0, in Other-v0, Own-v0."]
    assert "paired" not in sections
    assert [cell[9:11] for cell in sections["cells"].tables[0].cells()] == [["", ""]] * 2


def test_one_episode_is_enough(tmp_path):
    written, _ = write_report(make_report([row(budget="Budget(seconds=0.1)", total_reward=1.0)]), tmp_path / "out")
    assert "report-figure.svg" not in {path.name for path in written}  # no number of simulations, nothing to draw
    with pytest.raises(RecipeError, match="nothing to draw"):
        write_report(make_report([row(budget="Budget(seconds=0.1)", total_reward=1.0)]), tmp_path / "x.svg")
    write_report(make_report([row(total_reward=1.0)]), tmp_path / "more")


def test_without_rows_there_is_no_report():
    with pytest.raises(RecipeError, match="no episodes yet; `gsp bench paper --quick`"):
        make_report([])


def test_a_planner_has_one_colour_and_marker_everywhere(small):
    lines = lines_of(small.planners)
    assert len(set(lines.values())) == len(small.planners)
    many = [planner for planner in small.planners for _ in range(1)]
    assert lines_of(many[::-1])[small.planners[0]] == lines[small.planners[0]]
    style = STYLE.read_text()
    assert [f"--s{number}: {colour};" in style for number, colour in enumerate(COLOURS)] == [True] * len(COLOURS)
