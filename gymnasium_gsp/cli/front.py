"""The front of every command: the application, one-line errors with an exit code, and making an environment."""

import difflib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from gymnasium_gsp import __version__
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import PlanningError, RecipeError, unknown_name

if TYPE_CHECKING:
    import gymnasium as gym

    from gymnasium_gsp.bench.protocol import Run

USAGE, FAILED, INTERRUPTED = 2, 1, 130
_UsageError: Any = typer.BadParameter.__bases__[0]  # typer has no public name for it


def complain(message: object) -> None:
    """Say what is wrong, in one line on standard error."""
    print("gsp:", " ".join(str(message).split()), file=sys.stderr)


def leave(message: object, code: int = USAGE) -> NoReturn:
    """Say what is wrong and end the command with an exit code."""
    complain(message)
    raise typer.Exit(code)


class _Group(TyperGroup):
    """Commands whose usage errors are one line, like all other errors."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except _UsageError as error:
            complain(error.format_message())
            code = USAGE
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(cls=_Group, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


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
    here = os.getcwd()
    if here not in sys.path:  # an installed command does not look for modules where one stands, as `python -m` does
        sys.path.append(here)
    if context.invoked_subcommand is None:
        print(context.get_help())


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what the library says about a wrong recipe or a failed search into one line and an exit code."""
    from gymnasium.error import Error

    try:
        yield
    except (RecipeError, Error) as error:
        leave(error)
    except PlanningError as error:
        leave(error, FAILED)


def make_env(planned: "Run") -> "gym.Env[Any, Any]":
    """The environment; whatever its constructor raises is about what was typed, and becomes one line."""
    from gymnasium.error import Error, UnregisteredEnv

    try:
        return planned.make_env()
    except UnregisteredEnv as error:
        leave(f"{error} {_nearest(planned.env)}")
    except Error:
        raise
    except Exception as error:
        leave(_unknown_argument(planned, error) or f"{planned.env} cannot be made: {type(error).__name__}: {error}")


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
