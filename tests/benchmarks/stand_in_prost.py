"""A stand-in for PROST's program: the same arguments and the same protocol, with a policy that needs no search.

It reboots the first machine of SysAdmin that does not run.  The search engine [BROKEN] makes it break off, and [RUDE]
makes it send what is not of the protocol.
"""

import base64
import json
import socket
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

END = b"\0"


class Server:
    """The other end."""

    def __init__(self, port):
        self.socket = socket.create_connection(("localhost", port))
        self.buffer = b""

    def send(self, text):
        self.socket.sendall(f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode() + END)

    def receive(self, tag):
        while END not in self.buffer:
            data = self.socket.recv(4096)
            assert data, "the server closed the connection"
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(END)
        root = ElementTree.fromstring(message.decode())
        assert root.tag in tag, root.tag
        return root


def policy(turn):
    """The action of a turn, which lists the fluents of a state."""
    for fluent in turn.findall("observed-fluent"):
        if fluent.find("fluent-value").text == "false":
            machine = fluent.find("fluent-arg").text
            return (
                f"<action><action-name>reboot</action-name><action-arg>{machine}</action-arg>"
                "<action-value>true</action-value></action>"
            )
    return ""


def play(server):
    """Play an episode; returns the number of actions and the sum of rewards."""
    server.send("<round-request> <execute-policy>yes</execute-policy> </round-request>")
    server.receive(("round-init",))
    turn, total = server.receive(("turn",)), 0.0
    for actions in range(1, 1000):
        server.send(f"<actions>{policy(turn)}</actions>")
        turn = server.receive(("turn", "round-end"))
        total += float(turn.find("immediate-reward").text)
        if turn.tag == "round-end":
            assert abs(total - float(turn.find("round-reward").text)) < 1e-9
            return actions
    raise AssertionError("the episode has no end")


def main():
    problem, option, port, planner = sys.argv[1:]
    assert option == "-p"
    assert planner.startswith("[PROST -s ")
    if "[BROKEN]" in planner:
        sys.exit("Error: broken")
    server = Server(int(port))
    if "[RUDE]" in planner:
        server.send("<hello/>")
        server.receive(("hello",))
    server.send(
        f"<session-request><problem-name>{problem}</problem-name><client-name>stand-in</client-name>"
        "<input-language>rddl</input-language><no-header/></session-request>"
    )
    session = server.receive(("session-init",))
    task = Path("task.rddl")
    task.write_bytes(base64.b64decode(session.find("task").text))
    subprocess.run(["./rddl-parser-release", task], check=True)
    print("THTS heuristic IDS: Setting max search depth to: 7", flush=True)
    actions = [play(server) for _ in range(int(session.find("num-rounds").text))]
    server.receive(("session-end",))
    record = {"planner": planner, "actions": actions, "task": task.read_text()}
    with Path(__file__).with_name("sessions.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
