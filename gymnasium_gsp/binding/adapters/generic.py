"""Any environment written in Python alone, by its instance variables."""

import io
import pickle
import random
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.adapters.adapter import ANY_PYTHON, Adapter, reseed_generator
from gymnasium_gsp.binding.environment import BareEnv, Env
from gymnasium_gsp.binding.keys import CODE, freeze
from gymnasium_gsp.errors import RecipeError

NOT_STATE = frozenset(
    ("spec", "observation_space", "action_space", "metadata", "render_mode", "_np_random", "_np_random_seed")
)
"""Instance variables that are no part of the state."""

_DRAWING = ("pygame", "matplotlib", "moviepy", "pyglet", "cv2", "PIL", "tkinter", "OpenGL")
_STREAMS = (np.random.Generator, np.random.RandomState, random.Random)
_PLAIN = (int, float, str, bytes, bool, type(None), list, dict, tuple, np.ndarray)

Stream = np.random.Generator | np.random.RandomState | random.Random
Reference = tuple[str, int, str]  # what stands in a pickle for an object: kind, position, type


def _draws(value: object) -> bool:
    """Return whether a value belongs to a drawing library."""
    return type(value).__module__.partition(".")[0] in _DRAWING


class _Saver(pickle.Pickler):
    """Pickles data alone: streams, code and the environment itself are referred to, drawings left out."""

    def __init__(self, file: io.BytesIO, env: BareEnv) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._env = env
        self._streams: list[object] = [vars(env).get("_np_random")]
        self.code: list[object] = []

    def persistent_id(self, value: Any) -> Reference | None:
        if isinstance(value, _PLAIN):
            return None
        if isinstance(value, _STREAMS):
            return ("stream", _position(self._streams, value), type(value).__name__)
        if isinstance(value, CODE):
            cells = getattr(value, "__closure__", None) or ()
            if any(isinstance(cell.cell_contents, gym.Env) for cell in cells):
                raise pickle.PicklingError(f"{value!r} holds the environment itself")
            return ("code", _position(self.code, value), "")
        if value is self._env:
            return ("env", 0, "")
        return ("drawing", 0, "") if _draws(value) else None


def _position(known: list[object], value: object) -> int:
    """The index of a value in a list, to whose end it is added if it is new."""
    for position, other in enumerate(known):
        if other is value:
            return position
    known.append(value)
    return len(known) - 1


class _Loader(pickle.Unpickler):
    """Puts the simulator and its own streams where the original and its streams stood."""

    def __init__(self, snapshot: "Snapshot", streams: "Streams", env: BareEnv) -> None:
        super().__init__(io.BytesIO(snapshot.data))
        self._code, self._streams, self._env = snapshot.code, streams, env

    def persistent_load(self, reference: Reference) -> object:
        kind, position, type_name = reference
        if kind == "stream":
            return self._env.np_random if position == 0 else self._streams.at(position, type_name)
        if kind == "code":
            return self._code[position]
        return self._env if kind == "env" else None


class Snapshot(NamedTuple):
    """Pickled variables, and the functions, classes and modules that they refer to."""

    data: bytes
    code: tuple[object, ...]


class Streams:
    """A simulator's random streams in place of those that the original keeps in sub-objects."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], Stream] = {}
        self._seed = np.random.SeedSequence(0)

    def at(self, position: int, type_name: str) -> Stream:
        """The stream of one position, always the same object."""
        if (position, type_name) not in self._made:
            words = np.random.SeedSequence(self._seed.entropy, spawn_key=(*self._seed.spawn_key, position))
            if type_name == "Generator":
                self._made[position, type_name] = np.random.Generator(np.random.PCG64(words))
            elif type_name == "RandomState":
                self._made[position, type_name] = np.random.RandomState(np.random.MT19937(words))
            else:
                self._made[position, type_name] = random.Random(int(words.generate_state(1)[0]))
        return self._made[position, type_name]

    def begin(self, seed: np.random.SeedSequence) -> None:
        """Begin anew from a seed."""
        self._seed = seed
        self._made.clear()


class Generic(Adapter):
    """Instance variables, pickled without spec, spaces, drawing objects and random streams.

    Streams in sub-objects are replaced by the simulator's own, so that a copy never sees the real future.  A state is
    keyed by the same variables where their content can be read, else by the observation.  An environment may declare
    which of them are clocks, `gsp_clocks = ("t",)`: these stay out of the keys.
    """

    name: ClassVar[str] = "instance variables"
    priority: ClassVar[int] = ANY_PYTHON

    def __init__(self) -> None:
        self._streams = Streams()
        self._known: frozenset[str] = frozenset()  # variables that a simulator has after its reset
        self._replaced: frozenset[str] = frozenset()  # variables that `skip_observations` has replaced

    @classmethod
    def fits(cls, env: BareEnv) -> bool:
        if isinstance(env, gym.utils.EzPickle):
            return False
        try:
            cls().save(env)
        except Exception:  # a third party's object may raise anything; it cannot be saved then
            return False
        return True

    def prepare(self, simulator: Env, env: BareEnv) -> None:
        try:
            self.save(simulator.unwrapped)
        except Exception as error:  # what the environment holds only after a reset may raise anything
            raise RecipeError(
                f"the variables of {type(env).__name__} cannot be saved: {error}. Give it clone_state() and "
                "set_state(state), a state without the random stream"
            ) from error
        self._known = frozenset(self._variables(simulator.unwrapped))
        try:
            self.state_key(simulator.unwrapped)
            self.state_key(env)
        except Exception:  # the same objects, asked for their content
            self.complete = False
            self.note = "states are keyed by the observation, as the content of its variables cannot be read"

    def _variables(self, env: BareEnv) -> dict[str, object]:
        left_out = NOT_STATE | self._replaced
        return {name: value for name, value in vars(env).items() if name not in left_out and not _draws(value)}

    def save(self, env: BareEnv) -> Snapshot:
        file = io.BytesIO()
        saver = _Saver(file, env)
        saver.dump(self._variables(env))
        return Snapshot(file.getvalue(), tuple(saver.code))

    def load(self, env: BareEnv, snapshot: Snapshot) -> None:
        variables = _Loader(snapshot, self._streams, env).load()
        for name in self._variables(env).keys() - variables.keys():
            delattr(env, name)
        env.__dict__.update(variables)

    def state_key(self, env: BareEnv) -> Hashable:
        clocks = getattr(env, "gsp_clocks", ())
        return freeze(
            {
                name: value
                for name, value in self._variables(env).items()
                if name not in clocks and value is not env and not isinstance(value, _STREAMS)
            }
        )

    def is_reset(self, env: BareEnv) -> bool:
        return getattr(env, "_np_random", None) is not None or self._known <= vars(env).keys()

    def elapsed_steps(self, env: BareEnv) -> int | None:
        counts = (getattr(env, name, None) for name in getattr(env, "gsp_clocks", ()))
        return next((int(count) for count in counts if isinstance(count, int)), None)

    def reseed(self, env: BareEnv, seed: np.random.SeedSequence) -> None:
        self._streams.begin(seed)
        reseed_generator(env.np_random, seed)
