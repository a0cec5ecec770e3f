"""`gsp study`: the paper's theory, checked."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import INTERRUPTED, app, leave, one_line_errors

_BUDGETS = "N,..."


@app.command()
def study(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="convergence, bias, sharing or overhead.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write Markdown, CSV and SVG there as well."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers, times excepted.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: seconds instead of minutes.")] = False,
    budgets: Annotated[str | None, typer.Option(metavar=_BUDGETS, help="Simulations, ascending.")] = None,
    env_budgets: Annotated[
        str | None, typer.Option(metavar=_BUDGETS, help="convergence: simulations on benchmarks.")
    ] = None,
    envs: Annotated[str | None, typer.Option(metavar="NAME,...", help="Benchmarks.")] = None,
    processes: Annotated[int | None, typer.Option(metavar="P", help="convergence, bias: random processes.")] = None,
    replicates: Annotated[int | None, typer.Option(metavar="R", help="convergence, bias: repetitions.")] = None,
    horizon: Annotated[int | None, typer.Option(metavar="H", help="convergence: steps on random processes.")] = None,
    decisions: Annotated[int | None, typer.Option(metavar="D", help="overhead: decisions a cell.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check the paper's theory: convergence, bias, sharing and overhead, each with a table and a plot."""
    with one_line_errors():
        from gymnasium_gsp.bench.grid_flags import budgets_of
        from gymnasium_gsp.bench.study.catalogue import prepare
        from gymnasium_gsp.bench.study.outcome import check_folder, json_text, write_study
        from gymnasium_gsp.bench.study.terminal import print_study, saying

        given = {
            "budgets": None if budgets is None else budgets_of(budgets),
            "env_budgets": None if env_budgets is None else budgets_of(env_budgets),
            "envs": None if envs is None else tuple(part.strip() for part in envs.split(",")),
            "processes": processes,
            "replicates": replicates,
            "horizon": horizon,
            "decisions": decisions,
        }
        measure = prepare(name, seed, quick, given)
        if output is not None:
            check_folder(output)
        try:
            with saying() as watch:
                found = measure(watch)
        except KeyboardInterrupt:
            leave("interrupted; nothing was written", INTERRUPTED)
        written = [] if output is None else write_study(found, output)
    if as_json:
        print(json_text(found))
        return
    print_study(found)
    if written:
        print("written:", ", ".join(map(str, written)))
