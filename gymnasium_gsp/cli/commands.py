"""The application with all its commands."""

from gymnasium_gsp.cli import bench, evaluation, looking, planning, report, tune  # noqa: F401 (their commands are added to the application)
from gymnasium_gsp.cli.front import app

__all__ = ["app"]
