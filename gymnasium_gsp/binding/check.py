"""Return whether an environment can be planned in: what `gsp check` runs.

The claims that planning rests on are tried on the environment itself: a snapshot restores the state, the future is the
same under the same randomness and another under other randomness, the original is not changed, also after a render,
keys are stable, wrappers are understood.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.binding import Binding
from gymnasium_gsp.binding.compiled import TableBinding
from gymnasium_gsp.binding.connection import connect, simulate
from gymnasium_gsp.binding.environment import Env
from gymnasium_gsp.binding.simulated import SimulatedBinding
from gymnasium_gsp.binding.trial import FAILED, PASSED, SKIPPED, Row, Trial
from gymnasium_gsp.errors import RecipeError

_ACTIONS_AND_WRAPPERS = "actions are numbered, wrappers understood"
_TABLE = "the table P tells what steps do"


@dataclass
class Report:
    """The result of a check; prints as a table.

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
        """Return whether nothing failed; warnings may remain."""
        return all(row.outcome != FAILED for row in self.rows)

    def __str__(self) -> str:
        width = max((len(row.claim) for row in self.rows), default=0)
        lines = [f"{self.environment}: {self.way}", f"adapter: {self.adapter}"]
        lines += [f"  {row.claim:<{width}}  {row.outcome:<7}  {row.note}".rstrip() for row in self.rows]
        if self.costs:
            lines.append("costs in us: " + ", ".join(f"{name} {cost:.1f}" for name, cost in self.costs.items()))
        return "\n".join(lines)


def check_snapshot(env: Env | str, simulator: Callable[[], Env] | None = None, seed: int = 0, **options: Any) -> Report:
    """Try the claims that planning rests on in an environment, which is reset and stepped.

    Args:
        env: the environment, wrapped or not; or its id, also as `module:Id`.
        simulator: as for `make_agent`.
        seed: seed of the resets and actions.
        **options: as for `make_agent`: state_key, hold, action_mask, reward_bounds, actions.
    """
    if isinstance(env, str):
        env = gym.make(env)
    report = Report(getattr(env.spec, "id", None) or type(env.unwrapped).__name__)
    options = {name: value for name, value in options.items() if value is not None and name != "commit"}
    try:
        binding = connect(env, simulator, **options)
    except RecipeError as error:
        report.rows.append(Row(_ACTIONS_AND_WRAPPERS, FAILED, str(error)))
        return report
    report.rows.append(Row(_ACTIONS_AND_WRAPPERS, PASSED, _note(binding)))
    report.way = binding.describe()["model"]
    if isinstance(binding, TableBinding):
        report.rows.append(_check_table(binding, seed))
    try:
        # A compiled model needs no snapshot of the environment; the simulator behind it is tried all the same.
        simulated = simulate(binding.view, simulator, observing=True, **options)
    except RecipeError as error:
        report.rows.append(Row("a simulator beside the compiled model", SKIPPED, str(error)))
        return report
    report.adapter = simulated.describe()["adapter"]
    trial = Trial(simulated, seed)
    report.rows += trial.rows()
    if report.passed:
        report.costs = trial.costs()
    return report


def _note(binding: Binding) -> str:
    if isinstance(binding, SimulatedBinding) and binding.simulator.wrappers.rebuilt:
        return f"rebuilt: {', '.join(binding.simulator.wrappers.rebuilt)}"
    return "by its table" if isinstance(binding, TableBinding) else ""


def _check_table(binding: TableBinding, seed: int, steps: int = 200) -> Row:
    """Compare some random steps with the rows of the table."""
    env, raw = binding.view.env, binding.view.raw
    draw, ended = np.random.default_rng(seed), True
    for number in range(steps):
        if ended:
            env.reset(seed=seed + number)
        state, action = int(raw.s), int(draw.integers(binding.actions.count))
        _, reward, terminated, truncated, _ = env.step(binding.actions[action])
        outcome = (int(raw.s), float(reward), bool(terminated))
        if outcome not in [(int(s), float(r), bool(end)) for p, s, r, end in raw.P[state][action] if p > 0.0]:
            return Row(
                _TABLE,
                FAILED,
                f"action {action} in state {state} led to {outcome}, which P does not have: correct P, or leave it out "
                "and give clone_state() and set_state()",
            )
        ended = bool(terminated or truncated)
    return Row(_TABLE, PASSED)
