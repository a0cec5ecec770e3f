"""Parts of a document that a command writes, between `<!-- NAME -->` and `<!-- /NAME -->`."""

from collections.abc import Mapping


def markers(name: str) -> tuple[str, str]:
    """Return the markers before and after a part."""
    return f"<!-- {name} -->", f"<!-- /{name} -->"


def part_between(name: str, part: str) -> str:
    """Put a part between its markers."""
    opening, closing = markers(name)
    return f"{opening}\n\n{part}\n\n{closing}"


def has_place(text: str, name: str) -> bool:
    """Return whether a document has both markers of a part, in order."""
    opening, closing = markers(name)
    _, _, rest = text.partition(opening)
    return closing in rest


def refilled(text: str, parts: Mapping[str, str]) -> str:
    """Replace some parts of a document between their markers.

    Raises:
        ValueError: if a pair of markers is missing.
    """
    for name, part in parts.items():
        opening, closing = markers(name)
        if not has_place(text, name):
            raise ValueError(f"the markers {opening} and {closing} are missing")
        before, _, rest = text.partition(opening)
        text = before + part_between(name, part) + rest.partition(closing)[2]
    return text
