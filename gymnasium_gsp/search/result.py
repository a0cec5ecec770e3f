"""The answer of a search about its root, and how it is shown: as text, in a notebook, as a figure."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 12  # actions that a printed table shows


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult:
    """The answer of a search about its root; prints as a table of the root's actions.

    Attributes:
        action: the recommended action.
        value: the root's value.
        q_values: (actions,) float64, the values that the recommendation used; -inf for an action never tried.
        visit_counts: (actions,) int64, N(s,a) at the root, a kept graph's earlier visits included.
        simulations: trajectories of this decision.
        model_steps: calls of the model's step in this decision.
        seconds: wall-clock time of this decision.
        nodes: nodes that the simulations of this decision added.
        graph_size: nodes stored at its end.
        stopped_by: "simulations", "model_steps", "seconds", "nodes", "callback", or "terminal" where there was nothing
            to search.
        at_cap: whether the node store was full, so that the search went on without adding nodes.
        inherited: visits that the root had before this decision, from a graph that was kept.
        recommendation: what the recipe recommends, "best_value" or "most_visits"; "halving" where its root decides.
        action_names: a name for each action, where the environment has them; otherwise empty.
    """

    action: int
    value: float
    q_values: NDArray[np.float64]
    visit_counts: NDArray[np.int64]
    simulations: int
    model_steps: int
    seconds: float
    nodes: int
    graph_size: int
    stopped_by: str
    at_cap: bool = False
    inherited: int = 0
    recommendation: str = "best_value"
    action_names: tuple[str, ...] = ()

    def name(self, action: int) -> str:
        """The name of an action, or its number where the environment has no names."""
        return self.action_names[action] if self.action_names else str(action)

    def ranking(self) -> list[int]:
        """Actions in the order of the recommendation, the recommended one first."""
        value, visits = self.q_values, self.visit_counts
        keys = (-visits, -value) if self.recommendation == "best_value" else (-value, -visits)
        order: list[int] = np.lexsort((*keys, np.arange(len(value)) != self.action)).tolist()
        return order

    def decided_by(self) -> str:
        """One sentence that says why this action was recommended, ties included."""
        if self.stopped_by == "terminal":
            return "The episode has ended; there was nothing to search."
        by_value = self.recommendation == "best_value"
        scores = self.q_values if by_value else self.visit_counts
        score = f"{self.q_values[self.action]:.6g}" if by_value else f"{self.visit_counts[self.action]:,} visits"
        if not self.visit_counts[self.action]:
            return "No action was tried; this one was drawn at random."
        if self.recommendation == "halving":
            return f"{self.name(self.action)} came first in the halving, by prior and value."
        largest = int(np.where(self.visit_counts > 0, self.q_values, -np.inf).argmax())
        if by_value and scores[largest] > scores[self.action]:
            larger = f"{self.q_values[largest]:.6g} of {self.name(largest)}"
            return f"{self.name(self.action)} was preferred with {score}: the {larger} rests on weaker evidence."
        tied = np.flatnonzero((scores == scores[self.action]) & (self.visit_counts > 0))
        if len(tied) < 2:
            return f"{self.name(self.action)} has the {'highest value' if by_value else 'most visits'}: {score}."
        names = ", ".join(map(self.name, tied[:MOST_ROWS].tolist()))
        rest = f" and {len(tied) - MOST_ROWS} more" if len(tied) > MOST_ROWS else ""
        order = "the tie was broken at random" if by_value else "of these, values decide first, then chance"
        return f"{names}{rest} tie at {score}; {order}."

    def summary(self) -> str:
        """One line: the action, its value and what the decision cost."""
        time = f"{self.seconds:.3g} s" if self.seconds >= 1.0 else f"{1e3 * self.seconds:.3g} ms"
        return (
            f"action {self._label(self.action)}, root value {self.value:.6g}; {self.simulations:,} simulations, "
            f"{self.model_steps:,} model steps, {self.nodes:,} new nodes, {self.graph_size:,} stored, "
            f"{time}; stopped by {self.stopped_by}{', node store full' if self.at_cap else ''}"
        )

    def __repr__(self) -> str:
        order, values = self.ranking(), _texts(self.q_values)
        rows = [("action", "value", "visits")]
        rows += [(self._label(a), values[a], f"{self.visit_counts[a]:,}") for a in order[:MOST_ROWS]]
        first, second, third = (max(map(len, column)) for column in zip(*rows, strict=True))
        marks = [" ", ">", *[" "] * len(rows)]
        lines = [
            f"{mark} {a:<{first}}  {b:>{second}}  {c:>{third}}" for mark, (a, b, c) in zip(marks, rows, strict=False)
        ]
        if len(order) > MOST_ROWS:
            lines.append(f"  ... and {len(order) - MOST_ROWS} more")
        return "\n".join([self.summary(), *lines, self.decided_by()])

    def _repr_html_(self) -> str:
        """The same table for a notebook, visits also as bars."""
        values, most = _texts(self.q_values), max(1, int(self.visit_counts.max()))
        bold = {self.action: "font-weight:bold"}
        rows = "".join(
            f'<tr style="{bold.get(a, "")}"><td>{escape(self._label(a))}</td><td>{values[a]}</td>'
            f'<td>{self.visit_counts[a]:,}</td><td><div style="background:#2a78d6;height:.7em;'
            f'width:{120 * self.visit_counts[a] / most:.0f}px"></div></td></tr>'
            for a in self.ranking()[:MOST_ROWS]
        )
        return (
            f"<p>{escape(self.summary())}</p><table><tr><th>action</th><th>value</th><th>visits</th><th></th></tr>"
            f"{rows}</table><p>{escape(self.decided_by())}</p>"
        )

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the values of the root's actions, visits written beside them; needs the extra `plots`.

        Args:
            axes: where to draw; None for a new figure.

        Returns:
            the axes.
        """
        import matplotlib.pyplot as plt

        if axes is None:
            axes = plt.subplots(figsize=(5.0, 0.8 + 0.3 * len(self.q_values)), layout="constrained")[1]
        tried = self.visit_counts > 0
        height = np.where(tried, self.q_values, 0.0)
        colours = ["#2a78d6" if action == self.action else "#b8c4d0" for action in range(len(height))]
        bars = axes.barh([self._label(action) for action in range(len(height))], height, color=colours)
        labels = [f"{n:,} visits" if n else "never tried" for n in self.visit_counts.tolist()]
        axes.bar_label(bars, labels, padding=4, fontsize="small")
        axes.margins(x=0.25)
        axes.invert_yaxis()
        axes.set(xlabel="value", title=f"{self.name(self.action)} after {self.simulations:,} simulations")
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def _label(self, action: int) -> str:
        return f"{action} {self.action_names[action]}" if self.action_names else str(action)


def _texts(values: NDArray[np.float64]) -> list[str]:
    """Values as text, with as many digits as show that different ones differ, at least 4 and at most 12."""
    tried = values[np.isfinite(values)]
    texts: list[str] = []
    for digits in range(4, 13):
        texts = [f"{value:.{digits}f}" if np.isfinite(value) else "-" for value in values.tolist()]
        if len(set(texts) - {"-"}) == len(set(tried.tolist())):
            break
    return texts
