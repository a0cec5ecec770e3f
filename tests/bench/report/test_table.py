import csv
import io
import re

from gymnasium_gsp.bench.report.table import BREAK, DOWN, UP, Column, Table, csv_text, fixed, html, latex, markdown

EVIL = "<script>alert('1')</script> | a_b*c* `d` & 50 % {e} \\f $g$ #h ~i ^j"
TABLE = Table(
    "name",
    "A title & more",
    (
        Column("planner", "planner"),
        Column("mean", "mean", fixed(2), number=True),
        Column("mark", "mark"),
        Column("hidden", "hidden", shown=False),
    ),
    [(EVIL, 1234.5678, UP, 1), ("uct", None, f"+1 {DOWN}{BREAK}[0, 2]", 2), ("=cmd()", -4.25, "", 3)],
    ["A note with <b>."],
)


def test_markdown_shows_texts_as_they_are():
    lines = markdown(TABLE).splitlines()
    assert lines[:2] == ["| planner | mean | mark |", "|---|---:|---|"]
    assert lines[2].startswith(r"| \<script\>alert('1')\</script\> \| a\_b\*c\* \`d\` & 50 % {e} \\f")
    assert len(re.findall(r"(?<!\\)\|", lines[2])) == 4
    assert lines[3] == "| uct |  | +1 \N{BLACK DOWN-POINTING TRIANGLE} \\[0, 2\\] |"
    assert lines[-1] == r"A note with \<b\>."


def test_csv_has_every_column_at_full_precision():
    records = list(csv.DictReader(io.StringIO(csv_text(TABLE))))
    assert records[0]["planner"] == EVIL
    assert float(records[0]["mean"]) == 1234.5678
    assert [record["hidden"] for record in records] == ["1", "2", "3"]
    assert records[1]["mean"] == ""
    assert records[2]["planner"] == "'=cmd()"  # no spreadsheet takes it for a formula


def test_latex_sets_texts_as_they_are():
    text = latex(TABLE)
    assert r"\$g\$ \#h \textasciitilde{}i \textasciicircum{}j" in text
    assert r"A title \& more" in text
    assert "$-$4.25" in text
    assert "_b" not in text.replace(r"\_b", "")
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_html_escapes_texts_and_names_marks():
    text = html(TABLE, {"uct": "<i>swatch</i>"})
    assert "<script" not in text
    assert "&lt;script&gt;alert(&#x27;1&#x27;)" in text
    assert '<th scope="row"><i>swatch</i>uct</th>' in text
    assert 'aria-label="better"' in text
    assert "<br><small>[0, 2]</small>" in text
    assert "1,234.57" in text


def test_there_is_no_negative_zero():
    assert [fixed(3, "+")(value) for value in (-0.0, -0.0001, 0.0)] == ["+0.000"] * 3
    assert fixed(1)(-0.26) == "\N{MINUS SIGN}0.3"
