"""Generated parts of the documents, which stand between `<!-- NAME -->` and `<!-- /NAME -->`."""


def fill(text: str, name: str, part: str) -> str:
    """Return a document with the part between its markers replaced.

    Raises:
        ValueError: if the markers are missing.
    """
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = text.partition(opening)
    _, end, after = rest.partition(closing)
    if not found or not end:
        raise ValueError(f"the markers {opening} and {closing} are missing")
    return f"{before}{opening}\n\n{part}\n\n{closing}{after}"
