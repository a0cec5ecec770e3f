"""What an episode of each cell of a benchmark costs: measured, or scaled from its neighbours."""

import math
from collections.abc import Iterable

Key = tuple[str, str, int]
"""(environment, algorithm, budget)."""

_STEEPEST = (0.3, 2.0)  # bounds on how time may grow with the budget, against noise in single episodes


class Costs:
    """Seconds an episode takes, by environment, algorithm and budget, from those that were played."""

    def __init__(self) -> None:
        self._played: dict[tuple[str, str], dict[int, tuple[int, float]]] = {}

    def record(self, key: Key, episodes: int, seconds: float) -> None:
        """Take note of episodes that were played one after the other."""
        env, algorithm, budget = key
        budgets = self._played.setdefault((env, algorithm), {})
        before, spent = budgets.get(budget, (0, 0.0))
        budgets[budget] = before + episodes, spent + seconds

    def measured(self, key: Key) -> bool:
        """Whether an episode of this cell has been played."""
        env, algorithm, budget = key
        return budget in self._played.get((env, algorithm), {})

    def seconds(self, key: Key) -> float | None:
        """Seconds of an episode: the mean if some were played, or else scaled; None where nothing says anything."""
        env, algorithm, budget = key
        own = self._played.get((env, algorithm))
        if own:
            return _mean(own[budget]) if budget in own else _scaled([own], budget)
        same = [budgets for (_, name), budgets in self._played.items() if name == algorithm]
        neighbours = same or list(self._played.values())
        return _scaled(neighbours, budget) if neighbours else None


def _mean(played: tuple[int, float]) -> float:
    episodes, seconds = played
    return max(seconds, 1e-6) / episodes


def _scaled(neighbours: Iterable[dict[int, tuple[int, float]]], budget: int) -> float:
    """The power law through the two nearest budgets, or in proportion to the budget if there is only one."""
    points: dict[int, list[float]] = {}
    for budgets in neighbours:
        for other, played in budgets.items():
            points.setdefault(other, []).append(math.log(_mean(played)))
    nearest = sorted(points, key=lambda other: abs(math.log(other / budget)))[:2]
    level = {other: sum(points[other]) / len(points[other]) for other in nearest}
    slope = 1.0
    if len(nearest) == 2:
        a, b = nearest
        slope = (level[b] - level[a]) / math.log(b / a)
        slope = min(max(slope, _STEEPEST[0]), _STEEPEST[1])
    return math.exp(level[nearest[0]] + slope * math.log(budget / nearest[0]))
