"""The report as one HTML page that holds everything: style, figure and tables, no script, nothing from elsewhere."""

from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from gymnasium_gsp.bench.report.contents import Report
from gymnasium_gsp.bench.report.figures import COLOURS, draw, inline_svg, places_of
from gymnasium_gsp.bench.report.text import ABOVE, BREAK, DOWN, FAILED, NOT_PLAYED, UP

FOLDER = Path(__file__).parent
STYLE = FOLDER / "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
FIGURES = {"wide": (13.4, 3), "middle": (8.4, 2), "narrow": (4.4, 1)}  # width in inches, panels beside each other


def page(report: Report) -> str:
    """The page; whatever comes from a store is escaped by the template."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["marked"] = _marked
    templates.globals |= {"ABOVE": ABOVE, "FAILED": FAILED, "NOT_PLAYED": NOT_PLAYED}
    figures = {}
    for name, (width, most) in FIGURES.items() if report.panels else ():
        svg = draw(report.panels, report.algorithms, "svg", width, most, ground="none").decode()
        figures[name] = Markup(inline_svg(svg, name))
    colours = {planner: place % len(COLOURS) for planner, place in places_of(report.algorithms).items()}
    return templates.get_template("page.html").render(report=report, policy=POLICY, figures=figures, colours=colours)


def _marked(words: str) -> Markup:
    """Text of a cell with its marks coloured, and named for those who cannot see them, and its lines."""
    first, broken, rest = str(escape(words)).partition(BREAK)
    for mark, name in ((UP, "better"), (DOWN, "worse")):
        first = first.replace(mark, f'<span class="{name}" role="img" aria-label="{name}">{mark}</span>')
    return Markup(f"{first}<br><small>{rest}</small>" if broken else first)
