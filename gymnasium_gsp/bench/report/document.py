"""The report as a Markdown document with figures beside it, and as tables for LaTeX."""

from collections.abc import Sequence

from gymnasium_gsp.bench.report.contents import Report, Section
from gymnasium_gsp.bench.report.table import latex, latex_text, markdown, markdown_text
from gymnasium_gsp.bench.tables import has_place, part_between, refilled

SUMMARY = "summary"


def parts(report: Report, stem: str) -> dict[str, str]:
    """The parts of a document by name, each written between markers.

    Args:
        report: what to write.
        stem: of the names of the figures' files.
    """
    found = {SUMMARY: _summary(report)}
    for section in report.sections:
        blocks = [markdown_text(words) for words in section.words]
        if section.panels:
            about = markdown_text("; ".join(panel.words for panel in section.panels))
            blocks.append(f"![{about}]({figure_name(stem, section)})")
        for table in section.tables:
            blocks += [f"*{markdown_text(table.title)}*"] * (len(section.tables) > 1) + [markdown(table)]
        found[section.name] = "\n\n".join(blocks)
    return found


def figure_name(stem: str, section: Section) -> str:
    """The file of a section's figure."""
    return f"{stem}-{section.name}.svg"


def new_document(report: Report, stem: str) -> str:
    """A document with every part under its heading; what is written around the markers later will stay."""
    titles = {section.name: section.title for section in report.sections}
    lines = [f"# {report.title}"]
    for name, part in parts(report, stem).items():
        if name in titles:
            lines.append(f"## {markdown_text(titles[name])}")
        lines.append(part_between(name, part))
    return "\n\n".join(lines) + "\n"


def updated_document(text: str, report: Report, stem: str) -> tuple[str, list[str]] | None:
    """An existing document with those parts written anew that it has markers for.

    Returns:
        The text and the names of the parts that it has no place for; None if it has a place for none.
    """
    found = parts(report, stem)
    there = {name: part for name, part in found.items() if has_place(text, name)}
    if not there:
        return None
    return refilled(text, there), [name for name in found if name not in there]


def latex_tables(report: Report) -> str:
    """All tables, to be read into a LaTeX document with the packages `booktabs` and `longtable`."""
    lines = [
        r"% \usepackage{booktabs,longtable}; tables of eight budgets want a landscape page",
        f"% {latex_text(report.summary)}",
    ]
    for section in report.sections:
        if section.name != "origin":
            lines += ["", f"% {latex_text(section.title)}", *(latex(table) for table in section.tables)]
    return "\n".join(lines) + "\n"


def _summary(report: Report) -> str:
    lines = [markdown_text(report.summary)]
    for title, notices in (("Alarm", report.alarms), ("Mind", report.warnings), ("Gaps in the grid", report.missing)):
        if notices:
            lines.append(_list(title, notices))
    return "\n\n".join(lines)


def _list(title: str, notices: Sequence[str]) -> str:
    return f"**{title}**\n\n" + "\n".join(f"* {markdown_text(notice)}" for notice in notices)
