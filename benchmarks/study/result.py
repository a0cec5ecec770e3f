"""The result of a study, and how it is written as Markdown, CSV and SVG."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

MARKERS = "osD^v<>phX*d"
STYLE: Any = {"svg.fonttype": "none", "text.parse_math": False, "axes.grid": True, "grid.alpha": 0.4}
WIDTH, HEIGHT = 4.6, 4.4  # of a plot, in inches


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: for its file.
        title: its heading.
        rows: the values.
        formats: from a value to text, for columns that need more than thousands separators and three decimals.
        notes: explanations below the table.
        on_page: False for a table that is only written as CSV.
    """

    name: str
    title: str
    rows: pd.DataFrame
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    on_page: bool = True

    def markdown(self) -> str:
        """Return the table and its notes as Markdown."""
        text = self.rows.astype(object).where(self.rows.notna(), None)
        for column in text:
            text[column] = text[column].map(lambda value, column=column: self._cell(column, value))
        sides = ["right" if pd.api.types.is_numeric_dtype(kind) else "left" for kind in self.rows.dtypes]
        text.columns = [str(column).replace("_", " ") for column in text]
        table = text.to_markdown(index=False, disable_numparse=True, colalign=sides)
        return "\n\n".join([table, *self.notes])

    def _cell(self, column: str, value: Any) -> str:
        if value is None:
            return ""
        if column in self.formats:
            return self.formats[column](value)
        if isinstance(value, bool):
            return "yes" if value else ""
        if isinstance(value, int):
            return f"{value:,}"
        return f"{value:,.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Plot:
    """One set of axes.

    Attributes:
        title, x_label, y_label: its texts.
        lines: one column for each line, indexed by x.
        computed: columns that are computed and not measured, drawn as dashed lines.
        published: columns drawn as marks alone, each in the colour of the line that it names.
        log: the logarithmic axes, "xy", "y" or "".
    """

    title: str
    x_label: str
    y_label: str
    lines: pd.DataFrame
    computed: Sequence[str] = ()
    published: Mapping[str, str] = field(default_factory=dict)
    log: str = "xy"

    def draw(self, axes: Axes) -> None:
        """Draw the lines."""
        colours: dict[str, str] = {}
        for number, column in enumerate(self.lines):
            values = self.lines[column].dropna()
            look: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4.5, "linewidth": 1.4}
            if column in self.computed:
                look = {"linestyle": "--", "linewidth": 1.2}
            elif column in self.published:
                look = {"linestyle": "", "marker": "_", "markersize": 10, "markeredgewidth": 1.8}
            colours[column] = colours.get(self.published.get(column, ""), f"C{len(colours) % 10}")
            axes.plot(values.index.to_numpy(), values.to_numpy(), label=column, color=colours[column], **look)
        if "x" in self.log:
            axes.set_xscale("log", base=2)
            _plain_ticks(axes.xaxis, axes.get_xlim())
        if "y" in self.log:
            axes.set_yscale("log")
            _plain_ticks(axes.yaxis, axes.get_ylim())
        axes.set(title=self.title, xlabel=self.x_label, ylabel=self.y_label)
        axes.legend(fontsize=7.5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def _plain_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Write plain numbers instead of powers, also between powers of ten where there are few of these."""
    axis.set_major_formatter(FuncFormatter(lambda value, position: f"{value:,.0f}" if value >= 1.0 else f"{value:g}"))
    narrow = limits[1] < 10.0 * limits[0]
    axis.set_minor_formatter(FuncFormatter(lambda value, position: f"{value:.2g}") if narrow else NullFormatter())


def describe(seed: int, sizes: Any) -> str:
    """Write the seed and the sizes, a dataclass, on one line."""
    values = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in asdict(sizes).items()
    }
    return f"Seed {seed}; " + "; ".join(f"{name} {value}" for name, value in values.items()) + "."


@dataclass(frozen=True)
class Study:
    """The result of a study.

    Attributes:
        name: as on the command line.
        question: the question that it answers.
        tables: the measurements.
        plots: drawn in one figure.
        findings: what the numbers say, a sentence each.
        settings: seed and sizes, in words.
    """

    name: str
    question: str
    tables: Sequence[Table]
    plots: Sequence[Plot]
    findings: Sequence[str]
    settings: str = ""

    def page(self) -> str:
        """Return the study as Markdown, with its figure in a file beside it."""
        parts = [f"# Study: {self.name}", self.question, f"![{self.question}]({self.name}.svg)"]
        parts.append("\n".join(f"* {finding}" for finding in self.findings))
        parts += [f"## {table.title}\n\n{table.markdown()}" for table in self.tables if table.on_page]
        return "\n\n".join([*parts, self.settings]) + "\n"

    def figure(self) -> bytes:
        """Draw all plots as one SVG; the same numbers give the same file."""
        across = min(len(self.plots), 3)
        down = -(-len(self.plots) // across)
        with mpl.rc_context({**STYLE, "svg.hashsalt": self.name}):
            figure = Figure(figsize=(WIDTH * across, HEIGHT * down), layout="constrained")
            for number, plot in enumerate(self.plots, start=1):
                plot.draw(figure.add_subplot(down, across, number))
            file = io.BytesIO()
            figure.savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()

    def write(self, folder: Path) -> None:
        """Write the page, the figure and one CSV file a table; nothing is written before all of it is made."""
        files = {f"{self.name}.md": self.page().encode(), f"{self.name}.svg": self.figure()}
        for table in self.tables:
            files[f"{self.name}-{table.name}.csv"] = table.rows.to_csv(index=False).encode()
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
