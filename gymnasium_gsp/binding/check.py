"""Whether an environment can be planned in: what `gsp check` runs.

The claims that planning rests on, each tried on the environment itself: a snapshot restores the state, the future is
the same under the same randomness and another under other randomness, the original is left alone, also after a render,
keys are stable, wrappers are understood.
"""

from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.connection import connect
from gymnasium_gsp.binding.live import LiveEnv, TableEnv
from gymnasium_gsp.binding.simulated import SimulatedEnv
from gymnasium_gsp.binding.trial import FAILED, PASSED, SKIPPED, Trial
from gymnasium_gsp.errors import RecipeError


@dataclass(frozen=True)
class Row:
    """One claim.

    Attributes:
        claim: what was checked.
        outcome: "passed", "FAILED", "warning" or "skipped".
        note: what was found, or what to do about it, in one line.
    """

    claim: str
    outcome: str
    note: str = ""


@dataclass
class Report:
    """What a check found; prints as a table.

    Attributes:
        environment: its id or class.
        way: how it would be planned in.
        adapter: the name of the adapter.
        rows: the claims, in the order in which they were tried.
        costs: microseconds of one step, save, restore and key.
    """

    environment: str
    way: str = ""
    adapter: str = ""
    rows: list[Row] = field(default_factory=list)
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether nothing failed; warnings may remain."""
        return all(row.outcome != FAILED for row in self.rows)

    def __str__(self) -> str:
        width = max((len(row.claim) for row in self.rows), default=0)
        lines = [f"{self.environment}: {self.way}", f"adapter: {self.adapter}"]
        lines += [f"  {row.claim:<{width}}  {row.outcome:<7}  {row.note}".rstrip() for row in self.rows]
        if self.costs:
            lines.append("costs in us: " + ", ".join(f"{name} {cost:.1f}" for name, cost in self.costs.items()))
        return "\n".join(lines)


def check_snapshot(env: Any, simulator: Any = None, seed: int = 0, **options: Any) -> Report:
    """Try on an environment what planning in it rests on.  It is reset and stepped.

    Args:
        env: the environment, wrapped or not; or its id, `module:Id` too.
        simulator: as for `make_agent`.
        seed: of the resets and actions.
        **options: as for `make_agent`: state_key, action_mask, reward_bounds.
    """
    if isinstance(env, str):
        env = gym.make(env)
    report = Report(getattr(env.spec, "id", None) or type(env.unwrapped).__name__)
    try:
        live = connect(env, simulator, **options)
        if isinstance(live, SimulatedEnv):
            live = SimulatedEnv(env, simulator, **options, observing=True)
        report.rows.append(Row("actions are numbered, wrappers understood", PASSED, _wrappers(live)))
    except RecipeError as error:
        report.rows.append(Row("actions are numbered, wrappers understood", FAILED, str(error)))
        return report
    report.way = str(live.describe()["model"])
    if isinstance(live, TableEnv):
        report.rows.append(Row("the table P tells what steps do", *_table_agrees(live, seed)))
    if not isinstance(live, SimulatedEnv):
        # The compiled way needs no snapshot of the environment; the simulator behind it is tried all the same.
        try:
            live = SimulatedEnv(env, simulator, **options, observing=True)
        except RecipeError as error:
            report.rows.append(Row("a simulator beside the compiled model", SKIPPED, str(error)))
            return report
    report.adapter = str(live.describe()["adapter"])
    trial = Trial(live, seed)
    report.rows += [Row(*row) for row in trial.rows()]
    if report.passed:
        report.costs = trial.costs()
    return report


def _table_agrees(live: TableEnv, seed: int, steps: int = 200) -> tuple[str, str]:
    """Whether each of some random steps is one that the table allows."""
    env, draw, ended = live.env, np.random.default_rng(seed), True
    for number in range(steps):
        if ended:
            env.reset(seed=seed + number)
        state, action = int(live.source.s), int(draw.integers(live.forms.count))
        _, reward, terminated, truncated, _ = env.step(live.action(action))
        went = (int(live.source.s), float(reward), bool(terminated))
        told = [(int(then), float(gain), bool(end)) for p, then, gain, end in live.source.P[state][action] if p > 0.0]
        if went not in told:
            return FAILED, (
                f"action {action} in state {state} led to {went}, which P does not have: mend P, or leave it out and "
                "give clone_state() and set_state()"
            )
        ended = bool(terminated or truncated)
    return PASSED, ""


def _wrappers(live: LiveEnv) -> str:
    told = live.describe()
    rebuilt = told.get("wrappers rebuilt") or []
    table = "by its table" if isinstance(live, TableEnv) else ""
    return f"rebuilt: {', '.join(rebuilt)}" if rebuilt else table
