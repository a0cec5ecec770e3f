"""Senseless constructor arguments: the error says what was given and what is allowed."""

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp.envs import ENVIRONMENTS

NAMES = [entry.name for entry in ENVIRONMENTS]

SENSELESS = [
    *[
        (name, {"horizon": value}, f"horizon.*not {value!r}")
        for name in NAMES
        for value in (0, -3, 2.5, "9", None, True)
    ],
    *[
        (name, {"slip": value}, f"slip must be a number between 0 and 0.5, not {value!r}")
        for name in ("FrozenLake", "PassengerGrid", "FourRooms")
        for value in (-0.1, 0.6, float("nan"), "0.1", None, True, [0.1])
    ],
    ("FrozenLake", {"desc": "SFFG"}, "list of rows"),
    ("FrozenLake", {"desc": 5}, "list of rows.*not 5"),
    ("FrozenLake", {"desc": [1, 2]}, "list of rows"),
    ("FrozenLake", {"desc": []}, "not empty"),
    ("FrozenLake", {"desc": [""]}, "not empty"),
    ("FrozenLake", {"desc": ["SF", "G"]}, "equally long"),
    ("FrozenLake", {"desc": ["SX", "FG"]}, r"\['X'\]; allowed letters: S, F, H, G"),
    ("FrozenLake", {"desc": ["SS", "FG"]}, "exactly one 'S'"),
    ("FrozenLake", {"desc": ["SF", "FF"]}, "at least one 'G'"),
    ("PassengerGrid", {"width": 0}, "width must be a whole number between 1 and 256, not 0"),
    ("PassengerGrid", {"height": 257}, "height.*256, not 257"),
    ("PassengerGrid", {"start": [7, 0]}, "x of start.*between 0 and 6, not 7"),
    ("PassengerGrid", {"start": [0, -1]}, "y of start.*between 0 and 5, not -1"),
    ("PassengerGrid", {"goal": 6}, r"goal must be \[x, y\], not 6"),
    ("PassengerGrid", {"goal": [6, 0, 0]}, r"goal must be \[x, y\]"),
    ("PassengerGrid", {"goal": [6.0, 0]}, "x of goal must be a whole number between 0 and 6, not 6.0"),
    ("PassengerGrid", {"goal": [0, 0]}, "different cells"),
    ("PassengerGrid", {"passengers": []}, "list of 1 to 16 cells"),
    ("PassengerGrid", {"passengers": [[x, y] for x in range(1, 6) for y in range(4)]}, "list of 1 to 16 cells"),
    ("PassengerGrid", {"passengers": 3}, "list of 1 to 16 cells.*not 3"),
    ("PassengerGrid", {"passengers": [[1, 2], [3]]}, r"passenger 1 must be \[x, y\], not \[3\]"),
    ("PassengerGrid", {"passengers": [[1, 2], [1, 2]]}, "different cells"),
    ("PassengerGrid", {"passengers": [[0, 0]]}, "different cells"),
    ("PassengerGrid", {"passengers": [[6, 0]]}, "different cells"),
    ("FactoredRiverSwim", {"length": 1}, "length must be a whole number between 2 and 256, not 1"),
    ("FactoredRiverSwim", {"length": 257}, "length.*not 257"),
    ("FactoredRiverSwim", {"chains": 0}, "chains.*between 1 and 7, not 0"),
    ("FactoredRiverSwim", {"chains": 8}, "chains.*between 1 and 7, not 8"),
    ("SysAdminRing", {"machines": 0}, "machines.*between 1 and 62, not 0"),
    ("SysAdminRing", {"machines": 63}, "machines.*between 1 and 62, not 63"),
    ("SysAdminRing", {"machines": 4.0}, "machines must be a whole number between 1 and 62, not 4.0"),
    ("Sailing", {"size": 1}, "size must be a whole number between 2 and 1000, not 1"),
    ("Sailing", {"size": 1001}, "size.*1000, not 1001"),
    ("Sailing", {"size": "9"}, "size.*not '9'"),
    ("Sailing", {"start": 0}, r"start must be \[x, y, wind\], not 0"),
    ("Sailing", {"start": [0, 0]}, r"start must be \[x, y, wind\]"),
    ("Sailing", {"start": [100, 0, 0]}, "x of start.*between 0 and 99, not 100"),
    ("Sailing", {"start": [0, -1, 0]}, "y of start.*between 0 and 99, not -1"),
    ("Sailing", {"start": [0, 0, 8]}, "wind of start.*between 0 and 7, not 8"),
    ("Sailing", {"start": [99, 99, 0]}, r"start must not be the goal \[99, 99\]"),
    *[
        ("Sailing", {"discount": value}, f"discount must be a number above 0.*not {value!r}")
        for value in (0, 1.1, "1", True)
    ],
    ("FourRooms", {"room_size": 0}, "room_size.*between 1 and 100, not 0"),
    ("FourRooms", {"room_size": 101}, "room_size.*not 101"),
    ("FourRooms", {"room_size": "5"}, "room_size must be a whole number between 1 and 100, not '5'"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), SENSELESS, ids=str)
def test_senseless_arguments_are_refused(name, arguments, message):
    with pytest.raises(ValueError, match=message.replace("[0.1]", r"\[0\.1\]")):
        gym.make(f"GSP/{name}-v0", **arguments)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_arguments_are_refused(name):
    with pytest.raises(TypeError, match="unexpected keyword argument 'sllip'"):
        gym.make(f"GSP/{name}-v0", sllip=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_numpy_numbers_are_arguments(name):
    env = gym.make(f"GSP/{name}-v0", horizon=np.int64(9)).unwrapped
    assert type(env.horizon) is int
