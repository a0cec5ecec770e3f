"""pyRDDLGym's server of the competitions' protocol, with its faults worked around."""

import contextlib
import io
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from pyRDDLGym.core.server import RDDLSimServer

END = b"\0"
"""The byte that ends a message of rddlsim and of PROST."""

SESSION_SECONDS = 1_000_000
"""Time allowed for a session as the client is told, far more than it takes; PROST does not plan with it."""


class Server(RDDLSimServer):
    """Plays episodes of an instance with a client that speaks the protocol of rddlsim.

    pyRDDLGym's server (2.7) does not play with PROST as it is:

    1. It ends its messages with three line breaks, and waits for three at the end of the client's; rddlsim and PROST
       use a zero byte.
    2. It counts turns from 1 and ends an episode before the turn whose number is the horizon, one step early.
    3. It reads files as UTF-8 only; a comment in Triangle Tireworld of 2014 is not.  pyRDDLGym's parser takes that.

    Args:
        env: an environment of pyRDDLGym, whose files are loaded again.
        episodes: number of episodes.
        seed: seed of the environment.

    Attributes:
        decisions: seconds of each decision, from the end of the server's message to the end of the client's.
    """

    def __init__(self, env: Any, episodes: int, seed: int) -> None:
        said = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),  # notes on its grammar
        ):
            files = [_readable(path, folder) for path in (env.domain_text, env.instance_text)]
            super().__init__(*files, episodes, SESSION_SECONDS, seed=seed)
        self.env.horizon += 1
        self.decisions: list[float] = []
        self._waited = 0.0

    def run_session(self, connection: socket.socket) -> list[float]:
        """Play all episodes.

        Returns:
            The return of each episode.

        Raises:
            ConnectionError: if the client goes away or sends what is not of the protocol.
        """
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                super().run_session(connection)
        except SystemExit as error:  # how pyRDDLGym's server leaves on a message that it does not understand
            raise ConnectionError(said.getvalue().strip().rpartition("\n")[2]) from error
        return [float(episode[-1]["round_reward"]) for episode in self.logs]

    def send_message(self, connection: socket.socket, msg: str) -> None:
        """Send a message with a zero byte at its end."""
        connection.sendall(msg.encode() + END)

    def receive_message(self, connection: socket.socket) -> str:
        """Receive a message that a zero byte ends; the client sends one at a time and awaits the answer."""
        begun, message = time.perf_counter(), b""
        while not message.endswith(END):
            received = connection.recv(8192)
            if not received:
                raise ConnectionError("the client closed the connection")
            message += received
        self._waited = time.perf_counter() - begun
        return message[: -len(END)].decode()

    def process_action(self, data: str) -> dict[str, str]:
        """Read the action of a decision and keep the time that the client took."""
        self.decisions.append(self._waited)
        return super().process_action(data)


def _readable(path: str, folder: str) -> str:
    """Copy a file into a folder with everything that is not UTF-8 replaced."""
    copy = Path(folder) / Path(path).name
    copy.write_text(Path(path).read_text(encoding="utf-8", errors="replace"), encoding="utf-8")
    return str(copy)
