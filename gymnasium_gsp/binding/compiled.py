"""Environments that are planned in without a simulator: by their own compiled model, or by their transition table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gymnasium_gsp.binding.binding import Binding, Root
from gymnasium_gsp.binding.environment import BareEnv, EnvironmentView
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.tabular import Table, tabular_model


class CompiledBinding(Binding):
    """An environment that offers `compiled_model`, `clone_state` and `observe`, as the benchmarks do."""

    @staticmethod
    def fits(env: BareEnv) -> bool:
        """Return whether a bare environment offers these methods."""
        return all(hasattr(env, name) for name in ("clone_state", "compiled_model", "observe"))

    def root(self, observation: object, info: object) -> Root:
        state = self.view.raw.clone_state()
        cells = np.array(state.cells, np.int64)
        left = self._steps_left(state.elapsed)
        return Root(self.view.raw.compiled_model(), cells, state.elapsed, left, state.terminated)

    def observe(self, root: Root) -> object:
        return self.observation(root.cells.tolist())

    def observation(self, cells: Sequence[int]) -> Any:
        return self.view.raw.observe(cells)

    def describe(self) -> dict[str, Any]:
        return self._describe("compiled step of the environment itself")


class TableBinding(Binding):
    """An environment with its whole law in a table `P` and its state in `s`, as in Gymnasium's toy_text."""

    def __init__(self, view: EnvironmentView) -> None:
        super().__init__(view)
        self._table: Table | None = None
        self._model: CompiledModel | None = None

    @staticmethod
    def fits(env: BareEnv) -> bool:
        """Return whether a bare environment has such a table, and steps by it."""
        table, space = getattr(env, "P", None), env.observation_space
        return (
            isinstance(table, Mapping)
            and isinstance(space, spaces.Discrete)
            and space.start == 0
            and len(table) == space.n
            and not getattr(env, "fickle_passenger", False)  # Taxi's table leaves him out
            and not _overrides_step(env)
        )

    def root(self, observation: object, info: object) -> Root:
        elapsed = self.view.elapsed_steps()
        raw = self.view.raw
        state = getattr(raw, "s", None)
        if state is None:
            raise self.view.reset_needed()
        if self._model is None or raw.P is not self._table:
            self._table = raw.P
            self._model = tabular_model(raw.P, type(raw).__name__.removesuffix("Env"))
        cells = np.array([int(state)], np.int64)
        ended = self._model.terminal is not None and self._model.terminal(cells)
        return Root(self._model, cells, elapsed or 0, self._steps_left(elapsed), ended, elapsed is not None)

    def observe(self, root: Root) -> object:
        return self.observation(root.cells.tolist())

    def observation(self, cells: Sequence[int]) -> int:
        return cells[0]

    def describe(self) -> dict[str, Any]:
        return self._describe("the environment's transition table P, compiled")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code, which is bound again after unpickling."""
        return {**vars(self), "_table": None, "_model": None}


def _overrides_step(env: BareEnv) -> bool:
    """Return whether an environment inherits the table of a toy_text class and overrides its `step`."""
    toys = [kind for kind in type(env).__mro__ if kind.__module__.startswith("gymnasium.envs.toy_text.")]
    return bool(toys) and type(env).step is not toys[0].step  # type: ignore[attr-defined]
