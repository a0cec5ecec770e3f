"""The report as one HTML page that holds everything: style, figures and tables, no script, nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from gymnasium_gsp.bench.report.contents import Report, Section
from gymnasium_gsp.bench.report.figures import OPTIMUM, PUBLISHED, panel_svg
from gymnasium_gsp.bench.report.lines import MARKERS, lines_of
from gymnasium_gsp.bench.report.table import html

STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 14L6 7l4 3 5-8' "
    "fill='none' stroke='%230072b2' stroke-width='2'/%3E%3C/svg%3E"
)


def page(report: Report) -> str:
    """The page; whatever comes from a store is escaped."""
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(report.title)}</title>",
        f'<link rel="icon" href="{ICON}">',
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>",
        "</head>",
        "<body>",
        "<header>",
        f"<h1>{escape(report.title)}</h1>",
        f"<p>{escape(report.summary)}</p>",
        _contents(report.sections),
        "</header>",
        "<main>",
        _notice("alarm", "Alarm", report.alarms),
        _notice("warning", "Mind", report.warnings),
        _notice("missing", "Gaps in the grid", report.missing),
        *(_section(report, section) for section in report.sections),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _contents(sections: Sequence[Section]) -> str:
    links = "".join(f'<li><a href="#{section.name}">{escape(section.title)}</a></li>' for section in sections)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _notice(kind: str, title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<section class="notice {kind}"><h2>{title}</h2><ul>{items}</ul></section>'


def _section(report: Report, section: Section) -> str:
    heading = f"{section.name}-heading"
    parts = [
        f'<section id="{section.name}" aria-labelledby="{heading}">',
        f'<h2 id="{heading}">{escape(section.title)}</h2>',
        *(f"<p>{escape(words)}</p>" for words in section.words),
    ]
    if section.panels:
        parts += [_legend(report), '<div class="panels">']
        for number, panel in enumerate(section.panels):
            svg = panel_svg(panel, f"{section.name}{number}")
            parts.append(f'<figure role="img" aria-label="{escape(panel.words)}">{svg}</figure>')
        parts.append("</div>")
    tables = [html(table, _swatches(report)) for table in section.tables]
    if section.folded:
        parts += ["<details>", "<summary>Show the table</summary>", *tables, "</details>"]
    else:
        parts += tables
    return "\n".join([*parts, "</section>"])


def _swatches(report: Report) -> dict[str, str]:
    """The mark of each planner by its label: its colour and its marker, as in the figure."""
    found = {}
    for planner, line in lines_of(report.planners).items():
        shape = _SHAPES[MARKERS[line.number]]
        dashes = ("", "4 2", "4 2 1 2", "1 2")[line.round % 4]
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        found[planner.label] = (
            f'<svg class="swatch s{line.number}" viewBox="0 0 22 10" aria-hidden="true"><path d="M0 5H22"{dash}/>'
            f'<path class="dot" d="{shape}"/></svg>'
        )
    return found


# The markers of the figure as paths around (11, 5).
_SHAPES = {
    "o": "M7.6 5a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "s": "M8 2h6v6H8z",
    "^": "M11 1.4L14.6 8.2H7.4z",
    "D": "M11 1L15 5L11 9L7 5z",
    "v": "M11 8.6L7.4 1.8h7.2z",
    "P": "M9.7 1.5h2.6v2.2h2.2v2.6h-2.2v2.2H9.7V6.3H7.5V3.7h2.2z",
    "X": "M8.8 1.2L11 3.4l2.2-2.2 1.6 1.6L12.6 5l2.2 2.2-1.6 1.6L11 6.6 8.8 8.8 7.2 7.2 9.4 5 7.2 2.8z",
    "*": "M11 .8l1.2 2.7 2.9.3-2.2 2 .6 2.9L11 7.2 8.5 8.7l.6-2.9-2.2-2 2.9-.3z",
}


_MARKS = {PUBLISHED: '<path d="M7 5h8"/>', OPTIMUM: '<path d="M0 5H22" stroke-dasharray="5 3"/>'}


def _legend(report: Report) -> str:
    swatches = _swatches(report)
    items = [f"<li>{swatches[planner.label]}{escape(planner.label)}</li>" for planner in report.planners]
    for mark in report.marks:
        drawn = f'<svg class="swatch ink" viewBox="0 0 22 10" aria-hidden="true">{_MARKS[mark]}</svg>'
        items.append(f"<li>{drawn}{escape(mark)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'
