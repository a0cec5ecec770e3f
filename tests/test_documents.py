"""The README and the docs: commands in step with CI, tables from the registries, code that runs."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


CHECKS = ("ruff check .", "ruff format --check .", "mypy", "codespell")


def test_ci_checks_lint_format_types_and_spelling_here_and_in_the_workflow():
    ci = (ROOT / ".ci" / "run").read_text().splitlines()
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    for command in CHECKS:
        assert f".venv/bin/{command}" in ci
        assert f"- run: {command}\n" in workflow


def test_the_workflow_tests_the_oldest_python_and_numba_that_are_supported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    python = project["requires-python"].removeprefix(">=")
    (numba,) = (one for one in project["dependencies"] if one.startswith("numba"))
    assert f'python: ["{python}", ' in workflow
    assert f'python: "{python}"\n            numba: "{numba.removeprefix("numba>=")}.0"' in workflow


def test_the_wheel_runs_the_command_of_the_readme_outside_the_tree():
    first = next(block for block in SHELL_BLOCKS if "pip install" in block)
    (outside,) = (line for line in (ROOT / ".ci" / "run").read_text().splitlines() if 'cd "$outside"' in line)
    assert first.rpartition("&& ")[2] in outside
    assert "-e" not in outside.split()


@pytest.mark.parametrize("block", PYTHON_BLOCKS, ids=[f"block {number}" for number in range(len(PYTHON_BLOCKS))])
def test_python_in_the_readme_runs(block, tmp_path):
    script = tmp_path / "readme.py"
    script.write_text(block)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "stopped by" in done.stdout


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_links_inside_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
