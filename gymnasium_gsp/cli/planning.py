"""`gsp list`, `gsp run` and `gsp check`: what there is, playing with a planner, and whether an environment will do."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from gymnasium_gsp.cli.front import FAILED, INTERRUPTED, app, leave, make_env, one_line_errors

if TYPE_CHECKING:
    from gymnasium_gsp.bench.protocol import Episode, Run


@app.command("list")
def list_all(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show environments with their optimum, and algorithms with ingredients, presets and guarantee."""
    from gymnasium_gsp.bench.catalogue import catalogue
    from gymnasium_gsp.bench.console import print_catalogue

    found = catalogue()
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print_catalogue(found)


@app.command()
def run(
    env: Annotated[str, typer.Argument(metavar="ENV", help="GSP/FrozenLake-v0, FrozenLake for short, or module:Id.")],
    agent: Annotated[str, typer.Option(help="An algorithm; `gsp list` shows them.")] = "gs-power-uct",
    preset: Annotated[str | None, typer.Option(help="A named set of its options, or a preset FILE.toml.")] = None,
    budget: Annotated[
        str, typer.Option(metavar="N", help="Simulations per decision, or limits: 'Budget(seconds=0.1)'.")
    ] = "256",
    episodes: Annotated[int, typer.Option(metavar="M", help="How many episodes to play.")] = 20,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", help="Processes; they change no number.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="An option of the agent, as in --set 'horizon=FixedHorizon(10)'."
        ),
    ] = None,
    env_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--env-set", metavar="KEY=VALUE", help="An argument of the environment, in JSON: --env-set slip=0."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Play episodes with an agent that plans at every step, and compare the mean return with the exact optimum."""
    from gymnasium_gsp.agents.values import parse_value
    from gymnasium_gsp.bench.console import print_plan, print_summary
    from gymnasium_gsp.bench.protocol import Run, check_count, summarise
    from gymnasium_gsp.bench.settings import parse_arguments, parse_settings

    with one_line_errors():
        planned = Run(
            env=env,
            agent=agent,
            budget=parse_value(budget),
            episodes=episodes,
            seed=seed,
            preset=preset,
            options=parse_settings(settings or ()),
            env_options=parse_arguments(env_settings or ()),
        )
        check_count("jobs", jobs)
        live = make_env(planned)
        planner = planned.make_agent(live)
        if not as_json:
            print_plan(planned, planner, live)
        summary = summarise(planned, planner, live, _play(planned, jobs))
        live.close()
    if as_json:
        print(json.dumps(asdict(summary), indent=2))
    else:
        print_summary(summary)


@app.command()
def check(
    env: Annotated[str, typer.Argument(metavar="ENV", help="Any id, module:Id included, or a benchmark for short.")],
    env_settings: Annotated[
        list[str] | None,
        typer.Option("--env-set", metavar="KEY=VALUE", help="An argument of the environment, in JSON."),
    ] = None,
) -> None:
    """Check whether an environment can be planned in, and say how, at what cost, and what to do where not."""
    from gymnasium_gsp.bench.protocol import Run
    from gymnasium_gsp.bench.settings import parse_arguments
    from gymnasium_gsp.binding.check import check_snapshot

    with one_line_errors():
        live = make_env(Run(env=env, env_options=parse_arguments(env_settings or ())))
        found = check_snapshot(live)
        live.close()
    print(found)
    if not found.passed:
        raise typer.Exit(FAILED)


def _play(planned: "Run", jobs: int) -> list["Episode"]:
    """The episodes, with a progress bar if standard error is a terminal."""
    from gymnasium_gsp.bench.console import with_progress
    from gymnasium_gsp.bench.runner import play

    played: list[Episode] = []
    try:
        for episode in with_progress(play(planned, jobs), planned.episodes):
            played.append(episode)
    except KeyboardInterrupt:
        leave(f"interrupted after {len(played)} of {planned.episodes} episodes", INTERRUPTED)
    return played
