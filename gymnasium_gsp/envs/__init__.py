"""The benchmark environments: what exists, and how Gymnasium finds it.  Importing this room compiles nothing."""

from dataclasses import dataclass

import gymnasium as gym

from gymnasium_gsp.envs.rddl_instances import competition_instances


@dataclass(frozen=True)
class Benchmark:
    """One registered environment.

    Attributes:
        name: the part of the id between "GSP/" and "-v0".
        entry_point: where Gymnasium finds the class.
        max_episode_steps: the registered time limit, equal to the default `horizon`.
    """

    name: str
    entry_point: str
    max_episode_steps: int

    @property
    def id(self) -> str:
        """The full id, such as GSP/FrozenLake-v0."""
        return f"GSP/{self.name}-v0"


BENCHMARKS = (
    Benchmark("FrozenLake", "gymnasium_gsp.envs.frozen_lake:FrozenLakeEnv", 200),
    Benchmark("PassengerGrid", "gymnasium_gsp.envs.passenger_grid:PassengerGridEnv", 70),
    Benchmark("FactoredRiverSwim", "gymnasium_gsp.envs.factored_river_swim:FactoredRiverSwimEnv", 35),
    Benchmark("SysAdminRing", "gymnasium_gsp.envs.sysadmin_ring:SysAdminRingEnv", 50),
    Benchmark("FourRooms", "gymnasium_gsp.envs.four_rooms:FourRoomsEnv", 50),
)
"""The five benchmarks of the GS-Power-UCT paper, which presets and golden values are for."""

ENVIRONMENTS = (
    *BENCHMARKS,
    Benchmark("Sailing", "gymnasium_gsp.envs.sailing:SailingEnv", 100),
)
"""Every environment of the package."""


def register_envs() -> None:
    """Register every environment, and the competitions' instances, with Gymnasium, once however often it is called."""
    for entry in ENVIRONMENTS:
        if entry.id not in gym.registry:
            gym.register(id=entry.id, entry_point=entry.entry_point, max_episode_steps=entry.max_episode_steps)
    entry_point = "gymnasium_gsp.envs.rddl_instances:make_instance"
    for name, arguments in competition_instances():
        if name not in gym.registry:  # pyRDDLGym does not pass Gymnasium's checker
            gym.register(id=name, entry_point=entry_point, kwargs=arguments, disable_env_checker=True)
