"""MiniGrid and BabyAI: instance variables, keyed by the grid and the agent."""

from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.generic import Generic


class MiniGrid(Generic):
    """Everything by its instance variables; the key is the grid's contents, the agent, and what it carries.

    The whole grid is saved, so the planner knows what the agent's partial view does not show.
    """

    name: ClassVar[str] = "MiniGrid"
    note = hidden = "the planner knows the whole grid, also what the agent's view does not show"

    @classmethod
    def fits(cls, env: Any) -> bool:
        return any(
            kind.__name__ == "MiniGridEnv" and kind.__module__.startswith("minigrid.") for kind in type(env).__mro__
        )

    def prepare(self, sibling: Any, env: Any) -> None:
        pass

    def blind(self, env: Any) -> None:
        self._spared = frozenset(("gen_obs",))
        env.gen_obs = _Nothing()  # nine tenths of a step are spent on drawing what the agent sees

    def key(self, env: Any) -> Any:
        cells: list[Any] = []  # three numbers an object in one row: tuples in a tuple are slow to hash and to compare
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

    def is_reset(self, env: Any) -> bool:
        return getattr(env, "grid", None) is not None and env.agent_pos is not None

    def clock(self, env: Any) -> int | None:
        return int(env.step_count)

    def limit(self, env: Any) -> int | None:
        return int(env.max_steps)


class _Nothing:
    """In place of a method that draws; a class, so that it can be pickled."""

    def __call__(self) -> dict[str, Any]:
        return {}


def _content(cell: Any) -> Any:
    """What a cell shows, and what a box in it holds."""
    inside = getattr(cell, "contains", None)
    return cell.encode() if inside is None else (cell.encode(), _content(inside))
