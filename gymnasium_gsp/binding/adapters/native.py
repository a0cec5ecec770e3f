"""Environments that save and restore themselves: `clone_state()` and `set_state(state)`."""

import copy
from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.keys import freeze


class Native(Adapter):
    """The environment's own protocol.

    `clone_state()` returns what decides the future, without the random stream; `set_state(state)` goes there.
    Optional: `make_simulator(seed)`, a private sibling; `state_key()`, what identifies the present state (without
    clocks and hidden parts; the cloned state itself where absent); `redraw_hidden()`, which draws anew what the player
    cannot see.
    """

    name: ClassVar[str] = "clone_state/set_state of the environment"

    @classmethod
    def fits(cls, env: Any) -> bool:
        return callable(getattr(env, "clone_state", None)) and callable(getattr(env, "set_state", None))

    def sibling(self, env: Any, seed: int) -> Any:
        make = getattr(env, "make_simulator", None)
        return None if make is None else make(seed)

    def save(self, env: Any) -> Any:
        return copy.deepcopy(env.clone_state())

    def load(self, env: Any, snapshot: Any) -> None:
        env.set_state(snapshot)

    def redraw(self, env: Any) -> None:
        draw = getattr(env, "redraw_hidden", None)
        if draw is not None:
            draw()

    def key(self, env: Any) -> Any:
        if hasattr(env, "state_key"):
            return freeze(env.state_key())
        state = env.clone_state()
        if hasattr(state, "cells") and hasattr(state, "layout"):  # an EnvState of ours
            return state.cells[: env.key_size], state.layout
        return freeze(state)

    def whole(self, env: Any) -> Any:
        return freeze(env.clone_state()) if hasattr(env, "redraw_hidden") else self.key(env)

    def has_ended(self, env: Any) -> bool:
        return getattr(env.clone_state(), "terminated", False) is True

    def clock(self, env: Any) -> int | None:
        elapsed = getattr(env.clone_state(), "elapsed", None)
        return elapsed if isinstance(elapsed, int) else None
