"""Any environment written in Python alone, by its instance variables."""

from collections.abc import Hashable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.adapters.adapter import ANY_PYTHON, Adapter, reseed_generator
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import freeze
from gymnasium_gsp.binding.saving import (
    NOT_STATE,
    CopiedStreams,
    Snapshot,
    Streams,
    is_drawing,
    load_variables,
    save_with_streams,
    take_snapshot,
)
from gymnasium_gsp.binding.shared import class_variables
from gymnasium_gsp.binding.streams import follow_stream
from gymnasium_gsp.errors import PlanningError, RecipeError


class Generic(Adapter):
    """Instance variables, pickled without spec, spaces, drawing objects and random streams.

    Streams are replaced by the simulator's own wherever they are held, so that a copy never sees the real future.  A
    state is keyed by the same variables where their content can be read, else by the observation.  An environment may
    declare which of them are clocks, `gsp_clocks = ("t",)`: these stay out of the keys.
    """

    name: ClassVar[str] = "instance variables"
    priority: ClassVar[int] = ANY_PYTHON

    def __init__(self) -> None:
        self._streams = Streams()
        self._known: frozenset[str] = frozenset()  # variables that a simulator has after its reset
        self._replaced: frozenset[str] = frozenset()  # variables that `skip_observations` has replaced

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        if isinstance(env, gym.utils.EzPickle):
            return False
        try:
            cls().save(env)
        except Exception:  # a third party's object may raise anything; it cannot be saved then
            return False
        return True

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        try:
            self.save(simulator.unwrapped)
        except Exception as error:  # what the environment holds only after a reset may raise anything
            raise RecipeError(
                f"the variables of {type(env).__name__} cannot be saved: {error}. Give it clone_state() and "
                "set_state(state), a state without the random stream"
            ) from error
        self._known = frozenset(self._variables(simulator.unwrapped))
        try:
            self.state_key(simulator.unwrapped)
            self.state_key(env)
        except Exception:  # the same objects, asked for their content
            self.complete = False
            self.note = "states are keyed by the observation, as the content of its variables cannot be read"

    def _variables(self, env: BareEnv) -> dict[str, object]:
        left_out = NOT_STATE | self._replaced
        held = {**class_variables(type(env)), **vars(env)}
        return {name: value for name, value in held.items() if name not in left_out and not is_drawing(value)}

    def save(self, env: BareEnv) -> Snapshot:
        return take_snapshot(env, self._variables(env))

    def load(self, env: BareEnv, snapshot: Snapshot) -> None:
        variables = load_variables(snapshot, self._streams, env)
        for name in self._variables(env).keys() - variables.keys():
            delattr(env, name)
        env.__dict__.update(variables)

    def parts(self, env: BareEnv) -> dict[str, Any]:
        return self._variables(env)

    def _take_parts(self, env: BareEnv, state: dict[str, Any]) -> None:
        env.__dict__.update(state)

    def follow_streams(self, simulator: BareEnv, env: BareEnv) -> None:
        env.np_random  # noqa: B018 - made now, where the environment has none yet
        snapshot, streams = save_with_streams(env, self._variables(env))
        simulator.__dict__.update(load_variables(snapshot, CopiedStreams(streams), simulator))
        follow_stream(simulator.np_random, env.np_random)

    def redraw_hidden(self, env: BareEnv) -> None:
        if hasattr(env, "redraw_hidden"):
            env.redraw_hidden()

    def state_key(self, env: BareEnv) -> Hashable:
        if hasattr(env, "state_key"):
            return freeze(env.state_key())
        if hasattr(env, "redraw_hidden"):
            raise PlanningError("what redraw_hidden() draws is no part of a key, and there is no state_key()")
        return self._content_key(env)

    def full_key(self, env: BareEnv) -> Hashable:
        return self._content_key(env) if hasattr(env, "redraw_hidden") else self.state_key(env)

    def _content_key(self, env: BareEnv) -> Hashable:
        clocks = getattr(env, "gsp_clocks", ())
        return freeze(
            {name: value for name, value in self._variables(env).items() if name not in clocks and value is not env}
        )

    def is_reset(self, env: BareEnv) -> bool:
        return getattr(env, "_np_random", None) is not None or self._known <= vars(env).keys()

    def elapsed_steps(self, env: BareEnv) -> int | None:
        counts = (getattr(env, name, None) for name in getattr(env, "gsp_clocks", ()))
        return next((int(count) for count in counts if isinstance(count, int)), None)

    def reseed(self, env: BareEnv, seed: np.random.SeedSequence) -> None:
        self._streams.begin(seed)
        reseed_generator(env.np_random, seed)
