"""Writing a file so that what was there stays until its successor is complete."""

import os
from pathlib import Path

from gymnasium_gsp.errors import RecipeError


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name in the same folder, and rename it then.

    Raises:
        RecipeError: if the place is a folder or cannot be written.
    """
    if path.is_dir():
        raise RecipeError(f"{path} is a folder; give the name of a file")
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise RecipeError(f"{path} cannot be written: {error.strerror or error}; give another -o") from None
