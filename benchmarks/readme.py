"""The README's tables of algorithms and environments, written from the registries.

    python -m benchmarks.readme

The tables stand between markers in README.md; a test fails while they differ from the registries.
"""

from pathlib import Path

from benchmarks.markers import fill
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.catalogue import ingredients_of
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.search.recipe import Recipe

README = Path(__file__).parents[1] / "README.md"


def algorithm_table() -> str:
    """Write one row an algorithm: name, default ingredients, presets, source."""
    rows = [
        "| name | ingredients by default, where they differ from `Recipe()` | presets | source |",
        "|---|---|---|---|",
    ]
    plain = ingredients_of(Recipe())
    for algorithm in ALGORITHMS.values():
        chosen = ingredients_of(algorithm.recipe()).items()
        ingredients = ", ".join(f"{slot} {choice}" for slot, choice in chosen if plain.get(slot) != choice)
        presets = ", ".join(algorithm.presets) or "none"
        rows.append(f"| `{algorithm.name}` | {ingredients} | {presets} | {algorithm.citation} |")
    return "\n".join(rows)


def environment_table() -> str:
    """Write one row an environment: id, time limit, optimum."""
    rows = ["| id | time limit | exact optimum |", "|---|---|---|"]
    for benchmark in BENCHMARKS:
        optimum = shipped_optima()[benchmark.id]
        rows.append(f"| `{benchmark.id}` | {benchmark.max_episode_steps} | {optimum:.4f} |")
    return "\n".join(rows)


def refreshed(text: str) -> str:
    """Return the README with its tables as the registries have them."""
    return fill(fill(text, "algorithms", algorithm_table()), "environments", environment_table())


def main() -> None:
    """Write the tables."""
    README.write_text(refreshed(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
