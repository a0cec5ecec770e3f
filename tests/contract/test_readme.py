"""What the README shows runs as it stands there."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_there_is_code_to_run():
    assert len(BLOCKS) >= 3
    assert "while not done" in BLOCKS[0]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_runs(block, capsys):
    exec(compile(block, README.name, "exec"), {"__name__": "readme"})
    assert "SearchResult(" in capsys.readouterr().out
