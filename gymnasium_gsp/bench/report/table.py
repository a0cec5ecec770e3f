"""A table as a value, and how it is written as Markdown, CSV, LaTeX and HTML."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

Cell = Any  # a text, a number, a truth value or None
MINUS, PLUS_MINUS, TO = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}", "\N{EN DASH}"
BREAK = "\n"  # what follows in a cell is of less weight: on a line of its own where there are lines
UP, DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"  # better, worse


def text(value: Cell) -> str:
    """A value as it stands in a column without a format of its own."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def fixed(digits: int, sign: str = "") -> Callable[[Cell], str]:
    """A format for numbers with so many decimals; nothing for None."""

    def write(value: Cell) -> str:
        # adding 0 makes a plain zero of a negative one
        return "" if value is None else f"{round(value, digits) + 0.0:{sign},.{digits}f}".replace("-", MINUS)

    return write


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        title: its heading.
        key: its name in CSV.
        format: from a value to what people read.
        number: whether it holds numbers, which are aligned to the right.
        long: whether it holds long texts, which are broken into lines.
        shown: whether people see it; CSV has all columns.
    """

    title: str
    key: str
    format: Callable[[Cell], str] = text
    number: bool = False
    long: bool = False
    shown: bool = True


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: a word for files and markers.
        title: what it shows.
        columns: its columns; the first `headers` of them name the row.
        rows: one tuple a row, as long as the columns.
        notes: what a reader must know, each a sentence or two.
        headers: how many leading columns name the row.
        classes: a word for how each row looks on the page, such as "alarm"; same length as rows, or empty.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    headers: int = 1
    classes: Sequence[str] = ()

    def visible(self) -> list[Column]:
        """The columns that people see."""
        return [column for column in self.columns if column.shown]

    def cells(self) -> list[list[str]]:
        """What people read, row by row."""
        return [
            [column.format(value) for column, value in zip(self.columns, row, strict=True) if column.shown]
            for row in self.rows
        ]


def markdown(table: Table) -> str:
    """The table and its notes as Markdown."""
    lines = [
        _markdown_row([column.title for column in table.visible()]),
        "|" + "|".join("---:" if column.number else "---" for column in table.visible()) + "|",
        *(_markdown_row(row) for row in table.cells()),
    ]
    notes = "".join(f"\n\n{markdown_text(note)}" for note in table.notes)
    return "\n".join(lines) + notes


def markdown_text(words: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    for character in "\\`*_|<>[]":
        words = words.replace(character, "\\" + character)
    return " ".join(words.split())


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def csv_text(table: Table) -> str:
    """The table's values at full precision, as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in table.rows:
        writer.writerow([_csv_value(value) for value in row])
    return file.getvalue()


def _csv_value(value: Cell) -> Cell:
    """A value that a spreadsheet does not take for a formula."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    MINUS: "$-$",
    PLUS_MINUS: r"$\pm$",
    TO: "--",
    UP: r"$\uparrow$",
    DOWN: r"$\downarrow$",
    "\N{INFINITY}": r"$\infty$",
    **{character: "\\" + character for character in "&%$#_"},
}


def latex_text(words: str) -> str:
    """Text that LaTeX sets as it is."""
    return "".join(_LATEX.get(character, character) for character in " ".join(words.split()))


def latex(table: Table) -> str:
    """The table as a `longtable` with rules of `booktabs`, its notes below it."""
    heading = " & ".join(latex_text(column.title) for column in table.visible()) + r" \\"
    body = [" & ".join(map(_latex_cell, row)) + r" \\" for row in table.cells()]
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}",
            r"\begin{longtable}{" + "".join("r" if column.number else "l" for column in table.visible()) + "}",
            rf"\caption{{{latex_text(table.title)}}}\label{{tab:{table.name}}}\\",
            rf"\toprule {heading} \midrule \endfirsthead",
            rf"\toprule {heading} \midrule \endhead",
            r"\bottomrule \endfoot",
            *body,
            r"\end{longtable}}",
            *(rf"\noindent {latex_text(note)}\par" for note in table.notes),
        ]
    )


def _latex_cell(words: str) -> str:
    first, broken, rest = words.partition(BREAK)
    if not broken:
        return latex_text(words)
    return rf"\shortstack[r]{{{latex_text(first)}\\\relax {latex_text(rest)}}}"  # \relax: [ is no length


def html(table: Table, swatches: Mapping[str, str] | None = None) -> str:
    """The table in a frame that scrolls, its notes below it.

    Args:
        table: what to write.
        swatches: HTML that stands before a text in the column "planner", by that text.
    """
    head = "".join(
        f'<th scope="col"{_class(column)}>{escape(column.title)}</th>' if column.title else "<td></td>"
        for column in table.visible()
    )
    lines = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>',
        f"<caption>{escape(table.title)}</caption>",
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
    ]
    for number, row in enumerate(table.cells()):
        kind = f' class="{table.classes[number]}"' if table.classes and table.classes[number] else ""
        lines.append(f"<tr{kind}>{_html_row(table, row, swatches or {})}</tr>")
    lines.append("</tbody></table></div>")
    lines += [f'<p class="note">{escape(note)}</p>' for note in table.notes]
    return "\n".join(lines)


def _html_row(table: Table, row: Sequence[str], swatches: Mapping[str, str]) -> str:
    cells = []
    for place, (column, words) in enumerate(zip(table.visible(), row, strict=True)):
        if place < table.headers:
            swatch = swatches.get(words, "") if column.key == "planner" else ""
            cells.append(f'<th scope="row"{_class(column)}>{swatch}{escape(words)}</th>')
        else:
            cells.append(f"<td{_class(column)}>{_marked(escape(words))}</td>")
    return "".join(cells)


def _marked(words: str) -> str:
    """Text of a cell with its marks coloured, and named for those who cannot see them, and its lines."""
    for mark, name in ((UP, "better"), (DOWN, "worse")):
        words = words.replace(mark, f'<span class="{name}" role="img" aria-label="{name}">{mark}</span>')
    first, broken, rest = words.partition(BREAK)
    return f"{first}<br><small>{rest}</small>" if broken else first


def _class(column: Column) -> str:
    return ' class="n"' if column.number else ' class="long"' if column.long else ""
