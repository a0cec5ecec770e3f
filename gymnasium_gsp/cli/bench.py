"""`gsp bench` and `gsp export`: grids of episodes played into a store, resumable; and a store as a table."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import INTERRUPTED, app, leave, make_env, one_line_errors

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
    budgets: Annotated[str | None, typer.Option(metavar="N,...", help="Simulations per decision, ascending.")] = None,
    episodes: Annotated[
        list[str] | None, typer.Option(metavar="[AGENT=]M", help="Episodes a cell, for all or for one algorithm.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = None,
    preset: Annotated[list[str] | None, typer.Option(metavar="[AGENT=]NAME", help="A set of options, or none.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of every algorithm.")
    ] = None,
    env_settings: Annotated[
        list[str] | None, typer.Option("--env-set", metavar="KEY=VALUE", help="An argument of every environment.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="With paper: few budgets and episodes, minutes.")] = False,
    modules: Annotated[
        list[str] | None, typer.Option("--import", metavar="MODULE", help="A module that registers what is your own.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="J", help="Processes; all cores by default.")] = None,
    backend: Annotated[str, typer.Option(help="Who plays: local, dask or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the cluster, for dask and ray.")] = None,
) -> None:
    """Play a grid of environments, algorithms and budgets into a store; what is there already is not played again."""
    from gymnasium_gsp.bench.benchmark import check_origins, missing, play_missing, warm_up
    from gymnasium_gsp.bench.grid import series_of
    from gymnasium_gsp.bench.grid_flags import Flags, grids_of, import_modules
    from gymnasium_gsp.bench.progress import watching
    from gymnasium_gsp.bench.store import Store
    from gymnasium_gsp.bench.workers import check_workers, start_workers

    with one_line_errors():
        flags = Flags(envs, agents, budgets, episodes, seed, preset, settings, env_settings, quick)
        check_workers(backend, jobs, address)
        imported = list(modules or ())
        import_modules(imported)
        grids, more = grids_of(what, flags)
        imported += more
        series = series_of(grids, make_env)
        with Store(store) as results:
            check_origins(series, results)
            left = sum(map(len, missing(series, results)))
            total = sum(one.run.episodes for one in series)
            print(f"{len(series)} cells, {total:,} episodes, {total - left:,} of them in {store}", flush=True)
            if not left:
                return
            warm_up(series)
            workers = start_workers(backend, None if jobs is None else min(jobs, left), address)
            try:
                with watching(total) as watch:
                    play_missing(series, results, workers, imported, watch)
            except KeyboardInterrupt:
                kept = total - sum(map(len, missing(series, results)))
                leave(f"interrupted: {kept} of {total} episodes are in {store}; the same command goes on", INTERRUPTED)
            finally:
                workers.close()
    print(f"{total:,} episodes are in {store}")


@app.command()
def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .csv, or .parquet with pyarrow.")],
    store: Annotated[Path, typer.Option(help="The file of results.")] = Path("results.sqlite"),
) -> None:
    """Write every episode of a store as one row of a CSV or Parquet file."""
    from gymnasium_gsp.bench.export import export
    from gymnasium_gsp.bench.store import Store

    with one_line_errors(), Store(store, read_only=True) as results:
        print(f"{export(results, output):,} episodes are in {output}")
