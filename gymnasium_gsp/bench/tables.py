"""The README's tables of algorithms and environments, written from the registries.

`python -m gymnasium_gsp.bench.tables README.md` refreshes them between their markers; a test fails until then.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import gymnasium_gsp.agents  # noqa: F401 (registers the algorithms)
from gymnasium_gsp.agents.registry import ALGORITHMS
from gymnasium_gsp.bench.catalogue import ingredients_of
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.search.recipe import Recipe


def algorithm_table() -> str:
    """One row an algorithm: name, ingredients by default, presets, source."""
    rows = [
        "| name | ingredients by default, where they differ from `Recipe()` | presets | source |",
        "|---|---|---|---|",
    ]
    plain = ingredients_of(Recipe())
    for algorithm in ALGORITHMS.values():
        recipe = algorithm.recipe()
        chosen = ", ".join(
            f"{slot} {choice}" for slot, choice in ingredients_of(recipe).items() if plain.get(slot) != choice
        )
        presets = ", ".join(algorithm.presets) or "none"
        rows.append(f"| `{algorithm.name}` | {chosen} | {presets} | {algorithm.citation} |")
    return "\n".join(rows)


def environment_table() -> str:
    """One row an environment: id, time limit, optimum."""
    rows = ["| id | time limit | exact optimum |", "|---|---|---|"]
    for benchmark in BENCHMARKS:
        optimum = shipped_optima()[benchmark.id]
        rows.append(f"| `{benchmark.id}` | {benchmark.max_episode_steps} | {optimum:.4f} |")
    return "\n".join(rows)


TABLES = {"algorithms": algorithm_table, "environments": environment_table}


def refreshed(text: str) -> str:
    """The text with the tables between `<!-- NAME -->` and `<!-- /NAME -->` written anew.

    Raises:
        ValueError: if a pair of markers is missing.
    """
    return refilled(text, {name: table() for name, table in TABLES.items()})


def markers(name: str) -> tuple[str, str]:
    """What stands before and after a part of a document that a command writes."""
    return f"<!-- {name} -->", f"<!-- /{name} -->"


def part_between(name: str, part: str) -> str:
    """A part with its markers around it."""
    opening, closing = markers(name)
    return f"{opening}\n\n{part}\n\n{closing}"


def has_place(text: str, name: str) -> bool:
    """Whether a document has both markers of a part, in order."""
    opening, closing = markers(name)
    _, _, rest = text.partition(opening)
    return closing in rest


def refilled(text: str, parts: Mapping[str, str]) -> str:
    """A document with some parts written anew between their markers; all else stays.

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


def main(paths: list[str]) -> None:
    """Refresh the tables in each file."""
    for path in paths:
        page = Path(path)
        page.write_text(refreshed(page.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
