"""`gsp report`: tables, figures and a page of what a store holds."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app


@app.command()
def report(
    store: front.StoreFile = Path("results.sqlite"),
    output: Annotated[
        list[Path] | None, typer.Option("--output", "-o", metavar="PATH", help="Can be given several times.")
    ] = None,
    modules: front.Modules = None,
    force: front.Force = False,
) -> None:
    """Write the benchmark's tables and figures: who wins, by how much and how sure, beside the exact optimum.

    The name of an output says what it becomes.  report.html, the default: one page with everything.  x.md: a document
    with a figure beside it; one that is there keeps what stands outside its markers <!-- NAME --> and <!-- /NAME -->.
    x.csv: every cell at full precision.  x.svg, x.pdf, x.png: return against budget.  A folder: all
    of them.  What an earlier report wrote is written over; any other file only with --force.

    Ends with exit code 1, all written, if a mean lies significantly above the optimum: such a planner sees the future.
    """
    from gymnasium_gsp.bench.cell import import_modules
    from gymnasium_gsp.bench.report.writing import write_report
    from gymnasium_gsp.bench.store import read

    import_modules(modules or ())
    if write_report(read(store), output or [Path("report.html")], print, force):
        raise typer.Exit(front.FAILED)
