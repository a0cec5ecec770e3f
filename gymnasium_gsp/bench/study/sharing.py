"""`gsp study sharing`: the sample-sharing identity of the Theorem on sample sharing.

At depth h, mean visits per node of the graph / mean visits per node of the unrolled tree = 1 / tau_h, where tau_h is
the number of graph nodes over that of tree nodes.  The search writes its trajectories into a log.  The graph's visits
are what the search stored; the tree's are counted from the log by everything that led to a node.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gymnasium as gym

from gymnasium_gsp.agents.registry import make_recipe
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.report.table import Column, Table
from gymnasium_gsp.bench.study.fresh_search import FreshSearch
from gymnasium_gsp.bench.study.outcome import Curve, Plot, Study
from gymnasium_gsp.bench.study.sizes import NAMES, Sizes
from gymnasium_gsp.bench.study.trajectories import Step, clear, read, recorded

QUESTION = "Does a node of the graph have 1 / tau_h times the visits of a node of the tree?"


@dataclass(frozen=True)
class SharingSizes(Sizes):
    """How much is measured.

    Attributes:
        budgets: simulations of the recorded searches.
        envs: benchmarks.
    """

    budgets: tuple[int, ...] = (16, 64, 256, 1024, 2048)
    envs: tuple[str, ...] = NAMES


FULL = SharingSizes()
QUICK = SharingSizes((16, 128), ("FactoredRiverSwim", "FourRooms"))


@dataclass(frozen=True)
class Depth:
    """What was counted at one depth of one search.

    Attributes:
        env, budget, depth: where.
        graph_nodes, graph_visits: of the graph, as the search stored them.
        tree_nodes, tree_visits: of the unrolled tree, from the log.
        agreed: whether the log, counted by (state, depth), has the very visits that the search stored.
    """

    env: str
    budget: int
    depth: int
    graph_nodes: int
    graph_visits: int
    tree_nodes: int
    tree_visits: int
    agreed: bool

    @property
    def tau(self) -> Fraction:
        """tau_h: graph nodes over tree nodes."""
        return Fraction(self.graph_nodes, self.tree_nodes)

    @property
    def gain(self) -> Fraction:
        """Mean visits per graph node over mean visits per tree node."""
        return Fraction(self.graph_visits, self.graph_nodes) / Fraction(self.tree_visits, self.tree_nodes)


def tree_visits(trajectories: Sequence[Sequence[Step]], key_size: int) -> dict[int, list[int]]:
    """Visits of every node of the unrolled tree, by depth; a node is everything that led there."""
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
    """Visits of every (state, depth) in the log, by depth and key."""
    visits: dict[int, Counter[tuple[int, ...]]] = {}
    for steps in trajectories:
        visits.setdefault(0, Counter())[steps[0][0][:key_size]] += 1
        for depth, (_, _, after) in enumerate(steps):
            if after is not None:
                visits.setdefault(depth + 1, Counter())[after[:key_size]] += 1
    return visits


def depths(name: str, budgets: Sequence[int], seed: int) -> list[Depth]:
    """Count a benchmark's start at each budget, all depths, with GS-Power-UCT as the published tables come out."""
    env: Any = gym.make(f"GSP/{name}-v0")
    env_seed, agent_seed = episode_seeds(seed, f"GSP/{name}-v0", 0)
    env.reset(seed=env_seed)
    core = env.unwrapped
    model = recorded(core.compiled_model(), budgets[-1] * core.horizon)
    recipe = make_recipe("gs-power-uct", preset="paper", env_id=f"GSP/{name}-v0")
    search = FreshSearch(model, recipe, core.horizon, core.clone_state().cells)
    found = []
    for budget in budgets:
        clear(model)
        search.plan(budget, agent_seed)
        trajectories = read(model, core.horizon)
        found += _counted(name, budget, search.nodes(), trajectories, int(model.key_size or 0))
    env.close()
    return found


def _counted(
    name: str, budget: int, nodes: Sequence[dict[str, Any]], trajectories: Sequence[Sequence[Step]], key_size: int
) -> list[Depth]:
    stored: dict[int, Counter[tuple[int, ...]]] = {}
    for node in nodes:
        stored.setdefault(node["tag"], Counter())[node["key"]] = node["visits"]
    alone, logged = tree_visits(trajectories, key_size), graph_visits(trajectories, key_size)
    return [
        Depth(
            name,
            budget,
            depth,
            len(stored.get(depth, ())),
            sum(stored.get(depth, Counter()).values()),
            len(alone[depth]),
            sum(alone[depth]),
            stored.get(depth) == logged[depth],
        )
        for depth in sorted(alone)
    ]


def run(sizes: SharingSizes, seed: int, watch: Callable[[str], None] = lambda words: None) -> Study:
    """Measure the study."""
    found: list[Depth] = []
    for name in sizes.envs:
        watch(name)
        found += depths(name, sizes.budgets, seed)
    totals = [_total(found, name, budget) for name in sizes.envs for budget in sizes.budgets]
    largest = [depth for depth in found if depth.budget == sizes.budgets[-1]]
    return Study(
        name="sharing",
        question=QUESTION,
        seed=seed,
        sizes=sizes.as_dict(),
        tables=[_totals_table(totals), _depth_table("depths", "Some depths, at the largest budget", _some(largest))],
        data=[_depth_table("all-depths", "Every depth", found)],
        plots=[_depth_plot(largest, sizes.envs), _budget_plot(totals, sizes.envs)],
        findings=_findings(found, totals, sizes),
    )


def _total(found: Sequence[Depth], name: str, budget: int) -> tuple[Any, ...]:
    here = [depth for depth in found if (depth.env, depth.budget) == (name, budget)]
    graph, tree = sum(depth.graph_nodes for depth in here), sum(depth.tree_nodes for depth in here)
    identical = sum(depth.gain == 1 / depth.tau for depth in here)
    agreed = sum(depth.agreed for depth in here)
    most = max(float(depth.gain) for depth in here)
    return name, budget, graph, tree, tree / graph, most, len(here), identical, agreed


def _totals_table(rows: Sequence[tuple[Any, ...]]) -> Table:
    columns = [
        Column("environment", "env"),
        Column("n", "budget", number=True),
        Column("graph nodes", "graph_nodes", number=True),
        Column("tree nodes", "tree_nodes", number=True),
        Column("tree / graph", "ratio", number=True),
        Column("most 1 / tau", "most", number=True),
        Column("depths", "depths", number=True),
        Column("exact", "identical", number=True),
        Column("log = store", "agreed", number=True),
    ]
    note = (
        "Exact: at how many depths mean visits per graph node (as stored) over mean visits per tree node (from the "
        "log) is 1 / tau_h as a fraction of whole numbers. Log = store: at how many the log gives the stored visits."
    )
    return Table("totals", "Nodes of the graph and of the unrolled tree", columns, rows, [note], headers=2)


def _some(found: Sequence[Depth]) -> list[Depth]:
    """Depths 0, 1, 2, 4, 8, ... and the last of each environment."""
    last = {depth.env: depth.depth for depth in found}
    return [depth for depth in found if depth.depth & (depth.depth - 1) == 0 or depth.depth == last[depth.env]]


def _depth_table(name: str, title: str, found: Sequence[Depth]) -> Table:
    columns = [
        Column("environment", "env"),
        Column("n", "budget", number=True),
        Column("depth", "depth", number=True),
        Column("graph nodes", "graph_nodes", number=True),
        Column("tree nodes", "tree_nodes", number=True),
        Column("visits, graph", "graph_visits", number=True),
        Column("visits, tree", "tree_visits", number=True),
        Column("tau_h", "tau", lambda value: f"{value:.4g}", number=True),
        Column("1 / tau_h", "inverse", number=True),
        Column("gain", "gain", number=True),
        Column("exact", "exact"),
    ]
    rows = [
        (
            *(one.env, one.budget, one.depth, one.graph_nodes, one.tree_nodes, one.graph_visits, one.tree_visits),
            *(float(one.tau), float(1 / one.tau), float(one.gain), one.gain == 1 / one.tau),
        )
        for one in found
    ]
    note = "Gain: mean visits per graph node over mean visits per tree node. Exact: whether it is 1 / tau_h."
    return Table(name, title, columns, rows, [note], headers=3)


def _depth_plot(found: Sequence[Depth], envs: Sequence[str]) -> Plot:
    curves = []
    for number, name in enumerate(envs):
        here = [depth for depth in found if depth.env == name]
        gains = [float(depth.gain) for depth in here]
        curves.append(Curve(name, [depth.depth for depth in here], gains, number))
    title = f"Gain by depth, n = {found[0].budget:,}"
    return Plot(title, "depth h", "visits per node, graph / tree", curves, "linear", "log")


def _budget_plot(rows: Sequence[tuple[Any, ...]], envs: Sequence[str]) -> Plot:
    curves = []
    for number, name in enumerate(envs):
        here = [row for row in rows if row[0] == name]
        curves.append(Curve(name, [row[1] for row in here], [row[4] for row in here], number))
    return Plot("All depths together", "simulations n", "tree nodes / graph nodes", curves, "log", "log")


def _findings(found: Sequence[Depth], totals: Sequence[tuple[Any, ...]], sizes: SharingSizes) -> list[str]:
    exact, agreed = sum(one.gain == 1 / one.tau for one in found), sum(one.agreed for one in found)
    said = [f"The identity holds exactly at {exact:,} of {len(found):,} depths; log and store agree at {agreed:,}."]
    for name, budget, graph, tree, ratio, most, *_ in totals:
        if budget == sizes.budgets[-1]:
            said.append(
                f"{name}, n = {budget:,}: {graph:,} graph nodes for {tree:,} of the tree, {ratio:.1f} times fewer; "
                f"the largest 1 / tau_h is {most:,.1f}."
            )
    return said
