"""The benchmarks as families: other maps, lengths, rooms and networks, all with actions permuted and states relabelled.

Importing it registers them.  PassengerGrid has no family.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from benchmarks.families.relabelled import relabelled
from benchmarks.families.sysadmin_graph import SysAdminGraphEnv
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.envs.factored_river_swim import FactoredRiverSwimEnv
from gymnasium_gsp.envs.four_rooms import FourRoomsEnv
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv

_FROZEN = 0.8  # probability that a place of a random lake is no hole; Gymnasium's default


class Family(NamedTuple):
    """Environments like one benchmark.

    Attributes:
        id: of the environment.
        benchmark: id of the benchmark.
        sizes: of its members.
    """

    id: str
    benchmark: str
    sizes: Iterable[int]


FAMILIES = (
    Family("Families/FrozenLake-v0", "GSP/FrozenLake-v0", range(4, 13)),
    Family("Families/RiverSwim-v0", "GSP/FactoredRiverSwim-v0", range(3, 9)),
    Family("Families/SysAdmin-v0", "GSP/SysAdminRing-v0", (8, 10, 12, 20, 30)),
    Family("Families/FourRooms-v0", "GSP/FourRooms-v0", (2, 3, 4, 6, 7, 8)),
)


def make_lake(size: int) -> CompiledEnv[Any]:
    """A random lake of size x size, on which the goal can be reached."""
    return relabelled(FrozenLakeEnv)(shuffle=size, desc=generate_random_map(size, _FROZEN, seed=size))


def make_rivers(size: int) -> CompiledEnv[Any]:
    """Three rivers of this length."""
    return relabelled(FactoredRiverSwimEnv)(shuffle=size, length=size)


def make_rooms(size: int) -> CompiledEnv[Any]:
    """Four rooms of size x size."""
    return relabelled(FourRoomsEnv)(shuffle=size, room_size=size)


def make_network(size: int) -> CompiledEnv[Any]:
    """A random network of so many machines; each numbering of them is as random as the others."""
    return SysAdminGraphEnv(machines=size, seed=size)


_MAKERS = {"FrozenLake": ("make_lake", 200), "RiverSwim": ("make_rivers", 35), "FourRooms": ("make_rooms", 50)}
for name, (maker, steps) in {**_MAKERS, "SysAdmin": ("make_network", 50)}.items():
    if (env_id := f"Families/{name}-v0") not in gym.registry:
        gym.register(env_id, f"{__name__}:{maker}", max_episode_steps=steps)
