"""Atari games of the Arcade Learning Environment: the emulator's state, in an emulator of the simulator's own."""

from typing import Any, ClassVar

import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter, NoObservation
from gymnasium_gsp.binding.environment import BareEnv


class Atari(Adapter):
    """`cloneState` without randomness; keyed by the console's memory.

    Sticky actions: the player's last action is no part of the emulator's state, so the first frame after a restore may
    repeat another one.
    """

    name: ClassVar[str] = "ALE"
    note = "with sticky actions the first frame may repeat another action than the real one would"

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__.startswith("ale_py.") and hasattr(env, "ale")

    def save(self, env: BareEnv) -> Any:
        return env.ale.cloneState(include_rng=False)

    def load(self, env: BareEnv, snapshot: Any) -> None:
        env.ale.restoreState(snapshot)

    def state_key(self, env: BareEnv) -> bytes:
        return bytes(env.ale.getRAM())

    def skip_observations(self, simulator: BareEnv) -> None:
        simulator._get_obs = NoObservation()

    def has_ended(self, env: BareEnv) -> bool:
        return bool(env.ale.game_over())

    def generator(self, env: BareEnv) -> None:
        return None

    def reseed(self, env: BareEnv, seed: np.random.SeedSequence) -> None:
        # The emulator's stream can only be set by loading the game anew; the next restore brings the state back.
        env.reset(seed=int(seed.generate_state(1, np.uint32)[0] >> 1))
