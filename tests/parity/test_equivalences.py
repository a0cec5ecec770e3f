"""Recipes and models that are the same thing by theory give the same numbers, and what may not matter does not."""

import itertools

import numpy as np
import pytest
from naive_bridge import STATE_IN, assert_same_graph, compiled_graph
from naive_parts import Stream, random_table, table_step

from gymnasium_gsp.abi import RUNNING, TERMINATED
from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.ingredients import (
    Budget,
    Cautious,
    Custom,
    PolynomialBonus,
    PowerMean,
    Recipe,
    SearchValues,
    Sweep,
    inf,
)
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.graph import LAST_GENERATION
from gymnasium_gsp.search.search import Search

TABLE = random_table(21, states=8, actions=3, rewards=(0.0, 1.0), steps=5)


def result_of(result):
    """Everything that a result says, but for the time it took."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(result).items()
        if name != "seconds"
    }


def episode(model, table, recipe, budget=60, left=9, decisions=4, prepare=None, on_progress=None, **search_options):
    """Results of some decisions of an episode, and the search after the last."""
    search = Search(model, recipe, left is not None, **search_options)
    search.seed(np.array([5, 6], np.uint64))
    world, state, results = Stream(7), 0, []
    for elapsed in range(decisions):
        if prepare is not None:
            prepare(search)
        steps_left = None if left is None else left - elapsed
        result = search.plan(model.cells(state), Budget(budget), elapsed, steps_left, on_progress=on_progress)
        results.append(result_of(result))
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            break
    return results, search


def some_recipes(**slots):
    """Recipes over the choices that change what is stored, each with an id."""
    decisions = {"searched": SearchValues(), "swept": Sweep(), "cautious": Sweep(Cautious(0.3))}
    choices = itertools.product(("running", "current"), ("leaf", "path"), ("decision", "episode"), decisions)
    return [
        pytest.param(
            Recipe(
                **{
                    "estimator": estimator,
                    "expansion": expansion,
                    "retention": retention,
                    "decision": decisions[decision],
                    **slots,
                }
            ),
            id=f"{estimator}-{expansion}-{retention}-{decision}",
        )
        for estimator, expansion, retention, decision in choices
    ]


def tree_table(seed, depth=4):
    """A process in which every state has one way to it: two actions with two outcomes each; the leaves end it."""
    plain = random_table(seed, states=4**depth, actions=2, ends=0, rewards=(0.0, 1.0))
    inner = sum(4**level for level in range(depth))
    table = {}
    for state in range(inner):
        table[state] = {}
        for action in (0, 1):
            first = 4 * state + 1 + 2 * action
            share, reward = plain[state][action][0][0] * 0.8 + 0.1, plain[state][action][0][2]
            table[state][action] = [
                (share, first, reward, first >= inner),
                (1.0 - share, first + 1, reward / 2, first >= inner),
            ]
    for state in range(inner, inner + 4**depth):
        table[state] = {action: [(1.0, state, 0.0, True)] for action in (0, 1)}
    return table


def renamed(graph, rename):
    """The same graph with other names for its keys."""
    for view in graph.values():
        if view.outcomes is not None:
            view.outcomes = [
                {rename(child) if child in graph else child: sums for child, sums in outcomes.items()}
                for outcomes in view.outcomes
            ]
    return {rename(key): view for key, view in graph.items()}


@pytest.mark.parametrize("recipe", some_recipes())
def test_on_a_tree_all_keys_are_one(recipe):
    # Every state has one depth and one path to it, so that nothing is merged.
    table = tree_table(31)
    model = tabular_model(table)
    for p in (1.0, 2.5, inf):
        expected, tree = None, None
        for key, state_in in STATE_IN.items():
            results, search = episode(model, table, recipe.changed(key=key, backup=PowerMean(p)))
            graph = renamed(compiled_graph(search), state_in)
            if tree is None:
                expected, tree = results, graph
            assert results == expected
            assert_same_graph(graph, tree, 0.0)


def mean_of_values(params, context, visits, q, counts, variance, value, target):
    total, count = 0.0, 0
    for a in range(context.actions):
        total += counts[a] * q[a]
        count += counts[a]
    return total / count


def largest_of_values(params, context, visits, q, counts, variance, value, target):
    top = -np.inf
    for a in range(context.actions):
        if counts[a] > 0:
            top = max(top, q[a])
    return top


@pytest.mark.parametrize(("p", "backup"), [(1.0, mean_of_values), (inf, largest_of_values)])
@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
def test_the_extreme_powers_are_the_mean_and_the_maximum(p, backup, key):
    model = tabular_model(TABLE)
    for estimator in ("running", "current"):
        recipe = Recipe(key=key, estimator=estimator, retention="episode", decision=Sweep())
        named, search = episode(model, TABLE, recipe.changed(backup=PowerMean(p)))
        own, other = episode(model, TABLE, recipe.changed(backup=Custom(backup)))
        assert own == named
        assert_same_graph(compiled_graph(other), compiled_graph(search), 0.0)


def move_without_draws(params, state, action, rng, reward):
    """The rules of a process of one outcome each, from a list of next state, reward and status per action."""
    at = 3 * (state[0] * int(params[0]) + action) + 1
    state[0] = int(params[at])
    reward[0] = params[at + 1]
    return int(params[at + 2])


@pytest.mark.parametrize("recipe", some_recipes(selection=PolynomialBonus(1.0)))
def test_chance_of_one_outcome_is_none(recipe):
    table = random_table(22, states=12, actions=3, outcomes=1, rewards=(0.0, 1.0), steps=5)
    rules = [3.0]
    for state in table:
        for action in table[state]:
            [(_, after, reward, ended)] = table[state][action]
            rules += [after, reward, TERMINATED if ended else RUNNING]
    chance, none = tabular_model(table), CompiledModel(move_without_draws, actions=3, params=rules)
    for key in ("path", "state_elapsed", "state"):
        first, search = episode(chance, table, recipe.changed(key=key))
        second, other = episode(none, table, recipe.changed(key=key))
        assert second == first
        assert_same_graph(compiled_graph(other), compiled_graph(search), 0.0)


@pytest.mark.parametrize("preset", ["paper", "printed"])
@pytest.mark.parametrize("env", ["FrozenLake", "PassengerGrid", "FactoredRiverSwim", "SysAdminRing", "FourRooms"])
def test_f_and_f_plus_are_one_planner_without_discount(preset, env):
    f, f_plus = (
        make_recipe(name, preset=preset, env_id=f"GSP/{env}-v0") for name in ("gs-power-uct-f", "gs-power-uct-f+")
    )
    assert f != f_plus  # the horizons have different names
    model = tabular_model(TABLE)
    (first, search), (second, other) = episode(model, TABLE, f), episode(model, TABLE, f_plus)
    assert second == first
    assert_same_graph(compiled_graph(other), compiled_graph(search), 0.0)


@pytest.mark.parametrize("recipe", some_recipes())
def test_sizes_chunks_and_reports_change_nothing(recipe):
    model = tabular_model(TABLE)
    seen = []

    def chunks_of(size):
        def prepare(search):
            search.pace.chunk, search.pace.observe_chunk = size, lambda *measured: None

        return prepare

    ways = [{}, {"first_rows": 1}, {"first_rows": 3}, {"first_rows": 4096}, {"max_nodes": 100_000}]
    ways += [{"prepare": chunks_of(size)} for size in (1, 7, 1000)] + [{"on_progress": lambda done: seen.append(done)}]
    for key in ("path", "state_elapsed", "state"):
        expected, search = episode(model, TABLE, recipe.changed(key=key), budget=300)
        graph = compiled_graph(search)
        for way in ways:
            results, other = episode(model, TABLE, recipe.changed(key=key), budget=300, **way)
            assert results == expected, way
            assert_same_graph(compiled_graph(other), graph, 0.0)
    assert all(0 < progress.simulations < 300 for progress in seen)
    assert seen


@pytest.mark.parametrize("decision", [Sweep(every=20), Sweep(Cautious(0.3), every=20)])
@pytest.mark.parametrize("expansion", ["leaf", "path"])
@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
def test_to_sweep_every_20_simulations_is_to_decide_as_often(key, expansion, decision):
    """One decision of 100 simulations is the last of five of 20 at the same root, which keep their graph."""
    recipe = Recipe(
        key=key, expansion=expansion, estimator="current", discount=0.9, retention="episode", decision=decision
    )
    swept, split = (Search(tabular_model(TABLE), recipe, True) for _ in range(2))
    for search in (swept, split):
        search.seed(np.array([5, 6], np.uint64))
    found = swept.plan(np.array([0]), Budget(100), 0, 9)
    for part in range(5):
        expected = split.plan(np.array([0]), Budget(20), 0, 9, same_root=part > 0)
    assert swept.rng.tolist() == split.rng.tolist()
    assert (found.action, found.value) == (expected.action, expected.value)
    assert found.q_values.tolist() == expected.q_values.tolist()
    assert found.visit_counts.tolist() == expected.visit_counts.tolist()


@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
def test_tables_are_cleared_where_generations_end(key):
    recipe, model = Recipe(key=key, expansion="path"), tabular_model(TABLE)
    assert recipe.retention == "decision"  # every decision is a generation

    def near_the_end(search):
        if search.tally.generation == 2:
            search.tally.generation = LAST_GENERATION - 1

    results, search = episode(model, TABLE, recipe, decisions=4, prepare=near_the_end)
    assert len(results) == 4
    assert search.tally.generation == 2  # from 1 to 2, to the last, and from 1 to 2 again
    assert results == episode(model, TABLE, recipe, decisions=4)[0]


def test_a_report_can_stop_the_search():
    model = tabular_model(TABLE)
    search = Search(model, Recipe(), True)
    search.seed(np.array([5, 6], np.uint64))
    result = search.plan(model.cells(0), Budget(10_000), 0, 9, on_progress=lambda done: done.simulations >= 7)
    assert result.stopped_by == "callback"
    assert 7 <= result.simulations < 10_000
