"""Cost of planning on top of a simulator written in Python, beside a search that deep-copies the simulator.

    python -m benchmarks.python_speed                5 rounds, on an idle machine
    python -m benchmarks.python_speed --rounds 20

One decision is timed as the agent runs it.  Then its calls into the simulator (restoring the root, `step`, and the
adapter's key) are replayed from a list, in the same order and from the same random stream, and timed alone.  The
difference is the cost of planning: the compiled loop, the calls between C and Python, keys, nodes and backups.  The
two are timed alternately, and the smallest time of each counts, because a busy machine can only add time.
"""

import argparse
import copy
import importlib
import importlib.util
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from gymnasium_gsp.agents.agent import Agent, make_agent
from gymnasium_gsp.agents.seeding import simulator_seed

LIMIT = 2.0  # microseconds per environment step that planning may add
ALGORITHMS = ("gs-power-uct", "uct")  # a key at every step; one key a simulation, then a playout
SIMULATIONS = 256
EXPLORATION = 0.7071  # of the deepcopy search, as in `uct`, with unscaled rewards


class Line(gym.Env[Any, Any]):
    """A random walk on a line: the smallest environment, so that nearly all the time is spent on planning."""

    observation_space = spaces.Discrete(64)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.place = 32

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Go back to the middle."""
        super().reset(seed=seed)
        self.place = 32
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move one cell in the chosen direction, or in a tenth of all steps in the other."""
        right = action if self.np_random.random() < 0.9 else 1 - action
        self.place += 1 if right else -1
        return self.place, float(self.place == 63), self.place in (0, 63), False, {}

    def clone_state(self) -> int:
        """Return the place."""
        return self.place

    def set_state(self, state: int) -> None:
        """Move to a place."""
        self.place = state

    def state_key(self) -> int:
        """Return the place."""
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
"""By name: the package that the environment needs, and a function that makes it and the options of its agent."""


@dataclass(frozen=True)
class Overhead:
    """Microseconds per environment step of one decision.

    Attributes:
        env: the environment.
        algorithm: the algorithm that planned.
        steps: environment steps of the decision.
        whole: of the decision.
        simulator: of the simulator's `step` and the adapter's work, a part of `whole`.
    """

    env: str
    algorithm: str
    steps: int
    whole: float
    simulator: float

    @property
    def planning(self) -> float:
        """The cost of planning."""
        return self.whole - self.simulator


def overhead(env: Any, name: str, algorithm: str, rounds: int, **options: Any) -> Overhead:
    """Time one decision in `env`, and its calls into the simulator alone.

    Args:
        env: the environment.
        name: its name in the table.
        algorithm: a registered name.
        rounds: how often each is timed; the smallest time counts.
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
    """Return the calls of one decision: a restored root, an action to step with, or a key."""
    live: Any = agent._binding
    model, sibling = live.model, live.simulator
    calls: list[Any] = []
    key, restore, env = model.key, sibling.restore, sibling.env
    agent.reset(seed=0)

    def keyed(seen: Any) -> Any:
        calls.append(_KEY)
        return key(seen)

    def restored() -> None:
        calls.append(_RESTORE)
        restore()

    try:
        model.key, sibling.restore = keyed, restored
        sibling.env = _Recorder(env, calls)
        agent.plan(observation, info)
    finally:
        model.key, sibling.env = key, env
        del sibling.restore
    return calls


class _Recorder:
    """An environment that records the actions it is stepped with."""

    def __init__(self, env: Any, calls: list[Any]) -> None:
        self.env, self._calls = env, calls

    def step(self, action: Any) -> Any:
        self._calls.append((action,))
        return self.env.step(action)


def _replayed(agent: Agent, calls: list[Any]) -> float:
    """Return the seconds that these calls take alone, from the random stream that they first ran on."""
    live: Any = agent._binding
    sibling, key = live.simulator, live.model.key
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
    for call in calls:  # the cost of the list itself
        if call is _KEY or call is _RESTORE:
            pass
    return elapsed - (time.process_time() - begun)


@dataclass(frozen=True)
class Copying:
    """Microseconds of `uct` and of a search that deep-copies, with the same number of simulations.

    Attributes:
        env: the environment.
        ours: per environment step of `uct`, everything included.
        deepcopy: per environment step of the other search.
        ours_per_simulation: per simulation of `uct`.
        deepcopy_per_simulation: per simulation of the other search.
    """

    env: str
    ours: float
    deepcopy: float
    ours_per_simulation: float
    deepcopy_per_simulation: float


def compare_with_copying(env: Any, name: str, rounds: int, **options: Any) -> Copying:
    """Time `uct` and `deepcopy_search` alternately from one state; the smallest time of each counts."""
    observation, info = env.reset(seed=0)
    agent = make_agent(env, "uct", budget=SIMULATIONS, seed=0, **options)
    agent.plan(observation, info)
    actions = [agent._binding.actions[number] for number in range(agent._binding.actions.count)]
    ours: tuple[float, int] = (math.inf, 1)
    theirs = ours
    for number in range(rounds):
        agent.reset(seed=0)
        begun = time.process_time()
        steps = agent.plan(observation, info).model_steps
        ours = min(ours, (time.process_time() - begun, steps))
        begun = time.process_time()
        steps = deepcopy_search(env, SIMULATIONS, actions, random.Random(number))
        theirs = min(theirs, (time.process_time() - begun, steps))
    per_step = [1e6 * seconds / steps for seconds, steps in (ours, theirs)]
    return Copying(name, *per_step, *(1e6 * seconds / SIMULATIONS for seconds, _ in (ours, theirs)))


class _Node:
    """A node of the deepcopy search: visits, mean and child of each action."""

    __slots__ = ("children", "means", "visits")

    def __init__(self, actions: int) -> None:
        self.visits, self.means = [0] * actions, [0.0] * actions
        self.children: list[_Node | None] = [None] * actions

    def choose(self, draw: random.Random) -> int:
        """Choose an action by UCB1, untried actions first."""
        if 0 in self.visits:
            return draw.choice([action for action, count in enumerate(self.visits) if count == 0])
        log = math.log(sum(self.visits))
        scores = [mean + EXPLORATION * math.sqrt(log / n) for mean, n in zip(self.means, self.visits, strict=True)]
        return scores.index(max(scores))


def deepcopy_search(env: Any, simulations: int, actions: list[Any], draw: random.Random) -> int:
    """Run UCT as it is usually written in Python: one `copy.deepcopy` of the wrapped environment per simulation.

    It copies the random stream too, so it sees the real future.  It is only here to be timed.

    Returns:
        The number of environment steps.
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


def main(arguments: list[str] | None = None) -> None:
    """Time every case and print the cost of planning, then the comparison with deep copies."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.python_speed", description="planning in Python")
    parser.add_argument("--rounds", type=int, default=5, help="how often each case is timed; the smallest time counts")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error("--rounds must be at least 1")
    compared: list[Copying] = []
    print(f"{f'us per environment step (limit: {LIMIT:g})':<42}{'whole':>9}{'simulator':>11}{'planning':>10}")
    for name, (package, make) in CASES.items():
        if package is not None and importlib.util.find_spec(package) is None:
            print(f"{name}: left out, {package} is not installed")
            continue
        env, options = make()
        for algorithm in ALGORITHMS:
            row = overhead(env, name, algorithm, given.rounds, **options)
            case = f"{name}, {algorithm}"
            print(f"{case:<42}{row.whole:9.2f}{row.simulator:11.2f}{row.planning:10.2f}", flush=True)
        compared.append(compare_with_copying(env, name, given.rounds, **options))
        env.close()
    heads = f"{'ours':>9}{'deepcopy':>10}{'ratio':>7}"
    print(f"\n{'uct beside a deepcopy search':<28}{'us per step:':>12}{heads}{'per simulation:':>17}{heads}")
    for pair in compared:
        steps = f"{pair.ours:9.2f}{pair.deepcopy:10.2f}{pair.deepcopy / pair.ours:7.1f}"
        ours, theirs = pair.ours_per_simulation, pair.deepcopy_per_simulation
        print(f"{pair.env:<40}{steps}{'':>17}{ours:9.0f}{theirs:10.0f}{theirs / ours:7.1f}")


if __name__ == "__main__":
    main()
