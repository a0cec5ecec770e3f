"""The figures: mean return against budget, one panel an environment, and the normalised score; drawn by matplotlib."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gymnasium_gsp.bench.report.cells import (
    Environment,
    Measurement,
    Planner,
    environments_of,
    half_width,
    planners_of,
)
from gymnasium_gsp.bench.report.comparison import Score
from gymnasium_gsp.bench.report.judgement import FEWEST
from gymnasium_gsp.bench.report.lines import COLOURS, Line, lines_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_WIDE, _HIGH = 3.7, 2.9  # of a panel, in inches
LETTERS_PER_INCH = 12  # of the font in figures
PUBLISHED, OPTIMUM = "published", "exact optimum"
_MARK_LOOKS: Any = {
    PUBLISHED: {"marker": "_", "linestyle": "", "markersize": 9, "markeredgewidth": 1.6},
    OPTIMUM: {"linestyle": (0, (5, 3)), "linewidth": 1.0},
}
NORMAL = 1.96  # 95 % of a normal distribution
INK, GRID = "#1f2328", "#d5d9de"
TIMELESS: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same numbers give the same file
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gymnasium_gsp",
    "font.size": 10,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 11,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: what is played.
        label: of the upright axis.
        budgets: at which something is drawn, ascending.
        draw: puts it into axes.
        words: what it shows, for those who cannot see it.
    """

    title: str
    label: str
    budgets: Sequence[int]
    draw: Callable[["Axes"], None]
    words: str


def return_panels(measured: Sequence[Measurement]) -> list[Panel]:
    """Mean return against budget, one panel an environment, with intervals of 95 % and the exact optimum.

    Budgets that are no number of simulations have no place on the axis, and are left to the tables.
    """
    lines = lines_of(planners_of(measured))
    drawn = [(cell, cell.budget) for cell in measured if isinstance(cell.budget, int)]
    found = []
    for environment in environments_of([cell for cell, _ in drawn]):
        here = [(cell, budget) for cell, budget in drawn if cell.environment == environment]
        found.append(_return_panel(environment, here, lines))
    return found


def _return_panel(
    environment: Environment, cells: Sequence[tuple[Measurement, int]], lines: Mapping[Planner, "Line"]
) -> Panel:
    def draw(axes: "Axes") -> None:
        for planner in planners_of([cell for cell, _ in cells]):
            here = [(cell, budget) for cell, budget in cells if cell.planner == planner]
            _draw_line(axes, [(budget, cell.mean, half_width(cell)) for cell, budget in here], lines[planner])
            if planner in first:
                published = [(budget, cell.published.mean) for cell, budget in here if cell.published is not None]
                _draw_published(axes, published, lines[planner])
        if optima:
            _draw_level(axes, sum(optima) / len(optima))
        theirs = [cell.published.mean for cell, _ in cells if cell.published is not None]
        halves = [(cell.mean, half_width(cell) or 0.0) for cell, _ in cells if len(cell.returns) >= FEWEST]
        _look_at(axes, [cell.mean for cell, _ in cells] + optima + theirs, halves)

    first = _first_of_each_algorithm([cell.planner for cell, _ in cells])
    optima = [cell.optimum for cell, _ in cells if cell.optimum is not None]
    best, at = max(cells, key=lambda item: item[0].mean)
    words = f"{environment.label}: the best mean return is {best.mean:.3f}, by {best.planner.label} at {at} simulations"
    return Panel(environment.label, "mean return", sorted({budget for _, budget in cells}), draw, words)


def score_panel(found: Sequence[Score], planners: Sequence[Planner]) -> Panel | None:
    """The normalised score against budget; None where no planner has one."""
    lines = lines_of(planners)
    known = [(item, item.budget, item.mean) for item in found if isinstance(item.budget, int) and item.mean is not None]
    if not known:
        return None

    first = _first_of_each_algorithm(planners)

    def draw(axes: "Axes") -> None:
        for planner in planners:
            here = [item for item in known if item[0].planner == planner]
            points = [
                (budget, mean, None if score.standard_error is None else NORMAL * score.standard_error)
                for score, budget, mean in here
            ]
            _draw_line(axes, points, lines[planner])
            if planner in first:
                published = [(budget, score.published) for score, budget, _ in here if score.published is not None]
                _draw_published(axes, published, lines[planner])
        _draw_level(axes, 1.0)
        _look_at(axes, [1.0, *(mean for _, _, mean in known)], ())

    score, at, best = max(known, key=lambda item: item[2])
    words = f"Normalised score: the best is {best:.3f}, by {score.planner.label} at {at} simulations"
    budgets = sorted({budget for _, budget, _ in known})
    return Panel("Normalised score", "mean of return / optimum", budgets, draw, words)


def _first_of_each_algorithm(planners: Sequence[Planner]) -> set[Planner]:
    """Who shows the published figures of an algorithm that several planners are settings of."""
    first: dict[str, Planner] = {}
    for planner in planners:
        first.setdefault(planner.algorithm, planner)
    return set(first.values())


def _draw_line(axes: "Axes", points: Sequence[tuple[int, float, float | None]], line: Line) -> None:
    budgets, means = [point[0] for point in points], [point[1] for point in points]
    halves = [point[2] or 0.0 for point in points]
    if not points:
        return
    axes.plot(budgets, means, markersize=4.5, linewidth=1.6, **line.look)
    low = [mean - half for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    axes.fill_between(budgets, low, high, color=COLOURS[line.number], alpha=0.14, linewidth=0)
    if len(points) == 1:
        axes.errorbar(budgets, means, halves, color=COLOURS[line.number], capsize=3)


def _draw_published(axes: "Axes", points: Sequence[tuple[int, float]], line: Line) -> None:
    budgets, means = [point[0] for point in points], [point[1] for point in points]
    axes.plot(budgets, means, color=COLOURS[line.number], **_MARK_LOOKS[PUBLISHED])


def _draw_level(axes: "Axes", optimum: float) -> None:
    axes.axhline(optimum, color=INK, **_MARK_LOOKS[OPTIMUM])


def _look_at(axes: "Axes", values: Sequence[float], bands: Sequence[tuple[float, float]]) -> None:
    """Show these values and bands, from 0 on where no value is negative; a band of few episodes may reach beyond.

    Args:
        axes: where.
        values: means and levels.
        bands: middle and half width.
    """
    ends = [end for middle, half in bands for end in (middle - half, middle + half)]
    low, high = min([*values, *ends]), max([*values, *ends])
    if min(values) >= 0.0:
        low = 0.0
    margin = 0.05 * (high - low) or 0.5
    axes.set_ylim(low if low == 0.0 else low - margin, high + margin)


def _shortened(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + ELLIPSIS


def _finish(axes: "Axes", panel: Panel) -> None:
    """Axes, ticks at the budgets played, and the title."""
    panel.draw(axes)
    if panel.budgets[-1] > 4 * panel.budgets[0]:
        axes.set_xscale("log", base=2)
    axes.set_xticks(panel.budgets, [str(budget) for budget in panel.budgets])
    axes.minorticks_off()
    axes.set_title(_shortened(panel.title, 32))
    axes.set_ylabel(panel.label)
    axes.set_xlabel("simulations per decision")


def blank_figure(width: float, height: float) -> "Figure":
    """A figure that no window will ever show."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    return figure


def panel_svg(panel: Panel, prefix: str) -> str:
    """One panel for a page: text in the page's font, colours from the page's style, identifiers of its own.

    Args:
        panel: what to draw.
        prefix: comes before every identifier, so that several panels can stand on one page.
    """
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = blank_figure(4.6, 3.3)
        figure.patch.set_alpha(0.0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0.0)
        _finish(axes, panel)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    drawn = file.getvalue()
    svg = drawn[drawn.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    for name, colour in _variables().items():
        svg = svg.replace(colour, f"var({name})")
    return svg


def _variables() -> dict[str, str]:
    return {"--ink": INK, "--grid": GRID, **{f"--s{number}": colour for number, colour in enumerate(COLOURS)}}


def marks_of(measured: Sequence[Measurement]) -> list[str]:
    """What is drawn beside the planners' lines."""
    there = {
        PUBLISHED: any(cell.published is not None for cell in measured),
        OPTIMUM: any(cell.optimum is not None for cell in measured),
    }
    return [mark for mark, drawn in there.items() if drawn]


def figure_file(panels: Sequence[Panel], planners: Sequence[Planner], marks: Sequence[str], kind: str) -> bytes:
    """All panels and a legend as one file.

    Args:
        panels: what to draw, at least one.
        planners: whose lines are named in the legend.
        marks: what else is, as `marks_of` says.
        kind: svg, pdf or png.
    """
    import matplotlib as mpl
    from matplotlib.lines import Line2D

    across = 2 if len(panels) == 4 else min(3, len(panels))
    down = -(-len(panels) // across)
    lines = lines_of(planners)
    with mpl.rc_context(STYLE):
        handles = [Line2D([], [], markersize=4.5, label=_shortened(p.label, 80), **lines[p].look) for p in planners]
        handles += [Line2D([], [], color=INK, label=mark, **_MARK_LOOKS[mark]) for mark in marks]
        longest = max(len(str(handle.get_label())) for handle in handles)
        fitting = max(1, int(_WIDE * across * LETTERS_PER_INCH) // (longest + 8))
        columns = min(len(handles), 2 * across, fitting)
        figure = blank_figure(_WIDE * across, _HIGH * down + 0.3 + 0.2 * -(-len(handles) // columns))
        for number, panel in enumerate(panels):
            _finish(figure.add_subplot(down, across, number + 1), panel)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=150, facecolor="white", metadata=TIMELESS.get(kind))
    return file.getvalue()
