"""The development set: environments apart from the five benchmarks, to choose constants on; importing registers them.

`benchmarks/development.toml` plays it, `python -m benchmarks.development STORE` prints the table.  Those held out are
for the last look alone: no choice is made on them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import gymnasium as gym


class Entry(NamedTuple):
    """An environment of ours.

    Attributes:
        make: where Gymnasium finds what makes it; within this package if it begins with a dot.
        steps: time limit; None for a process that ends by itself.
        arguments: of what makes it.
    """

    make: str
    steps: int | None
    arguments: Mapping[str, object] = MappingProxyType({})


ENTRIES = {
    "Random10": Entry(".processes:make_random", 20, {"states": 10, "actions": 2, "branching": 10}),
    "Random35": Entry(".processes:make_random", 15, {"states": 35, "actions": 4, "branching": 35}),
    "Random200": Entry(".processes:make_random", 50, {"states": 200, "actions": 5, "branching": 4, "paying": 0.1}),
    "Endless35": Entry(".processes:make_random", None, {"states": 35, "actions": 4, "branching": 3, "end": 0.05}),
    "Endless100": Entry(".processes:make_random", None, {"states": 100, "actions": 6, "branching": 10, "end": 0.02}),
    "NoisyArms": Entry(".processes:make_random", 20, {"states": 5, "actions": 30, "branching": 2, "noisy": True}),
    "Actions100": Entry(".processes:make_random", 20, {"states": 20, "actions": 100, "branching": 3}),
    "Actions466": Entry(".processes:make_random", 20, {"states": 10, "actions": 466, "branching": 3}),
    "Chain40": Entry(".puzzles:make_chain", 60, {"length": 40}),
    "SlidingTiles": Entry(".puzzles:make_sliding_tiles", 40),
    "Boxes": Entry(".puzzles:make_boxes", 60),
    "KeyMaze7": Entry(".mazes:make_maze", 60, {"name": "small"}),
    "KeyMaze11": Entry(".mazes:make_maze", 120, {"name": "large", "slip": 0.1}),
    "Racetrack": Entry(".racetrack:make_racetrack", 40),
    "Sailing10": Entry("gymnasium_gsp.envs.sailing:SailingEnv", 100, {"size": 10}),
    "SlipperyCliff": Entry("gymnasium.envs.toy_text.cliffwalking:CliffWalkingEnv", 100, {"is_slippery": True}),
}
"""The environments of ours, and two of others with other arguments, by the part of the id that names them."""

HELD_OUT = (
    "Development/Endless100-v0",
    "Development/KeyMaze11-v0",
    "Development/Racetrack-v0",
    "IPPC/CrossingTraffic_MDP_ippc2011-1",
)
"""Ids of the environments that no choice is made on."""

for name, entry in ENTRIES.items():
    if (env_id := f"Development/{name}-v0") not in gym.registry:
        place = f"{__name__}{entry.make}" if entry.make.startswith(".") else entry.make
        gym.register(env_id, place, max_episode_steps=entry.steps, kwargs=dict(entry.arguments))
