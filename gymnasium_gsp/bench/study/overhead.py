"""`gsp study overhead`: what a decision costs and inherits, tree against graph, beside the paper's table of overhead.

Times depend on the machine and on what else it does; nodes and bytes do not.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from gymnasium_gsp.agents.registry import make_recipe
from gymnasium_gsp.agents.seeding import agent_stream, episode_seeds
from gymnasium_gsp.bench.published import published_costs
from gymnasium_gsp.bench.report.table import Column, Table, fixed
from gymnasium_gsp.bench.study.outcome import Curve, Plot, Study
from gymnasium_gsp.bench.study.sizes import NAMES, Sizes
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.planners import bind
from gymnasium_gsp.search.store import MEMORY

QUESTION = "What does the graph cost per decision, in time, nodes and bytes, beside the tree?"
KEPT = "kept"  # as printed, but what lies below the new root is kept from one decision to the next
PLANNERS = (
    ("power-uct", "printed"),
    ("power-uct", KEPT),
    ("gs-power-uct", "printed"),
    ("gs-power-uct-f+", "printed"),
    ("gs-power-uct", "paper"),
    ("gs-power-uct-f+", "paper"),
)
ONE_CHUNK = 1 << 40
TREE = PLANNERS[0]


@dataclass(frozen=True)
class OverheadSizes(Sizes):
    """How much is measured.

    Attributes:
        budgets: simulations per decision; the paper has 16, 256 and 2048.
        decisions: how many are timed in each cell.
        envs: benchmarks.
    """

    budgets: tuple[int, ...] = (16, 64, 256, 1024, 2048)
    decisions: int = 50
    envs: tuple[str, ...] = NAMES


FULL = OverheadSizes()
QUICK = OverheadSizes((16, 256), 5, ("FrozenLake", "SysAdminRing"))


@dataclass(frozen=True)
class Cost:
    """One cell: an environment, a planner and a budget.

    Attributes:
        env, algorithm, preset, budget: where; the preset may also be `KEPT`.
        milliseconds: per decision, median.
        new_nodes: per decision, mean.
        graph_size: stored nodes after a decision, mean.
        bytes: of stored nodes, their places in the hash table and outcome edges after a decision, mean.
        model_steps: per decision, mean.
        inherited: visits of the root before a decision over the simulations of one, mean over decisions that are not
            the first of their episode.
        published_milliseconds, published_nodes: of the paper; None where it has none.
    """

    env: str
    algorithm: str
    preset: str
    budget: int
    milliseconds: float
    new_nodes: float
    graph_size: float
    bytes: float
    model_steps: float
    inherited: float
    published_milliseconds: float | None
    published_nodes: float | None

    @property
    def planner(self) -> str:
        """Algorithm and preset."""
        return f"{self.algorithm}, {self.preset}"


def cost(name: str, algorithm: str, preset: str, budget: int, decisions: int, seed: int) -> Cost:
    """Play so many decisions, over as many episodes as they take, and count; one more at the start is not counted."""
    core: Any = gym.make(f"GSP/{name}-v0").unwrapped
    keeping = {"preset": "printed", "retention": "episode"} if preset == KEPT else {"preset": preset}
    recipe = make_recipe(algorithm, env_id=f"GSP/{name}-v0", **keeping)
    results: list[Any] = []
    sizes: list[float] = []
    inherited: list[float] = []
    search: Any = None
    episode, over = -1, True
    while len(results) <= decisions:
        if over:
            episode += 1
            env_seed, agent_seed = episode_seeds(seed, f"GSP/{name}-v0", episode)
            core.reset(seed=env_seed)
            model = core.compiled_model()
            if search is None or search.model is not model:
                search = bind(model, recipe, True, None, MEMORY)
            search.begin_episode()
            search.seed(agent_stream(agent_seed, 0))
        state, search.chunk = core.clone_state(), ONE_CHUNK
        result = search.plan(
            model.cells(state.cells), Budget(simulations=budget), state.elapsed, core.horizon - state.elapsed
        )
        results.append(result)
        if state.elapsed:
            inherited.append(result.inherited / budget)
        sizes.append(stored_bytes(search))
        _, _, terminated, truncated, _ = core.step(result.action)
        over = terminated or truncated
    kept = results[1:]
    published = published_costs().get((name, algorithm, budget))
    return Cost(
        name,
        algorithm,
        preset,
        budget,
        1e3 * statistics.median(result.seconds for result in kept),
        statistics.fmean(result.nodes for result in kept),
        statistics.fmean(result.graph_size for result in kept),
        statistics.fmean(sizes[1:]),
        statistics.fmean(result.model_steps for result in kept),
        statistics.fmean(inherited),
        published.ms_per_decision if published else None,
        published.nodes_per_decision if published else None,
    )


def stored_bytes(search: Any) -> float:
    """Bytes of what a search has stored: rows, their share of the hash table, and outcome edges; not spare room."""
    row = 8 * int(search.program[at.STRIDE])
    table = search.store.table.nbytes / int(search.program[at.ROW_CAPACITY])
    return float(int(search.tally[at.NODES]) * (row + table) + int(search.tally[at.EDGES]) * 8 * at.EDGE_SIZE)


def run(sizes: OverheadSizes, seed: int, watch: Callable[[str], None] = lambda words: None) -> Study:
    """Measure the study."""
    found = []
    for name in sizes.envs:
        for budget in sizes.budgets:
            watch(f"{name}, {budget} simulations")
            found += [cost(name, *planner, budget, sizes.decisions, seed) for planner in PLANNERS]
    in_order = [one for name in sizes.envs for planner in PLANNERS for one in _cells(found, name, *planner)]
    rows = [_row(one, _tree(found, one)) for one in in_order]
    return Study(
        name="overhead",
        question=QUESTION,
        seed=seed,
        sizes=sizes.as_dict(),
        tables=[_table(rows)],
        plots=[*_plots(found, sizes.envs)],
        findings=_findings(found, sizes.budgets[-1]),
    )


def _cells(found: Sequence[Cost], env: str, algorithm: str, preset: str) -> list[Cost]:
    """The cells of a planner in an environment."""
    return [one for one in found if (one.env, one.algorithm, one.preset) == (env, algorithm, preset)]


def _tree(found: Sequence[Cost], one: Cost) -> Cost:
    """The tree's cell in the same environment at the same budget."""
    return next(cell for cell in _cells(found, one.env, *TREE) if cell.budget == one.budget)


def _row(one: Cost, tree: Cost) -> tuple[Any, ...]:
    return (
        *(one.env, one.algorithm, one.preset, one.budget, one.milliseconds, one.milliseconds / tree.milliseconds),
        *(one.published_milliseconds, one.new_nodes, one.graph_size, one.published_nodes, one.bytes / 1024.0),
        *(one.model_steps, one.inherited),
    )


def _table(rows: Sequence[tuple[Any, ...]]) -> Table:
    columns = [
        Column("environment", "env"),
        Column("algorithm", "algorithm"),
        Column("preset", "preset"),
        Column("n", "budget", number=True),
        Column("ms", "ms_per_decision", fixed(4), number=True),
        Column("over tree", "over_tree", fixed(2), number=True),
        Column("published ms", "published_ms", fixed(4), number=True),
        Column("new nodes", "new_nodes", fixed(1), number=True),
        Column("stored", "graph_size", fixed(1), number=True),
        Column("published nodes", "published_nodes", fixed(1), number=True),
        Column("KiB", "kibibytes", fixed(1), number=True),
        Column("model steps", "model_steps", fixed(0), number=True),
        Column("inherited", "inherited", fixed(3), number=True),
    ]
    notes = [
        "Per decision: the median of the time, the mean of the rest. Over tree: time over that of power-uct. Stored: "
        "nodes in the graph after a decision, which preset paper keeps for the episode; printed begins anew each time; "
        "kept is as printed, but what lies below the new root stays.",
        "Inherited: visits that the root had before a decision, over the simulations of one; where it is near 0, "
        "keeping the tree or graph was worth nothing.",
        "Published: the paper's figures, from its machine. Its node counts do not follow from its Algorithm 1, in "
        "which every simulation that meets something new adds one node.",
    ]
    return Table("costs", "Cost of a decision", columns, rows, notes, headers=4)


def _plots(found: Sequence[Cost], envs: Sequence[str]) -> list[Plot]:
    plots = []
    for name in envs:
        here = [one for one in found if one.env == name]
        plots.append(Plot(f"{name}: time", "simulations per decision", "milliseconds", _curves(here, "milliseconds")))
        plots.append(Plot(f"{name}: stored nodes", "simulations per decision", "nodes", _curves(here, "graph_size")))
        plots.append(Plot(f"{name}: stored bytes", "simulations per decision", "bytes", _curves(here, "bytes")))
    return plots


def _curves(here: Sequence[Cost], what: str) -> list[Curve]:
    published = {"milliseconds": "published_milliseconds", "graph_size": "published_nodes"}.get(what)
    curves = []
    for number, (algorithm, preset) in enumerate(PLANNERS):
        cells = _cells(here, here[0].env, algorithm, preset)
        curves.append(
            Curve(cells[0].planner, [one.budget for one in cells], [getattr(one, what) for one in cells], number)
        )
        known = [(one.budget, getattr(one, published)) for one in cells] if published and preset == "printed" else []
        theirs = [(budget, value) for budget, value in known if value is not None]
        if theirs:
            budgets, values = zip(*theirs, strict=True)
            curves.append(Curve(f"{algorithm}, published", budgets, values, number, "published"))
    return curves


def _findings(found: Sequence[Cost], budget: int) -> list[str]:
    said = []
    for algorithm, preset in PLANNERS[1:]:
        cells = [one for one in found if (one.algorithm, one.preset, one.budget) == (algorithm, preset, budget)]
        trees = [_tree(found, one) for one in cells]
        slower = [one.milliseconds / tree.milliseconds for one, tree in zip(cells, trees, strict=True)]
        nodes = [one.graph_size / tree.graph_size for one, tree in zip(cells, trees, strict=True)]
        said.append(
            f"{algorithm}, {preset}, at {budget:,} simulations: {_span(slower)} times the tree's time, {_span(nodes)} "
            "times its stored nodes."
        )
    return said


def _span(values: Sequence[float]) -> str:
    """The smallest and the largest of some ratios."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
