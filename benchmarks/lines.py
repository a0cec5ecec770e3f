"""Lines of code of the package by room, without blank lines, docstrings and comments, beside their limit.

    python -m benchmarks.lines

The limit is for the package alone: tests, benchmarks and examples are not counted.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "gymnasium_gsp"
LIMIT = 9500
NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def count(source: str) -> int:
    """Count the lines of a Python file that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def by_room(package: Path) -> Counter[str]:
    """Count the lines of each room: a folder of the package, its subfolders included, or the files beside them."""
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
    print(f"{'total':<12}{lines.total():>8,}   limit {LIMIT:,}")


if __name__ == "__main__":
    main()
