"""The returns that the GS-Power-UCT paper reports, as data beside our own."""

import csv
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).with_name("data")
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
