"""A study on the terminal: what it is at, and what it came to."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from gymnasium_gsp.bench.report.table import Column, Table
from gymnasium_gsp.bench.study.outcome import Study


@contextmanager
def saying() -> Iterator[Callable[[str], None]]:
    """A function that says what is being measured, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    with Console(stderr=True).status("measuring") as status:
        yield lambda words: status.update(escape(words))


def print_study(study: Study) -> None:
    """Print question, tables and findings."""
    console = Console(highlight=False)
    console.width = max(console.width, *(sum(_widths(table)) + 2 * len(_widths(table)) for table in study.tables))
    console.print(f"[bold]{escape(study.question)}[/]")
    for table in study.tables:
        console.print()
        _print_table(console, table)
        for note in table.notes:
            console.print(f"[dim]{escape(note)}[/]")
    console.print()
    for finding in study.findings:
        console.print(f"* {escape(finding)}")
    console.print(f"[dim]{escape(study.said_sizes)}[/]")


def _widths(table: Table) -> list[int]:
    """What each column needs so that no number is cut, without those that several rows have in common."""
    shared = table.headers - 1
    columns, cells = table.visible()[shared:], table.cells()
    words = [max(map(len, column.title.split())) for column in columns]
    return [max(word, *(len(row[shared + place]) for row in cells)) for place, word in enumerate(words)]


def _print_table(console: Console, table: Table) -> None:
    """The table with a line of its own for what several rows have in common, so that it is narrow enough."""
    shared = table.headers - 1
    columns, cells = table.visible()[shared:], table.cells()
    widths = _widths(table)
    console.print(f"[bold]{escape(table.title)}[/]")
    groups = [(common, list(rows)) for common, rows in groupby(cells, lambda row: row[:shared])]
    for number, (common, rows) in enumerate(groups):
        if common and number == 0:
            console.print(_grid(columns, widths, [], header=True))
        if common:
            console.print(f"[cyan]{escape(', '.join(common))}[/]")
        console.print(_grid(columns, widths, [row[shared:] for row in rows], header=not common))


def _grid(columns: Sequence[Column], widths: Sequence[int], rows: Sequence[Sequence[str]], header: bool) -> Grid:
    grid = Grid(box=None, pad_edge=False, show_header=header, header_style="dim")
    for column, width in zip(columns, widths, strict=True):
        grid.add_column(escape(column.title), justify="right" if column.number else "left", width=width)
    for row in rows:
        grid.add_row(*map(escape, row))
    return grid
