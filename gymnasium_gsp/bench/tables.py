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


def opening(name: str) -> str:
    """The marker before a part of a document that is written by a command."""
    return f"<!-- {name} -->\n\n"


def closing(name: str) -> str:
    """The marker after it."""
    return f"\n\n<!-- /{name} -->"


def refilled(text: str, parts: Mapping[str, str]) -> str:
    """A document with some parts written anew between their markers; all else stays.

    Raises:
        ValueError: if a pair of markers is missing.
    """
    for name, part in parts.items():
        before, found, rest = text.partition(opening(name))
        _, closed, after = rest.partition(closing(name))
        if not found or not closed:
            raise ValueError(f"the markers {opening(name).strip()} and {closing(name).strip()} are missing")
        text = before + opening(name) + part + closing(name) + after
    return text


def main(paths: list[str]) -> None:
    """Refresh the tables in each file."""
    for path in paths:
        page = Path(path)
        page.write_text(refreshed(page.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
