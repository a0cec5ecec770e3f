"""Switching points: explore uniformly down to one, follow the best estimates behind it (Feldman and Domshlak 2014)."""

from dataclasses import dataclass

from numba import njit

from gymnasium_gsp.search.ingredients.ingredient import Ingredient
from gymnasium_gsp.search.ingredients.selection import pick_any, pick_tried


@njit
def switching_depth(simulation, horizon):
    """Return the depth where a simulation switches: at the root, then at the deepest step, and from there up."""
    return (horizon - simulation % horizon) % horizon


def switching_select(params, context, visits, q, counts, rng):
    """Return any action down to the switching point, behind it the tried action with the best value."""
    if context.depth <= switching_depth(context.simulation, context.horizon):
        return pick_any(context, rng)
    action = pick_tried(context, q, counts, rng)
    return action if action >= 0 else pick_any(context, rng)


@dataclass(frozen=True)
class Switching(Ingredient):
    """Any action down to this simulation's switching point, and the best one tried behind it.

    The switching points of successive simulations take turns over the steps of the horizon.  A recipe with
    `learning="at_the_switch"` learns nothing but at that point.
    """

    kind = "select"
    function = staticmethod(switching_select)
