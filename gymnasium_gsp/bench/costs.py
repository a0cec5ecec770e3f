"""What an episode of each series of a benchmark costs: measured, or scaled from its neighbours."""

import math
from collections.abc import Mapping, Sequence

Key = tuple[str, str, int]
"""(environment, algorithm, budget)."""

_STEEPEST = (0.3, 2.0)  # bounds on how time may grow with the budget, against noise in single episodes


class Costs:
    """Seconds an episode of each series takes, from those that were played.

    Args:
        keys: environment, algorithm and budget of each series; several may have one key, and differ in other options.
    """

    def __init__(self, keys: Sequence[Key]) -> None:
        self._keys = keys
        self._own: dict[int, tuple[int, float]] = {}
        self._groups: dict[tuple[str, ...], dict[int, tuple[int, float]]] = {}

    def record(self, series: int, episodes: int, seconds: float) -> None:
        """Take note of episodes, at least one, that were played one after the other."""
        _add(self._own, series, episodes, seconds)
        for group in self._neighbours(series):
            _add(self._groups.setdefault(group, {}), self._keys[series][2], episodes, seconds)

    def measured(self, series: int) -> bool:
        """Whether an episode of this series has been played."""
        return series in self._own

    def seconds(self, series: int) -> float | None:
        """Seconds of an episode: the mean if some were played, or else scaled; None where nothing says anything."""
        if series in self._own:
            return _mean(self._own[series])
        for group in self._neighbours(series):
            if group in self._groups:
                return _scaled(self._groups[group], self._keys[series][2])
        return None

    def _neighbours(self, series: int) -> tuple[tuple[str, ...], ...]:
        """The same algorithm in the same environment, the same algorithm, all: who says most comes first."""
        env, algorithm, _ = self._keys[series]
        return (env, algorithm), (algorithm,), ()


def _add(sums: dict[int, tuple[int, float]], place: int, episodes: int, seconds: float) -> None:
    before, spent = sums.get(place, (0, 0.0))
    sums[place] = before + episodes, spent + seconds


def _mean(played: tuple[int, float]) -> float:
    episodes, seconds = played
    return max(seconds, 1e-6) / episodes


def _scaled(budgets: Mapping[int, tuple[int, float]], budget: int) -> float:
    """The power law through the two nearest budgets, or in proportion to the budget if there is only one."""
    nearest = sorted(budgets, key=lambda other: abs(math.log(other / budget)))[:2]
    level = {other: math.log(_mean(budgets[other])) for other in nearest}
    slope = 1.0
    if len(nearest) == 2:
        a, b = nearest
        slope = (level[b] - level[a]) / math.log(b / a)
        slope = min(max(slope, _STEEPEST[0]), _STEEPEST[1])
    return math.exp(level[nearest[0]] + slope * math.log(budget / nearest[0]))
