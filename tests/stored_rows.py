"""Rows of a store, all alike, where only their number and their cell matter."""

from gymnasium_gsp.bench.protocol import Episode
from gymnasium_gsp.bench.store import Cell, Row

CELL_A = Cell("GSP/FrozenLake-v0", "uct", "paper", 16, 0)
CELL_B = Cell("GSP/FrozenLake-v0", "uct", None, 16, 0)


def rows(cell=CELL_A, indices=range(5), **changes):
    numbers = {"decisions": 7, "simulations": 112, "model_steps": 900, "nodes": 40, "seconds": 0.125, "optimum": None}
    return [
        Row(cell, Episode(index, 0.5 * index, **{**numbers, **changes}), "Recipe()", "{}", "{}") for index in indices
    ]
