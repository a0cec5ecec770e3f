"""`gsp list`, `gsp run` and `gsp check`: the catalogue, playing with a planner, and whether an environment will do."""

import json
import shlex
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app, leave

if TYPE_CHECKING:
    from gymnasium_gsp.bench.advice import Start
    from gymnasium_gsp.bench.cell import Cell
    from gymnasium_gsp.bench.episode import Episode
    from gymnasium_gsp.search.result import SearchResult

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
    algorithm: front.FittingAlgorithm = None,
    preset: front.Preset = None,
    budget: front.FittingBudget = None,
    episodes: Annotated[int, typer.Option(metavar="M", min=1, help="How many episodes to play.")] = 20,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", min=1, help="Processes; they change no number.")] = 1,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
    as_json: AsJson = False,
) -> None:
    """Play episodes with an agent that plans at every step, and compare the mean return with the exact optimum."""
    from gymnasium_gsp.bench.advice import Start
    from gymnasium_gsp.bench.cell import Cell, import_needed
    from gymnasium_gsp.bench.console import print_plan, print_summary
    from gymnasium_gsp.bench.summary import summarise

    modules = import_needed(env, modules)
    cell = Cell.asked(
        budget, env=env, algorithm=algorithm, preset=preset, seed=seed, options=front.with_actions(options, actions),
        env_options=env_options, wrap=wrap, simulator=simulator,
    )  # fmt: skip
    live = cell.make_env()
    planner = cell.make_agent(live)
    if not as_json:
        print_plan(cell, episodes, planner, live, modules if budget is None else None)
    start = Start(cell, episodes, modules)
    played = play_shown(cell, episodes, jobs, modules, start)
    summary = summarise(cell, planner, live, played)
    live.close()
    if as_json:
        print(json.dumps(summary, indent=2))
    else:
        print_summary(summary, start.advice([episode.total_reward for episode in played], last=True))


@app.command()
def check(
    env: front.Environment,
    algorithm: front.FittingAlgorithm = None,
    budget: Annotated[str | None, typer.Option(metavar="N", help="Also time a decision with this budget.")] = None,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
) -> None:
    """Check whether an environment can be planned in, and say how, at what cost, and what to do where not."""
    from gymnasium_gsp.bench.advice import recommended_command, time_decision
    from gymnasium_gsp.bench.cell import Cell, import_needed
    from gymnasium_gsp.binding.check import check_snapshot

    modules = import_needed(env, modules)
    fields = {"env": env, "env_options": env_options, "options": front.with_actions(options, actions)}
    fields |= {"wrap": wrap, "simulator": simulator}
    cell = Cell(**fields)
    with closing(cell.make_env()) as live:
        result = check_snapshot(live, **cell.binding_options())
    print(result)
    if not result.passed:
        raise typer.Exit(front.FAILED)
    cells = [Cell.asked(each, algorithm, **fields) for each in ([None, budget] if budget else [None])]
    seconds = [time_decision(one) for one in cells]
    for one, each, which in zip(cells, seconds, ("by default", "as asked"), strict=False):
        print(f"a decision takes {each:.2g} s {which}, with --budget {shlex.quote(str(one.budget))}")
    print(f"recommended: {recommended_command(cells, seconds, modules)}")


def play_shown(cell: "Cell", episodes: int, jobs: int, modules: Iterable[str], start: "Start") -> list["Episode"]:
    """The episodes, with a progress bar if standard error is a terminal, and advice after a slow or weak start."""
    from gymnasium_gsp.bench.console import progress_shown, tell
    from gymnasium_gsp.bench.episode import play

    played: list[Episode] = []
    returns: list[float] = []
    try:
        with progress_shown(episodes, logged=False) as show:

            def note(mean: str = "first episode") -> None:
                if returns:
                    mean = f"mean return so far {sum(returns) / len(returns):.4g}"
                each = start.seconds / max(1, start.decisions)
                show(len(played), f"{mean}, {start.decisions:,} decisions of {each:.2g} s")
                if len(played) < episodes:
                    tell(start.advice(returns))

            def decided(result: "SearchResult") -> None:
                start.decided(result)
                note()

            for episode in play(cell, episodes, jobs, modules, decided):
                played.append(episode)
                returns.append(episode.total_reward)
                if jobs > 1:
                    start.played(episode)
                note()
    except KeyboardInterrupt:
        leave(f"interrupted after {len(played)} of {episodes} episodes", front.INTERRUPTED)
    return played
