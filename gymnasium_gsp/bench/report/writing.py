"""Write the report on some rows to files of the kinds that their names say."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from gymnasium_gsp.bench.files import check_place, replace_file
from gymnasium_gsp.bench.report.contents import Report, make_report
from gymnasium_gsp.bench.report.document import csv_text, new_document, updated_document
from gymnasium_gsp.bench.report.figures import draw
from gymnasium_gsp.bench.report.page import page
from gymnasium_gsp.bench.report.text import MADE_BY
from gymnasium_gsp.errors import RecipeError

KINDS = (".html", ".md", ".csv", ".svg", ".pdf", ".png")
FILE_WIDTH = 11.0  # of a figure, in inches


def write_report(
    rows: pd.DataFrame,
    outputs: Sequence[Path],
    tell: Callable[[str], None] = lambda line: None,
    force: bool = False,
) -> list[str]:
    """Write a report.

    Everything is made first, and every file is then written under another name and renamed, so that what was there
    stays until its successor is complete.

    Args:
        rows: one episode each, with the columns of a store.
        outputs: files whose endings say what they become, or folders for all kinds.
        tell: called with each line that a user should read.
        force: whether files that no report wrote are written over.

    Returns:
        The alarms: one sentence for each mean significantly above the exact optimum.

    Raises:
        RecipeError: if there is nothing to report, a place cannot be written, no report wrote a file that is there, or
            a document that is there has no place for any part.
    """
    for output in outputs:
        check_output(output)
    report = make_report(rows)
    everything = ("report.html", "report.md", *(f"{name}.csv" for name in report.data))
    files: dict[Path, bytes] = {}
    left_out: list[str] = []
    for output in outputs:
        for file in [output / name for name in everything] if _is_folder(output) else [output]:
            if file.suffix.lower() == ".md":
                left_out += _add_document(report, file, files)
            else:
                files[file] = _content(report, file)
    for file, content in files.items():
        if not force and file.exists() and not _is_ours(file, content):
            raise RecipeError(f"{file} exists, and no report wrote it; give --force to write over it, or another -o")
    for file, content in files.items():
        file.parent.mkdir(exist_ok=True)
        replace_file(file, content)
    for line in (report.summary, report.headline, *report.alarms.lines, *report.failures.lines, *report.warnings.lines):
        tell(line)
    if report.gaps.lines:
        tell(f"Gaps in the grid: {len(report.gaps.lines)}, named in the report with the commands that fill them.")
    if left_out:
        tell(f"No markers for, so not written: {', '.join(left_out)}.")
    tell(f"written: {', '.join(map(str, files))}")
    return list(report.alarms.lines)


def check_output(output: Path) -> None:
    """Refuse a place that no report can be written to.

    Raises:
        RecipeError: for an unknown ending, a missing folder, or a place that cannot be written.
    """
    if output.is_file() and not output.suffix:
        raise RecipeError(f"{output} is a file, and a name without an ending is that of a folder; give another -o")
    if not _is_folder(output) and output.suffix.lower() not in KINDS:
        raise RecipeError(
            f"what to write to {output.name}? Its name must end in {', '.join(KINDS)}, or be that of a folder"
        )
    check_place(output / "report.html" if output.is_dir() else output)


def _is_ours(file: Path, content: bytes) -> bool:
    """Return whether a file may give way: a document with markers, what a report wrote, or an empty file."""
    old, kind = file.read_bytes(), file.suffix.lower()
    if kind == ".csv":
        return not old or old.startswith(content.partition(b"\n")[0])
    return not old or kind == ".md" or MADE_BY.encode() in old


def _is_folder(output: Path) -> bool:
    return output.is_dir() or not output.suffix


def _content(report: Report, file: Path) -> bytes:
    kind = file.suffix.lower()
    if kind == ".html":
        return page(report).encode()
    if kind == ".csv":
        return csv_text(report.data.get(file.stem, report.data["cells"])).encode()
    if not report.panels:
        raise RecipeError("there is nothing to draw: no budget is a number of simulations")
    return draw(report.panels, report.algorithms, kind[1:], FILE_WIDTH)


def _add_document(report: Report, file: Path, files: dict[Path, bytes]) -> list[str]:
    """Add a document, and the figure beside it, to what will be written; the parts that it has no markers for."""
    figure = file.with_name(f"{file.stem}-figure.svg")
    text = new_document(report, figure.name)
    left_out: list[str] = []
    if file.exists():
        try:
            old = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RecipeError(f"{file} cannot be updated: {error}; give another -o") from None
        text, left_out = updated_document(old, text)
        if len(left_out) == 1 + len(report.sections):
            raise RecipeError(
                f"{file} is there and has no marker such as <!-- paired --> and <!-- /paired --> that a part of the "
                "report could stand between; it was left as it was: add markers, or give another -o"
            )
    files[file] = text.encode()
    if report.panels and "figure" not in left_out:
        files[figure] = _content(report, figure)
    return left_out
