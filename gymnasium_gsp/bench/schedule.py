"""In what order a benchmark's episodes are handed out, in how large batches, and how long the rest will take."""

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from gymnasium_gsp.bench.costs import Costs, Key

_BATCH_SECONDS = 0.5  # what a batch should take: far more than handing it over, little to lose
_UNFINISHED = 1.5  # how long an episode may take in all, in units of what it has taken, where nothing else is known
_SELDOM = 100.0  # a survey of all series is good for so many times the time that it took


@dataclass
class _Batch:
    """Episodes of one series that were handed out; `begun` is when a worker took them, None while they wait."""

    series: int
    episodes: int
    begun: float | None = None

    def running(self) -> float:
        """Seconds since a worker took it."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun


@dataclass(frozen=True)
class _Survey:
    """What all series together looked like at some time.

    Attributes:
        at, took: when, and how long it took to look.
        work: seconds of playing that were left, summed over workers; infinite before anything was measured.
        longest: seconds of the longest episode or batch that was left.
        dearest: the series of the dearest episode that was not handed out; None if all were.
    """

    at: float
    took: float
    work: float
    longest: float
    dearest: int | None


class Schedule:
    """What is still to be played.

    Every series advances at the same pace, so that at a tenth of the way each has a tenth of its episodes: then the
    remaining time is known from what was played, and not from the cheap ones alone.  The smallest budgets begin, so
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
        self._workers = workers
        self._left = [deque(numbers) for numbers in indices]
        self._totals = [len(numbers) for numbers in indices]
        self._costs = Costs(keys)
        self._out: dict[int, _Batch] = {}
        self._survey: _Survey | None = None
        smallest = min((budget for _, _, budget in keys), default=0)
        waiting = [series for series, left in enumerate(self._left) if left]
        self._beginning = deque(series for series in waiting if keys[series][2] == smallest)
        self._unplayed = [(0.0, series) for series in waiting if keys[series][2] != smallest]
        self._playing: list[tuple[float, float, int, int]] = []

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
        if left:
            done = 1.0 - len(left) / self._totals[series]
            heappush(self._playing, (done, -self._cost(series), len(left), series))
        self._out[number] = _Batch(series, len(taken))
        self._note_begun()
        return series, taken

    def take_back(self, number: int, episodes: int, seconds: float) -> int:
        """Note that a batch has come back with so many episodes after so many seconds; returns its series."""
        batch = self._out.pop(number)
        if episodes:
            self._costs.record(batch.series, episodes, seconds)
        self._note_begun()
        return batch.series

    def give_up(self, series: int) -> None:
        """Hand out no more of a series."""
        self._left[series].clear()

    def remaining(self) -> float | None:
        """Seconds until everything is played; None before anything was measured."""
        if not self and not self._out:
            return 0.0
        survey = self._look()
        if survey.work == math.inf:
            return None
        return max(0.0, max(survey.work / self._workers, survey.longest) - (time.monotonic() - survey.at))

    def _turn(self) -> int:
        while self._beginning:
            series = self._beginning.popleft()
            if self._left[series]:
                return series
        survey = self._look()
        dearest = survey.dearest
        if dearest is not None and self._left[dearest] and self._cost(dearest) * self._workers >= survey.work:
            return dearest
        while self._unplayed:
            _, series = heappop(self._unplayed)
            if len(self._left[series]) == self._totals[series]:
                return series
        while True:
            *_, count, series = heappop(self._playing)
            if len(self._left[series]) == count > 0:  # else handed out, or given up, since it was put there
                return series

    def _batch_size(self, series: int) -> int:
        """More episodes where they are short, fewer near the end, so that all workers end together."""
        if not self._costs.measured(series):
            return 1
        return max(1, int(min(_BATCH_SECONDS, self._look().work / (4 * self._workers)) / self._cost(series)))

    def _look(self) -> _Survey:
        """The last survey, or a new one if that is too old."""
        now = time.monotonic()
        last = self._survey
        if last is None or last.work == math.inf or now - last.at >= _SELDOM * last.took:
            self._unplayed = [(-self._cost(series), series) for _, series in self._unplayed if self._left[series]]
            heapify(self._unplayed)
            left = [(series, self._cost(series), len(left)) for series, left in enumerate(self._left) if left]
            out = [self._cost(batch.series) * batch.episodes - batch.running() for batch in self._out.values()]
            dearest = max(left, key=lambda one: one[1], default=(None, 0.0, 0))
            work = sum(cost * count for _, cost, count in left) + sum(seconds for seconds in out if seconds > 0.0)
            longest = max(dearest[1], max(out, default=0.0))
            self._survey = last = _Survey(now, time.monotonic() - now, work, longest, dearest[0])
        return last

    def _cost(self, series: int) -> float:
        """Seconds of an episode, infinite where nothing is known; the first of its series says more by going on."""
        cost = self._costs.seconds(series)
        if cost is None:
            return math.inf
        if self._costs.measured(series):
            return cost
        running = [batch.running() for batch in self._out.values() if batch.series == series]
        return max(cost, _UNFINISHED * max(running, default=0.0))

    def _note_begun(self) -> None:
        """Batches are begun in the order in which they were handed out, one a worker."""
        for batch in list(self._out.values())[: self._workers]:
            if batch.begun is None:
                batch.begun = time.monotonic()
