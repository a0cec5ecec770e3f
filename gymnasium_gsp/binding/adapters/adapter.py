"""The interface of an adapter: saving, restoring, keying and reseeding the environments of one family."""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.parts import Path, put_part

FIRST, FAMILY, ANY_PYTHON, LAST = 30, 20, 10, 0
"""Priorities: an environment's own methods, one family, what can be pickled, the last resort."""


class Adapter:
    """Saves and restores the environments of one family; there is one object for each simulator.

    Every method takes a bare environment (`unwrapped`) of the family.  A snapshot holds no random stream and no
    object that a later step could change.  To support a family, set `name`, override `fits`, `save`, `load` and
    `state_key`, and whatever else differs from the answers here; then register the class, see
    `adapters.register_adapter`.

    Attributes:
        name: name in descriptions and reports.
        priority: adapters of higher priority are asked first whether they fit.
        note: one line for the user.
        hidden: the part of the saved state that a player cannot know, and what is done about it.
        complete: whether `state_key` identifies the whole state; if not, states are keyed by the observation.
        observes: whether `observe` is implemented.
        observes_wrapped: whether `observe` answers as the rebuilt wrappers show it, not as the bare environment does.
        exact: whether a restored simulator follows the original to the last bit.
        deterministic: whether a step never draws random numbers.
    """

    name: ClassVar[str]
    priority: ClassVar[int] = FAMILY
    note: str = ""
    hidden: str = ""
    complete: bool = True
    observes: bool = False
    observes_wrapped: bool = False
    exact: bool = True
    deterministic: bool = False

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        """Return whether this adapter serves the environment, judged by module or attributes; imports nothing."""
        raise NotImplementedError

    def make_simulator(self, env: BareEnv, seed: int) -> Env | None:
        """A private environment of the same kind, or None to have it made from the spec or the class."""
        return None

    def actions(self, env: BareEnv) -> list[Any] | None:
        """Every action as `step` takes it, where the action space cannot be enumerated; else None."""
        return None

    def skip_observations(self, simulator: BareEnv) -> None:
        """Stop a simulator from computing observations; called if they are not used and `observes` is false."""

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        """Give a new simulator (with its rebuilt wrappers) what the original's constructor drew or made."""

    def save(self, env: BareEnv) -> Any:
        """A snapshot of the state, without the random stream."""
        raise NotImplementedError

    def load(self, env: BareEnv, snapshot: Any) -> None:
        """Restore a snapshot; the random stream stays where it is."""
        raise NotImplementedError

    def redraw_hidden(self, env: BareEnv) -> None:
        """Draw the hidden part of the state anew, from the environment's own stream."""

    def state_key(self, env: BareEnv) -> Hashable:
        """The identity of the present state, without clocks and hidden parts; called only if `complete`."""
        raise NotImplementedError

    def full_key(self, env: BareEnv) -> Hashable:
        """The identity of the present state with its hidden parts; called only if `complete`."""
        return self.state_key(env)

    def observe(self, env: BareEnv) -> object:
        """The observation of the present state; called only if `observes`."""
        raise NotImplementedError

    def is_reset(self, env: BareEnv) -> bool:
        """Return whether there is a state to save."""
        return True

    def has_ended(self, env: BareEnv) -> bool:
        """Return whether the episode is known to have terminated in the present state."""
        return False

    def elapsed_steps(self, env: BareEnv) -> int | None:
        """Steps since reset, if the environment counts them itself."""
        return None

    def time_limit(self, env: BareEnv) -> int | None:
        """Steps after which the environment itself ends an episode, if it does."""
        return None

    def check_history(self, elapsed: int | None) -> None:
        """Compare the steps since reset, where known, with the actions taken; called at each decision."""

    def action_taken(self, action: object) -> None:
        """Record an action that the agent has chosen for the real environment."""

    def begin_episode(self) -> None:
        """Forget the actions taken; called when the agent knows that a new episode has begun."""

    def parts(self, env: BareEnv) -> dict[str, Any]:
        """The parts of the saved state by name, for experiments."""
        return {"state": self.save(env)}

    def set_parts(self, env: BareEnv, parts: Mapping[Path, Any]) -> bool:
        """Put other parts into the present state of a simulator; returns whether they could be put there."""
        state = self.parts(env)
        try:
            for path, part in parts.items():
                put_part(state, path, part)
            self._take_parts(env, state)
        except Exception:  # a third party's object may raise anything
            return False
        return True

    def _take_parts(self, env: BareEnv, state: dict[str, Any]) -> None:
        """Load what `parts` returned."""
        self.load(env, state["state"])

    def follow_streams(self, simulator: BareEnv, env: BareEnv) -> None:
        """Load an environment's present state with its streams, so that a copy does what the original will do."""
        self.load(simulator, self.save(env))
        own, original = self.generator(simulator), self.generator(env)
        if own is not None and original is not None:
            own.bit_generator.state = original.bit_generator.state

    def generator(self, env: BareEnv) -> np.random.Generator | None:
        """The generator that steps draw from; None where it is out of reach."""
        return env.np_random

    def reseed(self, env: BareEnv, seed: np.random.SeedSequence) -> None:
        """Begin another random stream, in place, so that sub-objects that share the generator follow."""
        reseed_generator(self.generator(env), seed)


def constants(env: BareEnv) -> dict[str, object]:
    """The numbers and texts that an environment holds; its user may have changed them since it was made."""
    return {
        name: value
        for name, value in vars(env).items()
        if type(value) in (bool, int, float, str) and name != "render_mode"
    }


def reseed_generator(generator: np.random.Generator | None, seed: np.random.SeedSequence) -> None:
    """Make a generator begin the stream of this seed; every object that holds the generator follows."""
    assert generator is not None
    stream: Any = generator.bit_generator
    stream.state = type(stream)(seed).state


class NoObservation:
    """Stands in for a method that computes an observation; a class, so that it can be pickled."""

    def __init__(self, answer: object = None) -> None:
        self._answer = answer

    def __call__(self, *arguments: object) -> object:
        return self._answer
