"""How far a benchmark is, on standard error: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gymnasium_gsp.bench.benchmark import State

_LINE_SECONDS = 30.0  # between two plain lines


def duration(seconds: float | None) -> str:
    """A time in the two largest units that it has; "?" if it is not known."""
    if seconds is None:
        return "?"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"


@contextmanager
def watching(total: int) -> Iterator[Callable[[State], Any]]:
    """What to call with the state of a benchmark of `total` episodes."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("[dim]playing[/]"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("remaining {task.fields[remaining]}"),
        TextColumn("[dim]{task.fields[cell]}[/]"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("play", total=total, remaining="?", cell="")

        def show(state: State) -> None:
            progress.update(task, completed=state.done, remaining=duration(state.remaining), cell=_named(state))

        yield show


class _Lines:
    """Plain lines, the first as soon as the remaining time is known."""

    def __init__(self) -> None:
        self._last: float | None = None

    def __call__(self, state: State) -> None:
        now = time.monotonic()
        if state.remaining is None or (self._last is not None and now - self._last < _LINE_SECONDS):
            return
        self._last = now
        print(
            f"{state.done} of {state.total} episodes, {duration(state.seconds)} so far, "
            f"{duration(state.remaining)} remaining; last {_named(state)}",
            file=sys.stderr,
            flush=True,
        )


def _named(state: State) -> str:
    cell = state.cell
    return "" if cell is None else f"{cell.env.rpartition('/')[2]} {cell.algorithm} {cell.budget}"
