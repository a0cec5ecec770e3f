"""When and where things are compiled: lazily, once, into a cache folder named after the package's own sources.

numba checks only the file of a cached function, not what it inlines from other files.  Here every cached function
lives in a folder whose name is a digest of all sources of the package, so a change anywhere misses, and an upgrade
never loads yesterday's code.  Entries that differ only in a flag get folders of their own, because numba does not
put its flags into the key.  Without a writable folder everything still works, compiled anew in each process.
"""

import contextlib
import hashlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import cfunc, njit
from numba.core import config as numba_config

config: Any = numba_config  # its settings are made at run time

_lock = threading.RLock()
_announced = False


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
    """The folder for compiled code of these sources, or None (said once, as a warning) if it cannot be written."""
    try:
        folder = _cache_home() / "gymnasium_gsp" / source_digest()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError) as error:
        warnings.warn(
            f"compiled code cannot be kept ({error}), so every process compiles it again, which takes some seconds; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return folder


@contextlib.contextmanager
def _cached_in(name: str) -> Iterator[bool]:
    """Let numba keep what is decorated inside under `name` in our folder; yields whether it can keep anything."""
    folder = cache_folder()
    with _lock:
        before = config.CACHE_DIR
        if folder is not None:
            config.CACHE_DIR = str(folder / name)
        try:
            yield folder is not None
        finally:
            config.CACHE_DIR = before


def announce() -> None:
    """Say once, on standard error, what a process waits for that has nothing compiled yet."""
    global _announced
    folder = cache_folder()
    if not _announced and (folder is None or not any(folder.rglob("*.nbi"))):
        kept = "" if folder is None else "; later processes start at once"
        print(f"gymnasium_gsp: compiling the search, some seconds, once{kept}", file=sys.stderr, flush=True)
    _announced = True


@cache
def compiled_entry(function: Callable, nogil: bool) -> Any:
    """A function of the package compiled as a kernel, with or without the GIL released while it runs."""
    announce()
    with _cached_in("nogil" if nogil else "gil") as keep:
        return njit(cache=keep, nogil=nogil, error_model="numpy")(function)


@cache
def compiled_pointer(function: Callable, signature: Any) -> Any:
    """A function of the package as a C function (`.address`) of the given signature, kept in the cache."""
    announce()
    with _cached_in("pointers") as keep:
        return cfunc(signature, cache=keep, error_model="numpy", forceinline=True)(function)


@cache
def user_pointer(function: Callable, signature: Any) -> Any:
    """A user's function as a C function; compiled in each process, as its sources are not ours to watch."""
    return cfunc(signature, error_model="numpy")(function)
