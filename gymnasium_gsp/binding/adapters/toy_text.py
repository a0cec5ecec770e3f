"""Gymnasium's toy_text family, and whatever else keeps its state in `s` beside a table `P`; Blackjack apart."""

from typing import Any, ClassVar

from gymnasium_gsp.binding.adapters.adapter import Adapter

_PICK_UP, _ABOARD = 4, 4  # Taxi's action and passenger position


class ToyText(Adapter):
    """State `s`; what the constructor drew (the map, the table) is shared with the sibling.

    Taxi's fickle passenger, if there is one, has made up his mind where nobody sees it: drawn anew, never keyed.
    """

    name: ClassVar[str] = "toy_text"
    hidden = "what a fickle passenger has decided is drawn anew in each simulation"
    observes = True

    @classmethod
    def fits(cls, env: Any) -> bool:
        return hasattr(env, "P") and type(env).__module__.startswith("gymnasium.envs.toy_text.")

    def prepare(self, sibling: Any, env: Any) -> None:
        for name in ("P", "desc", "nrow", "ncol", "initial_state_distrib"):
            if hasattr(env, name):
                setattr(sibling.unwrapped, name, getattr(env, name))

    def save(self, env: Any) -> Any:
        return int(env.s), env.lastaction, bool(getattr(env, "fickle_step", False))

    def load(self, env: Any, snapshot: Any) -> None:
        env.s, env.lastaction, env.fickle_step = snapshot

    def redraw(self, env: Any) -> None:
        if getattr(env, "fickle_passenger", False):
            undecided = env.decode(env.s)[2] != _ABOARD or env.lastaction == _PICK_UP
            env.fickle_step = undecided and bool(env.np_random.random() < env.fickle_probability)

    def key(self, env: Any) -> int:
        return int(env.s)

    def whole(self, env: Any) -> Any:
        return int(env.s), bool(getattr(env, "fickle_step", False))

    def observe(self, env: Any) -> int:
        return int(env.s)

    def is_reset(self, env: Any) -> bool:
        return hasattr(env, "s")


class Blackjack(Adapter):
    """Both hands; the dealer's hole card is drawn anew in each simulation and never keyed."""

    name: ClassVar[str] = "Blackjack"
    note = hidden = "the dealer's hole card is hidden: drawn anew in each simulation"
    observes = True

    @classmethod
    def fits(cls, env: Any) -> bool:
        return type(env).__module__ == "gymnasium.envs.toy_text.blackjack"

    def save(self, env: Any) -> Any:
        return tuple(env.player), tuple(env.dealer)

    def load(self, env: Any, snapshot: Any) -> None:
        player, dealer = snapshot
        env.player, env.dealer = list(player), list(dealer)

    def redraw(self, env: Any) -> None:
        # The deck is infinite, so the card that nobody has seen has the same law at any time.
        env.dealer[1] = min(int(env.np_random.integers(1, 14)), 10)

    def key(self, env: Any) -> Any:
        natural = (env.natural or env.sab) and sorted(env.player) == [1, 10]
        return (*map(int, env._get_obs()), natural)

    def whole(self, env: Any) -> Any:
        return self.key(env), tuple(map(int, env.dealer))

    def observe(self, env: Any) -> Any:
        return env._get_obs()

    def is_reset(self, env: Any) -> bool:
        return hasattr(env, "player")
