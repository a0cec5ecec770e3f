"""What was measured, one line of JSON each: batches of episodes, minimal policies and optima."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MINIMAL, OPTIMUM = "minimal policy", "optimum"
"""The settings of lines that hold a value instead of episodes."""

EXACT = "exact policy"
"""The settings of the episodes that the exact optimal policy has played."""

Line = dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """An instance of rddlrepository.

    Attributes:
        domain: its domain's name there.
        number: its number there.
    """

    domain: str
    number: int


@dataclass(frozen=True)
class Batch:
    """Some episodes of an instance, as they were played.

    Attributes:
        returns: of each episode.
        decisions: seconds of each decision.
        depth: how deep PROST's heuristic looks, which it learns by the clock; None for other players.
    """

    returns: list[float]
    decisions: list[float]
    depth: int | None = None


@dataclass(frozen=True, eq=False)
class Played:
    """All stored episodes of a player on an instance.

    Attributes:
        returns: of each episode.
        decisions: number of decisions.
        seconds: that they took together.
        worst: seconds of the longest one.
    """

    returns: NDArray[np.float64]
    decisions: int
    seconds: float
    worst: float

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean return."""
        number = len(self.returns)
        return float(self.returns.std(ddof=1) / np.sqrt(number)) if number > 1 else float("nan")


class Rows:
    """A file of results; a line is written as soon as it is measured, so a run can be stopped and continued.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[Line] = []
        if path.exists():
            self.lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]

    def find(self, instance: Instance, settings: str) -> list[Line]:
        """The lines of an instance with these settings."""
        key = instance.domain, instance.number, settings
        return [line for line in self.lines if (line["domain"], line["instance"], line["settings"]) == key]

    def add(self, instance: Instance, settings: str, **values: Any) -> None:
        """Write a line."""
        line = {"domain": instance.domain, "instance": instance.number, "settings": settings, **values}
        self.lines.append(line)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def add_batch(self, instance: Instance, settings: str, first: int, batch: Batch) -> None:
        """Write a batch of episodes, of which the first has this number."""
        seconds = {"seconds": round(sum(batch.decisions), 4), "worst": round(max(batch.decisions), 4)}
        counts = {"first": first, "decisions": len(batch.decisions)}
        depth = {} if batch.depth is None else {"depth": batch.depth}
        self.add(instance, settings, **counts, **seconds, **depth, returns=[round(value, 6) for value in batch.returns])

    def players(self, instance: Instance) -> set[str]:
        """The settings with which an instance was played."""
        key = instance.domain, instance.number
        lines = [line for line in self.lines if (line["domain"], line["instance"]) == key]
        return {line["settings"] for line in lines if "returns" in line}

    def played(self, instance: Instance, settings: str) -> Played:
        """All episodes of an instance with these settings."""
        lines = self.find(instance, settings)
        return Played(
            returns=np.array([value for line in lines for value in line["returns"]]),
            decisions=sum(line["decisions"] for line in lines),
            seconds=sum(line["seconds"] for line in lines),
            worst=max((line["worst"] for line in lines), default=0.0),
        )

    def value(self, instance: Instance, settings: str) -> float | None:
        """The value of an instance's minimal policy or optimum; None if it was not computed, or cannot be."""
        lines = self.find(instance, settings)
        return lines[-1]["value"] if lines else None
