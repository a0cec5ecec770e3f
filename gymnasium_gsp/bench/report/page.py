"""The report as one HTML page that holds everything: style, figure and tables, no script, nothing from elsewhere."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from gymnasium_gsp.bench.report.contents import Report
from gymnasium_gsp.bench.report.figures import COLOURS, draw, inline_svg, places_of
from gymnasium_gsp.bench.report.text import ABOVE, BREAK, DOWN, FAILED, MADE_BY, NOT_PLAYED, UP

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
    templates.filters |= {"marked": _marked, "unbroken": _unbroken}
    templates.globals |= {"ABOVE": ABOVE, "FAILED": FAILED, "NOT_PLAYED": NOT_PLAYED, "MADE_BY": MADE_BY}
    figures = {}
    for name, (width, most) in FIGURES.items() if report.panels else ():
        svg = draw(report.panels, report.algorithms, "svg", width, most, ground="none").decode()
        figures[name] = Markup(inline_svg(svg, name))
    colours = {planner: place % len(COLOURS) for planner, place in places_of(report.algorithms).items()}
    return templates.get_template("page.html").render(report=report, policy=POLICY, figures=figures, colours=colours)


def _unbroken(words: str, names: Iterable[str]) -> Markup:
    """Text in which no line breaks within a name."""
    known = "|".join(re.escape(str(escape(name))) for name in sorted(names, key=len, reverse=True) if " " not in name)
    return Markup(re.sub(f"({known})", r'<span class="name">\1</span>', str(escape(words))) if known else escape(words))


def _marked(words: str, colours: Mapping[str, int]) -> Markup:
    """Text of a cell: its lines, marks with names for those who cannot see them, a planner with its colour."""
    first, broken, rest = str(escape(words)).partition(BREAK)
    planner = words.partition(BREAK)[0].removesuffix(f" {ABOVE}").removesuffix(f" {UP}")
    if planner in colours:
        first = f'<span class="swatch s{colours[planner]}" aria-hidden="true"></span>{first}'
    for mark, name in ((UP, "better"), (DOWN, "worse")):
        first = first.replace(f" {mark}", f'<span class="mark {name}" role="img" aria-label="{name}">{mark}</span>')
    lines = f"{first}<br><small>{rest}</small>" if broken else first
    return Markup(lines.replace(FAILED, f'<a href="#{FAILED}">{FAILED}</a>'))
