"""What an adapter answers: how one family of environments is saved, restored, keyed and given other randomness."""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

_CONSTANT = (bool, int, float, str)


class Adapter:
    """How one family of environments is saved and restored; one object for each simulator.

    Every method takes a bare environment (`unwrapped`) of the family.  A snapshot holds no random stream and no
    object that a later step could change.  To support a family, override `fits`, `save` and `load`, and what else
    differs from the answers here.

    Attributes:
        name: how descriptions and reports call it.
        note: what a user should know, in one line.
        hidden: what the saved state holds that a player cannot know, and what is done about it.
        complete: whether `key` tells the whole state, so that states need no observation to be told apart.
        observes: whether `observe` can be asked.
        outermost: whether `observe` answers as the rebuilt wrappers show it, not as the bare environment does.
        exact: whether a restored sibling follows the original to the last bit.
        deterministic: whether a step never draws; where true, a reseeded copy need not depart from the original.
    """

    name: ClassVar[str]
    note: str = ""
    hidden: str = ""
    complete: bool = True
    observes: bool = False
    outermost: bool = False
    exact: bool = True
    deterministic: bool = False

    @classmethod
    def fits(cls, env: Any) -> bool:
        """Whether this adapter serves the environment, told by module or attributes; imports nothing."""
        raise NotImplementedError

    def sibling(self, env: Any, seed: int) -> Any:
        """A bare private environment of the same kind, or None to have it made from its spec or class."""
        return None

    def actions(self, env: Any) -> list[Any] | None:
        """Every action as `step` wants it, where the action space alone cannot be enumerated; else None."""
        return None

    def blind(self, env: Any) -> None:
        """Spare a sibling what only its observations need; asked where nobody reads them."""

    def prepare(self, sibling: Any, env: Any) -> None:
        """Share with a new sibling (its rebuilt wrappers around it) what the original's constructor drew or made."""

    def save(self, env: Any) -> Any:
        """A snapshot of the state, without the random stream."""
        raise NotImplementedError

    def load(self, env: Any, snapshot: Any) -> None:
        """Go to a snapshot; the random stream stays where it is."""
        raise NotImplementedError

    def redraw(self, env: Any) -> None:
        """Draw anew, from the environment's own stream, what the state holds and no observation tells."""

    def key(self, env: Any) -> Hashable:
        """The identity of the present state, without clocks and hidden parts; asked only where `complete`."""
        raise NotImplementedError

    def whole(self, env: Any) -> Hashable:
        """The identity of the present state with its hidden parts; asked only where `complete`."""
        return self.key(env)

    def observe(self, env: Any) -> Any:
        """The observation of the present state; asked only where `observes`."""
        raise NotImplementedError

    def is_reset(self, env: Any) -> bool:
        """Whether there is a state to save."""
        return True

    def has_ended(self, env: Any) -> bool:
        """Whether the state is known to be one where the episode has terminated."""
        return False

    def clock(self, env: Any) -> int | None:
        """Steps since reset, if the environment counts them itself."""
        return None

    def limit(self, env: Any) -> int | None:
        """Steps after which the environment itself ends an episode, if it does."""
        return None

    def follow(self, elapsed: int | None) -> None:
        """Told at each decision how many steps the real episode is old, where that is known."""

    def acted(self, action: Any) -> None:
        """Told of every action that the agent has chosen for the real environment."""

    def begin_episode(self) -> None:
        """Told when the agent knows that a new episode has begun."""

    def stream(self, env: Any) -> Any:
        """The generator that steps draw from; None where it is out of reach."""
        return env.np_random

    def reseed(self, env: Any, seed: np.random.SeedSequence) -> None:
        """Begin another random stream, in place, so that sub-objects that share the generator follow."""
        restart(self.stream(env), seed)


def constants(env: Any) -> dict[str, Any]:
    """The numbers and words that an environment holds, which its user may have changed since it was made."""
    return {name: value for name, value in vars(env).items() if type(value) in _CONSTANT and name != "render_mode"}


def restart(generator: Any, seed: np.random.SeedSequence) -> None:
    """Let a generator begin the stream of this seed; whoever holds the generator follows."""
    stream = generator.bit_generator
    stream.state = type(stream)(seed).state
