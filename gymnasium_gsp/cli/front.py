"""The front of every command: the application, the options that several share, and errors in one line."""

import errno
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from gymnasium.error import Error
from typer.core import TyperGroup

from gymnasium_gsp import __version__
from gymnasium_gsp.errors import PlanningError, RecipeError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
_UsageError: Any = typer.BadParameter.__bases__[0]  # typer has no public name for it

Environment = Annotated[
    str, typer.Argument(metavar="ENV", help="GSP/FrozenLake-v0, FrozenLake for short, or module:Id.")
]
AlgorithmName = Annotated[str, typer.Option(help="An algorithm; `gsp list` shows them.")]
FittingAlgorithm = Annotated[
    str | None,
    typer.Option(
        show_default="graft, or what fits where states do not recur", help="An algorithm; `gsp list` shows them."
    ),
]
Preset = Annotated[str | None, typer.Option(help="A named set of options of the algorithm, or a preset FILE.toml.")]
Jobs = Annotated[int | None, typer.Option(metavar="J", min=1, help="Processes; all cores by default.")]
StoreFile = Annotated[Path, typer.Option(metavar="FILE", help="The file of episodes; the same command goes on.")]
Modules = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="MODULE", help="A module that registers environments or algorithms of your own."),
]
EnvironmentSettings = Annotated[
    list[str] | None,
    typer.Option("--env-set", metavar="KEY=VALUE", help="An argument of the environment, in JSON: --env-set slip=0."),
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that exists.")]
AlgorithmSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="An option of the algorithm: --set 'horizon=FixedHorizon(10)'."),
]

Actions = Annotated[
    str | None,
    typer.Option(
        metavar="N,...",
        help="Points of a continuous action space, in every dimension or in each; by default a grid that refines.",
    ),
]
Wrap = Annotated[
    str | None, typer.Option(metavar="MODULE:FUNCTION", help="Takes the environment and returns it wrapped.")
]
Simulator = Annotated[
    str | None, typer.Option(metavar="MODULE:FUNCTION", help="Returns a private environment to simulate in.")
]
FittingBudget = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Simulations per decision, or limits: 'Budget(seconds=0.1)'; by default what fits the cost of a step.",
    ),
]


def with_actions(options: list[str] | None, actions: str | None) -> list[str] | None:
    """The settings of the algorithm with the points of a continuous action space among them."""
    if actions is None:
        return options
    return [*(options or ()), f"actions=[{actions}]" if "," in actions else f"actions={actions}"]


def leave(message: object, code: int) -> NoReturn:
    """End the command with an exit code and one line on standard error."""
    print("gsp:", " ".join(str(message).split()), file=sys.stderr)
    sys.exit(code)


def _user_error(error: Exception) -> str:
    """An exception that a user's own code raised: type, text, place, and the innermost line outside of this package.

    Empty where this package raised it; then its traceback is worth more.
    """
    remote = type(error.__cause__).__name__ == "_RemoteTraceback"  # raised in another process
    lines = str(error.__cause__) if remote else "".join(traceback.format_tb(error.__traceback__))
    *_, (file, line) = re.findall(r'File "(.+?)", line (\d+)', lines) or [("", "")]
    if not file or Path(file).is_relative_to(Path(__file__).parents[1]):
        return ""
    place = ", ".join(getattr(error, "__notes__", ()))
    return ", ".join(filter(None, [f"{type(error).__name__}: {error}", place, f"at {file}:{line}"]))


class _Group(TyperGroup):
    """Commands that end every error with one line and an exit code."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
            sys.stdout.flush()
        except _UsageError as error:
            leave(error.format_message(), USAGE)
        except (RecipeError, Error) as error:
            leave(error, USAGE)
        except PlanningError as error:
            leave(error, FAILED)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python writes again when it ends
            leave(f"the output cannot be written: {error.strerror}", FAILED)
        except Exception as error:
            if not getattr(error, "__notes__", ()) or not (words := _user_error(error)):
                raise
            leave(words, FAILED)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(cls=_Group, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def gsp(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Online planning for Gymnasium: plan in an environment, and see the return beside the exact optimum."""
    here = os.getcwd()
    if here not in sys.path:  # an installed command does not look for modules in the current folder, `python -m` does
        sys.path.append(here)
    if version:
        print(f"gymnasium-gsp {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
