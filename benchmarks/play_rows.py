"""The rows of docs/play.md: third-party environments, their goals, and the options that they need."""

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import MaxAndSkipObservation, TransformObservation

import gymnasium_gsp as gsp
from gymnasium_gsp.binding.connection import connect
from gymnasium_gsp.search.ingredients.evaluation import Constant, Rollout
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon

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
        goal: the mean return (or every return) to reach; None where only the rival must be beaten.
        every: whether each episode must reach the goal, not the mean.
        algorithm: the planner's algorithm; None for what the agent chooses.
        options: of `make_agent`, where the defaults do not suffice.
        why: the reason for these options.
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
    every: bool = False
    algorithm: str | None = "gs-power-uct-f"
    options: dict[str, Any] = field(default_factory=dict)
    why: str = ""
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


def car_cell(env: Any, observation: Any) -> tuple[int, int]:
    """Round MountainCar's position to 1/30 and its velocity to 1/400."""
    return round(float(observation[0]) * 30), round(float(observation[1]) * 400)


def pole_cell(env: Any, observation: Any) -> tuple[int, ...]:
    """Round CartPole's position and two velocities to 1/10, and its angle to 1/50 radian."""
    scales = (10.0, 10.0, 50.0, 10.0)
    return tuple(round(float(number) * scale) for number, scale in zip(env.state, scales, strict=True))


def acrobot_cell(env: Any, observation: Any) -> tuple[int, ...]:
    """Round Acrobot's two angles to 1/3 radian, and its two velocities to 2/3 and 1."""
    return tuple(round(float(number) * scale) for number, scale in zip(env.state, (3.0, 3.0, 1.5, 1.0), strict=True))


def pendulum_cell(env: Any, observation: Any) -> tuple[int, int]:
    """Round Pendulum's angle, wrapped around, to 1/5 radian and its velocity to 1/2."""
    angle = math.atan2(math.sin(env.state[0]), math.cos(env.state[0]))
    return round(5.0 * angle), round(2.0 * float(env.state[1]))


def held_pendulum() -> Any:
    """Return a Pendulum in which each action is held for four steps."""
    return gym.wrappers.RepeatAction(gym.make("Pendulum-v1"), 4)


def held_car() -> Any:
    """Return a MountainCarContinuous in which each action is held for four steps."""
    return gym.wrappers.RepeatAction(gym.make("MountainCarContinuous-v0"), 4)


def _third_party(package: str, env_id: str) -> gym.Env[Any, Any]:
    gym.register_envs(importlib.import_module(package))
    return gym.make(env_id)


def _rddl(domain: str) -> Callable[[], Any]:
    return lambda: importlib.import_module("pyRDDLGym").make(f"{domain}_MDP_ippc2011", "1")


def _simulations(number: int) -> gsp.Budget:
    return gsp.Budget(simulations=number)


def _steps(number: int) -> gsp.Budget:
    return gsp.Budget(model_steps=number)


_CELLS = "continuous states never meet again, and random playouts never reach the goal; in cells, the graph explores"
_HELD = (
    "in cells states meet again; each action is held for four steps of the simulator, so the search looks four times "
    "as far ahead, and the environment is planned in anew at every step"
)
_RANDOM: dict[str, Any] = {"rival": "random", "make_rival": random_policy, "sigmas": 4.9}

ROWS = [
    Row("taxi", "Taxi-v4", lambda: gym.make("Taxi-v4"), 100, _simulations(1000), 7.5),
    Row("cliff", "CliffWalking-v1", lambda: gym.make("CliffWalking-v1"), 5, _simulations(1000), -13.0, every=True),
    Row("lake", "FrozenLake-v1", lambda: gym.make("FrozenLake-v1"), 300, _simulations(1000), 0.70),
    Row("blackjack", "Blackjack-v1", lambda: gym.make("Blackjack-v1"), 5000, _simulations(300), -0.10),
    Row(
        "cartpole",
        "CartPole-v1",
        lambda: gym.make("CartPole-v1"),
        20,
        _steps(2000),
        500.0,
        every=True,
        options={"state_key": pole_cell},
        why="continuous states never meet again, so every look ahead is a random walk; in cells, the graph joins them",
    ),
    Row(
        "acrobot",
        "Acrobot-v1",
        lambda: gym.make("Acrobot-v1"),
        10,
        _steps(10000),
        -95.0,
        options={"state_key": acrobot_cell},
        why=_CELLS,
    ),
    Row(
        "mountaincar",
        "MountainCar-v0",
        lambda: gym.make("MountainCar-v0"),
        10,
        _steps(10000),
        -140.0,
        options={"state_key": car_cell},
        why=_CELLS,
    ),
    Row(
        "pendulum",
        "Pendulum-v1",
        lambda: gym.make("Pendulum-v1"),
        20,
        _steps(1000),
        -250.0,
        algorithm="graft",
        options={"state_key": pendulum_cell, "simulator": held_pendulum, "horizon": FixedHorizon(25)},
        why=_HELD,
    ),
    Row(
        "continuouscar",
        "MountainCarContinuous-v0",
        lambda: gym.make("MountainCarContinuous-v0"),
        20,
        _steps(1000),
        90.0,
        algorithm="graft",
        options={"state_key": car_cell, "simulator": held_car, "horizon": FixedHorizon(50), "discount": 0.98},
        why=_HELD + "; by the discount of 999 steps, doing nothing would look as good as it gets",
    ),
    Row(
        "balance",
        "InvertedPendulum-v5",
        lambda: gym.make("InvertedPendulum-v5"),
        5,
        _steps(3000),
        900.0,
        algorithm="uct-max",
        options={"horizon": FixedHorizon(20), "evaluation": Rollout(steps=20)},
        why="random actions let the pole fall within some steps, so longer playouts say no more",
    ),
    Row(
        "lander",
        "LunarLander-v3",
        lambda: MaxAndSkipObservation(gym.make("LunarLander-v3"), skip=8),
        10,
        _steps(2500),
        200.0,
        algorithm="uct-max",
        options={"key": "actions", "evaluation": Constant()},
        why="its engines are noisy, so behind them no state is met twice and a tree of states stays flat; in a tree of "
        "action sequences, each action held for eight frames, the best are tried again and averaged over the noise",
    ),
    Row(
        "doorkey",
        "MiniGrid-DoorKey-6x6-v0",
        lambda: _third_party("minigrid", "MiniGrid-DoorKey-6x6-v0"),
        20,
        _steps(4000),
        0.01,
        every=True,
    ),
    Row(
        "highway",
        "highway-fast-v0",
        lambda: _third_party("highway_env", "highway-fast-v0"),
        10,
        _steps(40),
        options={"horizon": FixedHorizon(5)},
        why="a step costs 5 to 10 ms, so a second buys no more than a look five steps ahead",
        rival="idle",
        make_rival=idle_policy,
    ),
    Row("sysadmin", "RDDL SysAdmin 1", _rddl("SysAdmin"), 40, _steps(20000), **_RANDOM),
    Row("navigation", "RDDL Navigation 1", _rddl("Navigation"), 100, _steps(20000), **_RANDOM),
    Row("elevators", "RDDL Elevators 1", _rddl("Elevators"), 80, _steps(20000), **_RANDOM),
]


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


_SHORT, _LONG = gsp.Budget(seconds=0.1), gsp.Budget(seconds=0.5)
_POLE, _CAR, _ARMS = "CartPole-v1", "MountainCar-v0", "Acrobot-v1"

# Nothing is set in these but the time of a decision; the variants' goals are those of what they vary.
ROWS += [
    Row(name, env, make, 20, budget, goal, algorithm=None)
    for name, env, make, budget, goal in (
        ("cartpole-auto", _POLE, lambda: gym.make(_POLE), _SHORT, 475.0),
        ("mountaincar-auto", _CAR, lambda: gym.make(_CAR), _SHORT, -120.0),
        ("acrobot-auto", _ARMS, lambda: gym.make(_ARMS), _SHORT, -100.0),
        ("lander-auto", "LunarLander-v3", lambda: gym.make("LunarLander-v3"), _LONG, 200.0),
        ("highway-auto", "highway-fast-v0", lambda: _third_party("highway_env", "highway-fast-v0"), _LONG, 20.0),
        ("balance-auto", "InvertedPendulum-v5", lambda: gym.make("InvertedPendulum-v5"), _SHORT, 900.0),
        ("cartpole-long", f"{_POLE}, length 1", _changed(_POLE, length=1.0, polemass_length=0.1), _SHORT, 475.0),
        ("cartpole-heavy", f"{_POLE}, gravity 15", _changed(_POLE, gravity=15.0), _SHORT, 475.0),
        ("cartpole-told", f"{_POLE}, told otherwise", _reobserved(_POLE), _SHORT, 475.0),
        ("mountaincar-told", f"{_CAR}, told otherwise", _reobserved(_CAR), _SHORT, -120.0),
        ("acrobot-heavy", f"{_ARMS}, LINK_MASS_2 1.2", _changed(_ARMS, LINK_MASS_2=1.2), _SHORT, -100.0),
        ("acrobot-told", f"{_ARMS}, told otherwise", _reobserved(_ARMS), _SHORT, -100.0),
    )
]
