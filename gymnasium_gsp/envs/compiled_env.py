"""The parent of the benchmark environments: a compiled step, snapshots without randomness, simulators, rendering."""

import copy
import ctypes
import inspect
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, SupportsInt, TypeAlias, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from gymnasium_gsp.abi.compilation import compiled_pointer
from gymnasium_gsp.abi.pointers import Pointer, ctypes_type
from gymnasium_gsp.abi.signatures import LEGAL, STEP, TERMINATED
from gymnasium_gsp.errors import check_count
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.legal import legal_actions
from gymnasium_gsp.models.model import Transition

if TYPE_CHECKING:
    from gymnasium_gsp.envs.picture import Picture, Window

ObsT = TypeVar("ObsT")

Layout: TypeAlias = tuple[Any, ...]
"""Everything that the MDP depends on and that is not part of the state; hashable."""


class EnvState(NamedTuple):
    """Everything that decides the future of an environment, except its random stream.

    Attributes:
        cells: the state, as whole numbers.
        elapsed: steps since reset.
        terminated: whether the episode has reached its end.
        layout: what was fixed at construction or drawn at reset; two states of one layout belong to one MDP.
    """

    cells: tuple[int, ...]
    elapsed: int
    terminated: bool
    layout: Layout


class CompiledEnv(gym.Env[ObsT, SupportsInt], Generic[ObsT]):
    """A Gymnasium environment whose rules are one compiled step, used by `step` and by the search alike.

    A subclass sets `rules`, `draws` (values that one step takes from the random stream, for every state and
    action), `observation_space`, `actions` and `reward_bounds` (smallest and largest reward of one step), and
    implements `_start`, `_params`, `_is_state`, `observe`, `transitions` and `_draw_text`; an episode that can end also
    `is_terminal`, a layout that is drawn at reset `_layout` and `_set_layout`, states that lack actions `legal`.
    `_picture` draws the state; without it pictures show the text.
    The horizon truncates; it is never a terminal state.

    Attributes:
        render_size: width of a picture in pixels; may be set at any time.

    Args:
        render_mode: "rgb_array", "human" (a window that follows the episode), "ansi" or None.
        horizon: steps until truncation, at least 1.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array", "human", "ansi"], "render_fps": 4}  # type: ignore[misc]
    rules: ClassVar[Callable]
    legal: ClassVar[Callable | None] = None  # the legal actions of a state (signature LEGAL); every action if None
    width: ClassVar[int] = 1
    key_size: ClassVar[int] = 1
    clock: ClassVar[int | None] = None
    draws_layout: ClassVar[bool] = False  # whether a reset draws more than the first state

    draws: int
    actions: int
    horizon: int
    render_size: int = 512
    reward_bounds: tuple[float, float] = (0.0, 1.0)
    discount: float = 1.0  # of the return that an episode is judged by; rewards are never discounted

    def __init__(self, render_mode: str | None, horizon: int) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"render_mode {render_mode!r} is unknown; allowed: {self.metadata['render_modes']} or None"
            )
        self.render_mode = render_mode
        self.horizon = check_count("horizon", horizon)
        self.action_space = spaces.Discrete(self.actions)
        self._cells = np.zeros(self.width, np.int64)
        self._elapsed = 0
        self._terminated = False
        self._started = False
        self._last_move: tuple[list[int], int] | None = None  # cells before and action of the last step, if rendered
        self._window: Window | None = None
        self._model: CompiledModel | None = None
        self._call: Callable[[int], tuple[int, float]] | None = None

    # To be implemented by a subclass.

    def _start(self) -> Sequence[int]:
        """Cells of the first state; draws from `self.np_random` what is random at reset."""
        raise NotImplementedError

    def _params(self) -> NDArray[np.float64]:
        """The numbers that the compiled step reads, for the present layout."""
        raise NotImplementedError

    def _arguments(self) -> dict[str, Any]:
        """Constructor arguments that make this environment again; by default the attributes of the same names."""
        names = inspect.signature(self._benchmark()).parameters
        return {name: getattr(self, name) for name in names if name != "render_mode"}

    @classmethod
    def _benchmark(cls) -> type["CompiledEnv"]:
        """The class that brought the rules; a user's subclass of it may take other arguments."""
        return next(kind for kind in reversed(cls.__mro__) if "rules" in vars(kind))

    @cached_property
    def _fixed_layout(self) -> Layout:
        """The part of the layout that the constructor fixes."""
        return self._benchmark().__name__, *self._arguments().values()

    def _layout(self) -> Layout:
        """Everything that the MDP depends on and that is not part of the state."""
        return self._fixed_layout

    def _set_layout(self, layout: Layout) -> None:
        """Take over what was drawn at another environment's reset; refuse what was fixed at construction."""
        if layout != self._layout():
            raise self._foreign_layout()

    def _foreign_layout(self) -> ValueError:
        return ValueError(
            f"this state belongs to another layout than this {type(self).__name__}'s; make the environment with the "
            "arguments of the one the state came from"
        )

    def observe(self, cells: Sequence[int]) -> ObsT:
        """The observation of a state, a fresh object each time."""
        raise NotImplementedError

    def transitions(self, cells: Sequence[int], action: int) -> list[Transition]:
        """The exact law: rows (probability, next cells, reward, terminated) of taking `action` in the state."""
        raise NotImplementedError

    def _is_state(self, cells: Sequence[int]) -> bool:
        """Return whether these whole numbers are a state of the present layout."""
        raise NotImplementedError

    def is_terminal(self, cells: Sequence[int]) -> bool:
        """Return whether an episode ends on reaching this state."""
        return False

    def state_name(self, cells: Sequence[int]) -> str:
        """A short name of a state, given the cells of its key."""
        return " ".join(map(str, np.asarray(self.observe(cells)).ravel().tolist()))

    def get_action_meanings(self) -> list[str]:
        """A name for each action, under the name that Atari environments use; [] if there are none."""
        return []

    def _draw_text(self) -> str:
        """The present state as text."""
        raise NotImplementedError

    def _info(self) -> dict[str, Any]:
        """What comes with an observation: "action_mask", (actions,) int8, where states lack actions."""
        if self.legal is None:
            return {}
        return {"action_mask": legal_actions(self.compiled_model(), self._cells.tolist()).astype(np.int8)}

    def _picture(self, pixels: int) -> "Picture":
        """The present state as a picture of this width."""
        from gymnasium_gsp.envs.picture import text_picture

        picture = text_picture(self._draw_text(), pixels)
        picture.caption(self._steps_text())
        return picture

    def _steps_text(self) -> str:
        return f"step {self._elapsed} of {self.horizon}"

    # Gymnasium's interface.

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ObsT, dict[str, Any]]:
        """Start an episode.

        Raises:
            ValueError: if `options` names anything; these environments have no reset options.
        """
        super().reset(seed=seed)
        if options:
            raise ValueError(f"{type(self).__name__} has no reset options, but was given {sorted(options)}")
        self._set_cells(self._start(), elapsed=0, terminated=False)
        if self.render_mode == "human":
            self.render()
        return self.observe(self._cells.tolist()), self._info()

    def step(self, action: SupportsInt) -> tuple[ObsT, float, bool, bool, dict[str, Any]]:
        """Play one action (anything that `operator.index` takes).

        Raises:
            ResetNeeded: before `reset`, or after the episode has ended.
            TypeError: if the action is no whole number.
            ValueError: if the action does not exist.
        """
        try:
            index = operator.index(action)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"an action is a whole number in 0 .. {self.actions - 1}, not {action!r}") from None
        if not self._started or self._terminated or self._elapsed >= self.horizon:
            raise ResetNeeded("the episode has not begun or has ended; call reset() before step()")
        if not 0 <= index < self.actions:
            raise ValueError(f"action {action!r} does not exist; allowed: 0 .. {self.actions - 1}")
        if self.render_mode is not None:
            self._last_move = self._cells.tolist(), index
        status, reward = (self._call or self._bind())(index)
        self._elapsed += 1
        self._terminated = status == TERMINATED
        if self.render_mode == "human":
            self.render()
        truncated = self._elapsed >= self.horizon
        return self.observe(self._cells.tolist()), reward, self._terminated, truncated, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """The present state as the render mode says: text, (height, width, 3) uint8 pixels, or on the screen.

        Raises:
            ResetNeeded: before `reset`.
            DependencyNotInstalled: if a picture is wanted and pygame is missing.
            Error: if a window is wanted and there is no display.
        """
        if self.render_mode is None:
            gym.logger.warn("render() shows nothing: this environment was made without a render_mode")
            return None
        if not self._started:
            raise ResetNeeded("there is nothing to render before reset(); call env.reset() first")
        if self.render_mode == "ansi":
            return self._draw_text()
        from gymnasium_gsp.envs.picture import Window, as_array

        surface = self._picture(check_count("render_size", self.render_size, 16, 8192)).finished()
        if self.render_mode == "rgb_array":
            return as_array(surface)
        self._window = self._window or Window(type(self).__name__.removesuffix("Env"))
        self._window.show(surface, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # The simulator extension.

    def clone_state(self) -> EnvState:
        """The present state: small, immutable, picklable, without the random stream.

        Raises:
            ResetNeeded: before `reset`.
        """
        if not self._started:
            raise ResetNeeded("there is no state before reset(); call env.reset() first")
        return EnvState(tuple(self._cells.tolist()), self._elapsed, self._terminated, self._layout())

    def set_state(self, state: EnvState) -> None:
        """Go to a state that `clone_state` returned, here or in a simulator; the random stream stays as it is.

        Raises:
            ValueError: if it is no such state, or one of another layout.
        """
        if not isinstance(state, EnvState) or type(state.cells) is not tuple or type(state.layout) is not tuple:
            raise ValueError(f"set_state wants what clone_state() of a {type(self).__name__} returned, not {state!r}")
        former = self._layout() if self._started else None
        self._set_layout(state.layout)
        if not self._is_valid(state):
            if former is not None:
                self._set_layout(former)
            raise ValueError(f"{state!r} is no state of this {type(self).__name__}")
        self._set_cells(state.cells, state.elapsed, state.terminated)

    def _is_valid(self, state: EnvState) -> bool:
        """Return whether an episode can be in this state; the step could read out of bounds in others."""
        cells = state.cells
        return (
            len(cells) == self.width
            and all(type(number) is int for number in (*cells, state.elapsed))
            and 0 <= state.elapsed <= self.horizon
            and (self.clock is None or cells[self.clock] == state.elapsed)
            and self._is_state(cells)
            and state.terminated == self.is_terminal(cells)
        )

    def make_simulator(self, seed: int | None = None) -> "CompiledEnv[ObsT]":
        """A bare environment like this one, in the same state (if there is one), with a random stream of its own."""
        simulator = type(self)(**self._arguments())
        simulator.reset(seed=seed)
        if self._started:
            simulator.set_state(self.clone_state())
        return simulator

    def compiled_model(self) -> CompiledModel:
        """The model of the present layout, for a search; the same object while the layout stays."""
        if self._model is None:
            # A copy, so that this model keeps its law when a later reset draws another layout.
            frozen, legal = copy.copy(self), type(self).legal
            self._model = CompiledModel(
                step=Pointer(compiled_pointer(type(self).rules, STEP).address),
                actions=self.actions,
                width=self.width,
                key_size=self.key_size,
                clock=self.clock,
                params=self._params(),
                reward_bounds=self.reward_bounds,
                legal=None if legal is None else Pointer(compiled_pointer(legal, LEGAL).address),
                terminal=lambda cells: frozen.is_terminal(cells.tolist()),
                law=frozen.transitions,
                name=type(self).__name__.removesuffix("Env"),
            )
        return self._model

    def _set_cells(self, cells: Sequence[int], elapsed: int, terminated: bool) -> None:
        self._cells[:] = cells
        self._elapsed, self._terminated, self._started = elapsed, terminated, True
        self._last_move = None

    def _forget_model(self) -> None:
        """Drop what was compiled for the last layout."""
        self._model = self._call = None

    def _bind(self) -> Callable[[int], tuple[int, float]]:
        """The compiled step as a Python function of the action, on this environment's own cells and stream."""
        model = self.compiled_model()
        function = ctypes_type(STEP)(model.step_pointer.address)
        word, reward = ctypes.c_uint64(), ctypes.c_double()
        cells, word_at, reward_at = self._cells.ctypes.data, ctypes.addressof(word), ctypes.addressof(reward)
        params_at = model.params.ctypes.data

        def call(action: int) -> tuple[int, float]:
            word.value = int(self.np_random.integers(2**64, dtype=np.uint64))
            return function(params_at, cells, action, word_at, reward_at), reward.value

        self._call = call
        return call

    def __getstate__(self) -> dict[str, Any]:
        """Everything but compiled code, which is bound again after unpickling, and the window."""
        return {**self.__dict__, "_model": None, "_call": None, "_window": None}
