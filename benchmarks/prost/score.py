"""The competition's score: (return - minimal policy) / (best - minimal policy)."""

from benchmarks.prost.rows import MINIMAL, OPTIMUM, Instance, Played, Rows

Scale = tuple[float, float]
"""The return of the minimal policy, and the best return."""


def scale_of(rows: Rows, instance: Instance) -> Scale | None:
    """The scale of an instance; None before its minimal policy is measured, or where nothing is better than that.

    The best return is the optimum, or where that is unknown the highest mean of any player with any budget.
    """
    minimal, best = rows.value(instance, MINIMAL), rows.value(instance, OPTIMUM)
    if best is None:
        best = max((rows.played(instance, settings).mean for settings in rows.players(instance)), default=None)
    return None if minimal is None or best is None or best <= minimal else (minimal, best)


def score(result: Played, scale: Scale) -> tuple[float, float]:
    """The score of some episodes, and its standard error."""
    minimal, best = scale
    return (result.mean - minimal) / (best - minimal), result.error / (best - minimal)
