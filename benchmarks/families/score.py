"""The score of a family: 1 - mean loss / mean optimum over its members."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.families import Family
from benchmarks.regret import Losses, play_losses
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.executors import Workers


class Score(NamedTuple):
    """A score with its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.error:.3f})"


def play_members(family: Family, shared: dict[str, Any], episodes: int, workers: Workers) -> list[Losses]:
    """Play each member of a family; `shared` are the other fields of its cell."""
    cells = [Cell(env=family.id, env_options={"size": size}, **shared) for size in family.sizes]
    return list(play_losses(cells, episodes, workers, ("benchmarks.families",)))


def has_optimum(losses: Losses) -> bool:
    """Return whether the optimum is known."""
    return not np.isnan(losses.optima).any()


def score(members: Sequence[Losses]) -> Score:
    """The score over the members whose optimum is known."""
    known = [losses for losses in members if has_optimum(losses)]
    optimum = np.sum([losses.optima.mean() for losses in known])
    loss = np.sum([losses.losses.mean() for losses in known])
    errors = [losses.losses.std(ddof=1) / np.sqrt(len(losses.losses)) for losses in known]
    return Score(float(1.0 - loss / optimum), float(np.linalg.norm(errors) / optimum))


def mean(scores: Sequence[Score]) -> Score:
    """The mean of independent scores."""
    means, errors = zip(*scores, strict=True)
    return Score(float(np.mean(means)), float(np.linalg.norm(errors)) / len(scores))
