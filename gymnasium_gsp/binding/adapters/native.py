"""Environments that save and restore themselves: `clone_state()` and `set_state(state)`."""

import copy
from collections.abc import Hashable
from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import FIRST, Adapter
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import freeze


class Native(Adapter):
    """The environment's own methods.

    `clone_state()` returns what decides the future, without the random stream; `set_state(state)` restores it.
    Optional: `make_simulator(seed)`, a private environment of the same kind; `state_key()`, what identifies the present
    state (without clocks and hidden parts; the cloned state itself where absent); `redraw_hidden()`, which draws anew
    what the player cannot see.
    """

    name: ClassVar[str] = "clone_state/set_state of the environment"
    priority: ClassVar[int] = FIRST

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return callable(getattr(env, "clone_state", None)) and callable(getattr(env, "set_state", None))

    def make_simulator(self, env: BareEnv, seed: int) -> Env | None:
        make = getattr(env, "make_simulator", None)
        return None if make is None else make(seed)

    def save(self, env: BareEnv) -> Any:
        return copy.deepcopy(env.clone_state())

    def load(self, env: BareEnv, snapshot: Any) -> None:
        env.set_state(snapshot)

    def redraw_hidden(self, env: BareEnv) -> None:
        if hasattr(env, "redraw_hidden"):
            env.redraw_hidden()

    def state_key(self, env: BareEnv) -> Hashable:
        if hasattr(env, "state_key"):
            return freeze(env.state_key())
        state = env.clone_state()
        if hasattr(state, "cells") and hasattr(state, "layout"):  # an EnvState of a benchmark
            return state.cells[: env.key_size], state.layout
        return freeze(state)

    def full_key(self, env: BareEnv) -> Hashable:
        return freeze(env.clone_state()) if hasattr(env, "redraw_hidden") else self.state_key(env)

    def has_ended(self, env: BareEnv) -> bool:
        return getattr(env.clone_state(), "terminated", False) is True

    def elapsed_steps(self, env: BareEnv) -> int | None:
        elapsed = getattr(env.clone_state(), "elapsed", None)
        return elapsed if isinstance(elapsed, int) else None
