"""The sample-sharing identity of the Theorem on sample sharing: `python -m benchmarks.study sharing`.

At depth h, mean visits per node of the graph / mean visits per node of the unrolled tree = 1 / tau_h, where tau_h is
the number of graph nodes over that of tree nodes.  The search logs its trajectories.  The graph's visits are those that
the search stored; the tree's are counted from the log, a node being the whole sequence that led to it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import pandas as pd

from benchmarks.searches import FreshSearch
from benchmarks.study.result import Plot, Study, Table, describe
from benchmarks.study.trajectories import Step, clear, read, recorded
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.envs import BENCHMARKS

QUESTION = "Does a node of the graph have 1 / tau_h times the visits of a node of the tree?"


@dataclass(frozen=True)
class Sizes:
    """Sizes of the study.

    Attributes:
        budgets: simulations of the recorded searches.
        envs: benchmarks.
    """

    budgets: tuple[int, ...] = (16, 64, 256, 1024, 2048)
    envs: tuple[str, ...] = tuple(benchmark.name for benchmark in BENCHMARKS)


FULL = Sizes()
QUICK = Sizes((16, 128), ("FactoredRiverSwim", "FourRooms"))


def tree_visits(trajectories: Sequence[Sequence[Step]], key_size: int) -> dict[int, list[int]]:
    """Count the visits of every node of the unrolled tree by depth; a node is the whole sequence that led to it."""
    numbers: dict[tuple[Any, ...], int] = {}
    visits: dict[int, Counter[int]] = {0: Counter({-1: len(trajectories)})}
    for steps in trajectories:
        node = -1
        for depth, (_, action, after) in enumerate(steps):
            if after is None:
                break
            node = numbers.setdefault((node, action, after[:key_size]), len(numbers))
            visits.setdefault(depth + 1, Counter())[node] += 1
    return {depth: list(counted.values()) for depth, counted in visits.items()}


def graph_visits(trajectories: Sequence[Sequence[Step]], key_size: int) -> dict[int, Counter[tuple[int, ...]]]:
    """Count the visits of every (state, depth) in the log, by depth and key."""
    visits: dict[int, Counter[tuple[int, ...]]] = {}
    for steps in trajectories:
        visits.setdefault(0, Counter())[steps[0][0][:key_size]] += 1
        for depth, (_, _, after) in enumerate(steps):
            if after is not None:
                visits.setdefault(depth + 1, Counter())[after[:key_size]] += 1
    return visits


def measure(name: str, budgets: Sequence[int], seed: int) -> pd.DataFrame:
    """Count all depths of searches from a benchmark's start, with GS-Power-UCT as in the published tables."""
    env: Any = gym.make(f"GSP/{name}-v0")
    env_seed, agent_seed = episode_seeds(seed, f"GSP/{name}-v0", 0)
    env.reset(seed=env_seed)
    core = env.unwrapped
    model = recorded(core.compiled_model(), budgets[-1] * core.horizon)
    recipe = make_recipe("gs-power-uct", preset="paper", env_id=f"GSP/{name}-v0")
    search = FreshSearch(model, recipe, core.horizon, core.clone_state().cells)
    frames = []
    for budget in budgets:
        clear(model)
        search.plan(budget, agent_seed)
        counted = count_depths(search.nodes(), read(model, core.horizon), int(model.key_size or 0))
        frames.append(counted.assign(environment=name, n=budget))
    env.close()
    found = pd.concat(frames, ignore_index=True)
    return found[["environment", "n", *found.columns.drop(["environment", "n"])]]


def count_depths(
    nodes: Sequence[dict[str, Any]], trajectories: Sequence[Sequence[Step]], key_size: int
) -> pd.DataFrame:
    """Count nodes and visits of graph and tree at each depth.

    Returns:
        One row a depth: nodes and visits of both; tau = graph nodes / tree nodes; gain = mean visits per graph node /
        mean visits per tree node; whether the gain is exactly 1 / tau; whether the log has the stored visits.
    """
    stored: dict[int, Counter[tuple[int, ...]]] = {}
    for node in nodes:
        stored.setdefault(node["tag"], Counter())[node["key"]] = node["visits"]
    tree, logged = tree_visits(trajectories, key_size), graph_visits(trajectories, key_size)
    rows = []
    for depth in sorted(tree):
        graph = stored.get(depth, Counter())
        rows.append((depth, len(graph), len(tree[depth]), graph.total(), sum(tree[depth]), graph == logged[depth]))
    found = pd.DataFrame(
        rows, columns=["depth", "graph_nodes", "tree_nodes", "graph_visits", "tree_visits", "log = store"]
    )
    found["tau"] = found["graph_nodes"] / found["tree_nodes"]
    found["1 / tau"] = found["tree_nodes"] / found["graph_nodes"]
    found["gain"] = (found["graph_visits"] / found["graph_nodes"]) / (found["tree_visits"] / found["tree_nodes"])
    # (g / G) / (t / T) = T / G holds exactly where g = t
    found["exact"] = found["graph_visits"] == found["tree_visits"]
    return found


def run(sizes: Sizes, seed: int, progress: Callable[[str], None] = lambda words: None) -> Study:
    """Measure and summarise."""
    frames = []
    for name in sizes.envs:
        progress(name)
        frames.append(measure(name, sizes.budgets, seed))
    depths = pd.concat(frames, ignore_index=True)
    totals = sum_depths(depths)
    largest = depths[depths["n"] == sizes.budgets[-1]]
    last = largest.groupby("environment")["depth"].transform("max")
    some = largest[(largest["depth"] & (largest["depth"] - 1) == 0) | (largest["depth"] == last)]
    note = "Gain: mean visits per graph node over mean visits per tree node. Exact: whether it is 1 / tau_h."
    totals_note = (
        "Exact: number of depths at which mean visits per graph node (as stored) over mean visits per tree node (from "
        "the log) is exactly 1 / tau_h. Log = store: number of depths at which the log gives the stored visits."
    )
    formats = {"tau": "{:.4g}".format}
    return Study(
        "sharing",
        QUESTION,
        tables=[
            Table("totals", "Nodes of the graph and of the unrolled tree", totals, notes=[totals_note]),
            Table("depths", "Some depths, at the largest budget", some, formats, [note]),
            Table("all-depths", "Every depth", depths, on_page=False),
        ],
        plots=[
            Plot(
                f"Gain by depth, n = {sizes.budgets[-1]:,}",
                "depth h",
                "visits per node, graph / tree",
                largest.pivot(index="depth", columns="environment", values="gain")[list(sizes.envs)],
                log="y",
            ),
            Plot(
                "All depths together",
                "simulations n",
                "tree nodes / graph nodes",
                totals.pivot(index="n", columns="environment", values="tree / graph")[list(sizes.envs)],
            ),
        ],
        findings=findings(totals, sizes.budgets[-1]),
        settings=describe(seed, sizes),
    )


def sum_depths(depths: pd.DataFrame) -> pd.DataFrame:
    """Sum nodes and agreement over the depths of each search."""
    totals = depths.groupby(["environment", "n"], sort=False, as_index=False).agg(
        graph_nodes=("graph_nodes", "sum"),
        tree_nodes=("tree_nodes", "sum"),
        largest=("gain", "max"),
        depths=("depth", "size"),
        exact=("exact", "sum"),
        agreed=("log = store", "sum"),
    )
    totals.insert(4, "tree / graph", totals["tree_nodes"] / totals["graph_nodes"])
    return totals.rename(columns={"largest": "most 1 / tau", "agreed": "log = store"})


def findings(totals: pd.DataFrame, budget: int) -> list[str]:
    """Count the depths where the identity holds, and compare the nodes at the largest budget."""
    sums = totals[["depths", "exact", "log = store"]].sum()
    said = [
        f"The identity holds exactly at {sums['exact']:,} of {sums['depths']:,} depths; log and store agree at "
        f"{sums['log = store']:,}."
    ]
    for row in totals[totals["n"] == budget].to_dict("records"):
        said.append(
            f"{row['environment']}, n = {budget:,}: {row['graph_nodes']:,} graph nodes for {row['tree_nodes']:,} of "
            f"the tree, {row['tree / graph']:.1f} times fewer; the largest 1 / tau_h is {row['most 1 / tau']:,.1f}."
        )
    return said
