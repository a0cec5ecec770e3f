"""`gsp`: the command line, a thin front of `bench`.  What is heavy is imported when a command needs it."""

import sys


def main() -> None:
    """Run the command line.

    Raises:
        SystemExit: with exit code 2 and one sentence if the packages of the command line are missing.
    """
    try:
        import rich  # noqa: F401 (commands import it late)

        from gymnasium_gsp.cli.commands import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(f"gsp: the command line needs {error.name}: pip install 'gymnasium-gsp[cli]'", file=sys.stderr)
        sys.exit(2)
    app(prog_name="gsp")
