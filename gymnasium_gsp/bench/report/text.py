"""Signs and numbers as people read them, in every format of a report."""

import math

MINUS, PLUS_MINUS, DASH = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}", "\N{EN DASH}"
UP, DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"  # better, worse
MADE_BY = "made by gsp report"  # in every page and drawing, so that a later report may take its place
BREAK = "\n"  # in a cell: what follows has less weight, and a line of its own where there are lines
ABOVE, FAILED, NOT_KNOWN, NOT_PLAYED = "above optimum!", "failed", "not known", DASH  # marks of cells
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_|<>[]"})


def number(value: float, digits: int = 3, sign: str = "") -> str:
    """A number with so many decimals; "" for one that is missing."""
    if math.isnan(value):
        return ""
    return f"{round(value, digits) + 0.0:{sign},.{digits}f}".replace("-", MINUS)  # adding 0 turns -0.0 into 0.0


def markdown_text(words: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return " ".join(words.translate(_MARKDOWN).split())
