"""Deterministic environments that nothing else fits: the episode's actions, played again from its reset seed."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from gymnasium_gsp.binding.adapters.adapter import LAST, Adapter, reseed_generator
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.errors import PlanningError


class Replay(Adapter):
    """Reset with the seed of the real environment's last reset, then the actions that the agent has chosen since.

    It serves only where steps draw nothing from `np_random`, and says so where they do: a replayed random stream is
    the real future.  Every simulation costs a reset and as many steps as the episode is old.
    """

    name: ClassVar[str] = "replay of the actions from the reset seed"
    priority: ClassVar[int] = LAST
    note = "each simulation costs a reset and as many steps as the episode is old; the episode must begin with a seed"
    complete = False
    observes = True
    observes_wrapped = True
    deterministic = True

    def __init__(self) -> None:
        self._actions: list[object] = []
        self._simulator: Env | None = None
        self._observation: object = None
        self._own = np.random.default_rng(0)

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return not isinstance(env, gym.utils.EzPickle)

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        self._simulator = simulator

    def action_taken(self, action: object) -> None:
        self._actions.append(action)

    def begin_episode(self) -> None:
        self._actions.clear()

    def check_history(self, elapsed: int | None) -> None:
        if elapsed == 0:
            self._actions.clear()
        if elapsed is not None and elapsed != len(self._actions):
            raise PlanningError(
                f"this environment can only be replayed, and {elapsed} steps were taken of which the agent chose "
                f"{len(self._actions)}: play every step of the episode with the agent's actions, or give the "
                "environment clone_state() and set_state()"
            )

    def save(self, env: BareEnv) -> Any:
        stream = _stream_state(env)
        seed = None if stream is None else vars(env).get("_np_random_seed")
        if stream is not None and (seed is None or seed < 0):
            raise ResetNeeded(
                f"{type(env).__name__} can only be replayed from its reset seed, and it has none: begin each episode "
                "with env.reset(seed=...), or give the environment clone_state() and set_state()"
            )
        return seed, tuple(self._actions), stream

    def parts(self, env: BareEnv) -> dict[str, Any]:
        return {}

    def load(self, env: BareEnv, snapshot: Any) -> None:
        seed, actions, stream = snapshot
        assert self._simulator is not None
        self._observation, _ = self._simulator.reset(seed=seed)
        if _stream_state(env) != stream:
            raise PlanningError(
                f"{type(env).__name__} can only be replayed, and its random stream is not where reset(seed={seed}) "
                "leaves it: either its steps draw random numbers, and a replay would show the real future, or the "
                "episode began without a seed. Begin each episode with env.reset(seed=...), or give the environment "
                "clone_state() and set_state()"
            )
        for action in actions:
            self._observation = self._simulator.step(action)[0]
        if stream is not None:  # should a later step draw after all, it draws from the agent's stream
            reseed_generator(env.np_random, np.random.SeedSequence(int(self._own.integers(1 << 62))))

    def observe(self, env: BareEnv) -> object:
        return self._observation

    def reseed(self, env: BareEnv, seed: np.random.SeedSequence) -> None:
        self._own = np.random.default_rng(seed)


def _stream_state(env: BareEnv) -> str | None:
    generator = vars(env).get("_np_random")
    return None if generator is None else repr(generator.bit_generator.state)
