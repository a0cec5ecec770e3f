"""Write the report on some rows to files of the kinds that their names say."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from gymnasium_gsp.bench.report.contents import Report, make_report
from gymnasium_gsp.bench.report.document import csv_text, figure_name, latex_tables, new_document, updated_document
from gymnasium_gsp.bench.report.figures import draw
from gymnasium_gsp.bench.report.output import FIGURES, check_output, is_folder, write_files
from gymnasium_gsp.bench.report.page import page
from gymnasium_gsp.bench.report.text import listed
from gymnasium_gsp.errors import RecipeError

FILE_WIDTH = 11.0  # of a figure, in inches


def write_report(
    rows: pd.DataFrame,
    outputs: Sequence[Path],
    reference: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Write a report.

    Everything is made first, and every file is then written under another name and renamed, so that what was there
    stays until its successor is complete.

    Args:
        rows: one episode each, with the columns of a store.
        outputs: files whose endings say what they become, or folders for all kinds.
        reference: the planner that the others are compared with; by default the winner.
        tell: called with each line that a user should read.

    Returns:
        The alarms: one sentence for each mean significantly above the exact optimum.

    Raises:
        RecipeError: if there is nothing to report, a place cannot be written, there is no such planner, or a document
            that is there has no place for any part.
    """
    for output in outputs:
        check_output(output)
    report = make_report(rows, reference)
    files: dict[Path, bytes] = {}
    left_out: list[str] = []
    for output in outputs:
        folder = is_folder(output)
        for file in [output / name for name in ("report.html", "report.md", "tables.tex")] if folder else [output]:
            left_out += _add(report, file, files)
        if folder:
            files.update({output / f"{name}.csv": csv_text(frame).encode() for name, frame in report.data.items()})
    write_files(files)
    for line in (report.summary, report.headline, *report.alarms, *report.warnings):
        tell(line)
    if report.gaps:
        tell(f"Gaps in the grid: {len(report.gaps)}, named in the report.")
    if left_out:
        tell(f"No markers for, so not written: {listed(left_out)}.")
    tell(f"written: {listed(map(str, files))}")
    return list(report.alarms)


def _add(report: Report, file: Path, files: dict[Path, bytes]) -> list[str]:
    """Add a file, and the figure beside a document, to what will be written.

    Returns:
        The parts that a document has no place for.
    """
    kind = file.suffix.lower()
    if kind == ".md":
        text, left_out = _document(report, file)
        files[file] = text.encode()
        if report.panels and "figure" not in left_out:
            files[file.with_name(figure_name(file.stem))] = draw(report.panels, report.algorithms, "svg", FILE_WIDTH)
        return left_out
    if kind in FIGURES:
        if not report.panels:
            raise RecipeError("there is nothing to draw: no budget is a number of simulations")
        files[file] = draw(report.panels, report.algorithms, kind[1:], FILE_WIDTH)
    elif kind == ".csv":
        files[file] = csv_text(report.data["cells"]).encode()
    elif kind == ".tex":
        files[file] = latex_tables(report).encode()
    else:
        files[file] = page(report).encode()
    return []


def _document(report: Report, file: Path) -> tuple[str, list[str]]:
    if not file.exists():
        return new_document(report, file.stem), []
    try:
        updated = updated_document(file.read_text(encoding="utf-8"), report, file.stem)
    except (OSError, ValueError) as error:
        raise RecipeError(f"{file} cannot be updated: {error}; give another -o") from None
    if updated is None:
        raise RecipeError(
            f"{file} is there and has no marker such as <!-- cells --> and <!-- /cells --> that a part of the report "
            "could stand between; it was left as it was: add markers, or give another -o"
        )
    return updated
