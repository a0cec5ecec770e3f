"""What planning adds to a simulator written in Python, and how that compares with deep-copying it.

One decision is timed as the agent runs it.  Then exactly its calls into the simulator, in the same order and from the
same random stream, are timed again from a plain list: restoring the root, `step`, and the adapter's key.  What is left
is ours: the C loop, the border between C and Python, the numbering of keys, nodes and backups.  Both are timed in
turn, and the smallest time of each counts, as a busy machine only ever adds.
"""

import copy
import importlib
import importlib.util
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from gymnasium_gsp.agents.agent import Agent, make_agent
from gymnasium_gsp.agents.seeding import simulator_seed

MARK = 2.0  # microseconds per environment step that planning may add
ALGORITHMS = ("gs-power-uct", "uct")  # every step a keyed node; one keyed step a simulation, then a playout
SIMULATIONS = 256
EXPLORATION = 0.7071  # of the deepcopy search, as in `uct`; its rewards are scaled by nothing


class Line(gym.Env[Any, Any]):
    """A random walk on a line, as short as an environment can be: what is timed is nearly all ours."""

    observation_space = spaces.Discrete(64)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.place = 32

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Back to the middle."""
        super().reset(seed=seed)
        self.place = 32
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """One cell to either side, the other one in a tenth of all steps."""
        right = action if self.np_random.random() < 0.9 else 1 - action
        self.place += 1 if right else -1
        return self.place, float(self.place == 63), self.place in (0, 63), False, {}

    def clone_state(self) -> int:
        """The place."""
        return self.place

    def set_state(self, state: int) -> None:
        """Go there."""
        self.place = state

    def state_key(self) -> int:
        """The place."""
        return self.place


def _taxi() -> tuple[Any, dict[str, Any]]:
    from gymnasium.envs.toy_text.taxi import TaxiEnv

    return gym.make("Taxi-v4"), {"simulator": TaxiEnv}


def _minigrid() -> tuple[Any, dict[str, Any]]:
    gym.register_envs(importlib.import_module("minigrid"))
    return gym.make("MiniGrid-DoorKey-6x6-v0"), {}


CASES: dict[str, tuple[str | None, Callable[[], tuple[Any, dict[str, Any]]]]] = {
    "CartPole-v1": (None, lambda: (gym.make("CartPole-v1"), {})),
    "Taxi-v4 as a simulator": (None, _taxi),
    "a line, 20 lines of Python": (None, lambda: (gym.wrappers.TimeLimit(Line(), 50), {})),
    "MiniGrid-DoorKey-6x6-v0": ("minigrid", _minigrid),
}
"""Environments by name: the package they need, and a function that returns one and the options of its agent."""


@dataclass(frozen=True)
class Overhead:
    """Microseconds per environment step of one decision.

    Attributes:
        env: the environment.
        algorithm: what planned.
        steps: environment steps of the decision.
        whole: everything.
        simulator: of that, the sibling's `step` and what the adapter does.
    """

    env: str
    algorithm: str
    steps: int
    whole: float
    simulator: float

    @property
    def ours(self) -> float:
        """What planning adds."""
        return self.whole - self.simulator


def overhead(env: Any, name: str, algorithm: str, rounds: int, **options: Any) -> Overhead:
    """Time one decision in `env`, and its calls into the simulator alone.

    Args:
        env: the environment.
        name: what to call it.
        algorithm: a registered name.
        rounds: how often each is timed; the smallest counts.
        **options: of the agent.
    """
    observation, info = env.reset(seed=0)
    agent = make_agent(env, algorithm, budget=SIMULATIONS, seed=0, **options)
    agent.plan(observation, info)
    calls = _recorded(agent, observation, info)
    whole = alone = math.inf
    for _ in range(rounds):
        agent.reset(seed=0)
        begun = time.process_time()
        agent.plan(observation, info)
        whole = min(whole, time.process_time() - begun)
        alone = min(alone, _replayed(agent, calls))
    result = agent.result
    assert result is not None
    return Overhead(name, algorithm, result.model_steps, *(1e6 * t / result.model_steps for t in (whole, alone)))


_RESTORE, _KEY = object(), object()


def _recorded(agent: Agent, observation: Any, info: Any) -> list[Any]:
    """The calls of one decision: a restored root, an action to step with, or a key."""
    live: Any = agent._live
    model, sibling = live._model, live.sibling
    calls: list[Any] = []
    key, restore, env = model._key, sibling.restore, sibling.env
    agent.reset(seed=0)

    def keyed(seen: Any) -> Any:
        calls.append(_KEY)
        return key(seen)

    def restored() -> None:
        calls.append(_RESTORE)
        restore()

    try:
        model._key, sibling.restore = keyed, restored
        sibling.env = _Recorder(env, calls)
        agent.plan(observation, info)
    finally:
        model._key, sibling.env = key, env
        del sibling.restore
    return calls


class _Recorder:
    """An environment that writes down the actions it is stepped with."""

    def __init__(self, env: Any, calls: list[Any]) -> None:
        self.env, self._calls = env, calls

    def step(self, action: Any) -> Any:
        self._calls.append((action,))
        return self.env.step(action)


def _replayed(agent: Agent, calls: list[Any]) -> float:
    """Seconds that these calls take by themselves, from the random stream that they first ran on."""
    live: Any = agent._live
    sibling, key = live.sibling, live._model._key
    restore, step, observation = sibling.restore, sibling.env.step, None
    live.seed(simulator_seed(0, 0))
    begun = time.process_time()
    for call in calls:
        if call is _KEY:
            key(observation)
        elif call is _RESTORE:
            restore()
        else:
            observation = step(call[0])[0]
    elapsed = time.process_time() - begun
    begun = time.process_time()
    for call in calls:  # the list's own share
        if call is _KEY or call is _RESTORE:
            pass
    return elapsed - (time.process_time() - begun)


@dataclass(frozen=True)
class Copying:
    """Microseconds per environment step of `uct` here, and of a search that deep-copies, at as many simulations.

    Attributes:
        env: the environment.
        ours: here, everything included.
        deepcopy: of the other search.
        ours_per_simulation: microseconds per simulation.
        deepcopy_per_simulation: the same of the other search.
    """

    env: str
    ours: float
    deepcopy: float
    ours_per_simulation: float
    deepcopy_per_simulation: float


def compare_with_copying(env: Any, name: str, rounds: int, **options: Any) -> Copying:
    """Time `uct` and `deepcopy_search` in turn, from one state; the smallest time of each counts."""
    observation, info = env.reset(seed=0)
    agent = make_agent(env, "uct", budget=SIMULATIONS, seed=0, **options)
    agent.plan(observation, info)
    ours: tuple[float, int] = (math.inf, 1)
    theirs = ours
    for number in range(rounds):
        agent.reset(seed=0)
        begun = time.process_time()
        steps = agent.plan(observation, info).model_steps
        ours = min(ours, (time.process_time() - begun, steps))
        begun = time.process_time()
        steps = deepcopy_search(env, SIMULATIONS, agent._live.forms.forms, random.Random(number))
        theirs = min(theirs, (time.process_time() - begun, steps))
    per_step = [1e6 * seconds / steps for seconds, steps in (ours, theirs)]
    return Copying(name, *per_step, *(1e6 * seconds / SIMULATIONS for seconds, _ in (ours, theirs)))


class _Node:
    """A node of the deepcopy search: visits and mean of each action, and the nodes below."""

    __slots__ = ("children", "means", "visits")

    def __init__(self, actions: int) -> None:
        self.visits, self.means = [0] * actions, [0.0] * actions
        self.children: list[_Node | None] = [None] * actions

    def choose(self, draw: random.Random) -> int:
        """UCB1, untried actions first."""
        if 0 in self.visits:
            return draw.choice([action for action, count in enumerate(self.visits) if count == 0])
        log = math.log(sum(self.visits))
        scores = [mean + EXPLORATION * math.sqrt(log / n) for mean, n in zip(self.means, self.visits, strict=True)]
        return scores.index(max(scores))


def deepcopy_search(env: Any, simulations: int, actions: list[Any], draw: random.Random) -> int:
    """UCT as it is usually written in Python: one `copy.deepcopy` of the environment, wrappers and all, a simulation.

    It copies the random stream, so it sees the real future, and it is wrong wherever a copy is a new environment.  It
    is here to be timed.

    Returns:
        How many environment steps it took.
    """
    root, steps = _Node(len(actions)), 0
    for _ in range(simulations):
        copied, node, path, ended = copy.deepcopy(env), root, [], False
        rewards: list[float] = []
        while not ended:
            action = node.choose(draw)
            _, reward, terminated, truncated, _ = copied.step(actions[action])
            path.append((node, action))
            rewards.append(float(reward))
            steps, ended = steps + 1, terminated or truncated
            below = node.children[action]
            if below is None:
                node.children[action] = _Node(len(actions))
                break
            node = below
        value = 0.0
        while not ended:
            _, reward, terminated, truncated, _ = copied.step(draw.choice(actions))
            value, steps, ended = value + float(reward), steps + 1, terminated or truncated
        for (node, action), reward in zip(reversed(path), reversed(rewards), strict=True):
            value += reward
            node.visits[action] += 1
            node.means[action] += (value - node.means[action]) / node.visits[action]
    return steps


@dataclass(frozen=True)
class Absent:
    """A case that could not be timed.

    Attributes:
        env: the environment.
        package: what is not installed.
    """

    env: str
    package: str


def measure(rounds: int) -> Iterator[Overhead | Copying | Absent]:
    """Every case: what planning adds, by algorithm, then beside the deepcopy search."""
    for name, (package, make) in CASES.items():
        if package is not None and importlib.util.find_spec(package) is None:
            yield Absent(name, package)
            continue
        env, options = make()
        for algorithm in ALGORITHMS:
            yield overhead(env, name, algorithm, rounds, **options)
        yield compare_with_copying(env, name, rounds, **options)
        env.close()
