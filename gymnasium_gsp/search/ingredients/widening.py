"""Progressive widening: a node that was visited more often may try more of its actions."""

import math
from dataclasses import dataclass

from gymnasium_gsp.errors import KnownFields
from gymnasium_gsp.search.ingredients.ingredient import check_number, make_plain


@dataclass(frozen=True)
class Widening(KnownFields):
    """A node of n visits may try ceil(factor * n**exponent) of its legal actions (Couetoux and others 2011).

    Of the points of a continuous space these are the coarsest.  Where the order of the actions says nothing, every node
    tries others first.

    Attributes:
        factor: how many a node may try at its first visit, at least 1.
        exponent: how fast there are more of them, between 0 and 1.
    """

    factor: float = 3.0
    exponent: float = 0.5

    def __post_init__(self) -> None:
        make_plain(self)
        check_number("factor", self.factor, smallest=1.0)
        check_number("exponent", self.exponent, smallest=0.0, largest=1.0)


def spreading_stride(actions: int) -> int:
    """A step that visits all of so many actions, numbers that are close to each other far apart."""
    golden = round(actions * (math.sqrt(5.0) - 1.0) / 2.0)
    return next(stride for stride in range(max(golden, 1), actions + 1) if math.gcd(stride, actions) == 1)
