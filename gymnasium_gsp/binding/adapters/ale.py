"""Atari games of the Arcade Learning Environment: the emulator's state, in an emulator of the sibling's own."""

from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter


class Atari(Adapter):
    """`cloneState` without randomness; keyed by the console's memory.

    Sticky actions: the player's last action is no part of the emulator's state, so the first frame after a restore may
    repeat another one.
    """

    name: ClassVar[str] = "ALE"
    note = "with sticky actions the first frame may repeat another action than the real one would"

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__.startswith("ale_py.") and hasattr(env, "ale")

    def save(self, env: Any) -> Any:
        return env.ale.cloneState(include_rng=False)

    def load(self, env: Any, snapshot: Any) -> None:
        env.ale.restoreState(snapshot)

    def key(self, env: Any) -> bytes:
        return bytes(env.ale.getRAM())

    def blind(self, env: Any) -> None:
        env._get_obs = _Nothing()

    def has_ended(self, env: Any) -> bool:
        return bool(env.ale.game_over())

    def stream(self, env: Any) -> None:
        return None

    def reseed(self, env: Any, seed: np.random.SeedSequence) -> None:
        # The emulator's stream can only be set by loading the game anew; the next restore brings the state back.
        env.reset(seed=int(seed.generate_state(1, np.uint32)[0] >> 1))


class _Nothing:
    """In place of a method that reads the screen; a class, so that it can be pickled."""

    def __call__(self) -> None:
        return None
