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
from gymnasium_gsp.models.model import Model
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.frame import EDGE, FIRST_KEY, STATS
from gymnasium_gsp.search.recipe import Recipe
from gymnasium_gsp.search.result import SearchResult
from gymnasium_gsp.search.search import Search

ONE_CHUNK = 1 << 40  # simulations; a whole decision is then one call of the compiled loop


class FreshSearch:
    """A search that starts from an empty graph with a new seed for each result, without being built anew.

    Args:
        model: the model to plan in.
        recipe: the planner's recipe.
        steps_left: steps to the time limit; None without one.
        root: the state to plan from.
    """

    def __init__(self, model: Model, recipe: Recipe, steps_left: int | None = None, root: Any = 0) -> None:
        self.search = Search(model, recipe, steps_left is not None)
        self._steps_left, self._root = steps_left, model.cells(root)

    def plan(self, budget: int, seed: int, number: int = 0) -> SearchResult:
        """Search once from an empty graph; `number` tells searches with the same seed apart."""
        self.search.begin_episode()
        self.search.seed(agent_stream(seed, number))
        return self.search.plan(self._root, Budget(simulations=budget), 0, self._steps_left)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the stored graph: tag, key, visits and value of each node, and visits and value of its actions."""
        program, rows = self.search.program, self.search.store.arrays.rows
        stored = []
        for row in rows.reshape(-1, program.stride)[: self.search.tally.nodes]:
            stats = row[:FIRST_KEY].view(STATS)[0]
            stored.append(
                {
                    "tag": int(stats["tag"]),
                    "key": tuple(row[FIRST_KEY : FIRST_KEY + program.key_size].tolist()),
                    "visits": int(stats["visits"]),
                    "value": float(stats["value"]),
                    "counts": row[program.counts_at :][: program.actions].tolist(),
                    "q": row.view(np.float64)[program.q_at :][: program.actions].tolist(),
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
    search: Search
    result: SearchResult
    reward: float


def decisions(
    name: str, recipe: Recipe, budget: int, seeds: Callable[[int], tuple[int, NDArray[np.uint64]]]
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
                search = Search(model, recipe, True)
            search.begin_episode()
            search.seed(stream)
        state, search.pace.chunk = env.clone_state(), ONE_CHUNK
        limit = Budget(simulations=budget)
        result = search.plan(model.cells(state.cells), limit, state.elapsed, env.horizon - state.elapsed)
        _, reward, terminated, truncated, _ = env.step(result.action)
        ended = terminated or truncated
        yield Decision(episode, state.elapsed, search, result, reward)


def bytes_per_node(search: Search) -> float:
    """Return the bytes of a node's row and of its share of the hash table, as allocated."""
    return float(8 * search.program.stride + search.store.arrays.table.nbytes / search.program.row_capacity)


def stored_bytes(search: Search) -> float:
    """Return the bytes of the nodes and outcome edges that a search has stored, without spare room."""
    return float(search.tally.nodes * bytes_per_node(search) + search.tally.edges * EDGE.itemsize)
