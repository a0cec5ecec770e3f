"""Who plays: the configurations of PROST and the planners of the package, and how each plays a batch of episodes."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium_gsp as gsp
from benchmarks.play import spent
from benchmarks.prost.planner import Programs, play_session
from benchmarks.prost.rows import Batch
from gymnasium_gsp.search.ingredients.backup import Cautious
from gymnasium_gsp.search.recipe import Sweep


@dataclass(frozen=True)
class Limit:
    """What a decision may spend: seconds, or trials, which the package calls simulations.

    Attributes:
        text: "0.06s", or "100".
    """

    text: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d+(\.\d+)?s|\d+", self.text) or not float(self.text.rstrip("s")):
            raise ValueError(f"a budget is seconds (0.06s) or a number of trials (100), not {self.text!r}")

    @property
    def seconds(self) -> float | None:
        """Seconds, if they are the limit."""
        return float(self.text[:-1]) if self.text.endswith("s") else None

    @property
    def trials(self) -> int | None:
        """Trials, if they are the limit."""
        return None if self.text.endswith("s") else int(self.text)

    def __str__(self) -> str:
        return f"{self.trials:,} trials" if self.seconds is None else f"{self.seconds:g} s"


@dataclass(frozen=True)
class Prost:
    """A configuration of PROST.

    Attributes:
        title: in the table.
        engine: its shortcut in PROST.
    """

    title: str
    engine: str

    def settings(self, limit: Limit) -> str:
        """PROST's search engine with the limit of a decision."""
        kind = f"-T TRIALS -r {limit.trials}" if limit.seconds is None else f"-T TIME -t {limit.seconds:g}"
        return f"[{self.engine} {kind}]"

    def play(self, programs: Programs | None, env: Any, limit: Limit, numbers: range) -> Batch:
        """Play the episodes with these numbers in one session, whose seed is the first number plus 1."""
        assert programs is not None
        seed = numbers.start + 1
        return play_session(programs, env, self.settings(limit), len(numbers), seed)


@dataclass(frozen=True)
class Planner:
    """A planner of the package, which plans in the compiled model of the instance.

    Attributes:
        title: in the table.
        algorithm: its name.
        options: of `make_agent`.
    """

    title: str
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)

    def settings(self, limit: Limit) -> str:
        """The arguments of `make_agent` that decide the results."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.algorithm}({options}), {spent(_budget(limit))}"

    def play(self, programs: Programs | None, env: Any, limit: Limit, numbers: range) -> Batch:
        """Play the episodes with these numbers, which are their seeds."""
        agent = gsp.make_agent(env, self.algorithm, budget=_budget(limit), seed=0, **self.options)
        agent.plan(*env.reset(seed=0))  # compile before anything is timed
        batch = Batch([], [])
        for number in numbers:
            agent.reset(seed=number)
            batch.returns.append(play_episode(env, agent.act, number, batch.decisions))
        return batch


def _budget(limit: Limit) -> gsp.Budget:
    return gsp.Budget(simulations=limit.trials, seconds=limit.seconds)


def play_episode(env: Any, act: Callable[[Any, Any], Any], seed: int, decisions: list[float]) -> float:
    """Play an episode, add the seconds of each decision to `decisions`, and return its return."""
    observation, info = env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        begun = time.perf_counter()
        action = act(observation, info)
        decisions.append(time.perf_counter() - begun)
        observation, reward, terminated, truncated, info = env.step(action)
        total, ended = total + float(reward), terminated or truncated
    return total


Player = Prost | Planner

PLAYERS: dict[str, Player] = {
    "prost-2011": Prost("PROST 2011", "IPC2011"),
    "prost-2014": Prost("PROST 2014", "IPC2014"),
    "f": Planner("`gs-power-uct-f`", "gs-power-uct-f"),
    "graft": Planner("`graft`", "graft", {}),
    "cautious": Planner("`gs-power-uct`, cautious", "gs-power-uct", {"decision": Sweep(Cautious(0.3))}),
}
"""By their names on the command line."""
