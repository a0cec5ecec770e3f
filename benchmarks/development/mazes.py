"""Mazes with keys: a door opens for whoever has its key; 1 a step until the goal."""

from functools import cache

from benchmarks.development.tables import Outcomes, Table, TableEnv, table_of
from gymnasium_gsp.envs.grid import DIRECTIONS

_MAPS = {
    "small": (
        "S..#a..",
        ".#.#.#.",
        ".#...#.",
        ".####A#",
        ".....#.",
        "####.#b",
        "G.B....",
    ),
    "large": (
        "S....#....a",
        ".###.#.###.",
        "...#...#...",
        "##.#####.##",
        ".A.......#b",
        ".#######.#.",
        ".#.....#.#.",
        ".#.###.#.B.",
        "...#c..#.##",
        "##.#####...",
        "....C.G####",
    ),
}
"""S start, G goal, # wall, small letters keys, capitals their doors."""


def make_maze(name: str, slip: float = 0.0) -> TableEnv:
    """A maze.

    Args:
        name: of its map, small or large.
        slip: probability of being turned to each side.
    """
    return TableEnv(_maze(name, slip))


@cache
def _maze(name: str, slip: float) -> Table:
    places = {(x, y): letter for y, row in enumerate(_MAPS[name]) for x, letter in enumerate(row) if letter != "#"}
    start = next(place for place, letter in places.items() if letter == "S")
    State = tuple[tuple[int, int], frozenset[str]]  # noqa: N806  a type

    def outcomes(state: State, action: int) -> Outcomes[State]:
        (x, y), keys = state
        for chance, turn in ((1.0 - 2.0 * slip, 0), (slip, 1), (slip, 3)):
            across, down = DIRECTIONS[(action + turn) % 4]
            ahead = x + across, y + down
            letter = places.get(ahead, "#")
            if letter == "#" or (letter in "ABC" and letter.lower() not in keys):
                ahead, letter = (x, y), places[x, y]
            if chance > 0.0:
                yield chance, (ahead, keys | {letter} if letter in "abc" else keys), -1.0, letter == "G"

    no_keys: frozenset[str] = frozenset()
    return table_of((start, no_keys), 4, outcomes)
