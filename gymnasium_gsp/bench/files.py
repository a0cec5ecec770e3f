"""Places where a file can be written, and files that replace what was there once they are complete."""

import os
from pathlib import Path

from gymnasium_gsp.errors import RecipeError


def check_place(path: Path) -> Path:
    """Check that a file can be written, before any work is done for it.

    Raises:
        RecipeError: for a folder that is missing, a place that cannot be written, or one that is no file.
    """
    if path.exists() and not path.is_file():
        raise RecipeError(f"{path} is {'a folder' if path.is_dir() else 'no file'}; give the name of a file")
    if not path.parent.is_dir():
        raise RecipeError(f"there is no folder {path.parent} for {path.name}; make it first, or give another one")
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK):
            raise RecipeError(f"{place} cannot be written; give another place, or change its permissions")
    return path


def check_new(path: Path, force: bool) -> Path:
    """Check that a file can be written, and refuse to write over one unless told to.

    Raises:
        RecipeError: as `check_place`, and if the file exists.
    """
    if path.is_file() and not force:
        raise RecipeError(f"{path} exists; give --force to write over it, or another name")
    return check_place(path)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name in the same folder, and rename it then.

    Raises:
        RecipeError: if the place cannot be written.
    """
    target = check_place(path).resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RecipeError(f"{path} cannot be written: {error.strerror or error}; give another place") from None
