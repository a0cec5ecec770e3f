"""The figure: return against budget, one panel an environment, and the normalised score; drawn by matplotlib."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from gymnasium_gsp.bench.intervals import FEWEST
from gymnasium_gsp.bench.report.cells import PAPER_ALGORITHMS, names_of
from gymnasium_gsp.bench.report.text import MADE_BY

# Eight colours for white paper, each with a marker of its own; page.css has eight for dark screens.  A test holds that
# they stand out from the paper, and that the four kinds of colour vision tell them apart.
COLOURS = ("#353535", "#2998b1", "#3c7344", "#700771", "#c45e13", "#816fe5", "#5d3600", "#fe406e")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
INK, GRID = "#1f2328", "#d5d9de"
NORMAL = 1.96  # 95 % of a normal distribution
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
LETTERS_PER_INCH = 12  # of the font in figures
SPREAD = 0.24  # octaves of the budget over which the planners stand beside each other
HEIGHTS = {1: 4.0, 2: 3.4, 3: 3.0}  # inches of a panel by the number of panels beside each other
PUBLISHED: Any = {"label": "published", "marker": "_", "linestyle": "", "markersize": 9, "markeredgewidth": 1.6}
OPTIMUM: Any = {"label": "exact optimum", "linestyle": (0, (5, 3)), "linewidth": 1.0}
METADATA: Any = {  # without a date: same numbers, same file
    "svg": {"Date": None, "Creator": MADE_BY},
    "pdf": {"CreationDate": None, "Creator": MADE_BY},
    "png": {"Software": MADE_BY},
}
STYLE = Path(__file__).with_name("figures.mplstyle")


@dataclass(frozen=True)
class Panel:
    """One set of axes.

    Attributes:
        title: what is played.
        label: of the upright axis.
        points: `planner, simulations, mean, half, published`, one row a cell; `half` is half the interval at 95 %,
            missing where few episodes would make it wider than the panel.
        optimum: a dashed line; NaN for none.
    """

    title: str
    label: str
    points: pd.DataFrame
    optimum: float

    @property
    def words(self) -> str:
        """The message, for those who cannot see the panel."""
        best = self.points.loc[self.points["mean"].idxmax()]
        figure = f"the best {self.label} is {best['mean']:.3f}"
        return f"{self.title}: {figure}, by {best.planner} at {best.simulations} simulations"


def panels_of(cells: pd.DataFrame, scores: pd.DataFrame) -> list[Panel]:
    """The normalised score if there is one, and the mean return in every environment.

    Budgets that are no number of simulations have no place on the axis, and are left to the tables.

    Args:
        cells: the value of `cells.measure`.
        scores: the value of `comparison.scores`; empty where no score is to be shown.
    """
    returns = cells.rename(
        columns={"mean_return": "mean", "interval_half_width": "half", "published_mean": "published"}
    )
    returns = returns[returns.simulations.notna() & returns["mean"].notna()]
    returns["half"] = returns.half.where(returns.episodes >= FEWEST)
    groups = [(name, "mean return", returns[returns.environment == name]) for name in names_of(returns.environment)]
    known = scores[scores.simulations.notna() & scores.score.notna()]
    if len(known):
        of_score = known.assign(mean=known.score, half=NORMAL * known.standard_error, optimum=1.0)
        groups.insert(0, ("Normalised score", "mean of return / optimum", of_score))
    return [Panel(title, label, points, float(points.optimum.mean())) for title, label, points in groups]


def places_of(algorithms: Mapping[str, str]) -> dict[str, int]:
    """The number of each planner's colour: each published algorithm has its own, the others follow.

    Args:
        algorithms: by planner, in the order of the tables.
    """
    places: dict[str, int] = {}
    others = count(len(PAPER_ALGORITHMS))
    for planner, algorithm in algorithms.items():
        own = [place for place, name in enumerate(PAPER_ALGORITHMS) if name == algorithm]
        places[planner] = own[0] if own and own[0] not in places.values() else next(others)
    return places


def look(place: int) -> dict[str, Any]:
    """Colour, marker and dashes of the planner at a place, as arguments for matplotlib."""
    number, dashes = place % len(COLOURS), place // len(COLOURS) % len(DASHES)
    return {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": DASHES[dashes], "markersize": 4.5}


def _beside(planner: int, planners: int) -> float:
    """The factor by which a planner's points stand beside their budget, so that no interval covers another."""
    return float(2.0 ** (SPREAD * (planner / max(1, planners - 1) - 0.5 * (planners > 1))))


def draw(
    panels: Sequence[Panel], algorithms: dict[str, str], kind: str, width: float, most: int = 3, ground: str = "white"
) -> bytes:
    """All panels and a legend as one file.

    Args:
        panels: what to draw, at least one.
        algorithms: by planner, in the order of the tables.
        kind: svg, pdf or png.
        width: in inches.
        most: panels beside each other.
        ground: colour behind everything; "none" for what a page shows.
    """
    across = 2 if len(panels) == 4 and most > 2 else min(most, len(panels))
    down = -(-len(panels) // across)
    places = places_of(algorithms)
    publishers = {algorithm: planner for planner, algorithm in reversed(algorithms.items())}
    with mpl.style.context(STYLE):
        handles = [Line2D([], [], label=_shortened(planner, 80), **look(place)) for planner, place in places.items()]
        if any(panel.points.published.notna().any() for panel in panels):
            handles.append(Line2D([], [], color=INK, **PUBLISHED))
        if any(panel.optimum == panel.optimum for panel in panels):
            handles.append(Line2D([], [], color=INK, **OPTIMUM))
        longest = max(len(str(handle.get_label())) for handle in handles)
        columns = min(len(handles), max(1, int(width * LETTERS_PER_INCH) // (longest + 8)))
        height = HEIGHTS[across] * down + 0.3 + 0.2 * -(-len(handles) // columns)
        figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.1))
        for number, panel in enumerate(panels):
            _draw_panel(figure.add_subplot(down, across, number + 1), panel, places, list(publishers.values()))
        figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=150, facecolor=ground, metadata=METADATA[kind])
    return file.getvalue()


def _draw_panel(axes: Axes, panel: Panel, places: Mapping[str, int], publishers: Sequence[str]) -> None:
    """Draw one panel.

    Args:
        axes: where.
        panel: what.
        places: numbers of colours by planner.
        publishers: the planners that show the published figures, the first of each algorithm.
    """
    axes.patch.set_alpha(0.0)
    planners = names_of(panel.points.planner)
    for place, planner in enumerate(planners):
        here, looks = panel.points[panel.points.planner == planner], look(places[planner])
        across = here.simulations.astype(int) * _beside(place, len(planners))
        axes.errorbar(across, here["mean"], here.half.fillna(0.0), linewidth=1.5, elinewidth=1.1, **looks)
        if planner in publishers:
            axes.plot(across, here.published, color=looks["color"], **PUBLISHED)
    if panel.optimum == panel.optimum:
        axes.axhline(panel.optimum, color=INK, **OPTIMUM)
    budgets = sorted(set(panel.points.simulations.astype(int)))
    if budgets[-1] > 4 * budgets[0]:
        axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, [str(budget) for budget in budgets])
    axes.minorticks_off()
    axes.set(ylabel=panel.label, xlabel="simulations per decision")
    if panel.points["mean"].min() >= 0.0:
        axes.set_ylim(bottom=0.0)
    axes.set_title(_shortened(panel.title, 32))


def _shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + ELLIPSIS


def inline_svg(svg: str, prefix: str) -> str:
    """A drawing for a page: text in the page's font, colours from the page's style.

    Args:
        svg: the file.
        prefix: comes before every identifier, so that several drawings can stand on one page.
    """
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    variables = {"ink": INK, "grid": GRID, **{f"s{number}": colour for number, colour in enumerate(COLOURS)}}
    for name, colour in variables.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg
