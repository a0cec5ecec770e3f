"""How large a study is: what may be set, and what makes no sense."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from gymnasium_gsp.bench.grid import check_budgets
from gymnasium_gsp.bench.protocol import check_count
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.errors import RecipeError, unknown_name

NAMES = tuple(benchmark.name for benchmark in BENCHMARKS)
LARGEST = 2**24  # simulations of one search; beyond that a study would not end
_FEWEST = {"replicates": 2}  # or nothing could be said about chance


@dataclass(frozen=True)
class Sizes:
    """The sizes of a study; each study has some fields of its own.

    Raises:
        RecipeError: for a size that makes no sense.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "envs":
                check_names(value)
            elif field.name.endswith("budgets"):
                _check_budgets(field.name, value)
            elif check_count(field.name, value) < _FEWEST.get(field.name, 1):
                raise RecipeError(f"{field.name} must be at least {_FEWEST[field.name]}, not {value}")

    def as_dict(self) -> dict[str, Any]:
        """The sizes by name."""
        return asdict(self)


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names that are no benchmark's."""
    for name in names:
        if name not in NAMES:
            raise RecipeError(unknown_name("benchmark", name, NAMES))
    if not names or len(set(names)) < len(names):
        raise RecipeError(f"envs are some of {', '.join(NAMES)}, each once; not {', '.join(names) or 'nothing'}")


def _check_budgets(name: str, budgets: tuple[int, ...]) -> None:
    check_budgets(budgets)
    if len(budgets) < 2 or budgets[0] < 2 or budgets[-1] > LARGEST:
        raise RecipeError(
            f"{name} must be at least two numbers from 2 to {LARGEST:,}, so that a decline can be seen; not "
            f"{', '.join(map(str, budgets))}"
        )


def resized(study: str, sizes: Sizes, given: Mapping[str, Any]) -> Sizes:
    """Sizes with those changed that were given, None standing for what was not.

    Raises:
        RecipeError: for a size that the study does not have, or that makes no sense.
    """
    allowed = [field.name for field in fields(sizes)]
    changes = {name: value for name, value in given.items() if value is not None}
    for name in changes:
        if name not in allowed:
            flags = ", ".join("--" + one.replace("_", "-") for one in allowed)
            raise RecipeError(f"the study {study} has no --{name.replace('_', '-')}; its sizes are {flags}")
    return replace(sizes, **changes)
