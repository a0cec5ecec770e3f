"""A search that begins anew for each result, and whose stored graph can be read."""

from typing import Any

import numpy as np

from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget, SearchResult
from gymnasium_gsp.search.planners import bind
from gymnasium_gsp.search.store import MEMORY


class FreshSearch:
    """A search that is begun anew with another seed for each result, so that nothing is built twice.

    Args:
        model: what to plan in.
        recipe: how.
        steps_left: to the time limit.
        root: the state to plan from.
    """

    def __init__(self, model: Any, recipe: Any, steps_left: int | None = None, root: Any = 0) -> None:
        self.search: Any = bind(model, recipe, steps_left is not None, None, MEMORY)
        self._steps_left, self._root = steps_left, model.cells(root)

    def plan(self, budget: int, *seeds: int) -> SearchResult:
        """One result from a fresh graph; the seeds are a seed and, if there is another, a number below it."""
        self.search.begin_episode()
        self.search.seed(agent_stream(seeds[0], seeds[1] if len(seeds) > 1 else 0))
        result: SearchResult = self.search.plan(self._root, Budget(simulations=budget), 0, self._steps_left)
        return result

    def nodes(self) -> list[dict[str, Any]]:
        """The stored graph: for each node its tag, key, visits, value, and visits and value of each action."""
        program, rows = self.search.program, self.search.store.rows
        stride, actions = int(program[at.STRIDE]), int(program[at.ACTIONS])
        counts_at, q_at = int(program[at.COUNTS_AT]), int(program[at.Q_AT])
        stored = []
        for row in rows.reshape(-1, stride)[: int(self.search.tally[at.NODES])]:
            reals = row.view(np.float64)
            stored.append(
                {
                    "tag": int(row[at.TAG]),
                    "key": tuple(row[at.FIRST_KEY : counts_at].tolist()),
                    "visits": int(row[at.VISITS]),
                    "value": float(reals[at.NODE_VALUE]),
                    "counts": row[counts_at : counts_at + actions].tolist(),
                    "q": reals[q_at : q_at + actions].tolist(),
                }
            )
        return stored
