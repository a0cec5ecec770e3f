"""`gsp tune`: choose an algorithm's options for an environment, and write them as a preset file."""

import shlex
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app, leave
from gymnasium_gsp.errors import RecipeError


@app.command()
def tune(
    env: front.Environment,
    algorithm: front.AlgorithmName = "gs-power-uct",
    budgets: Annotated[str, typer.Option(metavar="N,...", help="The score is the mean over these budgets.")] = "64,256",
    runs: Annotated[int, typer.Option(metavar="M", help="Episodes of a candidate at each budget.")] = 300,
    tries: Annotated[
        list[str] | None,
        typer.Option(
            "--try", metavar="OPTION=VALUE,...", help="Values to try; by default the paper's grid of c, p, temperature."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--optuna", metavar="TRIALS", min=1, help="Let Optuna choose so many candidates.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="S", help="Of the episodes, which all candidates share; not 0, which run and bench play."),
    ] = 1,
    preset: front.Preset = None,
    options: front.AlgorithmSettings = None,
    env_options: front.EnvironmentSettings = None,
    modules: front.Modules = None,
    store: front.StoreFile = Path("tuning.sqlite"),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The preset file to write.")] = None,
    jobs: front.Jobs = None,
) -> None:
    """Find the options that play best, and write a preset file that `gsp run` and `gsp bench` take."""
    from gymnasium_gsp.bench.cell import import_modules
    from gymnasium_gsp.bench.executors import start_workers
    from gymnasium_gsp.bench.grid import Grid
    from gymnasium_gsp.bench.store import Store
    from gymnasium_gsp.bench.tuning import Tuning, best, check_preset, choices_of, search, verdict, write_preset

    import_modules(modules or ())
    below = {"preset": preset, "options": options, "env_options": env_options}
    grid = Grid(envs=[env], algorithms=[algorithm], budgets=budgets, episodes=runs, seed=seed, **below)
    choices = choices_of(algorithm, tries or ())
    place = check_preset(output or Path(f"{algorithm}-{env.rpartition('/')[2].rpartition(':')[2]}.toml"))
    begun = time.monotonic()

    def show(number: int, total: int, outcome: str) -> None:
        left = timedelta(seconds=round((time.monotonic() - begun) / number * (total - number)))
        print(f"{number} of {total}, {outcome}; {left} remaining", file=sys.stderr, flush=True)

    with Store(store) as episodes, start_workers(jobs) as workers:
        tuning = Tuning(grid, episodes, workers, modules or ())
        tuning.runs({})
        try:
            scores = search(tuning, choices, trials, show)
            if not scores:
                raise RecipeError("no candidate was complete, as said above; give other values, or more trials")
            winner = best(scores)
            print("fresh episodes for the best and for the defaults", flush=True)
            fresh, defaults = (tuning.score(candidate, seed=seed + 1) for candidate in (winner.candidate, {}))
        except KeyboardInterrupt:
            leave(f"interrupted; what was played is in {store}, and the same command goes on", front.INTERRUPTED)
        write_preset(place, tuning, "gsp " + shlex.join(sys.argv[1:]), scores, winner, fresh, defaults)
    for line in verdict(scores, winner, fresh, defaults):
        print(line)
    print(f"written: {place}; use it with --preset {place}")
