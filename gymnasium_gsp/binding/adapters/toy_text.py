"""Gymnasium's toy_text family, whose environments keep their state in `s` beside a table `P`; and Blackjack."""

from collections.abc import Hashable
from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import Adapter
from gymnasium_gsp.binding.environment import BareEnv, Env

_PICK_UP, _ABOARD = 4, 4  # Taxi's action and passenger position
_DRAWN = ("P", "desc", "nrow", "ncol", "initial_state_distrib")


class ToyText(Adapter):
    """State `s`; what the constructor drew (the map, the table) is shared with the simulator.

    The decision of Taxi's fickle passenger, if there is one, is hidden: it is drawn anew and never keyed.
    """

    name: ClassVar[str] = "toy_text"
    hidden = "what a fickle passenger has decided is drawn anew in each simulation"
    observes = True

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return hasattr(env, "P") and type(env).__module__.startswith("gymnasium.envs.toy_text.")

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        vars(simulator.unwrapped).update({name: getattr(env, name) for name in _DRAWN if hasattr(env, name)})

    def save(self, env: BareEnv) -> Any:
        return int(env.s), env.lastaction, bool(getattr(env, "fickle_step", False))

    def load(self, env: BareEnv, snapshot: Any) -> None:
        env.s, env.lastaction, env.fickle_step = snapshot

    def redraw_hidden(self, env: BareEnv) -> None:
        if getattr(env, "fickle_passenger", False):
            undecided = env.decode(env.s)[2] != _ABOARD or env.lastaction == _PICK_UP
            env.fickle_step = undecided and bool(env.np_random.random() < env.fickle_probability)

    def state_key(self, env: BareEnv) -> Hashable:
        return int(env.s)

    def full_key(self, env: BareEnv) -> Hashable:
        return int(env.s), bool(getattr(env, "fickle_step", False))

    def observe(self, env: BareEnv) -> object:
        return int(env.s)

    def is_reset(self, env: BareEnv) -> bool:
        return hasattr(env, "s")


class Blackjack(Adapter):
    """Both hands; the dealer's hole card is drawn anew in each simulation and never keyed."""

    name: ClassVar[str] = "Blackjack"
    note = hidden = "the dealer's hole card is hidden: drawn anew in each simulation"
    observes = True

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        return type(env).__module__ == "gymnasium.envs.toy_text.blackjack"

    def save(self, env: BareEnv) -> Any:
        return tuple(env.player), tuple(env.dealer)

    def load(self, env: BareEnv, snapshot: Any) -> None:
        env.player, env.dealer = map(list, snapshot)

    def redraw_hidden(self, env: BareEnv) -> None:
        # The deck is infinite, so the hidden card has the same law at any time.
        env.dealer[1] = min(int(env.np_random.integers(1, 14)), 10)

    def state_key(self, env: BareEnv) -> Hashable:
        natural = (env.natural or env.sab) and sorted(env.player) == [1, 10]
        return (*map(int, env._get_obs()), natural)

    def full_key(self, env: BareEnv) -> Hashable:
        return self.state_key(env), tuple(map(int, env.dealer))

    def observe(self, env: BareEnv) -> object:
        return env._get_obs()

    def is_reset(self, env: BareEnv) -> bool:
        return hasattr(env, "player")
