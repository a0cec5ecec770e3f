"""`gsp`: the command line, a thin front of `bench`.  What is heavy is imported when a command needs it."""

import difflib
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from gymnasium_gsp import __version__
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import PlanningError, RecipeError, unknown_name

if TYPE_CHECKING:
    import gymnasium as gym

    from gymnasium_gsp.bench.protocol import Episode, Run

_USAGE, _FAILED, _INTERRUPTED = 2, 1, 130
_UsageError: Any = typer.BadParameter.__bases__[0]  # typer has no public name for it


def _complain(message: object) -> None:
    print("gsp:", " ".join(str(message).split()), file=sys.stderr)


def _leave(message: object, code: int = _USAGE) -> NoReturn:
    _complain(message)
    raise typer.Exit(code)


class _Group(TyperGroup):
    """Commands whose usage errors are one line, like all other errors."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except _UsageError as error:
            _complain(error.format_message())
            code = _USAGE
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(cls=_Group, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


def main() -> None:
    """Run the command line."""
    app(prog_name="gsp")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gymnasium-gsp {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def gsp(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Online planning for Gymnasium: plan in an environment, and see the return beside the exact optimum."""
    if context.invoked_subcommand is None:
        print(context.get_help())


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
    preset: Annotated[str | None, typer.Option(help="A named set of its options: paper or printed.")] = None,
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
    from gymnasium_gsp.bench.console import print_plan, print_summary
    from gymnasium_gsp.bench.protocol import Run, check_count, summarise
    from gymnasium_gsp.bench.settings import parse_arguments, parse_settings, parse_value

    with _one_line_errors():
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
        live = _make_env(planned)
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
def speed(
    rounds: Annotated[int, typer.Option(help="How often each case is timed; medians count.")] = 5,
    scale: Annotated[float, typer.Option(help="Multiplies the number of episodes.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Time the search beside hand-written C++, every algorithm, the first decision, and count bytes."""
    from gymnasium_gsp.bench.console import show_speed
    from gymnasium_gsp.bench.protocol import check_count
    from gymnasium_gsp.bench.speed import report

    with _one_line_errors():
        check_count("rounds", rounds)
        if scale <= 0.0:
            raise RecipeError(f"scale must be above 0, not {scale!r}")
        if as_json:
            print(json.dumps(report(rounds, scale), indent=2))
        else:
            report(rounds, scale, show_speed)


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
    from gymnasium_gsp.models.check import check_snapshot

    with _one_line_errors():
        live = _make_env(Run(env=env, env_options=parse_arguments(env_settings or ())))
        found = check_snapshot(live)
        live.close()
    print(found)
    if not found.passed:
        raise typer.Exit(_FAILED)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what the library says about a wrong recipe or a failed search into one line and an exit code."""
    from gymnasium.error import Error

    try:
        yield
    except (RecipeError, Error) as error:
        _leave(error)
    except PlanningError as error:
        _leave(error, _FAILED)


def _make_env(planned: "Run") -> "gym.Env[Any, Any]":
    """The environment; whatever its constructor raises is about what was typed, and becomes one line."""
    from gymnasium.error import Error, UnregisteredEnv

    try:
        return planned.make_env()
    except UnregisteredEnv as error:
        _leave(f"{error} {_nearest(planned.env)}")
    except Error:
        raise
    except Exception as error:
        _leave(_unknown_argument(planned, error) or f"{planned.env} cannot be made: {type(error).__name__}: {error}")


def _unknown_argument(planned: "Run", error: Exception) -> str | None:
    """What to say if the environment was refused for an argument that does not exist; else None."""
    import gymnasium as gym
    from gymnasium.envs.registration import load_env_creator

    given = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    spec = gym.registry.get(planned.env.rpartition(":")[2])
    if given is None or given[1] not in planned.env_options or spec is None:
        return None
    creator = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    return None if creator is None else unknown_name(f"argument of {spec.id}", given[1], signature(creator).parameters)


def _nearest(env: str) -> str:
    """The benchmark whose name is most like the one in an id."""
    word = env.rpartition(":")[2].rpartition("/")[2].partition("-v")[0].lower()
    ids = {benchmark.name.lower(): benchmark.id for benchmark in BENCHMARKS}
    near = difflib.get_close_matches(word, ids, n=1, cutoff=0.6)
    return f"The nearest benchmark is {ids[near[0]]}." if near else f"The benchmarks are {', '.join(ids.values())}."


def _play(planned: "Run", jobs: int) -> list["Episode"]:
    """The episodes, with a progress bar if standard error is a terminal."""
    from gymnasium_gsp.bench.console import with_progress
    from gymnasium_gsp.bench.runner import play

    played: list[Episode] = []
    try:
        for episode in with_progress(play(planned, jobs), planned.episodes):
            played.append(episode)
    except KeyboardInterrupt:
        _leave(f"interrupted after {len(played)} of {planned.episodes} episodes", _INTERRUPTED)
    return played


if __name__ == "__main__":
    main()
