"""The graph of a search as a value: read from the store's arrays without a loop over its nodes, and exported."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.errors import PlanningError
from gymnasium_gsp.search import codes
from gymnasium_gsp.search.frame import FIRST_KEY
from gymnasium_gsp.search.result import SearchResult
from gymnasium_gsp.search.search import Search

if TYPE_CHECKING:
    import networkx
    import pandas

TERMINAL, UNSTORED = codes.TERMINAL, codes.UNSTORED
WIDTH = 2.0  # standard errors on each side of a mean that make its interval


class Move(NamedTuple):
    """One step of the principal variation: at `node`, `action`, which most often led to `target`."""

    node: int
    action: int
    target: int


@dataclass(frozen=True, eq=False)
class SearchGraph:
    """What the root of a search reaches; node 0 is the root, and nodes are in the order of their depth.

    An interval is [lower, upper] with the bounds of a recipe with optimism.  For other recipes it is the mean of the
    targets seen, 2 standard errors to each side; it leaves out how uncertain the values behind the outcomes are.  It
    is NaN where an action has been tried fewer than twice or its outcomes are not stored.

    Attributes:
        result: the decision that the graph belongs to.
        bounded: whether intervals are bounds.
        states: (nodes, cells of a key) int64; no columns where a node is a sequence of actions.
        depth: (nodes,) int64, fewest steps from the root.
        visits: (nodes,) int64.
        value: (nodes,) float64.
        counts: (nodes, actions) int64, how often each action was tried.
        q: (nodes, actions) float64, its value; NaN where it was never tried.
        lower, upper: (nodes, actions) float64, its interval.
        source, action, target: (edges,) int64, the outcomes; a target of TERMINAL (-1) ends the episode, one of
            UNSTORED (-2) was met when the store was full.
        count: (edges,) int64, how often an outcome came.
        probability: (edges,) float64, its share of the outcomes of its action.
        reward: (edges,) float64, its mean reward; NaN where it is not stored.
    """

    result: SearchResult
    bounded: bool
    states: NDArray[np.int64]
    depth: NDArray[np.int64]
    visits: NDArray[np.int64]
    value: NDArray[np.float64]
    counts: NDArray[np.int64]
    q: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.int64]
    count: NDArray[np.int64]
    probability: NDArray[np.float64]
    reward: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.visits)

    def __repr__(self) -> str:
        deepest = int(self.depth.max())
        shared = int((self.parents() > 1).sum())
        return (
            f"<SearchGraph: {len(self):,} nodes, {len(self.source):,} outcomes, {deepest} steps deep, "
            f"{shared:,} nodes with several parents>"
        )

    def parents(self) -> NDArray[np.int64]:
        """(nodes,) int64, from how many different nodes each node was reached."""
        stored = self.target >= 0
        pairs = np.unique(np.stack((self.source[stored], self.target[stored])), axis=1)
        return np.bincount(pairs[1], minlength=len(self))

    def principal_variation(self) -> list[Move]:
        """The recommended action, its most frequent outcome, there the best action, and so on; no node twice."""
        moves, node, met, best = [], 0, set(), self.result.action
        by_visits = self.result.recommendation == "most_visits"
        values = self.lower if self.bounded else self.q
        while node >= 0 and node not in met and self.counts[node, best]:
            met.add(node)
            outcomes = np.flatnonzero((self.source == node) & (self.action == best))
            if not len(outcomes):
                break
            target = int(self.target[outcomes[self.count[outcomes].argmax()]])
            moves.append(Move(node, best, target))
            node = target
            if node >= 0:
                value, visits = np.nan_to_num(values[node], nan=-np.inf), self.counts[node]
                best = int(np.lexsort((value, visits) if by_visits else (visits, value))[-1])
        return moves

    def _repr_html_(self) -> str:
        """The inspector of this decision, in a frame of a notebook."""
        from gymnasium_gsp.inspector.page import Decision, page

        inside = escape(page([Decision(self)], "Search graph"))
        return f'<iframe srcdoc="{inside}" style="width:100%;height:860px;border:0"></iframe>'

    def to_dataframe(self) -> "pandas.DataFrame":
        """The outcomes as a table, a row each, with the statistics of their node and action; needs pandas."""
        import pandas as pd

        at = self.source, self.action
        return pd.DataFrame(
            {
                "source": self.source,
                "depth": self.depth[self.source],
                "state": [tuple(cells) for cells in self.states[self.source].tolist()],
                "visits": self.visits[self.source],
                "value": self.value[self.source],
                "action": self.action,
                "action_name": [self.result.name(action) for action in self.action.tolist()],
                "tried": self.counts[at],
                "q": self.q[at],
                "lower": self.lower[at],
                "upper": self.upper[at],
                "target": self.target,
                "count": self.count,
                "probability": self.probability,
                "reward": self.reward,
            }
        )

    def to_networkx(self) -> "networkx.MultiDiGraph":
        """A networkx.MultiDiGraph, an edge for each outcome; ends are the nodes "end" and "unstored"."""
        import networkx as nx

        graph = nx.MultiDiGraph()
        for node in range(len(self)):
            graph.add_node(
                node,
                state=tuple(self.states[node].tolist()),
                depth=int(self.depth[node]),
                visits=int(self.visits[node]),
                value=float(self.value[node]),
            )
        names = {TERMINAL: "end", UNSTORED: "unstored"}
        for row in self._edges():
            source, action, target, count, probability, reward = row
            graph.add_edge(
                source,
                names.get(target, target),
                action=action,
                name=self.result.name(action),
                count=count,
                probability=probability,
                reward=reward,
            )
        return graph

    def to_dot(self) -> str:
        """The graph in Graphviz's language; merged nodes have a double ring, the principal variation is bold."""
        merged, chosen = self.parents() > 1, set(self.principal_variation())
        lines = ["digraph search {", "  node [shape=circle];"]
        for node in range(len(self)):
            ring = ", peripheries=2" if merged[node] else ""
            lines.append(f'  {node} [label="{self.value[node]:.4g}\\n{self.visits[node]}"{ring}];')
        for name, target in (("end", TERMINAL), ("unstored", UNSTORED)):
            if (self.target == target).any():
                lines.append(f"  {name} [shape=box];")
        names = {TERMINAL: "end", UNSTORED: "unstored"}
        for source, action, target, count, probability, _ in self._edges():
            bold = ", style=bold" if (source, action, target) in chosen else ""
            label = f"{self.result.name(action)} {count} ({probability:.2f})".replace('"', "'")
            lines.append(f'  {source} -> {names.get(target, target)} [label="{label}"{bold}];')
        return "\n".join([*lines, "}", ""])

    def _edges(self) -> Iterator[tuple[Any, ...]]:
        parts = self.source, self.action, self.target, self.count, self.probability, self.reward
        return zip(*(part.tolist() for part in parts), strict=True)


def read_graph(search: Search, result: SearchResult, steps: int | None = None) -> SearchGraph:
    """Copy what the root of a search reaches out of the store.

    Args:
        search: the search, after the decision.
        result: the answer of that decision.
        steps: how many steps from the root outcomes are followed; all of them if None.

    Raises:
        PlanningError: if outcomes are not stored and nodes are no paths, so that nothing says what leads where.
    """
    program, tally, arrays = search.program, search.tally, search.store.arrays
    nodes, actions, stride = int(tally.nodes), int(program.actions), int(program.stride)
    stored = arrays.rows[: nodes * stride].reshape(nodes, stride)
    if program.edges_kept:
        first = int(program.heads_at)
        depth, outcomes = _follow_edges(stored[:, first : first + actions], arrays.edges, int(tally.root), steps)
    elif program.key == codes.BY_PATH:
        depth, outcomes = _follow_paths(stored[:, 2], stored[:, 0], actions, int(tally.root), steps)
    else:
        raise PlanningError(
            "this recipe shares states and stores no outcomes, so its graph is not known: make the agent with "
            "keep_outcomes=True, which changes no result"
        )
    kept = np.flatnonzero(depth >= 0)
    kept = kept[np.lexsort((kept, depth[kept]))]
    number = np.full(nodes, -1)
    number[kept] = np.arange(len(kept))
    source, action, target, count, total = outcomes
    source, target = number[source], np.where(target >= 0, number[target], target)
    rows = stored[kept]

    def cells(first: int, width: int) -> NDArray[np.int64]:
        return rows[:, first : first + width]

    value = rows[:, 1].view(np.float64)
    if program.learned:  # plain values; the head of a row holds the optimistic one
        value = cells(program.interval_at, 1)[:, 0].view(np.float64) + program.baseline / (1.0 - search.discount)
    counts = cells(program.counts_at, actions)
    q = np.where(counts > 0, cells(program.q_at, actions).view(np.float64), np.nan)
    tried = np.zeros((len(kept), actions), np.int64)
    np.add.at(tried, (source, action), count)
    bounded = bool(program.bound and not program.learned)
    if bounded:
        lower, upper = cells(program.variance_at, actions).view(np.float64), q
    else:
        ends = np.where(target >= 0, value[target], 0.0)
        targets = total / count + search.discount * ends
        if program.learned:
            sums = np.zeros_like(q)
            np.add.at(sums, (source, action), count * targets)
            q = np.divide(sums, tried, out=np.full_like(q, np.nan), where=tried > 0)
        lower, upper = _intervals(q, tried, source, action, count, targets)
    return SearchGraph(
        result=result,
        bounded=bounded,
        states=cells(FIRST_KEY, program.key_size),
        depth=depth[kept],
        visits=rows[:, 0],
        value=value,
        counts=counts,
        q=q,
        lower=np.where(np.isnan(q), np.nan, lower),
        upper=upper,
        source=source,
        action=action,
        target=target,
        count=count,
        probability=count / tried[source, action],
        reward=total / count,
    )


Outcomes = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Source, action, target, count and total reward of each outcome, by source and action as they were first met."""


def _follow_edges(
    heads: NDArray[np.int64], edges: NDArray[np.void], root: int, steps: int | None
) -> tuple[NDArray[np.int64], Outcomes]:
    """Fewest steps from the root to each node, -1 where it is not reached, and the outcomes between them."""
    depth = np.full(len(heads), -1)
    depth[root], frontier, found, level = 0, np.array([root]), [], 0
    while len(frontier) and level != steps:
        level += 1
        source, action = np.nonzero(heads[frontier] != codes.NO_EDGE)
        source, reached = frontier[source], [frontier[:0]]
        at = heads[source, action]
        while len(at):  # all lists at once
            here = edges[at]
            child = here["child"].astype(np.int64)
            found.append((source, action, child, here["count"], here["reward"]))
            reached.append(child[child >= 0])
            going = here["next"] != codes.NO_EDGE
            source, action, at = source[going], action[going], here["next"][going]
        frontier = np.unique(np.concatenate(reached))
        frontier = frontier[depth[frontier] < 0]
        depth[frontier] = level
    if not found:
        return depth, (*[np.zeros(0, np.int64)] * 4, np.zeros(0))  # type: ignore[return-value]
    parts = [np.concatenate(part) for part in zip(*found, strict=True)]
    order = np.lexsort((parts[1], parts[0], depth[parts[0]]))  # stable
    return depth, tuple(part[order] for part in parts)  # type: ignore[return-value]


def _follow_paths(
    tag: NDArray[np.int64], visits: NDArray[np.int64], actions: int, root: int, steps: int | None
) -> tuple[NDArray[np.int64], Outcomes]:
    """The same where a node is a sequence of actions and knows the one before it."""
    target = np.flatnonzero(tag >= 0)
    source, action = np.divmod(tag[target], actions)
    depth = np.full(len(tag), -1)
    depth[root], level = 0, 0
    while level != steps:
        below = target[depth[source] == level]
        if not len(below):
            break
        level += 1
        depth[below] = level
    inside = depth[target] > 0
    source, action, target = source[inside], action[inside], target[inside]
    return depth, (source, action, target, visits[target], np.full(len(target), np.nan))


def _intervals(
    q: NDArray[np.float64],
    tried: NDArray[np.int64],
    source: NDArray[np.int64],
    action: NDArray[np.int64],
    count: NDArray[np.int64],
    targets: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of the targets seen, WIDTH standard errors to each side, around each action's value."""
    sums, squares = np.zeros_like(q), np.zeros_like(q)
    np.add.at(sums, (source, action), count * targets)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums / tried
        np.add.at(squares, (source, action), count * (targets - mean[source, action]) ** 2)
        error = WIDTH * np.sqrt(squares / (tried - 1) / tried)
    error[(tried < 2) | np.isnan(error)] = np.nan
    return q - error, q + error
