"""Evaluation cards: the returns of a planner in an environment, and all that is needed to repeat and compare them."""

import json
import math
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, FiniteFloat, JsonValue, NonNegativeInt, PositiveInt, model_validator

from gymnasium_gsp.bench.cell import Checked
from gymnasium_gsp.bench.files import replace_file
from gymnasium_gsp.errors import RecipeError

KIND: Final = "gymnasium-gsp evaluation card"
VERSION: Final = 1  # raised with every change of the fields; cards of another version are refused

Interval = tuple[FiniteFloat, FiniteFloat] | None
"""Both ends; None for fewer than 5 episodes."""


class Card(Checked):
    """An evaluation; as a file, a JSON object with one line for each field.

    Attributes:
        kind, version: of the file.
        command: plays the same episodes again.
        environment, environment_arguments: the id, and what the environment was made with.
        environment_package: the package that the environment comes from, and its version.
        wrappers: their names, outermost first.
        discount: of the return.
        optimum: the best expected return; None where it is not known.
        algorithm, citation, preset, options, simulator, recipe: the planner; the citation of a recipe is "".
        covered_by_theorem, not_covered_because: whether the paper's convergence theorem covers the planner.
        access: what the planner may use: a simulator of the environment, unlike most agents that learn.
        budget: of a decision: a number of simulations, or other limits as the call that makes them.
        seed: what the seeds of the episodes were drawn from.
        reset_seeds, returns, decisions: of each episode.
        mean_return, mean_interval, interquartile_mean, interquartile_mean_interval: over the episodes.
        interval: the kind of both intervals, in words.
        seconds_per_decision, simulations_per_decision: means over all decisions.
        versions, machine: see `bench.provenance`.
    """

    kind: Literal["gymnasium-gsp evaluation card"] = KIND
    version: Literal[1] = VERSION
    command: str
    environment: str
    environment_arguments: dict[str, JsonValue]
    environment_package: str
    wrappers: tuple[str, ...]
    discount: FiniteFloat
    optimum: FiniteFloat | None
    algorithm: str
    citation: str
    preset: str
    options: str
    simulator: str
    recipe: str
    covered_by_theorem: bool
    not_covered_because: tuple[str, ...]
    access: Literal["simulator"] = "simulator"
    budget: PositiveInt | str
    seed: NonNegativeInt
    reset_seeds: tuple[NonNegativeInt, ...] = Field(min_length=1)
    returns: tuple[FiniteFloat, ...]
    decisions: tuple[PositiveInt, ...]
    mean_return: FiniteFloat
    mean_interval: Interval
    interquartile_mean: FiniteFloat
    interquartile_mean_interval: Interval
    interval: str
    seconds_per_decision: FiniteFloat
    simulations_per_decision: FiniteFloat
    versions: dict[str, str]
    machine: dict[str, JsonValue]

    @model_validator(mode="after")
    def _check_returns(self) -> Self:
        if not len(self.reset_seeds) == len(self.returns) == len(self.decisions):
            raise RecipeError("reset_seeds, returns and decisions are not of the same episodes")
        if not math.isclose(self.mean_return, math.fsum(self.returns) / len(self.returns), abs_tol=1e-9):
            raise RecipeError("mean_return is not the mean of the returns")
        return self

    def __str__(self) -> str:
        spent = f"{self.budget} simulations" if isinstance(self.budget, int) else self.budget
        return ", ".join(part for part in (self.algorithm, spent, self.preset, self.options, self.simulator) if part)


def write_card(card: Card, path: Path) -> None:
    """Write a card; an older file stays until the new one is complete.

    Raises:
        RecipeError: if the place cannot be written.
    """
    fields = card.model_dump(mode="json").items()
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in fields)
    replace_file(path, f"{{\n{lines}\n}}\n".encode())


def read_card(path: Path) -> Card:
    """Read a card; nothing that it names is imported or run.

    Raises:
        RecipeError: if the file cannot be read, is no card, is of another version, or is damaged.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"card {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise RecipeError(f"{path} is no evaluation card: it is no JSON, or only a part of it: {error}") from error
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise RecipeError(f"{path} is no evaluation card; `gsp evaluate ENV --json {path.name}` writes one")
    if fields.get("version") != VERSION:
        raise RecipeError(
            f"card {path} is of version {fields.get('version')!r}, and this gymnasium-gsp reads version {VERSION}; "
            "evaluate again, or read it with the gymnasium-gsp that wrote it"
        )
    try:
        return Card(**fields)
    except RecipeError as error:
        raise RecipeError(f"card {path} is damaged: {error}; evaluate again, or take an older copy") from error
