"""What the README and the docs promise: commands in step with CI, tables from the registries, code that runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gymnasium_gsp.bench.tables import refreshed

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SHELL_BLOCKS = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_readme_has_two_commands_and_ci_runs_both_as_they_stand():
    ci = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [block for block in SHELL_BLOCKS if "pip install" in block]
    assert len(commands) == 2
    for command in commands:
        assert command in ci


def test_ci_checks_lint_format_and_types():
    ci = (ROOT / ".ci" / "run").read_text()
    for command in ("ruff check .", "ruff format --check .", "mypy"):
        assert command in ci


def test_the_tables_are_those_of_the_registries():
    assert refreshed(README) == README, "run: python -m gymnasium_gsp.bench.tables README.md"


@pytest.mark.parametrize("block", PYTHON_BLOCKS, ids=[f"block {number}" for number in range(len(PYTHON_BLOCKS))])
def test_python_in_the_readme_runs(block, tmp_path):
    script = tmp_path / "readme.py"
    script.write_text(block)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "SearchResult" in done.stdout


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_links_inside_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
