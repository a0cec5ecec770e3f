"""In what order a benchmark's episodes are handed out, in how large batches, and how long the rest will take."""

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from gymnasium_gsp.bench.costs import Costs, Key

_BATCH_SECONDS = 0.5  # what a batch should take: far more than handing it over, little to lose
_UNFINISHED = 1.5  # how long an episode may take in all, in units of what it has taken, where nothing else is known


@dataclass
class _Batch:
    """Episodes of one series that were handed out; `begun` is when a worker took them, None while they wait."""

    series: int
    episodes: int
    begun: float | None = None

    def running(self) -> float:
        """Seconds since a worker took it."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun


class Schedule:
    """What is still to be played.

    Every cell advances at the same pace, so that at a tenth of the way each has a tenth of its episodes: then the
    remaining time is known from what was played, and not from the cheap cells alone.  The smallest budgets begin, so
    that there is something to scale from; then the dearest come first, since they take most of the time, and how much
    is a guess until they were played.  An episode that would outlast all else comes at once, so that nobody waits for
    it at the end.
    """

    def __init__(self, keys: Sequence[Key], indices: Sequence[Sequence[int]], workers: int) -> None:
        """Hand out nothing yet.

        Args:
            keys: environment, algorithm and budget of each series.
            indices: of the episodes of each series.
            workers: how many play at once.
        """
        self._keys, self._workers = keys, workers
        self._left = [deque(numbers) for numbers in indices]
        self._totals = [len(numbers) for numbers in indices]
        self._smallest = min((budget for _, _, budget in keys), default=0)
        self._costs = Costs()
        self._out: dict[int, _Batch] = {}

    def __bool__(self) -> bool:
        """Whether there is something to hand out."""
        return any(self._left)

    @property
    def waiting(self) -> int:
        """How many batches have not come back."""
        return len(self._out)

    def hand_out(self, number: int) -> tuple[int, tuple[int, ...]]:
        """The series whose turn it is, and those of its indices that make the batch of this number."""
        series = self._turn()
        left = self._left[series]
        taken = tuple(left.popleft() for _ in range(min(self._batch_size(series), len(left))))
        self._out[number] = _Batch(series, len(taken))
        self._note_begun()
        return series, taken

    def take_back(self, number: int, seconds: float) -> int:
        """Note that a batch has come back after so many seconds of playing; returns its series."""
        batch = self._out.pop(number)
        self._costs.record(self._keys[batch.series], batch.episodes, seconds)
        self._note_begun()
        return batch.series

    def give_up(self, series: int) -> None:
        """Hand out no more of a series."""
        self._left[series].clear()

    def remaining(self) -> float | None:
        """Seconds until everything is played; None before anything was measured."""
        work, longest = self._work(), 0.0
        if work is None:
            return None
        for series, left in enumerate(self._left):
            if left:
                longest = max(longest, self._cost(series))
        for batch in self._out.values():
            longest = max(longest, self._cost(batch.series) * batch.episodes - batch.running())
        return max(work / self._workers, longest)

    def _turn(self) -> int:
        waiting = [series for series, left in enumerate(self._left) if left]
        first, work = min(waiting, key=self._place), self._work()
        if work is None or self._begins(first):
            return first
        dearest = max(waiting, key=self._cost)
        return dearest if self._cost(dearest) * self._workers >= work else first

    def _place(self, series: int) -> tuple[float, bool, float]:
        done = 1.0 - len(self._left[series]) / self._totals[series]
        return done, not self._begins(series), -self._cost(series)

    def _begins(self, series: int) -> bool:
        return self._keys[series][2] == self._smallest and len(self._left[series]) == self._totals[series]

    def _batch_size(self, series: int) -> int:
        """More episodes where they are short, fewer near the end, so that all workers end together."""
        work = self._work()
        if work is None or not self._costs.measured(self._keys[series]):
            return 1
        return max(1, int(min(_BATCH_SECONDS, work / (4 * self._workers)) / self._cost(series)))

    def _work(self) -> float | None:
        """Seconds of playing that are left, summed over workers; None before anything was measured."""
        work = sum(len(left) * self._cost(series) for series, left in enumerate(self._left) if left)
        for batch in self._out.values():
            work += max(self._cost(batch.series) * batch.episodes - batch.running(), 0.0)
        return work if math.isfinite(work) else None

    def _cost(self, series: int) -> float:
        """Seconds of an episode, infinite where nothing is known; the first of its cell says more by going on."""
        key = self._keys[series]
        cost = self._costs.seconds(key)
        if cost is None:
            return math.inf
        if self._costs.measured(key):
            return cost
        running = [batch.running() for batch in self._out.values() if batch.series == series]
        return max(cost, _UNFINISHED * max(running, default=0.0))

    def _note_begun(self) -> None:
        """Batches are begun in the order in which they were handed out, one a worker."""
        for batch in list(self._out.values())[: self._workers]:
            if batch.begun is None:
                batch.begun = time.monotonic()
