"""MiniGrid and BabyAI: instance variables, keyed by the grid and the agent."""

from collections.abc import Hashable
from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import FAMILY, NoObservation
from gymnasium_gsp.binding.adapters.generic import Generic
from gymnasium_gsp.binding.environment import BareEnv, Env


class MiniGrid(Generic):
    """All instance variables; the key is the grid's contents, the agent, and what it carries.

    The whole grid is saved, so the planner knows what the agent's partial view does not show.
    """

    name: ClassVar[str] = "MiniGrid"
    priority: ClassVar[int] = FAMILY
    note = hidden = "the planner knows the whole grid, also what the agent's view does not show"

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return any(
            kind.__name__ == "MiniGridEnv" and kind.__module__.startswith("minigrid.") for kind in type(env).__mro__
        )

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        pass

    def skip_observations(self, simulator: BareEnv) -> None:
        self._replaced = frozenset(("gen_obs",))
        simulator.gen_obs = NoObservation({})  # nine tenths of a step are spent on drawing what the agent sees

    def state_key(self, env: BareEnv) -> Hashable:
        cells: list[object] = []  # three numbers an object, in one row: nested tuples are slow to hash and to compare
        for cell in env.grid.grid:
            if cell is None:
                cells.append(None)
            elif getattr(cell, "contains", None) is None:
                cells += cell.encode()
            else:
                cells.append(_content(cell))
        carried = None if env.carrying is None else _content(env.carrying)
        extra = tuple((ball.cur_pos[0], ball.cur_pos[1]) for ball in getattr(env, "obstacles", ()))
        return tuple(map(int, env.agent_pos)), int(env.agent_dir), carried, tuple(cells), env.mission, extra

    def is_reset(self, env: BareEnv) -> bool:
        return getattr(env, "grid", None) is not None and env.agent_pos is not None

    def elapsed_steps(self, env: BareEnv) -> int | None:
        return int(env.step_count)

    def time_limit(self, env: BareEnv) -> int | None:
        return int(env.max_steps)


def _content(cell: Any) -> Hashable:
    """The encoding of a cell, and of the contents of a box in it."""
    inside = getattr(cell, "contains", None)
    return cell.encode() if inside is None else (cell.encode(), _content(inside))
