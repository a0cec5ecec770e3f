import csv
import io
import re
import shutil
import subprocess

import pandas as pd
import pytest
from invented_rows import frame, paper

from gymnasium_gsp.bench.report.contents import make_report
from gymnasium_gsp.bench.report.document import csv_text, latex, latex_tables, markdown
from gymnasium_gsp.bench.report.tables import Table
from gymnasium_gsp.bench.report.text import BREAK, DOWN, UP, number

EVIL = "<script>alert('1')</script> | a_b*c* `d` & 50 % {e} \\f $g$ #h ~i ^j"
TABLE = Table(
    "name",
    "A title & more",
    pd.DataFrame(
        {"planner": [EVIL, "uct", "=cmd()"], "mean": ["1,234.57", "", "\N{MINUS SIGN}4.25"]}
        | {"m_ark": [UP, f"+1 {DOWN}{BREAK}[0, 2]", ""]}
    ),
    1,
    words=["m_ark"],
)


def test_markdown_shows_texts_as_they_are():
    lines = markdown(TABLE).splitlines()
    assert re.fullmatch(r"\| planner +\| +mean \| m\\_ark +\|", lines[0])
    assert re.fullmatch(r"\|:-+\|-+:\|:-+\|", lines[1])
    assert lines[2].startswith(r"| \<script\>alert('1')\</script\> \| a\_b\*c\* \`d\` & 50 % {e} \\f")
    assert len(re.findall(r"(?<!\\)\|", lines[2])) == 4
    assert re.fullmatch(r"\| uct +\| +\| \+1 ▼ \\\[0, 2\\\] *\|", lines[3])


def test_csv_has_full_precision_and_no_formula():
    values = {
        "planner": [EVIL, "uct", "=cmd()"],
        "mean": [0.1 + 0.2, float("nan"), -4.25],
        "clear": [True, False, True],
    }
    records = list(csv.DictReader(io.StringIO(csv_text(pd.DataFrame(values).astype({"planner": "category"})))))
    assert records[0]["planner"] == EVIL
    assert float(records[0]["mean"]) == 0.1 + 0.2
    assert records[1]["mean"] == ""
    assert [record["clear"] for record in records] == ["True", "False", "True"]
    assert records[2] == {"planner": "'=cmd()", "mean": "-4.25", "clear": "True"}  # no spreadsheet computes a text


def test_latex_sets_texts_as_they_are():
    text = latex(TABLE)
    assert r"\$g\$ \#h \textasciitilde{}i \textasciicircum{}j" in text
    assert r"A title \& more" in text
    assert "$-$4.25" in text
    assert r"\shortstack[r]{+1 $\downarrow$\\\relax [0, 2]}" in text
    assert "_ark" not in text.replace(r"\_ark", "")
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex with booktabs and longtable")
def test_latex_can_be_set(tmp_path):
    body = latex_tables(make_report(frame(paper(6, budgets=(16, 64)))))
    document = rf"\documentclass{{article}}\usepackage{{booktabs,longtable}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "x.tex").write_text(document)
    subprocess.run(["pdflatex", "-halt-on-error", "x.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_there_is_no_negative_zero():
    assert [number(value, 3, "+") for value in (-0.0, -0.0001, 0.0)] == ["+0.000"] * 3
    assert number(-0.26, 1) == "\N{MINUS SIGN}0.3"
    assert number(float("nan")) == ""
