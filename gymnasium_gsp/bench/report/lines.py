"""How a planner is drawn, everywhere: its colour, marker and dashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gymnasium_gsp.bench.published import published_rewards
from gymnasium_gsp.bench.report.cells import Planner

# Eight colours for white paper, each with a marker of its own; page.css has eight for dark screens.  A test holds that
# they stand out from the paper, and that the four kinds of colour vision tell them apart.
COLOURS = ("#353535", "#2998b1", "#3c7344", "#700771", "#c45e13", "#816fe5", "#5d3600", "#fe406e")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Line:
    """How a planner is drawn, everywhere.

    Attributes:
        number: of its colour and marker.
        round: how often all colours were used before; decides the dashes.
    """

    number: int
    round: int

    @property
    def look(self) -> dict[str, Any]:
        """What matplotlib wants to know."""
        return {
            "color": COLOURS[self.number],
            "marker": MARKERS[self.number],
            "linestyle": DASHES[self.round % len(DASHES)],
        }


def lines_of(planners: Sequence[Planner]) -> dict[Planner, Line]:
    """The line of each planner: the published algorithms have one of their own, the others take what is free."""
    published = list(dict.fromkeys(algorithm for _, algorithm, _ in published_rewards()))
    places: dict[Planner, int] = {}
    for planner in planners:
        if planner.algorithm in published and published.index(planner.algorithm) not in places.values():
            places[planner] = published.index(planner.algorithm)
    free = iter(number for number in range(len(planners) + len(published)) if number not in places.values())
    for planner in planners:
        if planner not in places:
            places[planner] = next(free)
    return {planner: Line(place % len(COLOURS), place // len(COLOURS)) for planner, place in places.items()}
