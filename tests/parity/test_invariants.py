"""What holds of every graph, whatever the recipe: counts add up, values are within bounds, memory is kept to."""

import numpy as np
import pytest
from naive_bridge import STATE_IN, assert_same_graph, compiled_graph
from naive_parts import Stream, random_table, table_step

from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.ingredients import AdaptiveHorizon, Budget, PowerMean, Recipe, Sweep
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.search import Search

TABLE = random_table(41, states=12, actions=3, ends=1, rewards=(0.0, 1.0))
KEYS = ("path", "state_elapsed", "state")
HORIZON = 12
GIVEN = [(expansion, estimator) for expansion in ("leaf", "path") for estimator in ("running", "current")]


def seeded(recipe, seed=1, table=TABLE, **options):
    search = Search(tabular_model(table), recipe, True, **options)
    search.seed(np.array([seed, seed + 1], np.uint64))
    return search


def root_key(search):
    keys = list(compiled_graph(search))
    return keys[int(search.tally.root)]


def assert_counts_add_up(search, roots, whole=True):
    """Edges sum to N(s,a), N(s,a) to N(s), and what flows into a node to its visits.

    Args:
        search: with its graph.
        roots: how many simulations began at each key.
        whole: whether the graph is one decision's, so that all that ever flowed in is there to see.
    """
    graph, leaf = compiled_graph(search), search.recipe.expansion == "leaf"
    inflow = dict(roots)
    for name, node in graph.items():
        assert [sum(times for times, _ in outcomes.values()) for outcomes in node.outcomes] == node.n
        assert all(n > 0 or q == 0.0 for n, q in zip(node.n, node.q, strict=True))
        for child, (times, _) in ((child, sums) for outcomes in node.outcomes for child, sums in outcomes.items()):
            inflow[child] = inflow.get(child, 0) + times
        # The visits that chose no action: the one that made the node a leaf, and those at the horizon.
        others = node.visits - sum(node.n)
        evaluated = int(leaf and name not in roots)
        if search.recipe.key == "state_elapsed" and name[1] < HORIZON:
            assert others == evaluated or (name in roots and others in (0, 1)), name
        elif search.recipe.key == "state_elapsed":
            assert sum(node.n) == 0
        assert others >= evaluated, name
    assert not whole or all(inflow[name] == node.visits for name, node in graph.items())


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("expansion", "estimator"), GIVEN)
def test_counts_add_up(key, expansion, estimator):
    for seed in range(5):
        table = random_table(seed, states=7, actions=3, rewards=(0.0, 1.0))
        recipe = Recipe(key=key, expansion=expansion, estimator=estimator, decision=Sweep())
        search = seeded(recipe, seed, table)
        result = search.plan(search.model.cells(0), Budget(80), 0, HORIZON)
        assert_counts_add_up(search, {root_key(search): 80})
        if key != "state":  # else the root is also met later, and at the horizon
            assert result.visit_counts.sum() == 80


@pytest.mark.parametrize("key", ["path", "state_elapsed"])
@pytest.mark.parametrize(("expansion", "estimator"), GIVEN)
def test_values_are_averages_of_what_can_happen(key, expansion, estimator):
    # Not so for state keys: shared by depths, a value feeds on itself around a cycle.
    for p in (1.0, 2.5, np.inf):
        recipe = Recipe(key=key, expansion=expansion, estimator=estimator, backup=PowerMean(p), decision=Sweep())
        search = seeded(recipe)
        result = search.plan(search.model.cells(0), Budget(200), 0, HORIZON)
        assert 0.0 <= result.value <= HORIZON
        for name, node in compiled_graph(search).items():
            depth = name[1] if key == "state_elapsed" else len(name) // 2
            assert 0.0 <= node.value <= (HORIZON - depth) * (1.0 + 1e-12)
            tried = [q for q, n in zip(node.q, node.n, strict=True) if n]
            if tried:
                assert min(tried) * (1.0 - 1e-12) <= node.value <= max(tried) * (1.0 + 1e-12)


def play(search):
    """An episode; yields each decision's result, its root state and the elapsed steps."""
    world, state = Stream(9), 0
    for elapsed in range(HORIZON):
        result = search.plan(search.model.cells(state), Budget(40), elapsed, HORIZON - elapsed)
        yield result, state, elapsed
        state, _, ended = table_step(TABLE, state, result.action, world.uniform())
        if ended:
            return


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("expansion", "estimator"), GIVEN)
@pytest.mark.parametrize("cap", [1, 5, 30, 60])
def test_an_episode_under_a_cap_stays_under_it(key, expansion, estimator, cap):
    recipe = Recipe(key=key, expansion=expansion, estimator=estimator, retention="episode", decision=Sweep())
    search = seeded(recipe, max_nodes=cap)
    roots = {}
    for result, state, elapsed in play(search):
        assert result.graph_size <= cap
        assert result.simulations == 40
        assert len(compiled_graph(search)) == result.graph_size
        root = root_key(search)
        assert STATE_IN[key](root) == state
        if key == "state_elapsed":
            assert root == (state, elapsed)
            roots[root] = 40
            assert_counts_add_up(search, roots, whole=False)


def reachable(graph, root):
    """The keys that the root reaches over outcomes."""
    found = [root]
    for name in found:
        for outcomes in graph[name].outcomes:
            found += [child for child in outcomes if child in graph and child not in found]
    return found


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("expansion", "estimator"), GIVEN)
def test_dropping_the_past_keeps_the_future(key, expansion, estimator):
    recipe = Recipe(key=key, expansion=expansion, estimator=estimator, retention="episode", decision=Sweep())
    untouched, dropping = seeded(recipe), seeded(recipe)
    sizes = []
    for (expected, _, elapsed), (found, *_) in zip(play(untouched), play(dropping), strict=True):
        if key != "state":  # a state that the root does not reach now may be met again by another outcome
            assert (found.action, found.value) == (expected.action, expected.value)
            assert found.q_values.tolist() == expected.q_values.tolist()
        before, root = compiled_graph(dropping), root_key(dropping)
        dropping.store.drop_past()
        after, kept = compiled_graph(dropping), dict(before)
        sizes.append(len(before) - len(after))
        if key == "path":
            # Names begin at the root now.
            kept = {name[len(root) - 1 :]: node for name, node in before.items() if name[: len(root)] == root}
            for node in kept.values():
                node.outcomes = [
                    {child if isinstance(child, str) else child[len(root) - 1 :]: sums for child, sums in edges.items()}
                    for edges in node.outcomes
                ]
        elif key == "state_elapsed":
            kept = {name: node for name, node in before.items() if name[1] >= elapsed}
        else:
            kept = {name: before[name] for name in reachable(before, root)}
        assert root_key(dropping) == (root if key != "path" else root[-1:])
        assert_same_graph(after, kept, 0.0)
    if key != "state":
        assert sum(sizes) > 0


@pytest.mark.parametrize("key", KEYS)
def test_a_full_graph_is_kept_where_the_root_is_in_it(key):
    table = random_table(42, states=30, actions=3, ends=0, rewards=(0.0, 1.0))
    cap = 10 if key == "state" else 20  # ten steps reach 12 states
    search = seeded(Recipe(key=key, retention="episode"), table=table, max_nodes=cap)
    first = search.plan(search.model.cells(0), Budget(100), 0, 10)
    assert first.graph_size == cap
    again = search.plan(search.model.cells(0), Budget(10), 0, 10, same_root=True)
    assert again.visit_counts.sum() >= first.visit_counts.sum() + 10


def test_a_graph_that_is_not_full_is_not_at_its_cap():
    table = random_table(43, states=5, actions=3, ends=0, rewards=(0.0, 1.0))
    search = seeded(Recipe(key="state"), table=table, max_nodes=60)
    result = search.plan(search.model.cells(0), Budget(100), 0, 100)
    assert result.graph_size <= 5
    assert not result.at_cap


def test_a_kept_graph_with_an_end_that_moves_is_refused():
    recipe = Recipe(key="state_elapsed", retention="episode", horizon=AdaptiveHorizon(), discount=0.9)
    with pytest.raises(RecipeError, match="end is fixed"):
        recipe.settled(True)
