"""The pace of a search: estimates of what its parts cost, by which chunks are cut and budgets in seconds are kept."""

from gymnasium_gsp.search import codes

CHUNK_SECONDS = 0.005  # how long a chunk should take
UPDATING_SHARE = 1 / 4  # of a budget in seconds that a sweep, or a renewal of all bounds, may take
_FADING = 0.8  # of an estimate that was longer than what was measured last: rather too long than too short
_GROWTH = 1.3  # of what an update takes, at most, from one sweep to the next, as a larger graph leaves the caches


class Pace:
    """Estimates that each chunk and each sweep corrects.

    Attributes:
        chunk: simulations in the next chunk; adapted to take about CHUNK_SECONDS.
        simulation_seconds: of one simulation.
        update_seconds: of what a sweep reads: a node, or an outcome of its actions.
        last_updates: how many of these the last sweep read.

    Args:
        compiled: whether steps are compiled; where they run Python, the clock is looked at after each simulation.
    """

    def __init__(self, compiled: bool) -> None:
        self._compiled = compiled
        self.chunk = 1
        self.simulation_seconds, self.update_seconds = 1e-6, 1e-7
        self._step_seconds = 0.0  # of a model that runs Python; 0 until the first steps are timed
        self.last_updates, self._swept_size = 0, 0

    def next_chunk(self, left: float | None) -> int:
        """Simulations until the clock is looked at: no more than the seconds left allow; None for no deadline."""
        if left is None:
            return self.chunk
        return max(1, min(self.chunk, int(left / self.simulation_seconds))) if self._compiled else 1

    def next_steps(self, left: float | None) -> int:
        """Model steps that the seconds left pay for, at least one; without end where steps are compiled."""
        if left is None or self._compiled:
            return codes.NO_LIMIT // 2
        return max(1, int(left / self._step_seconds)) if self._step_seconds else 1

    def most_updates(self, seconds: float | None) -> int:
        """Updates that a sweep may make within its share of a budget in seconds; None for no such budget."""
        if seconds is None:
            return codes.NO_LIMIT
        return int(min(UPDATING_SHARE * seconds / self.update_seconds, codes.NO_LIMIT))

    def sweep_seconds(self, passes: int, size: int, limit: int) -> float:
        """Estimate the seconds of the sweep to come: the updates of the last one, and those of what came since then.

        Args:
            passes: over what has been stored since then.
            size: nodes and edges stored now.
            limit: most updates.
        """
        updates = self.last_updates + passes * max(0, size - self._swept_size)
        return self.update_seconds * min(updates, limit)

    def observe_chunk(self, simulations: int, steps: int, seconds: float) -> None:
        """Double the chunk while it is short, and cut it where it is long."""
        if steps > 0:
            self._step_seconds = max(seconds / steps, _FADING * self._step_seconds)
        if simulations > 0:
            self.simulation_seconds = max(seconds / simulations, 1e-9)
        if seconds < CHUNK_SECONDS / 2.0 and simulations >= self.chunk:
            self.chunk *= 2
        elif seconds > CHUNK_SECONDS * 2.0:
            self.chunk = max(1, int(self.chunk * CHUNK_SECONDS / seconds))

    def observe_sweep(self, updates: int, size: int, seconds: float) -> None:
        """Note a sweep that made so many updates, with so many nodes and edges stored."""
        if updates > 0:
            self.last_updates, self._swept_size = updates, size
            self.update_seconds = max(_GROWTH * seconds / updates, _FADING * self.update_seconds)
