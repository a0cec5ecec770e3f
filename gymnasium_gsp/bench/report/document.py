"""A report as text: a Markdown document with a figure beside it, tables for LaTeX, and CSV."""

import pandas as pd

from gymnasium_gsp.bench.report.contents import Report
from gymnasium_gsp.bench.report.tables import Table
from gymnasium_gsp.bench.report.text import BREAK, DASH, DOWN, MINUS, PLUS_MINUS, UP

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_|<>[]"})
_LATEX_WORDS = {
    "\\": "textbackslash",
    "~": "textasciitilde",
    "^": "textasciicircum",
    "<": "textless",
    ">": "textgreater",
}
_LATEX_SIGNS = {MINUS: "$-$", PLUS_MINUS: r"$\pm$", DASH: "--", UP: r"$\uparrow$", DOWN: r"$\downarrow$", "|": "$|$"}
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {sign: f"\\{word}{{}}" for sign, word in _LATEX_WORDS.items()}
    | _LATEX_SIGNS
)


def csv_text(frame: pd.DataFrame) -> str:
    """A frame at full precision; a text that a spreadsheet would take for a formula gets an apostrophe."""

    def plain(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value

    return str(frame.astype(object).map(plain).to_csv(index=False, lineterminator="\n"))


def markdown_text(words: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return " ".join(words.translate(_MARKDOWN).split())


def markdown(table: Table) -> str:
    """A table and its notes as Markdown."""
    frame = table.frame.map(markdown_text).rename(columns=markdown_text)
    align = ["left" if left else "right" for left in table.left]
    text = frame.to_markdown(index=False, colalign=align if len(frame) else None, disable_numparse=True)
    return "\n\n".join([str(text), *map(markdown_text, table.notes)])


def latex_text(words: str) -> str:
    """Text that LaTeX sets as it is."""
    return " ".join(words.translate(_LATEX).split())


def latex(table: Table) -> str:
    """A table as a `longtable` with rules of `booktabs`, its notes below it."""

    def cell(words: str) -> str:
        first, _, rest = words.partition(BREAK)
        # \relax, because LaTeX takes brackets behind the end of a line for a length
        return rf"\shortstack[r]{{{latex_text(first)}\\\relax {latex_text(rest)}}}" if rest else latex_text(first)

    styled = table.frame.map(cell).rename(columns=latex_text).style.hide(axis="index")
    text = styled.to_latex(
        environment="longtable",
        hrules=True,
        column_format="".join("l" if left else "r" for left in table.left),
        caption=latex_text(table.title),
        label=f"tab:{table.name}",
    )
    notes = "".join(f"\\noindent {latex_text(note)}\\par\n" for note in table.notes)
    return "{\\scriptsize\\setlength{\\tabcolsep}{3pt}\n" + text + "}\n" + notes


def latex_tables(report: Report) -> str:
    """All tables, to be read into a LaTeX document with the packages `booktabs` and `longtable`."""
    lines = [
        r"% \usepackage{booktabs,longtable}; tables of eight budgets want a landscape page",
        f"% {latex_text(report.headline)}",
    ]
    for section in report.sections:
        if section.name != "origin":
            lines += ["", f"% {latex_text(section.title)}", *(latex(table) for table in section.tables)]
    return "\n".join(lines)


def figure_name(stem: str) -> str:
    """The file of the figure beside a document."""
    return f"{stem}-figure.svg"


def parts(report: Report, stem: str) -> dict[str, str]:
    """The parts of a document by name, each written between markers.

    Args:
        report: what to write.
        stem: of the name of the figure's file.
    """
    notices = {"Alarm": report.alarms, "Warnings": report.warnings, "Gaps in the grid": report.gaps}
    summary = [f"**{markdown_text(report.headline)}**", markdown_text(report.summary)]
    for title, lines in notices.items():
        if lines:
            summary.append(f"**{title}**\n\n" + "\n".join(f"* {markdown_text(line)}" for line in lines))
    written = {"summary": "\n\n".join(summary)}
    for section in report.sections:
        blocks = [markdown_text(words) for words in section.words]
        if section.name == "figure":
            about = markdown_text("; ".join(panel.words for panel in report.panels))
            blocks.insert(0, f"![{about}]({figure_name(stem)})")
        for table in section.tables:
            blocks += [f"*{markdown_text(table.title)}*"] * (len(section.tables) > 1) + [markdown(table)]
        written[section.name] = "\n\n".join(blocks)
    return written


def new_document(report: Report, stem: str) -> str:
    """A document with every part under its heading; what is written around the markers later will stay."""
    titles = {section.name: section.title for section in report.sections}
    lines = [f"# {report.title}"]
    for name, part in parts(report, stem).items():
        if name in titles:
            lines.append(f"## {markdown_text(titles[name])}")
        lines.append(_between_markers(name, part))
    return "\n\n".join(lines) + "\n"


def updated_document(text: str, report: Report, stem: str) -> tuple[str, list[str]] | None:
    """An existing document with those parts written anew that it has markers for.

    Returns:
        The text and the names of the parts that it has no place for; None if it has a place for none.
    """
    left_out = []
    written = parts(report, stem)
    for name, part in written.items():
        before, opening, rest = text.partition(f"<!-- {name} -->")
        _, closing, after = rest.partition(f"<!-- /{name} -->")
        if opening and closing:
            text = before + _between_markers(name, part) + after
        else:
            left_out.append(name)
    return None if len(left_out) == len(written) else (text, left_out)


def _between_markers(name: str, part: str) -> str:
    return f"<!-- {name} -->\n\n{part}\n\n<!-- /{name} -->"
