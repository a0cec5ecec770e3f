"""`gsp tune`: choose an algorithm's options for an environment, and write them as a preset file."""

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import (
    INTERRUPTED,
    AgentName,
    AlgorithmSettings,
    Environment,
    EnvironmentSettings,
    Jobs,
    Modules,
    app,
    leave,
    one_line_errors,
)
from gymnasium_gsp.errors import RecipeError, check_count


@app.command()
def tune(
    env: Environment,
    agent: AgentName = "gs-power-uct",
    budgets: Annotated[str, typer.Option(metavar="N,...", help="The score is the mean over these budgets.")] = "64,256",
    runs: Annotated[int, typer.Option(metavar="M", help="Episodes of a candidate at each budget.")] = 300,
    tries: Annotated[
        list[str] | None,
        typer.Option(
            "--try", metavar="OPTION=VALUE,...", help="Values to try; by default the paper's grid of c, p, temperature."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--optuna", metavar="TRIALS", help="Let Optuna choose so many of all candidates.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="S", help="Of the episodes, which all candidates share; not 0, which run and bench play."),
    ] = 1,
    preset: Annotated[str | None, typer.Option(help="A named set of options below those that are tried.")] = None,
    settings: AlgorithmSettings = None,
    env_settings: EnvironmentSettings = None,
    modules: Modules = None,
    store: Annotated[Path, typer.Option(help="The file of episodes; the same command goes on.")] = Path(
        "tuning.sqlite"
    ),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The preset file to write.")] = None,
    jobs: Jobs = None,
) -> None:
    """Find the options that play best, and write a preset file that `gsp run` and `gsp bench` take."""
    with one_line_errors():
        from gymnasium_gsp.bench.cell import import_modules
        from gymnasium_gsp.bench.executors import start_workers
        from gymnasium_gsp.bench.grid import Grid
        from gymnasium_gsp.bench.store import Store
        from gymnasium_gsp.bench.tuning import Tuning, best, check_preset, choices_of, search, verdict, write_preset

        import_modules(modules or ())
        grid = Grid(
            envs=[env],
            agents=[agent],
            budgets=budgets,
            episodes=check_count("runs", runs),
            seed=seed,
            preset=preset,
            options=settings,
            env_options=env_settings,
        )
        choices = choices_of(agent, tries or ())
        if trials is not None:
            check_count("trials", trials)
        place = check_preset(output or Path(f"{agent}-{env.rpartition('/')[2].rpartition(':')[2]}.toml"))
        with Store(store) as episodes, start_workers("local", jobs) as workers:
            tuning = Tuning(grid, episodes, workers, modules or ())
            tuning.runs({})
            try:
                scores = search(tuning, choices, trials, _Shown())
                if not scores:
                    raise RecipeError("no candidate was complete, as said above; give other values, or more trials")
                winner = best(scores)
                print("fresh episodes for the best and for the defaults", flush=True)
                fresh = tuning.score(winner.candidate, seed=seed + 1)
                defaults = tuning.score({}, seed=seed + 1)
            except KeyboardInterrupt:
                leave(f"interrupted; what was played is in {store}, and the same command goes on", INTERRUPTED)
            write_preset(place, tuning, "gsp " + shlex.join(sys.argv[1:]), scores, winner, fresh, defaults)
    for line in verdict(scores, winner, fresh, defaults):
        print(line)
    print(f"written: {place}; use it with --preset {place}")


class _Shown:
    """Prints the outcome of each candidate, and an estimate of the remaining time."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def __call__(self, number: int, total: int, outcome: str) -> None:
        from gymnasium_gsp.bench.console import duration

        left = duration((time.monotonic() - self._begun) / number * (total - number))
        print(f"{number} of {total}, {outcome}; {left} remaining", file=sys.stderr, flush=True)
