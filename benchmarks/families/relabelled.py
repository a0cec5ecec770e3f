"""An environment with its actions permuted and its states under other names; nothing else about it changes."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.envs.compiled_env import CompiledEnv, Layout
from gymnasium_gsp.models.model import Cells, Transition

_BITS = 48  # of the word that names are combined with; params hold it exactly


class RelabelledEnv(CompiledEnv[Any]):
    """Another environment behind a permutation of its actions, and of its states by exclusive or with a random word.

    Args:
        shuffle: seed of both.
        **arguments: of the other environment.
    """

    kind: ClassVar[type[CompiledEnv[Any]]]

    def __init__(self, render_mode: str | None = None, shuffle: int = 0, **arguments: Any) -> None:
        self.inner = self.kind(**arguments)
        self.shuffle, rng = shuffle, np.random.default_rng(shuffle)
        self.actions, self.draws, self.reward_bounds = self.inner.actions, self.inner.draws, self.inner.reward_bounds
        self._word = int(rng.integers(2**_BITS))
        self._order = rng.permutation(self.actions).tolist()
        super().__init__(render_mode, self.inner.horizon)
        self.observation_space = self.inner.observation_space

    def _renamed(self, cells: Sequence[int]) -> Cells:
        return (cells[0] ^ self._word, *cells[1:])

    def _arguments(self) -> dict[str, Any]:
        return {"shuffle": self.shuffle, **self.inner._arguments()}

    def _start(self) -> Sequence[int]:
        self.inner.np_random = self.np_random
        before = self._layout() if self._started else None
        cells = self._renamed(self.inner._start())
        if before != self._layout():
            self._forget_model()
        return cells

    def _params(self) -> NDArray[np.float64]:
        return np.concatenate(([self._word, self.actions], self._order, self.inner._params()))

    def _layout(self) -> Layout:
        return self.shuffle, *self.inner._layout()

    def _set_layout(self, layout: Layout) -> None:
        if layout == self._layout():
            return
        if layout[0] != self.shuffle:
            raise self._foreign_layout()
        self.inner._set_layout(layout[1:])
        self._forget_model()

    def observe(self, cells: Sequence[int]) -> Any:
        """What the other environment shows."""
        return self.inner.observe(self._renamed(cells))

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """The other environment's law."""
        rows = self.inner.transitions(self._renamed(cells), self._order[action])
        return [(chance, self._renamed(after), reward, ended) for chance, after, reward, ended in rows]

    def _is_state(self, cells: Sequence[int]) -> bool:
        return self.inner._is_state(self._renamed(cells))

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether an episode ends there."""
        return self.inner.is_terminal(self._renamed(cells))

    def _draw_text(self) -> str:
        return f"{self.observe(self._cells.tolist())}\n"


@cache
def relabelled(kind: type[CompiledEnv[Any]]) -> type[RelabelledEnv]:
    """The class of another one's relabelled environments."""
    attributes = {
        "kind": kind,
        "rules": staticmethod(_relabelled_rules(kind.rules)),
        **{name: getattr(kind, name) for name in ("width", "key_size", "clock", "draws_layout", "discount")},
        "__doc__": kind.__doc__,
    }
    return type(f"Relabelled{kind.__name__}", (RelabelledEnv,), attributes)


def _relabelled_rules(rules: Callable[..., int]) -> Callable[..., int]:
    inner = register_jitable(rules)  # no dispatcher, whose identity would make a new entry of the cache each time

    def relabelled_rules(params, state, action, rng, reward):
        """One step.  params: word, actions, for each action that of the other environment, its params."""
        word, actions = types.int64(params[0]), types.int64(params[1])
        state[0] ^= word
        status = inner(offset(params, 2 + actions), state, types.int64(params[2 + action]), rng, reward)
        state[0] ^= word
        return status

    return relabelled_rules
