"""Films of episodes, from the pictures of an environment."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import RecipeError

Frame = NDArray[np.uint8]
"""(height, width, 3), the pixels of a picture."""

KINDS = (".gif", ".mp4")


def check_film(path: Path) -> None:
    """Refuse a name that says no kind of film, or one that cannot be made here.

    Raises:
        RecipeError: says which kinds there are, or what to install.
    """
    if path.suffix.lower() not in KINDS:
        raise RecipeError(f"a film is a .gif or, with moviepy, a .mp4, not {path.name!r}")
    if path.suffix.lower() == ".mp4" and find_spec("moviepy") is None:
        raise RecipeError("a .mp4 needs moviepy: pip install 'gymnasium-gsp[films]', or give the name of a .gif")


def write_film(path: Path, frames: Sequence[Frame], frames_per_second: float) -> None:
    """Write frames of one size to a .gif or a .mp4; the last frame of a GIF stays for two seconds."""
    check_film(path)
    if path.suffix.lower() == ".mp4":
        from moviepy import ImageSequenceClip

        ImageSequenceClip(list(frames), fps=frames_per_second).write_videofile(str(path), logger=None)
        return
    from PIL import Image

    # One palette for all frames keeps the file small and the colours still.
    palette = Image.fromarray(np.concatenate(frames[:: max(1, len(frames) // 8)])).quantize(160)
    images: list[Any] = [Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000.0 / frames_per_second)] * (len(images) - 1) + [2000]
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)
