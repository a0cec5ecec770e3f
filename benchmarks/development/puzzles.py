"""Deterministic puzzles: a chain without a hint, sliding tiles, and boxes that can be pushed but not pulled."""

from collections.abc import Callable
from functools import cache

from benchmarks.development.tables import Outcomes, Table, TableEnv, table_of
from gymnasium_gsp.envs.grid import DIRECTIONS


def make_chain(length: int) -> TableEnv:
    """A chain in which one of two actions leads on, the other one back to the start; its end pays 1.

    The right action alternates in blocks of three.
    """

    def outcomes(place: int, action: int) -> Outcomes[int]:
        after = place + 1 if action == place // 3 % 2 else 0
        yield 1.0, after, float(after == length), after == length

    return TableEnv(table_of(0, 2, outcomes))


def make_sliding_tiles() -> TableEnv:
    """Five tiles and a gap on a board of 3 x 2, to be put in order, 1 a move; 18 moves from the start."""
    return TableEnv(_sliding_tiles())


@cache
def _sliding_tiles() -> Table:
    goal = (1, 2, 3, 4, 5, 0)

    def outcomes(tiles: tuple[int, ...], action: int) -> Outcomes[tuple[int, ...]]:
        gap, (across, down) = tiles.index(0), DIRECTIONS[action]
        x, y = gap % 3 + across, gap // 3 + down
        after = list(tiles)
        if 0 <= x < 3 and 0 <= y < 2:
            after[gap], after[3 * y + x] = after[3 * y + x], 0
        yield 1.0, tuple(after), -1.0, tuple(after) == goal

    start: tuple[int, ...] = (4, 0, 3, 1, 5, 2)
    return table_of(start, 4, outcomes)


def make_boxes() -> TableEnv:
    """Push two boxes onto two marks, as in Sokoban: 1 a move; a box in a corner is lost."""
    return TableEnv(_boxes())


_BOARD = ("######", "#@   #", "# $  #", "#  $.#", "#   .#", "######")


@cache
def _boxes() -> Table:
    places = {(x, y): letter for y, row in enumerate(_BOARD) for x, letter in enumerate(row) if letter != "#"}
    marks = frozenset(place for place, letter in places.items() if letter == ".")
    State = tuple[tuple[int, int], frozenset[tuple[int, int]]]  # noqa: N806  a type

    def outcomes(state: State, action: int) -> Outcomes[State]:
        (x, y), boxes = state
        across, down = DIRECTIONS[action]
        ahead, behind = (x + across, y + down), (x + 2 * across, y + 2 * down)
        blocked = ahead in boxes and (behind in boxes or behind not in places)
        if ahead not in places or blocked:
            ahead = x, y
        elif ahead in boxes:
            boxes = boxes - {ahead} | {behind}
        yield 1.0, (ahead, boxes), -1.0, boxes == marks

    find: Callable[[str], list[tuple[int, int]]] = lambda letter: [p for p, own in places.items() if own == letter]  # noqa: E731
    return table_of((find("@")[0], frozenset(find("$"))), 4, outcomes)
