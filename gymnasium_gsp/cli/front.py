"""The front of every command: the application, and errors in one line with an exit code."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from gymnasium_gsp import __version__
from gymnasium_gsp.errors import PlanningError, RecipeError

USAGE, FAILED, INTERRUPTED = 2, 1, 130
_EXTRAS = {"pydantic": "cli", "loky": "cli", "pandas": "bench", "scipy": "bench", "optuna": "tune"}
_UsageError: Any = typer.BadParameter.__bases__[0]  # typer has no public name for it

Environment = Annotated[
    str, typer.Argument(metavar="ENV", help="GSP/FrozenLake-v0, FrozenLake for short, or module:Id.")
]
AgentName = Annotated[str, typer.Option(help="An algorithm; `gsp list` shows them.")]
Jobs = Annotated[int | None, typer.Option(metavar="J", help="Processes; all cores by default.")]
Modules = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="MODULE", help="A module that registers environments or algorithms of your own."),
]
EnvironmentSettings = Annotated[
    list[str] | None,
    typer.Option("--env-set", metavar="KEY=VALUE", help="An argument of the environment, in JSON: --env-set slip=0."),
]
AlgorithmSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="An option of the algorithm, as in --set 'horizon=FixedHorizon(10)'."
    ),
]


def complain(message: object) -> None:
    """Print an error in one line on standard error."""
    print("gsp:", " ".join(str(message).split()), file=sys.stderr)


def leave(message: object, code: int = USAGE) -> NoReturn:
    """Print an error and end the command with an exit code."""
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
    if here not in sys.path:  # an installed command does not look for modules in the current folder, `python -m` does
        sys.path.append(here)
    if context.invoked_subcommand is None:
        print(context.get_help())


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the library's errors, and a package that is missing, into one line and an exit code."""
    from gymnasium.error import Error

    try:
        yield
    except (RecipeError, Error) as error:
        leave(error)
    except PlanningError as error:
        leave(error, FAILED)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        leave(f"this command needs {error.name}: pip install 'gymnasium-gsp[{_EXTRAS[error.name]}]'")
