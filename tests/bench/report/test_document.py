import csv
import io
import re

import pandas as pd

from gymnasium_gsp.bench.report.document import csv_text, markdown
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


def test_there_is_no_negative_zero():
    assert [number(value, 3, "+") for value in (-0.0, -0.0001, 0.0)] == ["+0.000"] * 3
    assert number(-0.26, 1) == "\N{MINUS SIGN}0.3"
    assert number(float("nan")) == ""
