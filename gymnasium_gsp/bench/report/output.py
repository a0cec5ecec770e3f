"""Where a report goes: one file of a kind that its name says, or a folder with all of them."""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from gymnasium_gsp.bench.report.contents import FIGURE, Report, Section
from gymnasium_gsp.bench.report.document import figure_name, latex_tables, new_document, updated_document
from gymnasium_gsp.bench.report.figures import figure_file
from gymnasium_gsp.bench.report.page import page
from gymnasium_gsp.bench.report.table import csv_text
from gymnasium_gsp.errors import RecipeError

FIGURES = (".svg", ".pdf", ".png")
KINDS = (".html", ".md", ".csv", ".tex", *FIGURES)
NEEDED = {"scipy": "SciPy", "matplotlib": "matplotlib"}


def check_extras(what: str = "a report", needed: Mapping[str, str] = NEEDED, extra: str = "all") -> None:
    """Refuse at once if a package is missing that something is made with.

    Args:
        what: is made.
        needed: packages by the name of their module.
        extra: of this package, that installs them.

    Raises:
        RecipeError: that names it and the command that installs it.
    """
    missing = []
    for module, name in needed.items():
        try:
            import_module(module)
        except ImportError:
            missing.append(name)
    if missing:
        raise RecipeError(f"{what} needs {' and '.join(missing)}; install with: pip install 'gymnasium-gsp[{extra}]'")


def check_output(output: Path) -> Path:
    """The place as it will be used: a folder where it is one or its name has no suffix.

    Raises:
        RecipeError: for a suffix that says nothing, a missing folder, or a place that cannot be written.
    """
    if is_folder(output):
        parent = output if output.is_dir() else output.parent
    elif output.suffix.lower() not in KINDS:
        raise RecipeError(
            f"what to write to {output.name}? Its name must end in {', '.join(KINDS)}, or be that of a folder"
        )
    else:
        parent = output.parent
    if output.exists() and not output.is_file() and not output.is_dir():
        raise RecipeError(f"{output} is no file; give another -o")
    if output.is_file() and not output.suffix:
        raise RecipeError(f"{output} is a file, and a name without a suffix is that of a folder; give another -o")
    if not parent.is_dir():
        raise RecipeError(f"there is no folder {parent} for {output.name}; make it first, or give another -o")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise RecipeError(f"the folder {parent} cannot be written; give another -o")
    return output


def is_folder(output: Path) -> bool:
    """Whether a name is that of a folder: it is there already, or has no suffix."""
    return output.is_dir() or not output.suffix


def write_report(report: Report, output: Path) -> tuple[list[Path], list[str]]:
    """Write a report.

    Everything is made first, and every file is then written under another name and renamed, so that what was there
    stays until its successor is complete.

    Args:
        report: what to write.
        output: a file whose suffix says what it becomes, or a folder.

    Returns:
        The files written, and the parts that an existing Markdown document has no place for.

    Raises:
        RecipeError: if the place cannot be written, or a document that is there has no place for any part.
    """
    check_output(output)
    files: dict[Path, bytes] = {}
    left_out: list[str] = []
    if not is_folder(output):
        left_out = _make(report, output, files)
    else:
        for name in ("report.html", "report.md", "tables.tex"):
            left_out += _make(report, output / name, files)
        files.update({output / f"{table.name}.csv": csv_text(table).encode() for table in report.data})
    write_files(files)
    return list(files), left_out


def _make(report: Report, file: Path, files: dict[Path, bytes]) -> list[str]:
    """Add a file, and those beside it, to what will be written; return what a document has no place for."""
    kind = file.suffix.lower()
    if kind == ".md":
        text, left_out = _document(report, file)
        files[file] = text.encode()
        for section in report.sections:
            if section.panels and section.name not in left_out:
                files[file.with_name(figure_name(file.stem, section))] = _figure(report, [section], "svg")
        return left_out
    if kind in FIGURES:
        files[file] = _figure(report, [section for section in report.sections if section.name == FIGURE], kind[1:])
    elif kind == ".csv":
        files[file] = csv_text(report.data[0]).encode()
    elif kind == ".tex":
        files[file] = latex_tables(report).encode()
    else:
        files[file] = page(report).encode()
    return []


def _document(report: Report, file: Path) -> tuple[str, list[str]]:
    if not file.exists():
        return new_document(report, file.stem), []
    try:
        found = updated_document(file.read_text(encoding="utf-8"), report, file.stem)
    except (OSError, ValueError) as error:
        raise RecipeError(f"{file} cannot be updated: {error}; give another -o") from None
    if found is None:
        raise RecipeError(
            f"{file} is there and has no marker such as <!-- cells --> and <!-- /cells --> that a part of the report "
            "could stand between; it was left as it was: add markers, or give another -o"
        )
    return found


def _figure(report: Report, sections: Sequence[Section], kind: str) -> bytes:
    panels = [panel for section in sections for panel in section.panels]
    if not panels:
        raise RecipeError("there is nothing to draw: no budget is a number of simulations")
    return figure_file(panels, report.planners, report.marks, kind)


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files, each under another name and then renamed, so that what was there stays until that.

    A folder that is missing is made, its parent is not.

    Raises:
        RecipeError: if a place cannot be written.
    """
    for path, content in files.items():
        target = path.resolve()
        waiting = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            target.parent.mkdir(exist_ok=True)
            waiting.write_bytes(content)
            os.replace(waiting, target)
        except OSError as error:
            waiting.unlink(missing_ok=True)
            raise RecipeError(f"{path} cannot be written: {error.strerror or error}; give another -o") from None
