"""`gsp list`, `gsp run` and `gsp check`: the catalogue, playing with a planner, and whether an environment will do."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from gymnasium_gsp.cli.front import (
    FAILED,
    INTERRUPTED,
    AgentName,
    AlgorithmSettings,
    Environment,
    EnvironmentSettings,
    app,
    leave,
    one_line_errors,
)
from gymnasium_gsp.errors import check_count

if TYPE_CHECKING:
    from gymnasium_gsp.bench.cell import Cell
    from gymnasium_gsp.bench.episode import Episode


@app.command("list")
def list_all(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show environments with their optimum, and algorithms with ingredients, presets and guarantee."""
    with one_line_errors():
        from gymnasium_gsp.bench.catalogue import catalogue
        from gymnasium_gsp.bench.console import print_catalogue

    entries = catalogue()
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        print_catalogue(entries)


@app.command()
def run(
    env: Environment,
    agent: AgentName = "gs-power-uct",
    preset: Annotated[str | None, typer.Option(help="A named set of its options, or a preset FILE.toml.")] = None,
    budget: Annotated[
        str, typer.Option(metavar="N", help="Simulations per decision, or limits: 'Budget(seconds=0.1)'.")
    ] = "256",
    episodes: Annotated[int, typer.Option(metavar="M", help="How many episodes to play.")] = 20,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", help="Processes; they change no number.")] = 1,
    settings: AlgorithmSettings = None,
    env_settings: EnvironmentSettings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Play episodes with an agent that plans at every step, and compare the mean return with the exact optimum."""
    with one_line_errors():
        from gymnasium_gsp.bench.cell import Cell
        from gymnasium_gsp.bench.console import print_plan, print_summary
        from gymnasium_gsp.bench.summary import summarise

        cell = Cell(
            env=env,
            algorithm=agent,
            preset=preset,
            budget=budget,
            seed=seed,
            options=settings,
            env_options=env_settings,
        )
        check_count("episodes", episodes)
        check_count("jobs", jobs)
        live = cell.make_env()
        planner = cell.make_agent(live)
        if not as_json:
            print_plan(cell, episodes, planner, live)
        summary = summarise(cell, planner, live, _play(cell, episodes, jobs))
        live.close()
    if as_json:
        print(json.dumps(asdict(summary), indent=2))
    else:
        print_summary(summary)


@app.command()
def check(
    env: Environment,
    env_settings: EnvironmentSettings = None,
) -> None:
    """Check whether an environment can be planned in, and say how, at what cost, and what to do where not."""
    with one_line_errors():
        from gymnasium_gsp.bench.cell import Cell
        from gymnasium_gsp.binding.check import check_snapshot

        live = Cell(env=env, env_options=env_settings).make_env()
        result = check_snapshot(live)
        live.close()
    print(result)
    if not result.passed:
        raise typer.Exit(FAILED)


def _play(cell: "Cell", episodes: int, jobs: int) -> list["Episode"]:
    """The episodes, with a progress bar if standard error is a terminal."""
    import time

    from gymnasium_gsp.bench.console import progress_shown
    from gymnasium_gsp.bench.episode import play

    played: list[Episode] = []
    begun, total_reward = time.monotonic(), 0.0
    try:
        with progress_shown(episodes, lines=False) as show:
            for done, episode in enumerate(play(cell, episodes, jobs), start=1):
                played.append(episode)
                total_reward += episode.total_reward
                remaining = (time.monotonic() - begun) / done * (episodes - done)
                show(done, remaining, f"mean return so far {total_reward / done:.4g}")
    except KeyboardInterrupt:
        leave(f"interrupted after {len(played)} of {episodes} episodes", INTERRUPTED)
    return played
