"""`gsp bench` and `gsp export`: grids of episodes played into a store, resumable; and a store as a table."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import (
    INTERRUPTED,
    AlgorithmSettings,
    EnvironmentSettings,
    Jobs,
    Modules,
    app,
    leave,
    one_line_errors,
)

_NAMES = "NAME,..."


@app.command()
def bench(
    what: Annotated[
        str | None, typer.Argument(metavar="[paper|GRID.toml]", help="The paper's protocol, or a file of grids.")
    ] = None,
    store: Annotated[Path, typer.Option(help="The file of results; the same command goes on.")] = Path(
        "results.sqlite"
    ),
    envs: Annotated[list[str] | None, typer.Option(metavar=_NAMES, help="Environments; module:Id too.")] = None,
    agents: Annotated[list[str] | None, typer.Option(metavar=_NAMES, help="Algorithms, as `gsp list` shows.")] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="N,...", help="Simulations per decision, ascending; or limits such as 'Budget(seconds=0.1)'."
        ),
    ] = None,
    episodes: Annotated[
        list[str] | None, typer.Option(metavar="[AGENT=]M", help="Episodes a cell, for all or for one algorithm.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = None,
    preset: Annotated[list[str] | None, typer.Option(metavar="[AGENT=]NAME", help="A set of options, or none.")] = None,
    settings: AlgorithmSettings = None,
    env_settings: EnvironmentSettings = None,
    quick: Annotated[bool, typer.Option("--quick", help="With paper: few budgets and episodes, minutes.")] = False,
    modules: Modules = None,
    jobs: Jobs = None,
    backend: Annotated[str, typer.Option(help="Who plays: local or dask.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the Dask scheduler.")] = None,
) -> None:
    """Play a grid of environments, algorithms and budgets into a store; what is there already is not played again."""
    with one_line_errors():
        from gymnasium_gsp.bench.benchmark import Benchmark, check_origins, compile_all, missing
        from gymnasium_gsp.bench.cell import import_modules
        from gymnasium_gsp.bench.console import progress_shown
        from gymnasium_gsp.bench.executors import check_workers, start_workers
        from gymnasium_gsp.bench.grid import by_algorithm, grids_of, runs_of
        from gymnasium_gsp.bench.store import Store

        check_workers(backend, jobs, address)
        import_modules(modules or ())
        flags = {
            "envs": envs,
            "agents": agents,
            "budgets": budgets,
            "episodes": by_algorithm("episodes", episodes),
            "preset": by_algorithm("preset", preset),
            "seed": seed,
            "options": settings,
            "env_options": env_settings,
        }
        grids, more_modules = grids_of(what, flags, quick)
        runs = runs_of(grids)
        with Store(store) as results:
            check_origins(runs, results)
            left = sum(map(len, missing(runs, results)))
            total = sum(run.episodes for run in runs)
            print(f"{len(runs)} cells, {total:,} episodes, {total - left:,} of them in {store}", flush=True)
            if not left:
                return
            compile_all(runs)
            imported = [*(modules or ()), *more_modules]
            try:
                with (
                    start_workers(backend, None if jobs is None else min(jobs, left), address) as workers,
                    progress_shown(total) as show,
                ):
                    Benchmark(
                        runs,
                        results,
                        workers,
                        imported,
                        lambda progress: show(progress.done, progress.remaining, str(progress.cell or "")),
                    ).play()
            except KeyboardInterrupt:
                kept = total - sum(map(len, missing(runs, results)))
                leave(f"interrupted: {kept} of {total} episodes are in {store}; the same command goes on", INTERRUPTED)
    print(f"{total:,} episodes are in {store}")


@app.command()
def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .csv, or .parquet with pyarrow.")],
    store: Annotated[Path, typer.Option(help="The file of results.")] = Path("results.sqlite"),
) -> None:
    """Write every episode of a store as one row of a CSV or Parquet file."""
    with one_line_errors():
        from gymnasium_gsp.bench.store import export

        print(f"{export(store, output):,} episodes are in {output}")
