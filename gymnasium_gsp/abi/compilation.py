"""When and where things are compiled: lazily, once, into a cache folder named after the package's own sources.

numba checks only the file of a cached function, not what it inlines from other files.  Here every cached function
lives in a folder whose name is a digest of all sources of the package, so a change anywhere misses, and an upgrade
never loads yesterday's code.  Entries that differ only in a flag get folders of their own, because numba does not
put its flags into the key.  A folder that cannot be written serves as far as it is filled; a file in it that cannot
be read is made anew; what cannot be kept, also for want of room, is compiled in each process.
"""

import contextlib
import hashlib
import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba import cfunc, njit, typeof
from numba.core import config as numba_config
from numba.core import sigutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator, _SourceFileBackedLocatorMixin
from numba.core.ccallback import CFunc

from gymnasium_gsp.errors import RecipeError

config: Any = numba_config  # its settings are made at run time

_announced = _warned = False


@cache
def source_digest() -> str:
    """Digest of every Python source of the package."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    """Where compiled code is kept: NUMBA_CACHE_DIR, or the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home)


@cache
def cache_folder() -> Path | None:
    """The folder for compiled code of these sources; None (said once, as a warning) if none can be made."""
    try:
        folder = _cache_home() / "gymnasium_gsp" / source_digest()
        if next(folder.rglob("*.nbi"), None) is not None:
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError) as error:
        _warn_of_cache(error)
        return None
    return folder


def _warn_of_cache(error: BaseException) -> None:
    """Say once that compiled code is not kept."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled code cannot be kept ({error}), so every process compiles it again, up to half a minute; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=3,
        )


class _Locator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """One folder, whether it can be written or not."""

    folder: ClassVar[Path]

    def __init__(self, function: Callable, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self.folder)

    @classmethod
    def from_function(cls, function: Callable, file: str) -> "_Locator":
        """A locator, always."""
        return cls(function, file)


class _Cache(FunctionCache):
    """numba's cache, in which a file that cannot be read or written costs a warning and no run."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, or None where it must be compiled."""
        try:
            found = super().load_overload(signature, context)
        except Exception as error:  # a damaged pickle may raise anything
            warnings.warn(
                f"compiled code is made anew, as {self._cache_path} holds a file that cannot be read: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            with contextlib.suppress(OSError):
                self.flush()
            found = None
        if found is None:
            announce()
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function, if it can be kept."""
        try:
            super().save_overload(signature, result)
        except OSError as error:
            _warn_of_cache(error)


def _keep(compiled: Any, function: Callable, name: str) -> Any:
    """Let a dispatcher or a C function keep its code under a name in our folder, if there is one."""
    folder = cache_folder()
    if folder is None:
        announce()
        return compiled
    locator = type("Locator", (_Locator,), {"folder": folder / name})
    results = type("Results", (CompileResultCacheImpl,), {"_locator_classes": [locator]})
    compiled._cache = type("Cache", (_Cache,), {"_impl_class": results})(function)
    return compiled


def announce() -> None:
    """Say once, on standard error, what a process waits for that has to compile."""
    global _announced
    if not _announced:
        kept = "" if cache_folder() is None else "; later processes start at once"
        print(f"gymnasium_gsp: compiling the search, up to half a minute, once{kept}", file=sys.stderr, flush=True)
    _announced = True


def _check_compiler() -> None:
    """Refuse to go on without a compiler.

    Raises:
        RecipeError: where NUMBA_DISABLE_JIT is set.
    """
    if config.DISABLE_JIT:
        raise RecipeError("the search is compiled, and NUMBA_DISABLE_JIT turns compilation off: unset it")


@cache
def compiled_entry(function: Callable, nogil: bool) -> Any:
    """A function of the package compiled as a kernel, with or without the GIL released while it runs."""
    _check_compiler()
    entry = njit(nogil=nogil, error_model="numpy")(function)
    return _keep(entry, function, "nogil" if nogil else "gil")


def compile_ahead(entry: Any, *arguments: object) -> None:
    """Compile a function of `compiled_entry`, or read it from the cache, so that its first call takes no longer.

    Args:
        entry: the function, which is always called with arguments of the same types.
        arguments: some of these types.
    """
    if not entry.signatures:
        entry.compile(tuple(map(typeof, arguments)))


@cache
def compiled_pointer(function: Callable, signature: Any) -> Any:
    """A function of the package as a C function (`.address`) of the given signature, kept in the cache."""
    _check_compiler()
    arguments, result = sigutils.normalize_signature(signature)
    options = {"nopython": True, "error_model": "numpy", "forceinline": True}
    pointer = _keep(CFunc(function, (arguments, result), {}, options), function, "pointers")
    pointer.compile()
    return pointer


@cache
def user_pointer(function: Callable, signature: Any) -> Any:
    """A user's function as a C function; compiled in each process, as its sources are not ours to watch."""
    return cfunc(signature, error_model="numpy")(function)
