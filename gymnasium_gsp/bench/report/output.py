"""Places that a report can be written to, and files that replace what was there once they are complete."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from gymnasium_gsp.errors import RecipeError

FIGURES = (".svg", ".pdf", ".png")
KINDS = (".html", ".md", ".csv", ".tex", *FIGURES)
NEEDED = ("pandas", "scipy", "matplotlib", "jinja2", "tabulate")


def check_extras() -> None:
    """Refuse at once if a package is missing that a report is made with.

    Raises:
        RecipeError: that names the package and the command that installs it.
    """
    missing = []
    for package in NEEDED:
        try:
            import_module(package)
        except ImportError:
            missing.append(package)
    if missing:
        raise RecipeError(f"a report needs {' and '.join(missing)}; install with: pip install 'gymnasium-gsp[bench]'")


def check_output(output: Path) -> Path:
    """Check that a file or folder can be written; a name without a suffix is that of a folder.

    Returns:
        The place.

    Raises:
        RecipeError: for an unknown suffix, a missing folder, or a place that cannot be written.
    """
    if is_folder(output):
        parent = output if output.is_dir() else output.parent
    elif output.suffix.lower() not in KINDS:
        raise RecipeError(
            f"what to write to {output.name}? Its name must end in {', '.join(KINDS)}, or be that of a folder"
        )
    else:
        parent = output.parent
    if output.exists() and not output.is_file() and not output.is_dir():
        raise RecipeError(f"{output} is no file; give another -o")
    if output.is_file() and not output.suffix:
        raise RecipeError(f"{output} is a file, and a name without a suffix is that of a folder; give another -o")
    if not parent.is_dir():
        raise RecipeError(f"there is no folder {parent} for {output.name}; make it first, or give another -o")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise RecipeError(f"the folder {parent} cannot be written; give another -o")
    return output


def is_folder(output: Path) -> bool:
    """True for the name of a folder: it is there already, or has no suffix."""
    return output.is_dir() or not output.suffix


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files, each under another name and then renamed, so that what was there stays until that.

    A folder that is missing is made, its parent is not.

    Raises:
        RecipeError: if a place cannot be written.
    """
    for path, content in files.items():
        target = path.resolve()
        waiting = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            target.parent.mkdir(exist_ok=True)
            waiting.write_bytes(content)
            os.replace(waiting, target)
        except OSError as error:
            waiting.unlink(missing_ok=True)
            raise RecipeError(f"{path} cannot be written: {error.strerror or error}; give another -o") from None
