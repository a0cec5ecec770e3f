"""A model from any Gymnasium environment: the compiled search calls back into a private simulator.

A state is two cells: the number of a full key (see `keys.KeyTable`) and the actions since the root.  No action means
that a simulation begins: the root's snapshot is loaded and what is hidden is drawn anew.  From there the simulator
steps on with its own random stream, so nothing is cloned inside a simulation, and a playout is one callback.  An action
may be held for several steps of the environment, which are one step of the model.
"""

import ctypes
import math
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.abi.context import ContextStruct
from gymnasium_gsp.abi.pointers import Pointer, ctypes_type
from gymnasium_gsp.abi.signatures import FAILED, RUNNING, SIGNATURES, TERMINATED
from gymnasium_gsp.binding.actions import Actions
from gymnasium_gsp.binding.keys import KeyTable, LegalActions
from gymnasium_gsp.binding.private_simulator import PrivateSimulator
from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.models.model import RewardBounds

_MASKS_KEPT = 4096
_NO_LIMIT = 1 << 62


class _Views(dict[int, Any]):
    """The search's memory by address, seen as one C type; made once each, as the search hands over the same places."""

    def __init__(self, c_type: Any) -> None:
        super().__init__()
        self._c_type = c_type

    def __missing__(self, address: int) -> Any:
        view = self[address] = self._c_type.from_address(address)
        return view


class SimulatorModel:
    """A model whose step, legal actions and playouts are callbacks into a simulator; see `models.model.Model`.

    Attributes:
        keys: the numbers of the keys met so far.
        hold: steps of the environment for which an action is held.

    Args:
        simulator: the private environment.
        actions: the actions, numbered.
        key: function of an observation that returns the key of the simulator's present state; None where the actions
            since the root are the key.
        mask: function of an `info` that returns the legal actions of the simulator's present state; None if all are.
        reward_bounds: smallest and largest reward of one step, if known.
    """

    width, key_size = 2, 1
    needs_gil = True
    terminal = law = factors = clock = None

    def __init__(
        self,
        simulator: PrivateSimulator,
        actions: Actions,
        key: Callable[[object], Hashable] | None,
        mask: Callable[[object], Any] | None = None,
        reward_bounds: RewardBounds | None = None,
    ) -> None:
        self.simulator, self.actions, self.reward_bounds = simulator, actions.count, reward_bounds
        self.name = type(simulator.raw).__name__
        self.params = np.zeros(1)
        self.keys = KeyTable()
        self._raised: list[BaseException] = []
        self._actions = actions
        self.key, self._mask = key, mask
        self.hold, self._full_holds, self._last_hold = 1, _NO_LIMIT, 1
        self._roots = 0  # met so far, where actions are the key
        self._masks_met: dict[object, LegalActions] = {}  # legal actions by mask, as reading one takes a microsecond
        self._root_number = -1
        self._root_observation: Any = None
        self._observation_now: Any = None  # of the simulator's present state
        self._root_legal = self._legal_now = LegalActions([], [])  # of the root, and of the simulator's present state
        self._random = random.Random(0)
        self._bind()

    def _bind(self) -> None:
        """Make the C functions; again after unpickling."""
        self._cells, self._rewards = _Views(ctypes.c_int64 * 2), _Views(ctypes.c_double)
        self._contexts, self._flags = _Views(ContextStruct), _Views(ctypes.c_double * self.actions)
        self.step_pointer = self._pointer("step", self._step)
        self.legal_pointer = None if self._mask is None else self._pointer("legal", self._legal)
        self.rollout_pointer = self._pointer("value", self._rollout)

    def _pointer(self, kind: str, function: Callable[..., Any]) -> Pointer:
        callback = ctypes_type(SIGNATURES[kind])(function)
        return Pointer(ctypes.cast(callback, ctypes.c_void_p).value or 0, callback, needs_gil=True, raised=self._raised)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the C functions and the keys, whose graph is not pickled either."""
        left = {"step_pointer", "legal_pointer", "rollout_pointer", "_cells", "_rewards", "_contexts", "_flags", "keys"}
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.keys = KeyTable()
        self._bind()

    def cells(self, state: object) -> NDArray[np.int64]:
        """Refuse: a state of a simulator exists only in its environment.

        Raises:
            PlanningError: always.
        """
        raise PlanningError(f"{self.name} is a simulator; plan in it with an agent bound to the environment")

    def seed(self, seed: np.random.SeedSequence) -> None:
        """Begin new random streams, the simulator's and that of playouts."""
        own, playouts = seed.spawn(2)
        self.simulator.adapter.reseed(self.simulator.raw, own)
        self._random.seed(int(playouts.generate_state(1, np.uint64)[0]))

    def enter(
        self, observation: object, info: object, steps_left: int | None = None, asked_again: bool = False
    ) -> NDArray[np.int64]:
        """The cells of the root: the simulator's present state, with this observation and info.

        Args:
            observation: what the environment last returned.
            info: what came with it.
            steps_left: steps of the environment until its time limit; None if there is none.
            asked_again: whether `info` lacks the legal actions, which the decision before was told at the same time.
        """
        full, rest = divmod(_NO_LIMIT if steps_left is None else steps_left, self.hold)
        self._full_holds, self._last_hold = full, rest or self.hold
        self._roots += 1
        number = self.keys.number(("root", self._roots) if self.key is None else self.key(observation))
        if self._mask is not None and not (asked_again and number == self._root_number):
            self._root_legal = self._read_mask(observation, info)
        self._root_number, self._root_observation = number, observation
        return np.array([number, 0], np.int64)

    def observation(self, cells: Sequence[int]) -> Any:
        """The observation of the root, or of the state that the simulator has just reached."""
        return self._root_observation if cells[1] == 0 else self._observation_now

    def _read_mask(self, observation: object, info: object) -> LegalActions:
        """The legal actions of the simulator's present state."""
        assert self._mask is not None
        given = self._mask(info)
        named = type(given) is np.ndarray and given.dtype.kind in "bui"  # the bytes of others may be addresses
        name = (given.dtype, given.tobytes()) if named else None
        if name in self._masks_met:
            return self._masks_met[name]
        try:
            if given is None or isinstance(given, str | set | frozenset | dict):
                raise TypeError(f"a {type(given).__name__} is none")
            mask = self._actions.flat_mask(given)
        except (TypeError, ValueError, RuntimeError) as error:
            words = "its entries have different lengths" if "inhomogeneous" in str(error) else error
            raise PlanningError(
                f"{self.name}: an action mask is no array of numbers: {words}; give an array or list with one number "
                f"for each of the {self.actions} actions, or for several components a tuple of one array for each"
            ) from error
        if len(mask) != self.actions:
            raise PlanningError(f"{self.name}: an action mask has {len(mask)} entries for {self.actions} actions")
        if mask.dtype != bool and not ((mask == 0) | (mask == 1)).all():
            raise PlanningError(
                f"{self.name}: an action mask must hold a 1 (or True) for each legal action and a 0 (or False) for "
                f"each other one, not {given!r}"
            )
        legal = LegalActions(np.flatnonzero(mask).tolist(), (mask != 0).astype(float).tolist())
        if not legal.numbers:
            raise PlanningError(
                f"{self.name}: the state that shows {observation!r} has no legal action and is not terminal; a state "
                "where nothing can be done must be reached with terminated=True"
            )
        if name is not None and len(self._masks_met) < _MASKS_KEPT:
            self._masks_met[name] = legal
        return legal

    def _advance(self, action: int, depth: int) -> tuple[object, float, bool, object]:
        """Hold an action that follows `depth` others: observation, sum of rewards, whether it ends, info."""
        observation, total, ended, info = self._take_step(action)
        if self.hold > 1:
            for _ in range((self.hold if depth < self._full_holds else self._last_hold) - 1):
                if ended:
                    break
                observation, gain, ended, info = self._take_step(action)
                total += gain
        return observation, total, ended, info

    def _take_step(self, action: int) -> tuple[object, float, bool, object]:
        """One step of the simulator: observation, reward, whether the simulation ends, info."""
        answer = self.simulator.env.step(self._actions[action])
        try:
            observation, reward, terminated, truncated, info = answer
            gain = float(reward)
        except (TypeError, ValueError):
            gain = math.nan
        if gain - gain != 0.0:
            observation, gain, terminated, truncated, info = read_step(answer, self.name)
        return observation, gain, terminated or truncated, info

    def _step(self, params: int, state: int, action: int, rng: int, reward: int) -> int:
        try:
            cells = self._cells[state]
            if cells[1] == 0:
                self.simulator.restore()
            observation, gain, ended, info = self._advance(action, cells[1])
            self._rewards[reward].value = gain
            cells[1] += 1
            if ended:
                return TERMINATED
            key = self.key
            cells[0] = self.keys.number((cells[0], action) if key is None else key(observation))
            self._observation_now = observation
            if self._mask is not None:
                self._legal_now = self._read_mask(observation, info)
            return RUNNING
        except BaseException as error:  # raised again by the search
            self._raised.append(error)
            return FAILED

    def _legal(self, params: int, state: int, mask: int) -> int:
        try:
            # A simulation asks at its root and then where it stands: one state may have other actions at another time.
            legal = self._root_legal if self._cells[state][1] == 0 else self._legal_now
            self._flags[mask][:] = legal.flags
            return len(legal.numbers)
        except BaseException as error:  # raised again by the search
            self._raised.append(error)
            return 0

    def _rollout(self, params: int, context: int, state: int, rng: int) -> float:
        try:
            block, cells = self._contexts[context], self._cells[state]
            if cells[1] == 0:
                self.simulator.restore()
            known = self._root_legal if cells[1] == 0 else self._legal_now
            legal = known.numbers if self._mask is not None else range(self.actions)
            limit, discount, draw = block.playout_steps, block.discount, self._random.random
            total, factor, steps = 0.0, 1.0, 0
            while steps < limit:
                observation, gain, ended, info = self._advance(legal[int(draw() * len(legal))], cells[1] + steps)
                total += factor * gain
                factor *= discount
                steps += 1
                if ended:
                    break
                if self._mask is not None:
                    legal = self._read_mask(observation, info).numbers
            block.extra_steps += steps
            return total
        except BaseException as error:  # raised again by the search
            self._raised.append(error)
            return math.nan


def read_step(answer: Any, name: str) -> tuple[object, float, bool, bool, Any]:
    """What `step` returned, with the reward as a float.

    Raises:
        PlanningError: if these are not five values, or the reward is no finite number.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 5:
        size = f" of {len(answer)}" if hasattr(answer, "__len__") else ""
        raise PlanningError(
            f"{name}: step returned a {type(answer).__name__}{size}; it must return (observation, reward, terminated, "
            "truncated, info)"
        )
    observation, reward, terminated, truncated, info = answer
    try:
        gain = float(np.asarray(reward).reshape(()))
    except (TypeError, ValueError):
        gain = math.nan
    if not math.isfinite(gain):
        raise PlanningError(f"{name}: step returned the reward {reward!r}; a reward is a finite number")
    return observation, gain, terminated, truncated, info
