"""Parts of the grid worlds: moving on a grid, reading and drawing maps, and checks of constructor arguments."""

import operator
from collections.abc import Collection, Sequence

import numpy as np
from numba import njit


@njit
def slipped(u, slip, action):
    """The direction in which the agent goes: turned left if u < slip, turned right if u < 2 slip, else as intended."""
    # Without branches: the processor cannot predict a random turn, and each misprediction costs a step's time.
    turn = int(u < slip) + int(u < 2.0 * slip)
    return (action + turn + (turn >> 1)) & 3


def slip_law(action: int, slip: float) -> list[tuple[float, int]]:
    """The law of `slipped`: (probability, direction) for turned left, turned right and as intended, where possible."""
    turns = ((slip, (action + 3) & 3), (slip, (action + 1) & 3), (1.0 - 2.0 * slip, action & 3))
    return [turn for turn in turns if turn[0] > 0.0]


def neighbours(columns: int, rows: int, walls: Collection[int] = ()) -> tuple[int, ...]:
    """The neighbour of each place in each direction: entry 4 * place + direction, with 0 left, 1 down, 2 right, 3 up.

    A place is row * columns + column, rows counted downwards.  At the border or a wall the agent stays.
    """
    table = []
    for place in range(columns * rows):
        x, y = place % columns, place // columns
        moves = ((x > 0, -1), (y < rows - 1, columns), (x < columns - 1, 1), (y > 0, -columns))
        table += [place + step if inside and place + step not in walls else place for inside, step in moves]
    return tuple(table)


def draw_map(rows: Sequence[str], place: int) -> str:
    """Rows of a map as text, the agent's place in brackets."""
    columns = len(rows[0])
    lines = []
    for y, row in enumerate(rows):
        lines.append("".join(f"[{c}]" if y * columns + x == place else f" {c} " for x, c in enumerate(row)))
    return "\n".join(lines) + "\n"


def read_map(desc: Sequence[str], letters: str, single: str, some: str) -> tuple[str, ...]:
    """A map as a tuple of equally long rows.

    Args:
        desc: the rows.
        letters: what may stand in them.
        single: the letter that must stand exactly once.
        some: the letter that must stand at least once.

    Raises:
        ValueError: if it is no such map.
    """
    if not isinstance(desc, list | tuple) or not all(isinstance(row, str) for row in desc):
        raise ValueError(f"a map is a list of rows such as ['SF', 'HG'], not {desc!r}")
    rows = tuple(desc)
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"the rows of a map must be equally long and not empty, not {list(rows)!r}")
    text = "".join(rows)
    if strange := sorted(set(text) - set(letters)):
        raise ValueError(f"the map holds {strange}; allowed letters: {', '.join(letters)}")
    if text.count(single) != 1 or some not in text:
        raise ValueError(f"a map has exactly one {single!r} and at least one {some!r}; this one is {list(rows)!r}")
    return rows


def check_probability(name: str, value: float, largest: float = 1.0) -> float:
    """`value` as a float between 0 and `largest`, or a ValueError."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= largest:
        raise ValueError(f"{name} must be a number between 0 and {largest:g}, not {value!r}")
    return float(value)


def check_count(name: str, value: int, smallest: int = 1, largest: int | None = None) -> int:
    """`value` as an int of at least `smallest` and at most `largest`, or a ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if isinstance(value, bool) or number < smallest or (largest is not None and number > largest):
        limit = f"of at least {smallest}" if largest is None else f"between {smallest} and {largest}"
        raise ValueError(f"{name} must be a whole number {limit}, not {value!r}")
    return number


def check_horizon(value: int) -> int:
    """A number of steps of at least 1, or a ValueError."""
    return check_count("horizon", value)


def check_cell(name: str, value: Sequence[int], columns: int, rows: int) -> tuple[int, int]:
    """`value` as the (x, y) of a cell of the grid, or a ValueError."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{name} must be [x, y], not {value!r}")
    x, y = check_count(f"x of {name}", value[0], 0, columns - 1), check_count(f"y of {name}", value[1], 0, rows - 1)
    return x, y
