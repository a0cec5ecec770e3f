"""An environment that is planned in through a private sibling: saved and keyed by an adapter."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from gymnasium_gsp.binding.adapters import choose
from gymnasium_gsp.binding.keys import ObservationKey, caster, freeze
from gymnasium_gsp.binding.live import LiveEnv
from gymnasium_gsp.binding.reading import Root, elapsed_steps, layers, time_limit
from gymnasium_gsp.binding.sibling import make_sibling
from gymnasium_gsp.binding.simulator import SimulatorModel
from gymnasium_gsp.errors import PlanningError, RecipeError


class SimulatedEnv(LiveEnv):
    """An environment read and simulated through the adapter of its family.

    Args:
        env: the environment, wrapped or not.
        simulator: a function that returns a private environment; None to make one.
        state_key: what identifies a state: an `ObservationKey`, or a function of (bare environment, observation);
            None for the saved state, or the observation where that does not tell.
        action_mask: function of the bare environment that returns which actions it has; None to read
            `info["action_mask"]` where there is one.
        reward_bounds: smallest and largest reward of one step, if known.
        observing: whether the sibling must observe even where no key needs it.
    """

    def __init__(
        self,
        env: Any,
        simulator: Any = None,
        state_key: Callable[[Any, Any], Any] | None = None,
        action_mask: Callable[[Any], Any] | None = None,
        reward_bounds: tuple[float, float] | None = None,
        observing: bool = False,
    ) -> None:
        for option, function in (("state_key", state_key), ("action_mask", action_mask)):
            if function is not None and not callable(function):
                raise RecipeError(f"{option} must be a function, not {function!r}")
        self.adapter = adapter = choose(env.unwrapped)
        super().__init__(env, adapter.actions(env.unwrapped))
        self.limit = time_limit(env, adapter.limit(self.source))
        self.sibling = make_sibling(env, adapter, simulator)
        self._state_key, self._action_mask = state_key, action_mask
        self._cast = caster(env.observation_space)
        masked = action_mask is not None or "action_mask" in self.sibling.first_info
        bounds = _declared_bounds(env) if reward_bounds is None else _check_bounds(reward_bounds)
        key = self._key_function()
        if state_key is None and adapter.complete and not observing:
            adapter.blind(self.sibling.raw)
        self._model = SimulatorModel(self.sibling, self.forms, key, self._mask if masked else None, bounds)

    def _key_function(self) -> Callable[[Any], Any]:
        raw, adapter, cast, own = self.sibling.raw, self.adapter, self._cast, self._state_key
        if own is None and adapter.complete:
            return _SavedKey(adapter, raw)
        if self.sibling.layers.unseen:
            names = ", ".join(self.sibling.layers.unseen)
            raise RecipeError(
                f"states of {type(raw).__name__} are keyed by the observation, and {names} cannot be rebuilt around a "
                "simulator; leave the wrapper out, or give the environment clone_state() and set_state()"
            )
        return _ObservedKey(own or ObservationKey(), raw, cast)

    def _mask(self, info: Any) -> Any:
        if self._action_mask is not None:
            return self._action_mask(self.sibling.raw)
        if "action_mask" in (info or {}):
            return info["action_mask"]
        raise PlanningError(
            f"{type(self.source).__name__} masks its actions by info['action_mask']: pass the info on, "
            "agent.act(observation, info), or give action_mask=, a function of the bare environment"
        )

    def acted(self, number: int) -> None:
        self.adapter.acted(self.forms.form(number))

    def begin_episode(self) -> None:
        self.adapter.begin_episode()

    def seed(self, seed: np.random.SeedSequence) -> None:
        self._model.seed(seed)

    def root(self, observation: Any, info: Any) -> Root:
        adapter = self.adapter
        elapsed = elapsed_steps(self.env)
        if not adapter.is_reset(self.source):
            raise ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")
        if elapsed is None:
            elapsed = adapter.clock(self.source)
        adapter.follow(elapsed)
        self.sibling.snapshot = adapter.save(self.source)
        self.sibling.restore()
        left = None if self.limit is None or elapsed is None else self.limit - elapsed
        ended = adapter.has_ended(self.source) or any(getattr(layer, "autoreset", False) for layer in layers(self.env))
        cells = np.zeros(2, np.int64) if ended else self._model.enter(observation, info)
        return Root(self._model, cells, elapsed or 0, left, ended, elapsed is not None)

    def check_observation(self, observation: Any, root: Root) -> None:
        if self.adapter.observes and self.sibling.shows_all and not root.terminated:
            super().check_observation(observation, root)

    def shown(self, root: Root) -> Any:
        return self.sibling.observe()

    def describe(self) -> dict[str, Any]:
        sibling, key = self.sibling, self._state_key
        keys = "the saved state" if key is None and self.adapter.complete else repr(key or ObservationKey())
        note = f" ({self.adapter.note})" if self.adapter.note else ""
        return {
            **super().describe(),
            "model": f"a private simulator made by {sibling.origin}, stepped through callbacks",
            "adapter": self.adapter.name + note,
            "states keyed by": keys,
            "wrappers left out": [*sibling.layers.left_out, *sibling.layers.unseen],
            "wrappers rebuilt": [name for name, _ in sibling.layers.rebuild],
        }


class _SavedKey:
    """The key that an adapter reads off the sibling's state."""

    def __init__(self, adapter: Any, raw: Any) -> None:
        self._key, self._raw = adapter.key, raw

    def __call__(self, observation: Any) -> Any:
        return self._key(self._raw)


class _ObservedKey:
    """The key that the observation, or a user's function of it, gives."""

    def __init__(self, own: Callable[[Any, Any], Any], raw: Any, cast: Callable[[Any], Any]) -> None:
        self._own, self._raw, self._cast = own, raw, cast

    def __call__(self, observation: Any) -> Any:
        return freeze(self._own(self._raw, self._cast(observation)))


def _check_bounds(bounds: Any) -> tuple[float, float]:
    """The smallest and largest reward, as two floats."""
    try:
        smallest, largest = map(float, bounds)
    except (TypeError, ValueError):
        smallest = largest = float("nan")
    if not -float("inf") < smallest <= largest < float("inf"):
        raise RecipeError(f"reward_bounds must be two finite numbers, smallest first, not {bounds!r}")
    return smallest, largest


def _declared_bounds(env: Any) -> tuple[float, float] | None:
    bounds = getattr(env.unwrapped, "reward_range", None)
    wraps_rewards = any(name in type(layer).__name__ for layer in layers(env) for name in ("Reward",))
    if bounds is None or wraps_rewards or not np.isfinite(np.asarray(bounds, float)).all():
        return None
    return float(bounds[0]), float(bounds[1])
