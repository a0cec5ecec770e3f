"""Lines of code: what counts, by room."""

from benchmarks.lines import PACKAGE, by_room, count

SOURCE = '''"""A docstring
of two lines."""

# a comment
import os  # counts


def longest(
    words,
):
    "A docstring."
    text = """counts,
    on two lines"""
    return max(words)
'''


def test_blank_lines_docstrings_and_comments_do_not_count():
    assert count(SOURCE) == 7
    assert count("") == 0


def test_rooms_are_folders_with_their_subfolders(tmp_path):
    (tmp_path / "room" / "inner").mkdir(parents=True)
    for place in ("top.py", "room/one.py", "room/inner/two.py"):
        (tmp_path / place).write_text("a = 1\n")
    assert by_room(tmp_path) == {"top level": 1, "room": 2}


def test_the_package_is_counted():
    lines = by_room(PACKAGE)
    assert {"search", "agents", "top level"} <= set(lines)
    assert lines.total() > 1000
