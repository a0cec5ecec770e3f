"""How an agent reads the environment it is bound to: its state, its clock, and the model to plan in.

`connect` finds the way: the environment's own compiled model, a transition table, or a private simulator.  Reading
never changes the environment: no step, no draw from its random stream, no wrapper is touched.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from gymnasium_gsp.errors import PlanningError, RecipeError
from gymnasium_gsp.models.adapters import choose
from gymnasium_gsp.models.keys import ObservationKey, caster, freeze
from gymnasium_gsp.models.reading import Actions, Root, elapsed_steps, env_id, layers, time_limit
from gymnasium_gsp.models.sibling import make_sibling
from gymnasium_gsp.models.simulator import SimulatorModel
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.models.wrappers import read_layers


class LiveEnv:
    """An environment that offers `clone_state` and `compiled_model`, read for planning.

    Args:
        env: the environment, wrapped or not.
        actions: every action, where the space alone does not tell.

    Raises:
        RecipeError: if its actions are not discrete.
    """

    def __init__(self, env: Any, actions: list[Any] | None = None) -> None:
        self.env, self.source = env, env.unwrapped
        self.forms = Actions(env.action_space, actions)
        self.limit = time_limit(env)

    @staticmethod
    def fits(env: Any) -> bool:
        """Whether an environment offers this."""
        return all(hasattr(env.unwrapped, name) for name in ("clone_state", "compiled_model", "observe"))

    @property
    def env_id(self) -> str | None:
        """The id that the environment was made under, if any."""
        return env_id(self.env)

    def action(self, number: int) -> Any:
        """An action as the environment wants it."""
        return self.forms.form(number)

    def acted(self, number: int) -> None:
        """Told of each action that the agent chose."""

    def begin_episode(self) -> None:
        """Told when the agent knows that a new episode has begun."""

    def seed(self, seed: np.random.SeedSequence) -> None:
        """Begin the streams that the model draws from by itself."""

    def root(self, observation: Any, info: Any) -> Root:
        """The present state of the live environment, which last returned this observation and info.

        Raises:
            gymnasium.error.ResetNeeded: before its first reset.
        """
        state = self.source.clone_state()
        left = None if self.limit is None else self.limit - state.elapsed
        cells = np.array(state.cells, np.int64)
        return Root(self.source.compiled_model(), cells, state.elapsed, left, state.terminated)

    def shown(self, root: Root) -> Any:
        """The observation of the live environment's state."""
        return self.source.observe(root.cells.tolist())

    def check_observation(self, observation: Any, root: Root) -> None:
        """Refuse an observation that is not that of the live environment's state.

        Raises:
            PlanningError: says what was given and what the environment shows.
        """
        shown = self.shown(root)
        cast = caster(self.env.observation_space)
        try:
            same = _alike(cast(observation), cast(shown))
        except (TypeError, ValueError, KeyError):
            same = False
        if not same:
            raise PlanningError(
                f"the observation {observation!r} is not that of the environment this agent is bound to, which shows "
                f"{shown!r}: pass the observation that its last reset() or step() returned, and bind one agent to "
                "each environment"
            )

    def describe(self) -> dict[str, Any]:
        """What the agent plans in, by name."""
        return {
            "environment": self.env_id or type(self.source).__name__,
            "model": "compiled step of the environment itself",
            "time limit": "none" if self.limit is None else f"{self.limit} steps",
        }


def _alike(left: Any, right: Any) -> bool:
    """Whether two observations say the same; as float32 tells, as loops cast to it."""
    if isinstance(left, dict):
        return all(_alike(left[name], right[name]) for name in left)
    if isinstance(left, tuple):
        return all(map(_alike, left, right))
    if isinstance(left, np.ndarray) and left.dtype.kind == "f":
        return bool(np.allclose(left, right, rtol=1e-6, atol=1e-6, equal_nan=True))
    return bool(np.array_equal(left, right))


class TableEnv(LiveEnv):
    """An environment with its whole law in a table `P` and its state in `s`, as in Gymnasium's toy_text."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._table: Any = None
        self._model: Any = None

    @staticmethod
    def fits(env: Any) -> bool:
        raw, space = env.unwrapped, env.observation_space
        table = getattr(raw, "P", None)
        return (
            isinstance(table, Mapping)
            and isinstance(space, spaces.Discrete)
            and space.start == 0
            and len(table) == space.n
            and not getattr(raw, "fickle_passenger", False)  # Taxi's table leaves him out
        )

    def root(self, observation: Any, info: Any) -> Root:
        elapsed = elapsed_steps(self.env)
        state = getattr(self.source, "s", None)
        if state is None:
            raise ResetNeeded("the environment has not been reset; call env.reset() before asking for an action")
        if self.source.P is not self._table:
            self._table = self.source.P
            self._model = tabular_model(self._table, type(self.source).__name__.removesuffix("Env"))
        cells = np.array([int(state)], np.int64)
        left = None if self.limit is None or elapsed is None else self.limit - elapsed
        return Root(self._model, cells, elapsed or 0, left, self._model.terminal(cells), elapsed is not None)

    def shown(self, root: Root) -> Any:
        return int(root.cells[0])

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code, which is bound again where the agent wakes up."""
        return {**vars(self), "_table": None, "_model": None}

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "model": "the environment's transition table P, compiled"}


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
        self.adapter = adapter = choose(env.unwrapped)
        super().__init__(env, adapter.actions(env.unwrapped))
        self.limit = time_limit(env, adapter.limit(self.source))
        self.sibling = make_sibling(env, adapter, simulator)
        self._state_key, self._action_mask = state_key, action_mask
        self._cast = caster(env.observation_space)
        masked = action_mask is not None or "action_mask" in self.sibling.first_info
        bounds = reward_bounds or _declared_bounds(env)
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


def _declared_bounds(env: Any) -> tuple[float, float] | None:
    bounds = getattr(env.unwrapped, "reward_range", None)
    wraps_rewards = any(name in type(layer).__name__ for layer in layers(env) for name in ("Reward",))
    if bounds is None or wraps_rewards or not np.isfinite(np.asarray(bounds, float)).all():
        return None
    return float(bounds[0]), float(bounds[1])


def connect(env: Any, simulator: Any = None, **options: Any) -> LiveEnv:
    """How an environment is read for planning.

    Args:
        env: the environment, wrapped or not.
        simulator: a function that returns a private environment to simulate in; it takes the place of every other way.
        **options: of `SimulatedEnv`; any of them makes the environment a simulated one.

    Raises:
        RecipeError: if there is no way, with what to do.
    """
    if not hasattr(env, "unwrapped") or not hasattr(env, "action_space"):
        raise RecipeError(f"an agent is bound to a Gymnasium environment, not to {env!r}")
    if not isinstance(env.action_space, spaces.Dict):  # which an adapter may know how to list
        Actions(env.action_space)
    wanted = {name: value for name, value in options.items() if value is not None}
    if simulator is None and not wanted and read_layers(env).change_nothing:
        for kind in (LiveEnv, TableEnv):
            if kind.fits(env):
                return kind(env)
    return SimulatedEnv(env, simulator, **wanted)
