"""`gsp tune`: choose an algorithm's options for an environment, and write them as a preset file."""

import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gymnasium_gsp.cli.front import INTERRUPTED, app, leave, make_env, one_line_errors
from gymnasium_gsp.errors import RecipeError

if TYPE_CHECKING:
    from gymnasium_gsp.bench.store import Store
    from gymnasium_gsp.bench.tuning.candidates import Candidate, Choices
    from gymnasium_gsp.bench.tuning.search import Score, Task
    from gymnasium_gsp.bench.workers import Workers


@app.command()
def tune(
    env: Annotated[str, typer.Argument(metavar="ENV", help="GSP/FrozenLake-v0, FrozenLake for short, or module:Id.")],
    agent: Annotated[str, typer.Option(help="An algorithm; `gsp list` shows them.")] = "gs-power-uct",
    budgets: Annotated[str, typer.Option(metavar="N,...", help="The score is the mean over these budgets.")] = "64,256",
    runs: Annotated[int, typer.Option(metavar="M", help="Episodes of a candidate at each budget.")] = 300,
    tries: Annotated[
        list[str] | None,
        typer.Option(
            "--try", metavar="OPTION=VALUE,...", help="Values to try; by default the paper's grid of c, p, temperature."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--optuna", metavar="TRIALS", help="Let Optuna choose, and give up bad ones early.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="S", help="Of the episodes, which all candidates share; not 0, which run and bench play."),
    ] = 1,
    preset: Annotated[str | None, typer.Option(help="A named set of options below those that are tried.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of every candidate.")
    ] = None,
    env_settings: Annotated[
        list[str] | None, typer.Option("--env-set", metavar="KEY=VALUE", help="An argument of the environment.")
    ] = None,
    modules: Annotated[
        list[str] | None, typer.Option("--import", metavar="MODULE", help="A module that registers what is your own.")
    ] = None,
    store: Annotated[Path, typer.Option(help="The file of episodes; the same command goes on.")] = Path(
        "tuning.sqlite"
    ),
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The preset file to write.")] = None,
    jobs: Annotated[int | None, typer.Option(metavar="J", help="Processes; all cores by default.")] = None,
) -> None:
    """Find the options that play best, and write a preset file that `gsp run` and `gsp bench` take."""
    from gymnasium_gsp.bench.grid_flags import budgets_of, import_modules
    from gymnasium_gsp.bench.progress import watching
    from gymnasium_gsp.bench.protocol import Run, check_count
    from gymnasium_gsp.bench.settings import parse_arguments, parse_texts
    from gymnasium_gsp.bench.store import Store
    from gymnasium_gsp.bench.tuning.candidates import choices_of, combinations
    from gymnasium_gsp.bench.tuning.result import check_preset, ranking, write_preset
    from gymnasium_gsp.bench.tuning.search import Task, best, try_afresh
    from gymnasium_gsp.bench.workers import start_workers

    with one_line_errors():
        import_modules(modules or ())
        task = Task(
            env,
            agent,
            budgets_of(budgets),
            check_count("runs", runs),
            seed,
            preset,
            parse_texts(settings or ()),
            parse_arguments(env_settings or ()),
            tuple(modules or ()),
        )
        choices = choices_of(agent, tries or ())
        if trials is not None:
            check_count("trials", trials)
        place = check_preset(output or Path(f"{agent}-{env.rpartition('/')[2].rpartition(':')[2]}.toml"))
        make_env(Run(env, agent, env_options=task.env_options)).close()
        with Store(store) as episodes:
            workers = start_workers("local", jobs)
            try:
                if trials is None:
                    scores = _grid(task, combinations(choices), episodes, workers)
                else:
                    scores = _optuna(task, choices, trials, store, episodes, workers)
                if not scores:
                    raise RecipeError("no candidate was complete, as said above; give other values, or more trials")
                winner = best(scores)
                print("fresh episodes for the best and for the defaults", flush=True)
                with watching(2 * len(task.budgets) * task.runs) as watch:
                    fresh, defaults = try_afresh(task, [winner.candidate, ()], episodes, workers, watch)
            except KeyboardInterrupt:
                leave(f"interrupted; what was played is in {store}, and the same command goes on", INTERRUPTED)
            finally:
                workers.close()
        command = "gsp " + shlex.join(sys.argv[1:])
        write_preset(place, task, command, scores, winner, fresh, defaults)
    for line in ranking(scores, winner, fresh, defaults):
        print(line)
    print(f"written: {place}; use it with --preset {place}")


def _grid(task: "Task", candidates: "Sequence[Candidate]", episodes: "Store", workers: "Workers") -> "list[Score]":
    from gymnasium_gsp.bench.progress import watching
    from gymnasium_gsp.bench.tuning.candidates import named
    from gymnasium_gsp.bench.tuning.search import try_all

    total = len(candidates) * len(task.budgets) * task.runs
    print(f"{len(candidates)} candidates, {total:,} episodes", flush=True)
    with watching(total) as watch:
        found = try_all(task, candidates, episodes, workers, watch)
    for candidate, result in zip(candidates, found, strict=True):
        if isinstance(result, str):
            print(f"{named(candidate)}: given up, {result}", file=sys.stderr, flush=True)
    return [result for result in found if not isinstance(result, str)]


def _optuna(
    task: "Task", choices: "Choices", trials: int, store: Path, episodes: "Store", workers: "Workers"
) -> "list[Score]":
    from gymnasium_gsp.bench.progress import duration
    from gymnasium_gsp.bench.tuning.optuna_search import search

    begun, seen = time.monotonic(), 0

    def show(number: int, score: "Score | str") -> None:
        nonlocal seen
        seen += 1
        words = score if isinstance(score, str) else f"{score.mean:.4g}"
        left = (time.monotonic() - begun) / seen * (trials - number)
        print(f"trial {number} of {trials}: {words}; {duration(left)} remaining", file=sys.stderr, flush=True)

    return search(task, choices, trials, store.with_name(store.name + ".optuna"), episodes, workers, show)
