"""How long a benchmark will still take: what an episode of each cell costs, measured or scaled from its neighbours."""

import math
from collections.abc import Iterable

Key = tuple[str, str, int]
"""(environment, algorithm, budget)."""

_STEEPEST = (0.3, 2.0)  # bounds on how time may grow with the budget, against noise in single episodes


class Costs:
    """Seconds an episode takes, by environment, algorithm and budget, from those that were played."""

    def __init__(self) -> None:
        self._episodes: dict[Key, int] = {}
        self._seconds: dict[Key, float] = {}

    def record(self, key: Key, episodes: int, seconds: float) -> None:
        """Take note of episodes that were played one after the other."""
        self._episodes[key] = self._episodes.get(key, 0) + episodes
        self._seconds[key] = self._seconds.get(key, 0.0) + seconds

    def measured(self, key: Key) -> bool:
        """Whether an episode of this cell has been played."""
        return key in self._episodes

    def seconds(self, key: Key) -> float | None:
        """Seconds of an episode: the mean if some were played, or else scaled; None where nothing says anything."""
        if key in self._episodes:
            return self._mean(key)
        env, algorithm, budget = key
        for neighbours in (
            [other for other in self._episodes if other[:2] == (env, algorithm)],
            [other for other in self._episodes if other[1] == algorithm],
            list(self._episodes),
        ):
            if neighbours:
                return self._scaled(neighbours, budget)
        return None

    def _mean(self, key: Key) -> float:
        return max(self._seconds[key], 1e-6) / self._episodes[key]

    def _scaled(self, neighbours: Iterable[Key], budget: int) -> float:
        """The power law through the two nearest budgets, or in proportion to the budget if there is only one."""
        points: dict[int, list[float]] = {}
        for key in neighbours:
            points.setdefault(key[2], []).append(math.log(self._mean(key)))
        nearest = sorted(points, key=lambda other: abs(math.log(other / budget)))[:2]
        level = {other: sum(points[other]) / len(points[other]) for other in nearest}
        slope = 1.0
        if len(nearest) == 2:
            a, b = nearest
            slope = (level[b] - level[a]) / math.log(b / a)
            slope = min(max(slope, _STEEPEST[0]), _STEEPEST[1])
        return math.exp(level[nearest[0]] + slope * math.log(budget / nearest[0]))
