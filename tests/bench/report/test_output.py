import os
import re
from pathlib import Path

import numpy as np
import pytest
from invented_rows import frame, paper, row, rows
from matplotlib.image import imread

from gymnasium_gsp import RecipeError
from gymnasium_gsp.bench.report.cells import label_episodes, measure
from gymnasium_gsp.bench.report.contents import make_report, optimum_in_words
from gymnasium_gsp.bench.report.figures import COLOURS, places_of
from gymnasium_gsp.bench.report.page import STYLE, page
from gymnasium_gsp.bench.report.tables import MEASURES
from gymnasium_gsp.bench.report.text import BREAK, DOWN, UP
from gymnasium_gsp.bench.report.writing import check_output, write_report

EVIL = "\"><script>alert(1)</script>$x$ & '"


@pytest.fixture(scope="module")
def small():
    """Rows of two environments, three planners and two budgets."""
    found = paper(12, envs=("FrozenLake", "FourRooms"), algorithms=("uct", "gs-power-uct"), budgets=(16, 256))
    return frame([*found, *rows(np.ones(12), algorithm="mine", preset="", budget=16)])


@pytest.fixture(scope="module")
def evil():
    """Rows with names that were chosen to break a page."""
    names = {"env": EVIL, "algorithm": EVIL, "options": EVIL, "recipe": EVIL, "versions": EVIL, "machine": EVIL}
    return frame([row(index=index, preset=EVIL, total_reward=float(index), **names) for index in range(6)])


def written(rows, output, **options):
    """The files that a report was written to, and the lines that were told."""
    lines = []
    assert write_report(rows, [output], tell=lines.append, **options) == []
    return [Path(name) for name in lines[-1].removeprefix("written: ").split(", ")], lines


def test_a_folder_gets_everything(small, tmp_path):
    files, _ = written(small, tmp_path / "out")
    assert sorted(path.name for path in files) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert {path.name for path in files} == {
        "report.html", "report.md", "report-figure.svg",
        "cells.csv", "scores.csv", "paired.csv",
    }  # fmt: skip
    for target in re.findall(r"\]\(([^)]+)\)", (tmp_path / "out" / "report.md").read_text()):
        assert (tmp_path / "out" / target).exists()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.html", b"<!doctype html>"),
        ("x.csv", b"environment,planner,budget,mean_return"),
        ("x.svg", b"<?xml"),
        ("x.pdf", b"%PDF"),
        ("x.PNG", b"\x89PNG"),
    ],
)
def test_the_name_says_what_is_written(small, tmp_path, name, begins):
    assert written(small, tmp_path / name)[0] == [tmp_path / name]
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_drawing_in_a_file_has_white_paper_and_one_on_a_page_has_none(small, tmp_path):
    write_report(small, [tmp_path / "x.svg", tmp_path / "x.png"])
    assert "fill: #ffffff" in (tmp_path / "x.svg").read_text()
    assert (imread(tmp_path / "x.png")[0, 0, :] == 1.0).all()
    assert "fill: #ffffff" not in page(make_report(small))


def test_several_outputs_are_written_at_once_or_not_at_all(small, tmp_path):
    write_report(small, [tmp_path / "x.html", tmp_path / "x.csv"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.html"]
    with pytest.raises(RecipeError, match="must end in"):
        write_report(small, [tmp_path / "y.html", tmp_path / "y.docx"])
    assert not (tmp_path / "y.html").exists()


def test_the_same_rows_give_the_same_files(small, tmp_path):
    for folder in ("a", "b"):
        write_report(small, [tmp_path / folder])
        write_report(small, [tmp_path / folder / "x.pdf"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_document_keeps_what_was_written_by_hand(small, tmp_path):
    document = tmp_path / "results.md"
    written(small, document)
    fresh = document.read_text()
    edited = fresh.replace("<!-- /paired -->", "<!-- /paired -->\n\nUCT is better, because its targets are returns.")
    edited = edited.replace("<!-- overhead -->", "").replace("0.9132", "9.9999")
    document.write_text(edited)
    files, lines = written(small, document)
    assert lines[-2] == "No markers for, so not written: overhead."
    assert sorted(path.name for path in files) == ["results-figure.svg", "results.md"]
    again = document.read_text()
    assert "UCT is better, because its targets are returns." in again
    assert again.replace("\n\nUCT is better, because its targets are returns.", "") == fresh.replace(
        "<!-- overhead -->", ""
    )


def test_markers_written_by_hand_are_filled(small, tmp_path):
    document = tmp_path / "results.md"
    document.write_text(
        "# Mine\n\n<!-- origin --><!-- /origin -->\n\nThe end, <!-- /origin --> and <!-- figure --> alone.\n"
    )
    _, lines = written(small, document)
    assert "origin" not in lines[-2]
    text = document.read_text()
    assert re.match(r"# Mine\n\n<!-- origin -->\n.*\n\n\| versions +\| +episodes", text, re.DOTALL)
    assert text.endswith("<!-- /origin -->\n\nThe end, <!-- /origin --> and <!-- figure --> alone.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]


def test_a_document_without_markers_is_left_as_it_was(small, tmp_path):
    document = tmp_path / "notes.md"
    document.write_text("# My notes\n")
    with pytest.raises(RecipeError, match=r"notes\.md.*no marker.*left as it was"):
        write_report(small, [document])
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
    with pytest.raises(RecipeError, match="is a file, and a name without an ending"):
        check_output(tmp_path / "notes")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(RecipeError, match="cannot be written"):
        check_output(tmp_path / "x.html")


@pytest.mark.parametrize("name", ["x.html", "x.csv", "x.svg", "x.pdf", "x.png"])
def test_only_what_a_report_wrote_is_written_over(small, tmp_path, name):
    file = tmp_path / name
    file.write_text("mine, and no report")
    with pytest.raises(RecipeError, match=rf"{name} exists, and no report wrote it; give --force"):
        write_report(small, [file])
    assert file.read_text() == "mine, and no report"
    write_report(small, [file], force=True)
    written = file.read_bytes()
    write_report(small, [file])
    assert file.read_bytes() == written


def test_a_full_disk_leaves_what_was_there(small, tmp_path, monkeypatch):
    page_file = tmp_path / "x.html"
    page_file.write_text("the report of yesterday")

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RecipeError, match=r"x\.html cannot be written: No space left on device"):
        write_report(small, [page_file], force=True)
    assert page_file.read_text() == "the report of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


def test_the_page_holds_everything_and_asks_for_nothing(small):
    report = make_report(small)
    text = page(report)
    assert text.count("<svg") == 3  # for wide, middle and narrow windows
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text.replace("xlink:href", "href"))
    assert "@import" not in text
    assert "<script" not in text
    identifiers = re.findall(r'\bid="([^"]*)"', text)
    assert len(identifiers) == len(set(identifiers))
    for target in re.findall(r'href="#([^"]*)"', text):
        assert target in identifiers
    for section in report.sections:
        assert f'id="{section.name}"' in text


def test_the_page_begins_with_the_winner_and_then_the_figure(small):
    report = make_report(small)
    body = page(report).partition("<body>")[2]
    headline = re.search(r'<p class="headline">(.*?)</p>', body)
    assert re.sub("<[^>]*>", "", headline[1]).replace("\N{NO-BREAK SPACE}", " ") == report.headline
    places = [headline.start(), body.index("<figure")]
    places += [body.index(f'<section id="{name}"') for name in ("winners", "score", "overhead", "paired", "returns")]
    places += [body.index('<section id="verdicts"')]
    assert places == sorted(places)
    assert "<table" not in body[: places[2]]


def test_names_from_a_store_cannot_break_the_page(evil, tmp_path):
    text = page(make_report(evil))
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 10
    write_report(evil, [tmp_path / "out"])  # neither do they break a figure, a document or a file's name


def test_marks_have_names_for_those_who_cannot_see_them():
    found = rows([0.0, 1.0] * 20, algorithm="ments") + rows([0.0] * 40, algorithm="uct")
    text = page(make_report(frame(found)))
    assert '<span class="mark better" role="img" aria-label="better">' in text
    assert "<br><small>" in text


def tables_of(report):
    return {table.name: table for section in report.sections for table in section.tables}


def test_the_winner_is_set_beside_each_other_planner():
    found = frame(rows(np.ones(6), algorithm="uct") + rows(np.zeros(6), algorithm="ments"))
    paired = tables_of(make_report(found))["paired"]
    assert paired.title.startswith("uct minus")
    assert list(paired.frame.iloc[0])[:2] == ["FrozenLake", "ments"]


def test_who_wins_where_names_the_best_planner_and_whether_its_lead_is_clear():
    found = rows([0.0, 1.0] * 20, algorithm="ments") + rows([0.0] * 40) + rows([1.0] * 3, algorithm="gbop", budget=16)
    found += rows([1.0] * 4, env="GSP/FourRooms-v0") + rows([0.5] * 4, env="GSP/FourRooms-v0", algorithm="ments")
    found += rows([2.0] * 4, algorithm="brue")  # too few beside the others' forty
    found += rows([0.0] * 4, budget=32) + rows([0.0] * 4, budget=32, algorithm="ments")
    winners = tables_of(make_report(frame(found)))["winners"].frame.set_index("environment")
    assert winners["64"]["FrozenLake"] == f"ments {UP}{BREAK}0.500 (+0.500)"
    assert winners["64"]["FourRooms"] == f"uct{BREAK}1.000 (+0.500)"  # on four episodes, nothing is clear
    assert winners["32"]["FrozenLake"] == f"tie{BREAK}0.000"
    assert winners["16"]["FrozenLake"] == f"gbop{BREAK}1.000"
    assert winners["16"]["FourRooms"] == "\N{EN DASH}"


def test_a_measure_has_its_name_unit_and_direction_in_one_place():
    shown = tables_of(make_report(frame(rows([0.0, 1.0]) + rows([np.nan], algorithm="ments"))))
    times = shown["ms-per-decision"]
    assert times.title == "Time per decision, in milliseconds; lower is better"
    assert times.frame.to_numpy().tolist() == [["FrozenLake", "uct", "1.000"], ["FrozenLake", "ments", "failed"]]
    assert {measure.column.replace("_", "-") for measure in MEASURES} <= set(shown)


def test_an_unknown_optimum_stands_beside_a_regret_with_a_word_on_both():
    found = [{**one, "regret": 0.25} for one in rows([1.0, 2.0], preset="", wrap="mine:dearer")]
    (words,) = optimum_in_words(measure(label_episodes(frame(found)))).splitlines()
    assert words == (
        "The optimum is not known: a wrapper may change the returns. Regret is measured by the exact values of the "
        "model that was planned in."
    )
    unknown = rows([1.0, 2.0], env="Own-v0", preset="")
    assert optimum_in_words(measure(label_episodes(frame(unknown)))) == "The optimum is not known."


def test_without_known_optima_the_report_says_why_there_is_no_score():
    found = rows([1.0, 2.0], env="Own-v0", preset="") + rows([1.0, 2.0], env="Other-v0", preset="")
    report = make_report(frame(found))
    sections = {section.name: section for section in report.sections}
    assert sections["score"].words == ["Left out, because the optimum is not known or not above 0: Other-v0, Own-v0."]
    assert "paired" not in sections
    assert report.data["cells"][["optimum", "percent_of_optimum"]].isna().all(axis=None)


def test_the_paper_is_judged_only_where_its_cells_were_played():
    def sections(preset):
        report = make_report(frame(rows(np.ones(40), preset=preset, budget=16)))
        return {section.name: section for section in report.sections}

    judged = sections("paper")["verdicts"]
    assert judged.words[0] == (
        "Of 1 cell with the paper's settings: 0 reproduced, 1 better, 0 not reproduced, 0 too few episodes."
    )
    assert list(judged.tables[0].frame.iloc[0]) == ["uct", "0", "1", "0", "0"]
    assert "verdicts" not in sections("")
    beside = sections("")["returns-FrozenLake"].tables[0].frame
    assert set(beside[""]) >= {"ours", "published"}
    assert not any(UP in words or DOWN in words for words in beside.astype(str).to_numpy().ravel())


def test_the_optimum_of_the_layouts_played_is_explained():
    found = [row(env="GSP/FourRooms-v0", index=i, total_reward=0.5, optimum=0.6056) for i in range(6)]
    sections = {section.name: section for section in make_report(frame(found)).sections}
    of_all = "Over all layouts that a reset can draw it is 0.5919."
    mean = "Exact optimum, mean over the layouts that a cell played:"
    assert sections["returns-FourRooms"].words[0] == f"{mean} 0.6056. {of_all}"
    more = [row(env="GSP/FourRooms-v0", index=i, total_reward=0.5, optimum=0.5, algorithm="ments") for i in range(6)]
    sections = {section.name: section for section in make_report(frame(found + more)).sections}
    assert sections["returns-FourRooms"].words[0] == f"{mean} 0.5000 to 0.6056. {of_all}"


def test_failed_and_missing_cells_are_marked():
    found = rows(np.ones(6)) + rows([np.nan] * 6, algorithm="ments") + rows(np.ones(6), budget=16)
    found += rows([1.0, 0.0, np.nan], algorithm="brue")
    found[-1] |= {"failure": "ZeroDivisionError: thin ice\nTraceback ...", "recipe": ""}
    report = make_report(frame(found))
    assert not any("Mixed recipes" in line for line in report.warnings.lines)
    grid = tables_of(report)["returns-FrozenLake"].frame
    ours = grid[grid[""] == "ours"].set_index("planner")
    assert ours["64"]["ments"] == "failed"
    assert ours["16"]["ments"] == "\N{EN DASH}"
    assert ours["64"]["brue"].endswith("(1 failed)")
    text = page(report)
    assert re.search(r'<td class="n failed"><a href="#failed">failed</a></td>', text)
    assert re.search(r'<td class="n gap">\N{EN DASH}</td>', text)
    assert "ments in FrozenLake at 64: 6 of 6 episodes without a finite return, left out of the mean." in (
        report.failures.lines
    )
    of_all = "1 of 3 episodes without a finite return, left out of the mean"
    assert f"brue in FrozenLake at 64: {of_all}; the first raised ZeroDivisionError: thin ice." in report.failures.lines
    assert "gsp run FrozenLake --algorithm ments --budget 64 --episodes 6" in text
    assert "gsp bench --envs FrozenLake --algorithms ments --budgets 16 --episodes 6" in text  # fills the gaps


def test_one_episode_is_enough(tmp_path):
    other = frame([row(budget="Budget(seconds=0.1)", total_reward=1.0)])
    files, _ = written(other, tmp_path / "out")
    assert "report-figure.svg" not in {path.name for path in files}  # no number of simulations, nothing to draw
    with pytest.raises(RecipeError, match="nothing to draw"):
        write_report(other, [tmp_path / "x.svg"])
    write_report(frame([row(total_reward=1.0)]), [tmp_path / "more"])


def test_without_rows_there_is_no_report():
    with pytest.raises(RecipeError, match="no episodes yet; `gsp bench paper --quick`"):
        make_report(frame([]))
    with pytest.raises(RecipeError, match="none of the 2 episodes in the store has a finite return"):
        make_report(frame(rows([np.nan, np.nan])))


def test_a_mean_above_the_optimum_is_an_alarm(tmp_path):
    (alarm,) = write_report(frame(rows(np.ones(300))), [tmp_path / "x.html"])
    assert alarm.startswith("Above the exact optimum: uct in FrozenLake at 64 has a mean return of 1.0000")
    text = (tmp_path / "x.html").read_text()
    assert 'class="notice alarm"' in text
    assert 'class="n alarm"' in text


def test_a_planner_has_one_colour_everywhere():
    names = {name: name for name in ("uct", "gs-power-uct", "mine")}
    places = places_of(names)
    assert len(set(places.values())) == 3
    assert places_of(dict(reversed(names.items())))["uct"] == places["uct"]
    assert len(set(places_of({f"planner {n}": "uct" for n in range(20)}).values())) == 20
    style = STYLE.read_text()
    assert [f"--s{number}: {colour};" in style for number, colour in enumerate(COLOURS)] == [True] * len(COLOURS)
