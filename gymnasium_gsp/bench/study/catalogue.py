"""The studies by name, and how one is run."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from gymnasium_gsp.agents.seeding import check_seed
from gymnasium_gsp.bench.study.outcome import Study
from gymnasium_gsp.bench.study.sizes import resized
from gymnasium_gsp.errors import RecipeError, unknown_name

STUDIES = ("convergence", "bias", "sharing", "overhead")
Watch = Callable[[str], None]


def prepare(name: str, seed: Any, quick: bool, given: Mapping[str, Any]) -> Callable[[Watch], Study]:
    """A study that is ready to run; what cannot be run is refused here, before anything is measured.

    Args:
        name: one of STUDIES.
        seed: of all random numbers.
        quick: begin from the small sizes.
        given: sizes by name, None for what was not given.

    Returns:
        A function that runs it; it takes what is called with a word on each thing begun.

    Raises:
        RecipeError: for an unknown name, sizes or a seed that make no sense, or a missing package.
    """
    if name not in STUDIES:
        raise RecipeError(unknown_name("study", name, STUDIES))
    if (number := check_seed(seed)) is None:
        raise RecipeError("a study needs a seed, so that it can be repeated; 0 will do")
    room: Any = import_module(f"gymnasium_gsp.bench.study.{name}")
    sizes = resized(name, room.QUICK if quick else room.FULL, given)
    getattr(room, "check", lambda: None)()
    return lambda watch: room.run(sizes, number, watch)
