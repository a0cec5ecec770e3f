"""Variables as a snapshot: data is pickled; streams, code, drawings and the environment itself are referred to."""

import io
import pickle
import types
from typing import Any, NamedTuple

import numpy as np

from gymnasium_gsp.binding.environment import BareEnv
from gymnasium_gsp.binding.keys import CODE
from gymnasium_gsp.binding.streams import StreamType, follow_stream, new_stream, stream_type

NOT_STATE = frozenset(
    ("spec", "observation_space", "action_space", "metadata", "render_mode", "_np_random", "_np_random_seed")
)
"""Instance variables that are no part of the state."""

_DRAWING = ("pygame", "matplotlib", "moviepy", "pyglet", "cv2", "PIL", "tkinter", "OpenGL")
_DATA = ("pygame.rect", "pygame.math", "pygame.color", "pygame.sprite", "pygame.mask", "pygame.geometry", "pyglet.math")
_SCALARS = (int, float, str, bytes, bool, type(None))
_PLAIN = (*_SCALARS, list, dict, tuple, np.ndarray)

Reference = tuple[str, int, StreamType | None]  # what stands in a pickle for an object: its role, position, and kind


def is_drawing(value: object) -> bool:
    """Return whether a value is a drawing: of a drawing library's classes, and none of those that hold mere data."""
    modules = [getattr(kind, "__module__", "") for kind in type(value).__mro__]
    return any(name.partition(".")[0] in _DRAWING and name not in _DATA for name in modules)


class _Template:
    """A function whose code and globals are kept while its cells are saved."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function


def _with_cells(function: types.FunctionType, contents: tuple[object, ...], defaults: Any, named: Any) -> object:
    """The same function over cells of its own."""
    cells = tuple(types.CellType(content) for content in contents)
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, defaults, cells)
    made.__kwdefaults__ = named
    return made


class Saver(pickle.Pickler):
    """Pickles data alone: streams, code, drawings and the environment itself are referred to."""

    def __init__(self, file: io.BytesIO, env: BareEnv) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._env = env
        self.streams: list[object] = [vars(env).get("_np_random") if env is not None else None]
        self.kept: list[object] = []

    def persistent_id(self, value: Any) -> Reference | None:
        if isinstance(value, _PLAIN):
            return None
        if self._env is not None and value is self._env:
            return ("env", 0, None)
        if isinstance(value, _Template):
            return ("kept", _position(self.kept, value.function), None)
        if (isinstance(value, CODE) and not _holds_state(value)) or is_drawing(value):
            return ("kept", _position(self.kept, value), None)
        kind = stream_type(value)
        return None if kind is None else ("stream", _position(self.streams, value), kind)

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            contents = tuple(cell.cell_contents for cell in value.__closure__ or ())
            return _with_cells, (_Template(value), contents, value.__defaults__, value.__kwdefaults__)
        if type(value).__module__ == "pygame.color":
            return type(value), tuple(value)
        return NotImplemented


def _holds_state(code: Any) -> bool:
    """Return whether a function holds more than code: variables of its surroundings, or the object it is bound to."""
    if isinstance(code, types.BuiltinFunctionType):
        return not isinstance(code.__self__, types.ModuleType | None)
    held = [cell.cell_contents for cell in getattr(code, "__closure__", None) or ()]
    held += [*(getattr(code, "__defaults__", None) or ()), *(getattr(code, "__kwdefaults__", None) or {}).values()]
    return isinstance(code, types.FunctionType) and not all(isinstance(value, (*_SCALARS, *CODE)) for value in held)


def _position(known: list[object], value: object) -> int:
    """The index of a value in a list, to whose end it is added if it is new."""
    for position, other in enumerate(known):
        if other is value:
            return position
    known.append(value)
    return len(known) - 1


class _Loader(pickle.Unpickler):
    """Puts the simulator and its own streams where the original and its streams stood."""

    def __init__(self, snapshot: "Snapshot", streams: "Streams | CopiedStreams", env: BareEnv) -> None:
        super().__init__(io.BytesIO(snapshot.data))
        self._kept, self._streams, self._env = snapshot.kept, streams, env

    def persistent_load(self, reference: Reference) -> object:
        role, position, kind = reference
        if kind is not None:
            return self._env.np_random if position == 0 else self._streams.at(position, kind)
        return self._kept[position] if role == "kept" else self._env


class Snapshot(NamedTuple):
    """Pickled variables, and the functions, classes, modules and drawings that they refer to."""

    data: bytes
    kept: tuple[object, ...]


class Streams:
    """A simulator's random streams in place of those that the original keeps beside `np_random`."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, StreamType], Any] = {}
        self._seed = np.random.SeedSequence(0)

    def at(self, position: int, kind: StreamType) -> Any:
        """The stream of one position, always the same object; of keys, which are values, another one each time."""
        if (position, kind) not in self._made:
            words = np.random.SeedSequence(self._seed.entropy, spawn_key=(*self._seed.spawn_key, position))
            if kind.family == "jax":
                self._made[position, kind] = words
            else:
                self._made[position, kind] = new_stream(kind, words)
        made = self._made[position, kind]
        return new_stream(kind, made.spawn(1)[0]) if kind.family == "jax" else made

    def begin(self, seed: np.random.SeedSequence) -> None:
        """Begin anew from a seed."""
        self._seed = seed
        self._made.clear()


class CopiedStreams:
    """Copies of an environment's own streams, for a copy that is to do what the original will do."""

    def __init__(self, originals: list[Any]) -> None:
        self._originals = originals
        self._made: dict[int, Any] = {}

    def at(self, position: int, kind: StreamType) -> Any:
        """The copy of the stream of one position; a key of JAX, a value, is the same."""
        if kind.family == "jax":
            return self._originals[position]
        if position not in self._made:
            self._made[position] = new_stream(kind, np.random.SeedSequence(0))
            follow_stream(self._made[position], self._originals[position])
        return self._made[position]


def save_with_streams(env: BareEnv, variables: dict[str, Any]) -> tuple[Snapshot, list[Any]]:
    """Save some variables of an environment; returns the snapshot, and the streams that it refers to."""
    file = io.BytesIO()
    saver = Saver(file, env)
    saver.dump(variables)
    return Snapshot(file.getvalue(), tuple(saver.kept)), saver.streams


def take_snapshot(env: BareEnv, variables: dict[str, Any]) -> Snapshot:
    """Save some variables of an environment."""
    return save_with_streams(env, variables)[0]


def load_variables(snapshot: Snapshot, streams: Streams | CopiedStreams, env: BareEnv) -> dict[str, Any]:
    """The variables of a snapshot for a simulator, with its own streams."""
    variables: dict[str, Any] = _Loader(snapshot, streams, env).load()
    return variables
