"""PROST as a program: built from a checkout, and run for one session of the competitions' protocol."""

import os
import re
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.prost.rows import Batch

BUILD = Path("builds/release")
PATIENCE = 600.0
"""Seconds to wait for PROST: to connect, to learn from an instance before the first decision, and to end."""


class ProstError(Exception):
    """PROST could not be built, or broke off a session; says what it printed last."""


@dataclass(frozen=True)
class Programs:
    """The two programs of a build.

    Attributes:
        search: plans and talks to the server.
        parser: translates RDDL; `search` calls it.
    """

    search: Path
    parser: Path


def build(checkout: Path) -> Programs:
    """Build PROST by its own build script, unless that was done.

    It needs cmake, a C++ compiler, flex, bison, and the libraries BuDDy and Z3; its script finds the libraries in
    folders that the environment variables BDD_ROOT and Z3_ROOT name.

    Args:
        checkout: a folder with PROST's sources.

    Raises:
        ProstError: if the folder has no such sources, or the build fails.
    """
    folder = checkout.resolve() / BUILD
    programs = Programs(folder / "search/search", folder / "rddl_parser/rddl-parser")
    if programs.search.exists() and programs.parser.exists():
        return programs
    if not (checkout / "build.py").exists():
        raise ProstError(f"{checkout} has no build.py: name a checkout of prost-planner/prost")
    # The script answers 0 even where the build failed.
    command = [sys.executable, "build.py", f"-j{os.cpu_count()}"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    if not (programs.search.exists() and programs.parser.exists()):
        raise ProstError(f"PROST does not build in {checkout}:\n{_last(done.stdout + done.stderr)}")
    return programs


def play_session(programs: Programs, env: Any, engine: str, episodes: int, seed: int) -> Batch:
    """Play a session: one process of PROST, which learns once and plays all episodes.

    Args:
        programs: PROST.
        env: an environment of pyRDDLGym for the instance.
        engine: PROST's search engine, "[IPC2014 -T TRIALS -r 100]" for example.
        episodes: number of episodes.
        seed: of PROST and of the environment.

    Raises:
        ProstError: if PROST breaks off.
    """
    from benchmarks.prost.server import Server

    server = Server(env, episodes, seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
        Path(folder, "log").open("w+") as log,
    ):
        Path(folder, "rddl-parser-release").symlink_to(programs.parser)  # the name that PROST calls
        port, planner = listener.getsockname()[1], f"[PROST -s {seed} -se {engine} -log SILENT]"
        command = [str(programs.search), env.model.instance_name, "-p", str(port), planner]
        with subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT) as process:
            try:
                connection = _accept(listener, process)
                with connection:
                    connection.settimeout(PATIENCE)
                    returns = server.run_session(connection)
                process.wait(PATIENCE)
                log.seek(0)
                return Batch(returns, server.decisions, _depth(log.read()))
            except (OSError, subprocess.TimeoutExpired) as error:
                process.kill()
                log.seek(0)
                raise ProstError(f"PROST broke off: {error}\n{_last(log.read())}") from error
            except BaseException:
                process.kill()
                raise


def _accept(listener: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket:
    """Wait until PROST connects or ends."""
    listener.settimeout(1.0)
    for _ in range(int(PATIENCE)):
        try:
            return listener.accept()[0]
        except TimeoutError:
            if process.poll() is not None:
                break
    raise ConnectionError(f"it did not connect (exit status {process.poll()})")


def _depth(printed: str) -> int | None:
    """The search depth that PROST's heuristic has learned, as it prints it; None if it has learned none."""
    found = re.search(r"max search depth (?:to|is too low): (\d+)", printed)
    return int(found.group(1)) if found else None


def _last(printed: str, lines: int = 10) -> str:
    """The last lines of what a program printed."""
    return "\n".join(printed.strip().splitlines()[-lines:])
