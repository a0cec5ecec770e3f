"""The cost of a decision, tree against graph, beside the paper's: `python -m benchmarks.study overhead`.

Times depend on the machine and its load; nodes and bytes do not.
"""

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.searches import decisions, stored_bytes
from benchmarks.study.result import Plot, Study, Table, describe
from gymnasium_gsp.agents.seeding import agent_stream, episode_seeds
from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.envs import BENCHMARKS

QUESTION = "What does the graph cost per decision, in time, nodes and bytes, beside the tree?"
KEPT = "kept"  # as printed, but the part below the new root is kept from one decision to the next
PLANNERS = (
    ("power-uct", "printed"),
    ("power-uct", KEPT),
    ("gs-power-uct", "printed"),
    ("gs-power-uct-f+", "printed"),
    ("gs-power-uct", "paper"),
    ("gs-power-uct-f+", "paper"),
)
TREE = "power-uct, printed"
PUBLISHED = Path(__file__).with_name("published_overhead.csv")


@cache
def published_costs() -> dict[tuple[str, str, int], dict[str, float]]:
    """The paper's `ms_per_decision` and `expanded_nodes`, by environment, algorithm and number of simulations.

    What the paper calls expanded nodes are, for trees, the simulations and the root.
    """
    table = pd.read_csv(PUBLISHED).pivot(index=["env", "algorithm", "budget"], columns="metric", values="value")
    return dict(zip(table.index, table.to_dict("records"), strict=True))


@dataclass(frozen=True)
class Sizes:
    """Sizes of the study.

    Attributes:
        budgets: simulations per decision; the paper has 16, 256 and 2048.
        decisions: number of decisions timed in each cell.
        envs: benchmarks.
    """

    budgets: tuple[int, ...] = (16, 64, 256, 1024, 2048)
    decisions: int = 50
    envs: tuple[str, ...] = tuple(benchmark.name for benchmark in BENCHMARKS)


FULL = Sizes()
QUICK = Sizes((16, 256), 5, ("FrozenLake", "SysAdminRing"))


def cost(name: str, algorithm: str, preset: str, budget: int, count: int, seed: int) -> dict[str, Any]:
    """Play some decisions, after one that is not counted, and measure them.

    Returns:
        One row of the table: the median time; means of new nodes, stored nodes, stored KiB, model steps, and inherited
        visits of the root over the simulations of a decision (over decisions that are not the first of their episode);
        and the paper's time and nodes, None where it has none.
    """
    env_id = f"GSP/{name}-v0"
    keeping = {"preset": "printed", "retention": "episode"} if preset == KEPT else {"preset": preset}
    recipe = make_recipe(algorithm, env_id=env_id, **keeping)

    def seeds(episode: int) -> tuple[int, NDArray[np.uint64]]:
        env_seed, agent_seed = episode_seeds(seed, env_id, episode)
        return env_seed, agent_stream(agent_seed, 0)

    # a decision's graph is measured before the next decision changes it
    played = [(one, stored_bytes(one.search)) for one in islice(decisions(name, recipe, budget, seeds), count + 1)]
    results, kibibytes = [one.result for one, _ in played[1:]], [size / 1024.0 for _, size in played[1:]]
    mean, published = statistics.fmean, published_costs().get((name, algorithm, budget), {})
    return {
        "environment": name,
        "algorithm": algorithm,
        "preset": preset,
        "n": budget,
        "ms": 1e3 * statistics.median(result.seconds for result in results),
        "published_ms": published.get("ms_per_decision"),
        "new_nodes": mean(result.nodes for result in results),
        "stored": mean(result.graph_size for result in results),
        "published_nodes": published.get("expanded_nodes"),
        "KiB": mean(kibibytes),
        "model_steps": mean(result.model_steps for result in results),
        "inherited": mean(one.result.inherited / budget for one, _ in played if one.elapsed),
    }


def run(sizes: Sizes, seed: int, progress: Callable[[str], None] = lambda words: None) -> Study:
    """Measure and summarise."""
    rows = []
    for name in sizes.envs:
        for budget in sizes.budgets:
            progress(f"{name}, {budget} simulations")
            rows += [cost(name, *planner, budget, sizes.decisions, seed) for planner in PLANNERS]
    return summarise(pd.DataFrame(rows), describe(seed, sizes))


def summarise(costs: pd.DataFrame, settings: str) -> Study:
    """Make the study from its measured rows."""
    costs = costs.assign(planner=costs["algorithm"] + ", " + costs["preset"])
    tree = costs[costs["planner"] == TREE].set_index(["environment", "n"])
    places = pd.MultiIndex.from_frame(costs[["environment", "n"]])
    for ratio, column in (("over_tree", "ms"), ("nodes_over_tree", "stored")):
        costs[ratio] = costs[column].to_numpy() / tree[column].loc[places].to_numpy()
    columns = ["environment", "algorithm", "preset", "n", "ms", "over_tree", "published_ms", "new_nodes", "stored"]
    columns += ["published_nodes", "KiB", "model_steps", "inherited"]
    order = [f"{algorithm}, {preset}" for algorithm, preset in PLANNERS]
    in_order = costs.sort_values("planner", key=lambda names: names.map(order.index), kind="stable")
    in_order = pd.concat([in_order[in_order["environment"] == name] for name in costs["environment"].unique()])
    digits = {"ms": 4, "over_tree": 2, "published_ms": 4, "model_steps": 0, "inherited": 3}
    digits |= dict.fromkeys(("new_nodes", "stored", "published_nodes", "KiB"), 1)
    notes = [
        "Per decision: the median of the time, the mean of the rest. Over tree: time over that of power-uct. Stored: "
        "nodes in the graph after a decision, which preset paper keeps for the episode; printed starts from an empty "
        "graph each time; kept is as printed, but the part below the new root stays.",
        "Inherited: visits that the root had before a decision, over the simulations of one. Where it is near 0, "
        "keeping the tree or graph did not help.",
        "Published: the paper's figures, from its machine. Its node counts do not follow from its Algorithm 1, in "
        "which every simulation that meets something new adds one node.",
    ]
    formats = {name: f"{{:,.{places}f}}".format for name, places in digits.items()}
    return Study(
        "overhead",
        QUESTION,
        tables=[Table("costs", "Cost of a decision", in_order[columns], formats, notes)],
        plots=list(plots(in_order)),
        findings=findings(costs[costs["n"] == costs["n"].max()], order[1:]),
        settings=settings,
    )


def plots(costs: pd.DataFrame) -> Iterator[Plot]:
    """Plot time, nodes and bytes of each environment against the budget."""
    for name, here in costs.groupby("environment", sort=False):
        for column, words, published in (
            ("ms", "milliseconds", "published_ms"),
            ("stored", "nodes", "published_nodes"),
        ):
            lines = here.pivot(index="n", columns="planner", values=column)[list(here["planner"].unique())]
            marks = here[here["preset"] == "printed"].pivot(index="n", columns="algorithm", values=published)
            named = {f"{algorithm}, published": f"{algorithm}, printed" for algorithm in marks}
            lines = lines.join(marks.astype(float).add_suffix(", published"))
            yield Plot(f"{name}: {words}", "simulations per decision", words, lines, published=named)
        kibibytes = here.pivot(index="n", columns="planner", values="KiB")[list(here["planner"].unique())]
        yield Plot(f"{name}: stored KiB", "simulations per decision", "KiB", kibibytes)


def findings(costs: pd.DataFrame, planners: list[str]) -> list[str]:
    """Compare each planner with the tree at the largest budget, over the environments."""
    said = []
    for planner in planners:
        here = costs[costs["planner"] == planner]
        said.append(
            f"{planner}, at {here['n'].iloc[0]:,} simulations: {span(here['over_tree'])} times the tree's time, "
            f"{span(here['nodes_over_tree'])} times its stored nodes."
        )
    return said


def span(values: pd.Series) -> str:
    """Write the smallest and the largest value."""
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"
