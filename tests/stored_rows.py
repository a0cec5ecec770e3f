"""Rows of a store, all alike, where only their number and their cell matter."""

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode

CELL_A = Cell(env="FrozenLake", algorithm="uct", preset="paper", budget=16)
CELL_B = Cell(env="FrozenLake", algorithm="uct", budget=16)


def rows(cell=CELL_A, indices=range(5), **changes):
    numbers = {"decisions": 7, "simulations": 112, "model_steps": 900, "nodes": 40, "seconds": 0.125, "optimum": None}
    fields = {**numbers, "recipe": "Recipe()", **changes}
    return [(cell, Episode(index, 0.5 * index, **fields)) for index in indices]
