"""What a study comes to: tables, plots and sentences; and how it is written."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnasium_gsp.bench.report.figures import STYLE, TIMELESS, blank_figure
from gymnasium_gsp.bench.report.lines import COLOURS, DASHES, MARKERS
from gymnasium_gsp.bench.report.output import check_extras, check_output, is_folder, write_files
from gymnasium_gsp.bench.report.table import Table, csv_text, markdown, markdown_text
from gymnasium_gsp.errors import RecipeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _HIGH = 4.6, 4.4  # of a plot, in inches


@dataclass(frozen=True)
class Curve:
    """One line of a plot.

    Attributes:
        label: for the legend.
        x, y: its points.
        number: of its colour and marker.
        kind: "measured", a line with markers; "theory", a dashed line; "published", markers alone.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    number: int
    kind: str = "measured"

    def look(self) -> dict[str, Any]:
        """What matplotlib wants to know."""
        colour = COLOURS[self.number % len(COLOURS)]
        if self.kind == "theory":
            return {"color": colour, "linestyle": (0, (5, 3)), "linewidth": 1.2}
        if self.kind == "published":
            return {"color": colour, "linestyle": "", "marker": "_", "markersize": 10, "markeredgewidth": 1.8}
        marker = MARKERS[self.number % len(MARKERS)]
        dashes = DASHES[self.number // len(COLOURS) % len(DASHES)]
        return {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.4, "linestyle": dashes}


@dataclass(frozen=True)
class Plot:
    """One set of axes.

    Attributes:
        title, x_label, y_label: its words.
        curves: what is drawn.
        x_scale, y_scale: "linear" or "log".
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    x_scale: str = "log"
    y_scale: str = "log"


@dataclass(frozen=True)
class Study:
    """What a study came to.

    Attributes:
        name: as on the command line.
        question: what it asks.
        seed: of all its random numbers.
        sizes: how large it was, by name.
        tables: for people.
        data: more, for CSV and JSON alone.
        plots: drawn in one figure.
        findings: what the numbers say, a sentence each.
    """

    name: str
    question: str
    seed: int
    sizes: Mapping[str, Any]
    tables: Sequence[Table]
    plots: Sequence[Plot]
    findings: Sequence[str]
    data: Sequence[Table] = ()

    @property
    def said_sizes(self) -> str:
        """Seed and sizes on one line."""
        return f"Seed {self.seed}; " + "; ".join(f"{name} {_said(value)}" for name, value in self.sizes.items()) + "."


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_folder(output: Path) -> None:
    """Refuse at once what `write_study` could not write to.

    Raises:
        RecipeError: for a name that is no folder's, a place that cannot be written, or if matplotlib is missing.
    """
    if not is_folder(output):
        raise RecipeError(f"a study is written to a folder, and {output.name} has the name of a file; give another -o")
    check_output(output)
    check_extras("a plot", {"matplotlib": "matplotlib"}, "plots")


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write a study as Markdown, one CSV a table, and one SVG; everything is made before anything is written.

    Raises:
        RecipeError: as `check_folder`.
    """
    check_folder(folder)
    files = {folder / f"{study.name}.md": document(study).encode(), folder / f"{study.name}.svg": drawing(study)}
    for table in (*study.tables, *study.data):
        files[folder / f"{study.name}-{table.name}.csv"] = csv_text(table).encode()
    write_files(files)
    return list(files)


def document(study: Study) -> str:
    """The study as Markdown, its figure beside it."""
    parts = [f"# gsp study {study.name}", markdown_text(study.question), f"![{study.question}]({study.name}.svg)"]
    parts.append("\n".join(f"* {markdown_text(finding)}" for finding in study.findings))
    parts += [f"## {markdown_text(table.title)}\n\n{markdown(table)}" for table in study.tables]
    return "\n\n".join([*parts, markdown_text(study.said_sizes)]) + "\n"


def json_text(study: Study) -> str:
    """The study as one JSON object; numbers that JSON does not know become null."""
    tables = {
        table.name: [
            dict(zip((column.key for column in table.columns), map(_json_value, row), strict=True))
            for row in table.rows
        ]
        for table in (*study.tables, *study.data)
    }
    found = {"study": study.name, "seed": study.seed, "sizes": dict(study.sizes), "findings": list(study.findings)}
    return json.dumps({**found, "tables": tables}, indent=2, allow_nan=False)


def _json_value(value: Any) -> Any:
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def drawing(study: Study) -> bytes:
    """All plots as one SVG; the same numbers give the same file."""
    import matplotlib as mpl

    across = min(len(study.plots), 3)
    down = -(-len(study.plots) // across)
    with mpl.rc_context({**STYLE, "svg.hashsalt": f"gymnasium_gsp {study.name}"}):
        figure = blank_figure(_WIDE * across, _HIGH * down)
        for number, plot in enumerate(study.plots):
            _draw(figure.add_subplot(down, across, number + 1), plot)
        file = io.BytesIO()
        figure.savefig(file, format="svg", facecolor="white", metadata=TIMELESS["svg"])
    return file.getvalue()


def _draw(axes: "Axes", plot: Plot) -> None:
    for curve in plot.curves:
        axes.plot(curve.x, curve.y, label=curve.label, **curve.look())
    _scale(axes, "x", plot.x_scale)
    _scale(axes, "y", plot.y_scale)
    axes.set_title(plot.title)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.legend(fontsize=7.5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _scale(axes: "Axes", which: str, scale: str) -> None:
    """The scale of an axis, with plain numbers at its ticks, as the figures' style has no formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    if scale == "linear":
        return
    getattr(axes, f"set_{which}scale")(scale, base=2 if which == "x" else 10)
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, position: f"{value:,.0f}" if value >= 1.0 else f"{value:g}"))
    low, high = getattr(axes, f"get_{which}lim")()
    if high < 10.0 * low:
        axis.set_minor_formatter(FuncFormatter(lambda value, position: f"{value:.2g}"))
    else:
        axis.set_minor_formatter(NullFormatter())
