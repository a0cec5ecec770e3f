"""`gsp report`: tables, figures and a page of what a store holds."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import FAILED, app, one_line_errors


@app.command()
def report(
    store: Annotated[Path, typer.Option(metavar="FILE", help="The episodes that `gsp bench` has played.")] = Path(
        "results.sqlite"
    ),
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="report.html, the default: one page with everything. x.md: a document with a figure beside it; one "
            "that is there keeps what stands outside its markers <!-- NAME --> and <!-- /NAME -->. x.csv: every cell "
            "at full precision. x.tex: tables for LaTeX. x.svg, x.pdf, x.png: return against budget. A folder: all of "
            "them. Can be given several times.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The planner that the others are compared with; by default the winner."),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="A module that registers environments of your own."),
    ] = None,
) -> None:
    """Write the benchmark's tables and figures: who wins, by how much and how sure, beside the exact optimum.

    Ends with exit code 1, all written, if a mean lies significantly above the optimum: such a planner sees the future.
    """
    with one_line_errors():
        from gymnasium_gsp.bench.report.output import check_extras, check_output

        check_extras()
        outputs = [check_output(place) for place in output or [Path("report.html")]]
        import pandas as pd

        from gymnasium_gsp.bench.export import record
        from gymnasium_gsp.bench.grid_flags import import_modules
        from gymnasium_gsp.bench.report.writing import write_report
        from gymnasium_gsp.bench.store import Store
        from gymnasium_gsp.bench.store_file import COLUMNS

        import_modules(modules or ())
        with Store(store, read_only=True) as opened:
            episodes = [
                {**record(row), "budget": row.cell.budget, "preset": row.cell.preset or ""} for row in opened.rows()
            ]
        alarms = write_report(pd.DataFrame(episodes, columns=list(COLUMNS)), outputs, reference, print)
    if alarms:
        raise typer.Exit(FAILED)
