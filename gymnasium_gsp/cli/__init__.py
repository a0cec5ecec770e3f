"""`gsp`: the command line, a thin front of `bench`.  What is heavy is imported when a command needs it."""

import io
import sys

_EXTRAS = {
    **dict.fromkeys(("typer", "rich", "tqdm", "pydantic", "loky"), "cli"),
    **dict.fromkeys(("pandas", "scipy", "matplotlib", "jinja2", "tabulate"), "bench"),
    **{"optuna": "tune", "tomli_w": "tune", "distributed": "dask", "PIL": "rendering", "moviepy": "films"},
}


def main() -> None:
    """Run the command line.

    Raises:
        SystemExit: with the exit code; 2 and one sentence if a package is missing.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a letter shows ? in its place
    try:
        from gymnasium_gsp.cli.commands import app

        app(prog_name="gsp")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _EXTRAS:
            raise
        print(f"gsp: this command needs {package}: pip install 'gymnasium-gsp[{_EXTRAS[package]}]'", file=sys.stderr)
        sys.exit(2)
