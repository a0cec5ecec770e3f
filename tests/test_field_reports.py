"""The table of field reports is complete, and the tests it names exist."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "docs" / "field-reports.md").read_text(encoding="utf-8").splitlines()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES if re.match(r"\| \d+ \|", line)]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
STATUSES = ("tested", "measured", "not applicable", "open")
REPORTS = 68


@cache
def functions(path):
    """Names of the functions that a test file defines at its top."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_all_reports_are_there_once_and_in_order():
    assert [row[0] for row in ROWS] == [str(number) for number in range(1, REPORTS + 1)]
    assert all(len(row) == 4 for row in ROWS)


def test_no_two_reports_have_one_title():
    assert [title for title, count in Counter(row[1] for row in ROWS).items() if count > 1] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_became_of_it(row):
    _, title, status, where = row
    assert title
    assert status in STATUSES
    named = re.findall(r"`(tests/[^`]+)`", where)
    if status == "measured":
        modules = re.findall(r"`python -m (benchmarks\.\w+)`", where)
        assert modules
        for module in modules:
            assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
            assert f"python -m {module}" in CI
    if status != "tested":
        assert not named
        assert len(where.split()) > 4, "a reason or a room, in words"
        return
    assert named
    for name in named:
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), path
        assert function.startswith("test_")
        assert function in functions(path), name
