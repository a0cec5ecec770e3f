"""The rows of docs/play.md: third-party environments, variants of them, and their goals."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import TransformObservation

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.connection import connect

Policy = Callable[[Any, np.random.Generator], Any]
"""A function from the environment and a random stream to an action, which the planner is compared with."""


@dataclass(frozen=True)
class Row:
    """One environment and its goal.

    Attributes:
        name: on the command line.
        env: in the table.
        make: makes the environment.
        episodes: number of episodes.
        budget: of each decision.
        goal: the mean return to reach; None where only the rival must be beaten.
        algorithm: the planner's algorithm; None for what the agent chooses.
        rival: name of a rival that plays the same seeds.
        make_rival: makes its policy.
        sigmas: standard errors of the difference by which the rival must be beaten.
        longest: steps after which an episode without a time limit is stopped.
    """

    name: str
    env: str
    make: Callable[[], Any]
    episodes: int
    budget: gsp.Budget
    goal: float | None = None
    algorithm: str | None = None
    rival: str = ""
    make_rival: Callable[[Any], Policy] | None = None
    sigmas: float = 0.0
    longest: int = 1000


def random_policy(env: Any) -> Policy:
    """Return a policy that is uniform over the actions, without regard to masks."""
    actions = connect(env).actions
    return lambda env, draw: actions[int(draw.integers(actions.count))]


def idle_policy(env: Any) -> Policy:
    """Return a policy that takes highway-env's action IDLE, which changes neither lane nor speed."""
    idle = next(number for number, name in env.unwrapped.action_type.actions.items() if name == "IDLE")
    return lambda env, draw: idle


def _rddl(domain: str) -> Callable[[], Any]:
    return lambda: importlib.import_module("pyRDDLGym").make(f"{domain}_MDP_ippc2011", "1")


def _minigrid(name: str) -> Callable[[], Any]:
    return partial(gym.make, f"minigrid:MiniGrid-{name}-v0")


def _changed(env_id: str, **physics: float) -> Callable[[], Any]:
    """An environment with other physical constants than it is registered with."""

    def make() -> gym.Env[Any, Any]:
        env = gym.make(env_id)
        for name, value in physics.items():
            setattr(env.unwrapped, name, value)
        return env

    return make


def _reobserved(env_id: str) -> Callable[[], Any]:
    """An environment whose observation is turned round, is in other units, and ends with two numbers of noise."""

    def make() -> gym.Env[Any, Any]:
        env, draw = gym.make(env_id), np.random.default_rng(0)
        count = env.observation_space.shape[0]  # type: ignore[index]
        units = 10.0 ** np.arange(count)
        space = gym.spaces.Box(-np.inf, np.inf, (count + 2,), np.float64)
        return TransformObservation(env, lambda told: np.concatenate([units * told[::-1], draw.normal(size=2)]), space)

    return make


def _rewarded(env_id: str, factor: float) -> Callable[[], Any]:
    """An environment whose rewards are multiplied by a factor."""
    return lambda: gym.wrappers.TransformReward(gym.make(env_id), lambda reward: factor * float(reward))


_SHORT, _LONG = gsp.Budget(seconds=0.1), gsp.Budget(seconds=0.5)
_POLE, _CAR, _ARMS, _SWING = "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1"
_ENGINE, _BALANCE, _LANDER = "MountainCarContinuous-v0", "InvertedPendulum-v5", "LunarLander-v3"
_RDDL_STEPS = gsp.Budget(model_steps=20000)
_IDLE: dict[str, Any] = {"rival": "idle", "make_rival": idle_policy}
_RANDOM: dict[str, Any] = {"rival": "random", "make_rival": random_policy, "sigmas": 4.9, "algorithm": "gs-power-uct-f"}

ROWS = [
    Row("taxi", "Taxi-v4", partial(gym.make, "Taxi-v4"), 100, _SHORT, 7.5),
    Row("cliff", "CliffWalking-v1", partial(gym.make, "CliffWalking-v1"), 20, _SHORT, -13.0),
    Row("lake", "FrozenLake-v1", partial(gym.make, "FrozenLake-v1"), 100, _SHORT, 0.70),
    Row("blackjack", "Blackjack-v1", partial(gym.make, "Blackjack-v1"), 1000, _SHORT, -0.10),
    Row("cartpole", _POLE, partial(gym.make, _POLE), 20, _SHORT, 475.0),
    Row("acrobot", _ARMS, partial(gym.make, _ARMS), 20, _SHORT, -100.0),
    Row("mountaincar", _CAR, partial(gym.make, _CAR), 20, _SHORT, -120.0),
    Row("pendulum", _SWING, partial(gym.make, _SWING), 20, _SHORT, -250.0),
    Row("continuouscar", _ENGINE, partial(gym.make, _ENGINE), 20, _SHORT, 90.0),
    Row("balance", _BALANCE, partial(gym.make, _BALANCE), 20, _SHORT, 900.0),
    Row("lander", _LANDER, partial(gym.make, _LANDER), 20, _LONG, 200.0),
    Row("doorkey", "MiniGrid-DoorKey-6x6-v0", _minigrid("DoorKey-6x6"), 20, _SHORT, 0.90),
    Row("empty", "MiniGrid-Empty-8x8-v0", _minigrid("Empty-8x8"), 20, _SHORT, 0.93),
    Row("highway", "highway-fast-v0", partial(gym.make, "highway_env:highway-fast-v0"), 20, _LONG, 20.0, **_IDLE),
    Row("sysadmin", "RDDL SysAdmin 1", _rddl("SysAdmin"), 40, _RDDL_STEPS, **_RANDOM),
    Row("navigation", "RDDL Navigation 1", _rddl("Navigation"), 100, _RDDL_STEPS, **_RANDOM),
    Row("elevators", "RDDL Elevators 1", _rddl("Elevators"), 80, _RDDL_STEPS, **_RANDOM),
    # Variants that nothing was chosen on, with the goals of what they vary.
    Row("cartpole-long", f"{_POLE}, length 1", _changed(_POLE, length=1.0, polemass_length=0.1), 10, _SHORT, 475.0),
    Row("cartpole-heavy", f"{_POLE}, gravity 15", _changed(_POLE, gravity=15.0), 10, _SHORT, 475.0),
    Row("cartpole-told", f"{_POLE}, observed otherwise", _reobserved(_POLE), 10, _SHORT, 475.0),
    Row("cartpole-milli", f"{_POLE}, rewards times 0.001", _rewarded(_POLE, 0.001), 10, _SHORT, 0.475),
    Row("mountaincar-told", f"{_CAR}, observed otherwise", _reobserved(_CAR), 10, _SHORT, -120.0),
    Row("mountaincar-free", f"{_CAR}, no limit", partial(gym.make, _CAR, max_episode_steps=-1), 10, _SHORT, -120.0),
    Row("acrobot-heavy", f"{_ARMS}, LINK_MASS_2 1.2", _changed(_ARMS, LINK_MASS_2=1.2), 10, _SHORT, -100.0),
    Row("acrobot-told", f"{_ARMS}, observed otherwise", _reobserved(_ARMS), 10, _SHORT, -100.0),
    Row("pendulum-told", f"{_SWING}, observed otherwise", _reobserved(_SWING), 10, _SHORT, -250.0),
    Row("pendulum-heavy", f"{_SWING}, m 1.3", _changed(_SWING, m=1.3), 10, _SHORT, -250.0),
]
