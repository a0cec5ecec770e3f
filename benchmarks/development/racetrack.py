"""The racetrack of Barto, Bradtke and Singh (1995): accelerate around a corner; a tenth of all commands are ignored."""

from functools import cache
from itertools import product

from benchmarks.development.tables import Outcomes, Table, TableEnv, table_of

_TRACK = (
    "####.....G",
    "###......G",
    "##.......G",
    "#....#####",
    "#...######",
    "#...######",
    "#...######",
    "##..######",
    "##S.######",
)
"""S start, G finish, # off the track."""

_IGNORED = 0.1
_FASTEST = 4
_ACCELERATIONS = list(product((-1, 0, 1), (-1, 0, 1)))


def make_racetrack() -> TableEnv:
    """-1 a step until the finish is crossed; who leaves the track is put back at the start, at rest."""
    return TableEnv(_racetrack())


@cache
def _racetrack() -> Table:
    letters = {(x, y): letter for y, row in enumerate(_TRACK) for x, letter in enumerate(row)}
    start = next(place for place, letter in letters.items() if letter == "S")
    State = tuple[int, int, int, int]  # noqa: N806  a type

    def drive(state: State, acceleration: tuple[int, int]) -> tuple[State, bool]:
        x, y, *speed = state
        across, down = (max(-_FASTEST, min(_FASTEST, v + a)) for v, a in zip(speed, acceleration, strict=True))
        moves = max(abs(across), abs(down), 1)
        for move in range(1, moves + 1):
            place = x + round(across * move / moves), y + round(down * move / moves)
            if letters.get(place) == "G":
                return (*place, 0, 0), True
            if letters.get(place, "#") == "#":
                return (*start, 0, 0), False
        return (*place, across, down), False

    def outcomes(state: State, action: int) -> Outcomes[State]:
        for chance, acceleration in ((1.0 - _IGNORED, _ACCELERATIONS[action]), (_IGNORED, (0, 0))):
            after, finished = drive(state, acceleration)
            yield chance, after, -1.0, finished

    return table_of((*start, 0, 0), len(_ACCELERATIONS), outcomes)
