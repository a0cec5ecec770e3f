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
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="report.html: one page with everything. x.md: a document with figures beside it; one that is there "
            "keeps what stands outside its markers <!-- NAME --> and <!-- /NAME -->. x.csv: every cell at full "
            "precision. x.tex: tables for LaTeX. x.svg, x.pdf, x.png: return against budget. A folder: all of them.",
        ),
    ] = Path("report.html"),
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The planner that the others are compared with; by default gs-power-uct."),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="A module that registers environments of your own."),
    ] = None,
) -> None:
    """Write the benchmark's tables and figures: ours beside the published returns and the exact optimum.

    Ends with exit code 1, all written, if a mean lies significantly above the optimum: such a planner sees the future.
    """
    with one_line_errors():
        from gymnasium_gsp.bench.report.output import check_extras, check_output, write_report

        check_extras()
        check_output(output)
        from gymnasium_gsp.bench.cell import import_modules
        from gymnasium_gsp.bench.report.contents import make_report
        from gymnasium_gsp.bench.store import Store

        import_modules(modules or ())
        with Store(store, read_only=True) as opened:
            rows = opened.rows()
        found = make_report(rows, reference)
        written, left_out = write_report(found, output)
    print(found.summary)
    for line in (*found.alarms, *found.warnings):
        print(line)
    if found.missing:
        print(f"Gaps in the grid: {len(found.missing)}, named in the report.")
    if left_out:
        print(f"No markers for, so not written: {', '.join(left_out)}.")
    print("written:", ", ".join(map(str, written)))
    if found.alarms:
        raise typer.Exit(FAILED)
