"""Lines of code of the package by room, without blank lines, docstrings and comments.

    python -m benchmarks.lines

Tests, benchmarks and examples are not counted.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "gymnasium_gsp"
NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def count(source: str) -> int:
    """Count the lines of a Python file that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        # A bare string documents what stands before it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def by_room(package: Path) -> Counter[str]:
    """Count the lines of each room: a folder of the package, or the files beside them."""
    lines: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        room, *rest = path.relative_to(package).parts
        lines[room if rest else "top level"] += count(path.read_text(encoding="utf-8"))
    return lines


def main() -> None:
    """Print the table."""
    lines = by_room(PACKAGE)
    for room, number in lines.most_common():
        print(f"{room:<12}{number:>8,}")
    print(f"{'total':<12}{lines.total():>8,}")


if __name__ == "__main__":
    main()
