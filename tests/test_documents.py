"""The README and the documentation site: commands in step with CI, code that runs, links that lead somewhere.

The blocks of a page run in order, in a folder of their own: Python blocks as one script, console blocks as commands in
between.  A block whose first line is `# NAME.py` or `# NAME.toml` is saved as that file.  A comment before a block says
otherwise: `<!-- not run: REASON -->`, `<!-- needs: MODULE -->`, or `<!-- output -->` before what the block above it
prints, which is compared on Linux x86-64.
"""

import importlib.util
import os
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import gymnasium_gsp as gsp

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SHELL_BLOCKS = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
CI = (ROOT / ".ci" / "run").read_text()
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in p.parts)]
BLOCK = re.compile(r"^(?:<!-- ([^>]+) -->\n)?```(\{.*?\}|\w*).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEXT_BLOCK = "\x1e\n"


def test_the_readme_has_two_commands_and_ci_runs_both_as_they_stand():
    ci = CI.splitlines()
    commands = [block for block in SHELL_BLOCKS if "pip install" in block]
    assert len(commands) == 2
    for command in commands:
        assert command in ci


CHECKS = ("ruff check .", "ruff format --check .", "mypy", "codespell")


def test_ci_checks_lint_format_types_and_spelling_here_and_in_the_workflow():
    ci = CI.splitlines()
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
    (outside,) = (line for line in CI.splitlines() if 'cd "$outside"' in line)
    assert first.rpartition("&& ")[2] in outside
    assert "-e" not in outside.split()


class Block(NamedTuple):
    """A block of code: the comment before it, its language, its text, and the file that it is saved as, if any."""

    comment: str
    language: str
    text: str

    @property
    def file(self):
        named = re.match(r"# (\w+\.(py|toml))\n", self.text)
        return named and named[1]

    @property
    def runs(self):
        kind, _, what = self.comment.partition(": ")
        missing = kind == "needs" and importlib.util.find_spec(what) is None
        by_ci = self.text.strip() in CI.splitlines()
        return self.language in ("python", "sh") and not (self.file or kind == "not run" or missing or by_ci)


def blocks_of(page):
    """The blocks of code on a page, without the directives of the site."""
    found = (Block(*match) for match in BLOCK.findall(page.read_text(encoding="utf-8")))
    return [block for block in found if not block.language.startswith("{")]


def script_of(blocks):
    """The blocks that run as one script, which prints NEXT_BLOCK before each."""
    lines = ["import subprocess", ""]
    for block in blocks:
        command = f"subprocess.run({block.text!r}, shell=True, check=True)\n"
        lines += [f"print({NEXT_BLOCK!r}, end='', flush=True)", block.text if block.language == "python" else command]
    return "\n".join(lines)


WITH_CODE = [page for page in PAGES if any(block.runs for block in blocks_of(page))]


@pytest.mark.skipif(os.name == "nt", reason="console blocks are for a POSIX shell")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name == "README.md" else pytest.mark.slow) for page in WITH_CODE],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_code_on_a_page_runs_and_prints_what_the_page_says(page, tmp_path):
    blocks = blocks_of(page)
    running = [block for block in blocks if block.runs]
    for block in blocks:
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "gsp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gymnasium_gsp "$@"\n')
    command.chmod(0o755)
    (tmp_path / "page.py").write_text(script_of(running), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "MPLBACKEND": "agg"}
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "page.py"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout.split(NEXT_BLOCK)[1:]
    assert page.name != "README.md" or "stopped by" in done.stdout  # a decision
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        for number, block in enumerate(blocks):
            if block.comment == "output":
                assert printed[running.index(blocks[number - 1])] == block.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_its_language_and_why_it_is_not_run(page):
    for block in blocks_of(page):
        assert block.language in ("python", "sh", "toml", "text", "markdown"), block.text
        assert re.fullmatch(r"|output|needs: \w+|not run: .{10,}", block.comment), block.comment


def test_the_readme_is_short_begins_with_a_picture_and_says_whose_it_is_not():
    assert len(README.split()) <= 900
    assert README.split("\n\n")[1].startswith("![")
    assert "not affiliated with the Farama Foundation" in README


def test_links_of_the_readme_are_absolute_once_the_project_has_an_address():
    """What the build replaces: pictures and pages; today by themselves, as there is no address."""
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]
    text = README
    for rule in hooks["fancy-pypi-readme"]["substitutions"]:
        assert re.sub(rule["pattern"], rule["replacement"], README) == README
        text = re.sub(rule["pattern"], r"\1https://example.org/\2", text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    assert all(target.startswith("https://") for target in targets)


def test_the_reference_has_every_public_name():
    page = (ROOT / "docs" / "reference" / "api.md").read_text()
    documented = re.findall(r"^\.\. (?:autofunction|autoclass|autoexception|data):: (\w+)$", page, re.MULTILINE)
    assert sorted(documented) == sorted(set(gsp.__all__) - {"ingredients"})


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_inside_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
