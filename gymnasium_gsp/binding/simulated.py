"""Environments that are planned in through a private simulator, saved and keyed by an adapter."""

import statistics
import time
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from gymnasium_gsp.binding.actions import ActionGrid
from gymnasium_gsp.binding.adapters import choose
from gymnasium_gsp.binding.adapters.adapter import FAMILY
from gymnasium_gsp.binding.binding import Binding, Root
from gymnasium_gsp.binding.cells import Cells, numbers_of
from gymnasium_gsp.binding.environment import BareEnv, EnvironmentView, smallest_limit
from gymnasium_gsp.binding.foresight import FORESIGHT_REMEDY, Experiment
from gymnasium_gsp.binding.keys import ObservationKey, cast_observation, freeze
from gymnasium_gsp.binding.private_simulator import PrivateSimulator
from gymnasium_gsp.binding.shared import changed_outside, outside_state
from gymnasium_gsp.binding.simulator import SimulatorModel
from gymnasium_gsp.binding.wrappers import SortedWrappers
from gymnasium_gsp.errors import PlanningError, RecipeError, check_count
from gymnasium_gsp.models.model import RewardBounds

StateKey = Callable[[BareEnv, Any], Hashable] | Literal["auto", "exact", "actions"]
"""A function of (bare environment, observation) that identifies a state; or "exact" for the saved state (for the
observation where that cannot be keyed), "actions" for the actions since the root, whatever states they led through, or
"auto" to find out which of these, or which `Cells`, fit the environment."""

ActionMask = Callable[[BareEnv], Any]
"""A function of the bare environment that returns its legal actions, an array of 0 and 1."""

_STEPS_TRIED, _SECONDS_TRIED = 12, 2.0  # steps of an episode that an agent tries, and how long either attempt may take
_STEPS_TIMED = 24
_tried: set[type] = set()  # environments whose claims have been tried


class SimulatedBinding(Binding):
    """An environment read and simulated through the adapter of its family.

    Attributes:
        adapter: the adapter.
        simulator: the private environment in which simulations run.
        action_mask: the function of that name.
        masked: whether some actions may be illegal.
        model: the model behind callbacks into the simulator.

    Args:
        view: the environment.
        wrappers: its wrappers, or those of the simulator that the user gave.
        given: the bare simulator that the user gave; None to make one.
        state_key: the identity of a state, see `StateKey`.
        hold: steps for which an action is held in simulations; None for 1, or what fits where the key is "auto".
        action_mask: function of the bare environment that returns its legal actions; None to read
            `info["action_mask"]` where there is one.
        reward_bounds: smallest and largest reward of one step, if known.
        observing: whether the simulator must observe even where no key needs it.
        actions: of a continuous action space, points in each dimension; None for a grid that refines.

    Raises:
        RecipeError: if no simulator can be made, or an option makes no sense.
    """

    def __init__(
        self,
        view: EnvironmentView,
        wrappers: SortedWrappers,
        given: BareEnv | None = None,
        state_key: StateKey = "auto",
        hold: int | None = None,
        action_mask: ActionMask | None = None,
        reward_bounds: RewardBounds | None = None,
        observing: bool = False,
        actions: ActionGrid | None = None,
    ) -> None:
        if action_mask is not None and not callable(action_mask):
            raise RecipeError(f"action_mask must be a function, not {action_mask!r}")
        if not callable(state_key) and state_key not in get_args(get_args(StateKey)[1]):
            raise RecipeError(
                f"state_key must be 'auto', 'exact', 'actions', Cells, an ObservationKey or a function of (env, "
                f"observation), not {state_key!r}"
            )
        bounds = view.reward_bounds if reward_bounds is None else _check_bounds(reward_bounds)
        self.adapter = choose(view.raw)
        super().__init__(view, self.adapter.actions(view.raw), actions)
        self.simulator = PrivateSimulator(view, wrappers, self.adapter, given)
        self.action_mask = action_mask
        self.masked = action_mask is not None or "action_mask" in self.simulator.first_info
        self._observing = observing
        self._elapsed: int | None = None  # at the last decision
        mask = self.legal_mask if self.masked else None
        self.model = SimulatorModel(self.simulator, self.actions, self.key, mask, bounds)
        self.hold = 1 if hold is None else check_count("hold", hold)
        self.key_by(state_key)

    @property
    def hold(self) -> int:
        """Steps of the environment for which simulations hold an action."""
        return self.model.hold

    @hold.setter
    def hold(self, steps: int) -> None:
        if steps > 1 and self.masked:
            raise RecipeError(
                f"hold={steps} holds actions that may become illegal, as {type(self.view.raw).__name__} masks them: "
                "leave it out, or give 1"
            )
        self.model.hold = steps

    def key_by(self, state_key: StateKey) -> None:
        """Key states this way from now on; before the first decision.

        Raises:
            RecipeError: if the key needs observations that a wrapper hides.
        """
        adapter, unseen = self.adapter, self.simulator.wrappers.unseen
        self._by_state = state_key in ("auto", "exact", "actions") and adapter.complete
        of_state = self._by_state or (isinstance(state_key, Cells) and state_key.of == "state")
        if not of_state and unseen:
            raise RecipeError(
                f"states of {type(self.view.raw).__name__} are keyed by the observation, and {', '.join(unseen)} "
                "cannot be rebuilt around a simulator; leave the wrapper out, or give the environment clone_state() "
                "and set_state()"
            )
        if of_state and state_key != "auto" and not self._observing and not adapter.observes:
            self.simulator.skip_observations()
        self.state_key = state_key
        self.model.key = None if state_key == "actions" else self.key

    @property
    def time_limit(self) -> int | None:
        return smallest_limit(self.view.time_limit, self.adapter.time_limit(self.view.raw))

    def key(self, observation: object) -> Hashable:
        """The key of the simulator's present state, which shows this observation."""
        if self._by_state:
            return self.adapter.state_key(self.simulator.raw)
        if isinstance(self.state_key, Cells):
            of_state = self.state_key.of == "state"
            numbers: Any = self.adapter.state_key(self.simulator.raw) if of_state else numbers_of(observation)
            return self.state_key.cell(numbers)
        function = self.state_key if callable(self.state_key) else ObservationKey()
        observation = cast_observation(self.view.env.observation_space, observation)
        return freeze(function(self.simulator.raw, observation))

    def legal_mask(self, info: Any) -> Any:
        """The action mask of the simulator's present state, whose environment last returned this info."""
        if self.action_mask is not None:
            return self.action_mask(self.simulator.raw)
        if "action_mask" in (info or {}):
            return info["action_mask"]
        raise PlanningError(
            f"{type(self.view.raw).__name__} masks its actions by info['action_mask']: pass the info on, "
            "agent.act(observation, info), or give action_mask=, a function of the bare environment"
        )

    def warn_of_failed_claims(self) -> None:
        """Say once for each class what `gsp check` would fail: foreknowledge, and what is drawn or moved outside.

        It is tried on the simulator, of environments that no adapter of their family serves, in some 300 steps, or as
        many as some seconds allow.
        """
        kind, simulator = type(self.view.raw), self.simulator
        untold = simulator.observers and self._by_state  # observations are not computed then
        if kind in _tried or untold or self.adapter.priority == FAMILY or self.adapter.deterministic:
            return
        _tried.add(kind)
        outside = outside_state(simulator.raw)
        experiment = Experiment(simulator.env, self.adapter, simulator, self.legal_action, self.shown)
        try:
            unrepeatable = experiment.find_unrepeatable(0, _STEPS_TRIED, _SECONDS_TRIED)
            known = None if unrepeatable else experiment.run(0, _STEPS_TRIED, _SECONDS_TRIED)
        except Exception:  # a third party's code may raise anything; `gsp check` shows it
            return
        failed = [f"{known.how}: {FORESIGHT_REMEDY}"] if known is not None and known.future else []
        failed += [unrepeatable] if unrepeatable else []
        if changed := changed_outside(simulator.raw, outside):
            failed.append(f"planning changes {changed}, which every environment of this kind shares: keep it in self")
        for words in failed:
            warnings.warn(f"{kind.__name__}: {words}. `gsp check` tells more", RuntimeWarning, stacklevel=4)

    def step_seconds(self) -> float:
        """Seconds of one step of the simulator with its key: the median of a fixed number of random steps."""
        simulator, seconds, ended, info = self.simulator, [], True, None
        draw = np.random.default_rng(0)
        for choice in draw.integers(1 << 30, size=_STEPS_TIMED).tolist():
            if ended:
                info = simulator.env.reset(seed=0)[1]
            action = self.legal_action(simulator.raw, info, choice)
            begun = time.perf_counter()
            observation, _, terminated, truncated, info = simulator.env.step(action)
            self.key(observation)
            seconds.append(time.perf_counter() - begun)
            ended = terminated or truncated
        return statistics.median(seconds)

    def legal_action(self, raw: BareEnv, info: object, choice: int = 0) -> object:
        """A legal action of a bare environment that last returned this info, chosen by a number."""
        if self.action_mask is not None:
            info = {"action_mask": self.action_mask(raw)}
        mask = info.get("action_mask") if isinstance(info, dict) else None
        legal = range(self.actions.count) if mask is None else np.flatnonzero(self.actions.flat_mask(mask))
        return self.actions[int(legal[choice % len(legal)])]

    def shown(self, observation: object) -> Hashable:
        """An observation by content, as the simulator shows it."""
        return freeze(cast_observation(self.simulator.env.observation_space, observation))

    def action_taken(self, number: int) -> None:
        self.adapter.action_taken(self.actions[number])

    def begin_episode(self) -> None:
        self.adapter.begin_episode()

    def seed(self, seed: np.random.SeedSequence) -> None:
        self.model.seed(seed)

    def root(self, observation: object, info: object) -> Root:
        adapter, raw = self.adapter, self.view.raw
        elapsed = self.view.elapsed_steps()
        if not adapter.is_reset(raw):
            raise self.view.reset_needed()
        if elapsed is None:
            elapsed = adapter.elapsed_steps(raw)
        adapter.check_history(elapsed)
        self.simulator.snapshot = adapter.save(raw)
        self.simulator.restore()
        ended = adapter.has_ended(raw) or self.view.resets_next()
        told = self.action_mask is not None or (isinstance(info, dict) and "action_mask" in info)
        asked_again = not told and elapsed is not None and elapsed == self._elapsed
        self._elapsed = elapsed
        left = self._steps_left(elapsed)
        cells = np.zeros(2, np.int64) if ended else self.model.enter(observation, info, left, asked_again)
        return Root(self.model, cells, elapsed or 0, left, ended, elapsed is not None)

    def check_observation(self, observation: object, root: Root) -> None:
        if not self.adapter.observes or not self.simulator.wrappers.observations_agree or root.terminated:
            return
        try:
            super().check_observation(observation, root)
        except PlanningError:
            if self.shown(self.observe(root)) == self.shown(self.observe(root)):
                raise  # else a wrapper draws noise, and no two observations of one state agree

    def observe(self, root: Root) -> object:
        return self.simulator.observe()

    def observation(self, cells: Sequence[int]) -> Any:
        return self.model.observation(cells)

    def describe(self) -> dict[str, Any]:
        simulator, note = self.simulator, f" ({self.adapter.note})" if self.adapter.note else ""
        return {
            **self._describe(f"a private simulator made by {simulator.origin}, stepped through callbacks"),
            "adapter": self.adapter.name + note,
            "states keyed by": self._keyed_by(),
            "actions held for": f"{self.hold} steps" if self.hold > 1 else "1 step",
            "wrappers left out": [*simulator.wrappers.neutral, *simulator.wrappers.unseen],
            "wrappers rebuilt": simulator.wrappers.rebuilt,
        }

    def _keyed_by(self) -> str:
        if self.state_key == "actions":
            return "the actions since the root"
        if callable(self.state_key):
            return repr(self.state_key)
        return "the saved state" if self._by_state else repr(ObservationKey())


def _check_bounds(bounds: Any) -> RewardBounds:
    """The smallest and largest reward, as two floats."""
    try:
        smallest, largest = map(float, bounds)
    except (TypeError, ValueError):
        smallest = largest = float("nan")
    if not -float("inf") < smallest <= largest < float("inf"):
        raise RecipeError(f"reward_bounds must be two finite numbers, smallest first, not {bounds!r}")
    return smallest, largest
