"""A report as text: a Markdown document with a figure beside it, and CSV."""

import re
from importlib import import_module
from pathlib import Path

import jinja2
import pandas as pd

from gymnasium_gsp.bench.report.contents import Report
from gymnasium_gsp.bench.report.tables import Table
from gymnasium_gsp.bench.report.text import markdown_text

import_module("tabulate")  # pandas needs it to write Markdown
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_PART = re.compile(r"<!-- (\S+) -->.*?<!-- /\1 -->", re.DOTALL)


def csv_text(frame: pd.DataFrame) -> str:
    """A frame at full precision; a text that a spreadsheet would take for a formula gets an apostrophe."""

    def plain(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value

    return str(frame.astype(object).map(plain).to_csv(index=False, lineterminator="\n"))


def markdown(table: Table) -> str:
    """A table as Markdown."""
    frame = table.frame.map(markdown_text).rename(columns=markdown_text)
    align = ["left" if left else "right" for left in table.left]
    return str(frame.to_markdown(index=False, colalign=align if len(frame) else None, disable_numparse=True))


def new_document(report: Report, figure: str) -> str:
    """A document with every part under its heading; what is written around the markers later will stay.

    Args:
        report: what to write.
        figure: name of the figure's file.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True, keep_trailing_newline=True
    )
    templates.filters |= {"text": markdown_text, "table": markdown}
    return templates.get_template("document.md").render(report=report, figure=figure)


def updated_document(old: str, new: str) -> tuple[str, list[str]]:
    """A document with its parts between markers as they are in another one.

    Returns:
        The text, and the names of the parts of the other one that it has no markers for.
    """
    parts = {part[1]: part[0] for part in _PART.finditer(new)}
    text = _PART.sub(lambda part: parts.get(part[1], part[0]), old)
    return text, [name for name in parts if name not in {part[1] for part in _PART.finditer(old)}]
