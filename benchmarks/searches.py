"""Searches without an agent: fresh ones, whole episodes, the stored graph, and its bytes.

All measurements that read the arrays of the engine do it here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget, SearchResult
from gymnasium_gsp.search.planners import bind
from gymnasium_gsp.search.store import MEMORY

BYTES_PER_EDGE = 8 * at.EDGE_SIZE
ONE_CHUNK = 1 << 40  # simulations; a whole decision is then one call of the compiled loop


class FreshSearch:
    """A search that starts from an empty graph with a new seed for each result, without being built anew.

    Args:
        model: the model to plan in.
        recipe: the planner's recipe.
        steps_left: steps to the time limit; None without one.
        root: the state to plan from.
    """

    def __init__(self, model: Any, recipe: Any, steps_left: int | None = None, root: Any = 0) -> None:
        self.search: Any = bind(model, recipe, steps_left is not None, None, MEMORY)
        self._steps_left, self._root = steps_left, model.cells(root)

    def plan(self, budget: int, seed: int, number: int = 0) -> SearchResult:
        """Search once from an empty graph; `number` tells searches with the same seed apart."""
        self.search.begin_episode()
        self.search.seed(agent_stream(seed, number))
        result: SearchResult = self.search.plan(self._root, Budget(simulations=budget), 0, self._steps_left)
        return result

    def nodes(self) -> list[dict[str, Any]]:
        """Return the stored graph: tag, key, visits and value of each node, and visits and value of its actions."""
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


@dataclass(frozen=True)
class Decision:
    """One decision of an episode.

    Attributes:
        episode: number of the episode.
        elapsed: steps before it.
        search: the search, as it is after the decision.
        result: its result.
        reward: of the step that followed.
    """

    episode: int
    elapsed: int
    search: Any
    result: SearchResult
    reward: float


def decisions(
    name: str, recipe: Any, budget: int, seeds: Callable[[int], tuple[int, NDArray[np.uint64]]]
) -> Iterator[Decision]:
    """Play a benchmark without end, one episode after the other, and return each decision.

    Args:
        name: the benchmark's name.
        recipe: the planner's recipe.
        budget: simulations per decision, all in one call of the compiled loop.
        seeds: the environment's seed and the search's streams, from the number of an episode.
    """
    env: Any = gym.make(f"GSP/{name}-v0").unwrapped
    search: Any = None
    episode, ended = -1, True
    while True:
        if ended:
            episode += 1
            env_seed, stream = seeds(episode)
            env.reset(seed=env_seed)
            model = env.compiled_model()
            if search is None or search.model is not model:
                search = bind(model, recipe, True, None, MEMORY)
            search.begin_episode()
            search.seed(stream)
        state, search.chunk = env.clone_state(), ONE_CHUNK
        limit = Budget(simulations=budget)
        result = search.plan(model.cells(state.cells), limit, state.elapsed, env.horizon - state.elapsed)
        _, reward, terminated, truncated, _ = env.step(result.action)
        ended = terminated or truncated
        yield Decision(episode, state.elapsed, search, result, reward)


def bytes_per_node(search: Any) -> float:
    """Return the bytes of a node's row and of its share of the hash table, as allocated."""
    return 8 * int(search.program[at.STRIDE]) + search.store.table.nbytes / int(search.program[at.ROW_CAPACITY])


def stored_bytes(search: Any) -> float:
    """Return the bytes of the nodes and outcome edges that a search has stored, without spare room."""
    return float(int(search.tally[at.NODES]) * bytes_per_node(search) + int(search.tally[at.EDGES]) * BYTES_PER_EDGE)
