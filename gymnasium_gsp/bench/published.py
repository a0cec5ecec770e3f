"""Figures of others, as data beside our own: the GS-Power-UCT paper's returns, other planners, the competitions."""

import csv
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).with_name("data")
COMPETITION = DATA / "competition.csv"
OTHER_PLANNERS = DATA / "other_planners.csv"
ROUNDING = 0.0005  # the published returns are given to three decimals


class Published(NamedTuple):
    """One cell of the paper's tables of returns.

    Attributes:
        mean: mean return of an episode.
        standard_error: of that mean.
        runs: number of episodes.
    """

    mean: float
    standard_error: float
    runs: int


@cache
def published_rewards() -> dict[tuple[str, str, int], Published]:
    """The published returns by environment (its short name), algorithm and number of simulations.

    The paper's plus or minus is twice the standard deviation of one episode, so the standard error of a mean is
    plus_minus / (2 sqrt(runs)).  For GBOP it is of the order of a standard error already, and is kept as given.
    """
    cells = {}
    with (DATA / "published_rewards.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            plus_minus, runs = float(row["plus_minus"]), int(row["runs"])
            error = plus_minus if row["algorithm"] == "gbop" else plus_minus / (2.0 * math.sqrt(runs))
            cells[row["env"], row["algorithm"], int(row["budget"])] = Published(float(row["mean"]), error, runs)
    return cells


class OtherPlanner(NamedTuple):
    """What another planner reached in an environment with its default arguments.

    Attributes:
        planner: its name.
        budget: of each decision, in its own measure.
        mean: mean return of an episode.
        standard_error: of that mean; NaN where it is not known.
        source: who reports it.
    """

    planner: str
    budget: str
    mean: float
    standard_error: float
    source: str


@cache
def other_planners() -> dict[str, list[OtherPlanner]]:
    """Figures of planners that are not in this package, by the environment's id."""
    found: dict[str, list[OtherPlanner]] = {}
    with OTHER_PLANNERS.open(newline="") as file:
        for row in csv.DictReader(file):
            error = float(row["standard_error"] or math.nan)
            figure = OtherPlanner(row["planner"], row["budget"], float(row["mean"]), error, row["source"])
            found.setdefault(row["env"], []).append(figure)
    return found


class Instance(NamedTuple):
    """What is known of an instance of the planning competitions; horizon 40.

    Attributes:
        minimal: the better mean return of doing nothing and of acting at random.
        optimum: the exact optimum; None where the state space is too large.
    """

    minimal: float
    optimum: float | None


@cache
def competition() -> dict[str, Instance]:
    """The instances of 2011 and 2014 by their ids, as `python -m benchmarks.competition` computes them."""
    with COMPETITION.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["env"]: Instance(float(row["minimal"]), float(row["optimum"]) if row["optimum"] else None) for row in rows
    }
