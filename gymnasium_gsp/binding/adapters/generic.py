"""Any environment written in Python alone, by its instance variables."""

import io
import pickle
import random
import types
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np

from gymnasium_gsp.binding.adapters.adapter import Adapter, restart
from gymnasium_gsp.binding.keys import freeze
from gymnasium_gsp.errors import RecipeError

NOT_STATE = frozenset(
    ("spec", "observation_space", "action_space", "metadata", "render_mode", "_np_random", "_np_random_seed")
)
"""Instance variables that are no part of the state."""

_DRAWING = ("pygame", "matplotlib", "moviepy", "pyglet", "cv2", "PIL", "tkinter", "OpenGL")
_STREAMS = (np.random.Generator, np.random.RandomState, random.Random)
_PLAIN = (int, float, str, bytes, bool, type(None), list, dict, tuple, np.ndarray)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


def _draws(value: Any) -> bool:
    """Whether a value belongs to a drawing library."""
    return type(value).__module__.partition(".")[0] in _DRAWING


class _Saver(pickle.Pickler):
    """Pickles data alone: streams and code are named by their place, the environment by itself, drawings left out."""

    def __init__(self, file: Any, env: Any) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._env = env
        self._streams: list[Any] = [vars(env).get("_np_random")]
        self.code: list[Any] = []

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, _PLAIN):
            return None
        if isinstance(value, _STREAMS):
            return ("stream", _place(self._streams, value), type(value).__name__)
        if isinstance(value, _CODE):
            cells = getattr(value, "__closure__", None) or ()
            if any(isinstance(cell.cell_contents, gym.Env) for cell in cells):
                raise pickle.PicklingError(f"{value!r} holds the environment itself")
            return ("code", _place(self.code, value), "")
        if value is self._env:
            return ("env", 0, "")
        return ("drawing", 0, "") if _draws(value) else None


def _place(known: list[Any], value: Any) -> int:
    """Where a value stands in a list, at its end if it is new."""
    for place, other in enumerate(known):
        if other is value:
            return place
    known.append(value)
    return len(known) - 1


class _Loader(pickle.Unpickler):
    """Puts the sibling and its own streams where the original and its streams stood."""

    def __init__(self, snapshot: "Snapshot", streams: "Streams", env: Any) -> None:
        super().__init__(io.BytesIO(snapshot.data))
        self._code, self._streams, self._env = snapshot.code, streams, env

    def persistent_load(self, name: Any) -> Any:
        kind, place, what = name
        if kind == "stream":
            return self._env.np_random if place == 0 else self._streams.at(place, what)
        if kind == "code":
            return self._code[place]
        return self._env if kind == "env" else None


class Snapshot(NamedTuple):
    """Pickled variables, and the functions, classes and modules that they name."""

    data: bytes
    code: tuple[Any, ...]


class Streams:
    """Random streams that stand in, in a sibling, for those that the original keeps in sub-objects."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], Any] = {}
        self._seed = np.random.SeedSequence(0)

    def at(self, place: int, kind: str) -> Any:
        """The stream for one place, always the same object."""
        if (place, kind) not in self._made:
            words = np.random.SeedSequence(self._seed.entropy, spawn_key=(*self._seed.spawn_key, place))
            if kind == "Generator":
                self._made[place, kind] = np.random.Generator(np.random.PCG64(words))
            elif kind == "RandomState":
                self._made[place, kind] = np.random.RandomState(np.random.MT19937(words))
            else:
                self._made[place, kind] = random.Random(int(words.generate_state(1)[0]))
        return self._made[place, kind]

    def begin(self, seed: np.random.SeedSequence) -> None:
        """Begin anew from a seed."""
        self._seed = seed
        self._made.clear()


class Generic(Adapter):
    """Instance variables, pickled without spec, spaces, drawing objects and random streams.

    Streams in sub-objects are replaced by the sibling's own, so that a copy never sees the real future.  A state is
    keyed by the same variables where their content can be told, else by the observation.  An environment may declare
    which of them are clocks, `gsp_clocks = ("t",)`: these stay out of the keys.
    """

    name: ClassVar[str] = "instance variables"

    def __init__(self) -> None:
        self._streams = Streams()
        self._known: frozenset[str] = frozenset()  # variables that a sibling has after its reset
        self._spared: frozenset[str] = frozenset()  # variables of the sibling that `blind` has replaced for good

    @classmethod
    def fits(cls, env: Any) -> bool:
        if isinstance(env, gym.utils.EzPickle):
            return False
        try:
            cls().save(env)
        except Exception:  # a third party's object may refuse in any way; whatever it raises, it cannot be saved
            return False
        return True

    def prepare(self, sibling: Any, env: Any) -> None:
        try:
            self.save(sibling.unwrapped)
        except Exception as error:  # what the environment holds only after a reset may refuse in any way
            raise RecipeError(
                f"the variables of {type(env).__name__} cannot be saved: {error}. Give it clone_state() and "
                "set_state(state), a state without the random stream"
            ) from error
        self._known = frozenset(self._variables(sibling.unwrapped))
        try:
            self.key(sibling.unwrapped)
            self.key(env)
        except Exception:  # the same objects, asked for their content
            self.complete = False
            self.note = "states are keyed by the observation, as the content of its variables cannot be told"

    def _variables(self, env: Any) -> dict[str, Any]:
        left = NOT_STATE | self._spared
        return {name: value for name, value in vars(env).items() if name not in left and not _draws(value)}

    def save(self, env: Any) -> Snapshot:
        file = io.BytesIO()
        saver = _Saver(file, env)
        saver.dump(self._variables(env))
        return Snapshot(file.getvalue(), tuple(saver.code))

    def load(self, env: Any, snapshot: Any) -> None:
        variables = _Loader(snapshot, self._streams, env).load()
        for name in self._variables(env).keys() - variables.keys():
            delattr(env, name)
        vars(env).update(variables)

    def key(self, env: Any) -> Any:
        clocks = getattr(env, "gsp_clocks", ())
        return freeze(
            {
                name: value
                for name, value in self._variables(env).items()
                if name not in clocks and value is not env and not isinstance(value, _STREAMS)
            }
        )

    def is_reset(self, env: Any) -> bool:
        return getattr(env, "_np_random", None) is not None or self._known <= vars(env).keys()

    def clock(self, env: Any) -> int | None:
        for name in getattr(env, "gsp_clocks", ()):
            if isinstance(getattr(env, name, None), int):
                return int(getattr(env, name))
        return None

    def reseed(self, env: Any, seed: np.random.SeedSequence) -> None:
        self._streams.begin(seed)
        restart(env.np_random, seed)
