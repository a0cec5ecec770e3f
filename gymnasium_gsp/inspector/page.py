"""The inspector: decisions as one HTML page that holds everything, its graph library included."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gymnasium_gsp.inspector import words
from gymnasium_gsp.inspector.graph import SearchGraph
from gymnasium_gsp.inspector.layout import lay_out

FOLDER = Path(__file__).parent
LIBRARIES = ("graphology", "sigma")
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
MOST_NODES = 300  # drawn for a step of an episode
MOST_WHOLE = 20_000  # drawn where the whole graph of a step is asked for


def cells_text(cells: tuple[int, ...]) -> str:
    """Name a state by its cells."""
    return ", ".join(map(str, cells)) or "sequence of actions"


@dataclass(frozen=True)
class Heat:
    """What the searched graph says of the places of a grid, all its nodes taken together.

    Attributes:
        columns: of the grid.
        visits: (places,) visits.
        values: (places,) mean value by visits; NaN where none was visited.
    """

    columns: int
    visits: NDArray[np.int64]
    values: NDArray[np.float64]


def heat_of(graph: SearchGraph, places: NDArray[np.int64], columns: int, count: int) -> Heat:
    """Gather visits and values by place.

    Args:
        graph: a searched graph.
        places: (nodes,) int64, row * columns + column of each node.
        columns: of the grid.
        count: number of places.
    """
    visits = np.bincount(places, graph.visits, minlength=count)
    with np.errstate(invalid="ignore"):
        values = np.bincount(places, graph.visits * graph.value, minlength=count) / visits
    return Heat(columns, visits.astype(np.int64), values)


@dataclass(frozen=True)
class Decision:
    """One decision as the page shows it.

    Attributes:
        graph: the searched graph, with its result.
        step: steps taken before it.
        total: return before it.
        picture: the environment as an image's data URI, or as text.
        exact: exact values of the root's actions, or None.
        discount: of these.
        heat: of a grid, or None.
        state_name: names a state.
        most: nodes to draw at most.
    """

    graph: SearchGraph
    step: int = 0
    total: float = 0.0
    picture: str = ""
    exact: words.Exact = None
    discount: float = 1.0
    heat: Heat | None = None
    state_name: words.StateName = field(default=cells_text)
    most: int = MOST_NODES


def page(decisions: Sequence[Decision], title: str) -> str:
    """The page of one or more decisions.

    Args:
        decisions: in the order of their steps, at least one.
        title: of the page.
    """
    data = json.dumps({"title": title, "steps": [_as_json(decision) for decision in decisions]}, separators=(",", ":"))
    parts = {
        "TITLE": escape(title),
        "POLICY": POLICY,
        "STYLE": (FOLDER / "page.css").read_text(),
        "LIBRARIES": "\n".join(_library(name) for name in LIBRARIES),
        "DATA": data.replace("</", "<\\/"),
        "SCRIPT": (FOLDER / "page.js").read_text(),
    }
    before, *rest = (FOLDER / "page.html").read_text().split("{{")
    pieces = [before]
    for piece in rest:
        name, _, after = piece.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def _library(name: str) -> str:
    """A bundled library with its licence, without the name of a map that a browser would look for."""
    folder = FOLDER / "vendor"
    licence = (folder / f"LICENSE-{name}.txt").read_text().strip()
    source = (folder / f"{name}.min.js").read_text().partition("//# sourceMappingURL")[0]
    return f"<script>/* {name}\n{licence} */\n" + source.replace("</script", r"<\/script") + "</script>"


def _as_json(decision: Decision) -> dict[str, Any]:
    graph, exact = decision.graph, decision.exact
    result, layout = graph.result, lay_out(graph, decision.most)
    number = np.full(len(graph), -1)
    number[layout.nodes] = np.arange(len(layout.nodes))
    moves = set(graph.principal_variation())
    edges = [graph.source[layout.edges], graph.action[layout.edges], graph.target[layout.edges]]
    line = [place for place, edge in enumerate(zip(*(e.tolist() for e in edges), strict=True)) if edge in moves]
    return {
        "step": decision.step,
        "total": decision.total,
        "picture": decision.picture,
        "which": words.which(graph),
        "sure": words.how_sure(graph, exact, decision.discount),
        "sharing": words.sharing(graph),
        "cost": result.summary(),
        "bounded": graph.bounded,
        "size": len(graph),
        "order": result.ranking(),
        "actions": [
            {
                "name": result.name(action),
                "q": _rounded(result.q_values[action]),
                "low": _rounded(graph.lower[0, action]),
                "high": _rounded(graph.upper[0, action]),
                "n": int(result.visit_counts[action]),
                "exact": None if exact is None else _rounded(exact[action]),
                "why": words.why_not(graph, action, exact, decision.state_name),
            }
            for action in range(len(result.q_values))
        ],
        "nodes": {
            "x": _numbers(layout.x),
            "y": _numbers(layout.y),
            "n": graph.visits[layout.nodes].tolist(),
            "v": _numbers(graph.value[layout.nodes]),
            "d": graph.depth[layout.nodes].tolist(),
            "parents": graph.parents()[layout.nodes].tolist(),
            "name": [decision.state_name(tuple(cells)) for cells in graph.states[layout.nodes].tolist()],
            "folded": layout.folded.tolist(),
            "ends": layout.ends.tolist(),
        },
        "edges": {
            "s": number[edges[0]].tolist(),
            "a": edges[1].tolist(),
            "t": number[edges[2]].tolist(),
            "c": graph.count[layout.edges].tolist(),
            "p": _numbers(graph.probability[layout.edges]),
        },
        "line": line,
        "heat": None
        if decision.heat is None
        else {
            "columns": decision.heat.columns,
            "visits": decision.heat.visits.tolist(),
            "values": _numbers(decision.heat.values),
        },
    }


def _rounded(number: float) -> float | None:
    return float(f"{number:.5g}") if np.isfinite(number) else None


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [_rounded(value) for value in values.tolist()]
