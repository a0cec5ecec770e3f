"""`gsp`: the command line, a thin front of `bench`.  What is heavy is imported when a command needs it."""

from gymnasium_gsp.cli import bench, planning, report, tune  # noqa: F401 (their commands are added to the application)
from gymnasium_gsp.cli.front import app


def main() -> None:
    """Run the command line."""
    app(prog_name="gsp")
