"""`gsp list`, `gsp run` and `gsp check`: the catalogue, playing with a planner, and whether an environment will do."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app, leave

if TYPE_CHECKING:
    from gymnasium_gsp.bench.cell import Cell
    from gymnasium_gsp.bench.episode import Episode

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command("list")
def list_all(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One environment or algorithm.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show environments with their optimum, and algorithms with ingredients, presets and guarantee.

    With the NAME of an algorithm also its description and its options.
    """
    from gymnasium_gsp.bench.catalogue import catalogue
    from gymnasium_gsp.bench.console import print_catalogue

    entries = catalogue(name)
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        print_catalogue(entries, described=name is not None)


@app.command()
def run(
    env: front.Environment,
    algorithm: front.AlgorithmName = "graft",
    preset: front.Preset = None,
    budget: front.FittingBudget = None,
    episodes: Annotated[int, typer.Option(metavar="M", min=1, help="How many episodes to play.")] = 20,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", min=1, help="Processes; they change no number.")] = 1,
    options: front.AlgorithmSettings = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
    as_json: AsJson = False,
) -> None:
    """Play episodes with an agent that plans at every step, and compare the mean return with the exact optimum."""
    from gymnasium_gsp.bench.cell import Cell, import_modules
    from gymnasium_gsp.bench.console import print_plan, print_summary
    from gymnasium_gsp.bench.summary import summarise

    import_modules(modules or ())
    cell = Cell.asked(
        budget, env=env, algorithm=algorithm, preset=preset, seed=seed, options=options, env_options=env_options,
        wrap=wrap, simulator=simulator,
    )  # fmt: skip
    live = cell.make_env()
    planner = cell.make_agent(live)
    if not as_json:
        print_plan(cell, episodes, planner, live, fitted=budget is None)
    summary = summarise(cell, planner, live, play_shown(cell, episodes, jobs, modules or ()))
    live.close()
    if as_json:
        print(json.dumps(summary, indent=2))
    else:
        print_summary(summary)


@app.command()
def check(env: front.Environment, env_options: front.EnvironmentSettings = None, modules: front.Modules = None) -> None:
    """Check whether an environment can be planned in, and say how, at what cost, and what to do where not."""
    from gymnasium_gsp.bench.cell import Cell, import_modules
    from gymnasium_gsp.bench.console import replay_options
    from gymnasium_gsp.binding.check import check_snapshot

    import_modules(modules or ())
    cell = Cell(env=env, env_options=env_options)
    live = cell.make_env()
    result = check_snapshot(live)
    print(result)
    if not result.passed:
        raise typer.Exit(front.FAILED)
    cell = cell.with_fitting_budget()
    agent = cell.make_agent(live)
    agent.act(*live.reset(seed=0))  # loads compiled code
    agent.reset(seed=0)
    seconds = agent.plan(*live.reset(seed=0)).seconds
    live.close()
    print(f"a decision by default takes {seconds:.2g} s: gsp run {env} {replay_options(cell)}")


def play_shown(cell: "Cell", episodes: int, jobs: int, modules: Iterable[str]) -> list["Episode"]:
    """The episodes, with a progress bar if standard error is a terminal."""
    from gymnasium_gsp.bench.console import progress_shown
    from gymnasium_gsp.bench.episode import play

    played: list[Episode] = []
    total_reward = 0.0
    try:
        with progress_shown(episodes, logged=False) as show:

            def decided(number: int) -> None:
                mean = f"mean return so far {total_reward / len(played):.4g}" if played else "first episode"
                show(len(played), f"{mean}, {number} decisions of episode {len(played) + 1}")

            for episode in play(cell, episodes, jobs, modules, decided):
                played.append(episode)
                total_reward += episode.total_reward
                show(len(played), f"mean return so far {total_reward / len(played):.4g}")
    except KeyboardInterrupt:
        leave(f"interrupted after {len(played)} of {episodes} episodes", front.INTERRUPTED)
    return played
