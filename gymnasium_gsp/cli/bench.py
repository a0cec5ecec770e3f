"""`gsp bench` and `gsp export`: grids of episodes played into a store, resumable; and a store as a table."""

from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app, leave
from gymnasium_gsp.errors import RecipeError

Names = Annotated[list[str] | None, typer.Option(metavar="NAME,...", help="As `gsp list` shows them, or module:Id.")]


@app.command()
def bench(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[paper|ippc|sailing|GRID.toml]", help="A benchmark of the package, or a file of grids."
        ),
    ] = None,
    store: front.StoreFile = Path("results.sqlite"),
    envs: Names = None,
    algorithms: Names = None,
    budgets: Annotated[
        str | None, typer.Option(metavar="N,...", help="Simulations per decision, or limits: 'Budget(seconds=0.1)'.")
    ] = None,
    episodes: Annotated[int | None, typer.Option(metavar="M", help="Episodes of each cell; 200 by default.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = None,
    preset: front.Preset = None,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="With paper or ippc: few budgets and episodes, minutes.")
    ] = False,
    modules: front.Modules = None,
    jobs: front.Jobs = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Play on the Dask cluster whose scheduler is there.")
    ] = None,
) -> None:
    """Play a grid of environments, algorithms and budgets into a store; what is there already is not played again.

    With a benchmark or a file, the other options change the grids that stand there.
    """
    from gymnasium_gsp.bench.benchmark import Benchmark, check_origins, compile_all, missing
    from gymnasium_gsp.bench.cell import import_modules
    from gymnasium_gsp.bench.console import progress_shown
    from gymnasium_gsp.bench.executors import start_workers
    from gymnasium_gsp.bench.grid import grids_of, runs_of
    from gymnasium_gsp.bench.store import Store
    from gymnasium_gsp.bench.texts import counted

    if dask and jobs:
        raise RecipeError("a cluster plays with all the processes it has: give --jobs or --dask, not both")
    import_modules(modules or ())
    flags = {"envs": envs, "algorithms": algorithms, "budgets": budgets, "episodes": episodes, "preset": preset}
    flags |= {"options": front.with_actions(options, actions), "env_options": env_options}
    flags |= {"seed": seed, "wrap": wrap, "simulator": simulator}
    file = grids_of(what, flags, quick)
    runs = runs_of(file.grid)
    with Store(store) as results:
        check_origins(runs, results)
        left = sum(map(len, missing(runs, results)))
        total = sum(run.episodes for run in runs)
        print(
            f"{counted(len(runs), 'cell')}, {counted(total, 'episode')}, {total - left:,} of them in {store}",
            flush=True,
        )
        if not left:
            return
        imported, simulated = [*(modules or ()), *file.all_modules()], any(run.simulated for run in runs)
        try:
            with start_workers(jobs and min(jobs, left), dask, apart=simulated) as workers:
                compile_all(runs, workers, imported)
                with progress_shown(total, total - left) as show:
                    Benchmark(runs, results, workers, imported, show).play()
        except KeyboardInterrupt:
            kept = total - sum(map(len, missing(runs, results)))
            leave(
                f"interrupted: {kept} of {total} episodes are in {store}; the same command goes on", front.INTERRUPTED
            )
    print(f"played: {counted(total, 'episode')}, in {store}")


@app.command()
def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, .csv.")],
    store: front.StoreFile = Path("results.sqlite"),
) -> None:
    """Write every episode of a store as one row of a CSV file."""
    from gymnasium_gsp.bench.store import export

    print(f"{export(store, output):,} episodes are in {output}")
