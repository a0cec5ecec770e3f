"""Leaves that wait to be valued together, against the textbook and against a search that waits for none."""

import math

import numpy as np
import pytest
from naive_bridge import assert_same_decision, assert_same_graph, compiled_graph, settings_of
from naive_parts import Stream, random_table, table_step
from naive_waiting import WaitingTextbook

from gymnasium_gsp.ingredients import (
    PUCT,
    UCB1,
    Budget,
    FixedHorizon,
    GumbelHalving,
    ImprovedPolicy,
    PolynomialBonus,
    PowerMean,
    PriorFunction,
    Recipe,
    Rollout,
    Sweep,
    ValueFunction,
)
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.search import Search

TABLES = [
    random_table(71, states=7, actions=5, rewards=(-1.0, 1.0)),
    random_table(72, states=9, actions=2, outcomes=2, ends=2, rewards=(0.0, 1.0)),
    random_table(73, states=40, actions=4, rewards=(0.0, 1.0)),
]
SLOTS = [
    {"key": "path", "target": "return", "backup": PowerMean(1.0)},
    {"key": "path", "recommendation": "most_visits", "horizon": FixedHorizon(3)},
    {"key": "state_elapsed", "estimator": "current", "retention": "episode", "decision": Sweep()},
    {"key": "state", "discount": 0.9},
]
PUCT_ROOT = {"selection": PUCT(0.7, "raw")}
GUMBEL = {"selection": ImprovedPolicy(20.0, 0.3), "root_allocation": GumbelHalving(16, 0.5, 20.0, 0.3)}


def values(states):
    return [math.sin(3.0 * state) for state in states]


def weights(states):
    return [[1.0 + (state * action) % 3 for action in range(5)] for state in states]


def recipe_of(slots, actions, batch=None, prior=True):
    """A recipe with functions of several states at once, or of one where there is no batch."""
    several = batch is not None
    functions = {"evaluation": ValueFunction(values if several else lambda state: values([state])[0])}
    if prior:

        def batched(states):
            return np.array(weights(states))[:, :actions]

        functions["prior"] = PriorFunction(batched if several else lambda state: batched([state])[0])
    return Recipe(**{"discount": 0.95, **slots, **functions, "leaf_batch": batch})


def bound(recipe, table, words, **options):
    """A search over a table, whose states are their own observations."""
    search = Search(tabular_model(table), recipe, True, observe=lambda cells: cells[0], **options)
    search.seed(np.array(words, np.uint64))
    return search


@pytest.mark.parametrize("budget", [Budget(60), Budget(80, model_steps=150), Budget(60, nodes=25)], ids=str)
@pytest.mark.parametrize("batch", [1, 3, 32])
@pytest.mark.parametrize("kind", ["ucb1", "puct", "gumbel"])
@pytest.mark.parametrize("slots", SLOTS, ids=str)
def test_it_is_the_textbook_search(slots, kind, batch, budget):
    """Two decisions of an episode: graph, decision, and where both streams end."""
    chosen = {"ucb1": {"selection": UCB1()}, "puct": PUCT_ROOT, "gumbel": GUMBEL}[kind]
    if kind == "gumbel" and (budget != Budget(60) or "recommendation" in slots):
        pytest.skip("the textbook's Gumbel root counts simulations, and decides by itself")
    for number, table in enumerate(TABLES):
        actions = len(table[0])
        recipe = recipe_of({**slots, **chosen}, actions, batch, prior=kind != "ucb1")
        search = bound(recipe, table, (number, 4))
        plain = recipe.changed(prior=None, root_allocation=None, leaf_batch=None, evaluation=Rollout())
        plain = plain.changed(selection=UCB1() if kind == "ucb1" else PolynomialBonus())
        options = {
            "ucb1": {"guided": False},
            "puct": {"c": 0.7, "scaled": False},
            "gumbel": {"considered": 16, "noise": 0.5, "c_visit": 20.0, "c_scale": 0.3},
        }[kind]
        textbook = WaitingTextbook(
            table,
            settings_of(plain, True, tabular_model(table).reward_bounds[0]),
            (number, 4),
            prior=lambda state, actions=actions: weights([state])[0][:actions],
            value=values,
            batch=batch,
            **options,
        )
        world, state = Stream(7), 0
        for elapsed in range(2):
            result = search.plan(search.model.cells(state), budget, elapsed, 6 - elapsed)
            limits = {"steps": budget.model_steps or math.inf, "nodes": budget.nodes or math.inf}
            wanted = textbook.decide(state, budget.simulations, elapsed, 6 - elapsed, **limits)
            assert_same_graph(compiled_graph(search), textbook.nodes, 1e-12)
            assert_same_decision(result, wanted, 1e-12)
            assert search.rng.tolist() == [textbook.search_stream.word, textbook.model_stream.word]
            state, _, ended = table_step(table, state, result.action, world.uniform())
            if ended:
                break


def answers(search, state=0, budget=200):
    """What two decisions say, without the time they took."""
    said = []
    for elapsed in range(2):
        result = search.plan(search.model.cells(state), Budget(budget), elapsed, 8 - elapsed)
        said.append([result.action, result.value, result.q_values.tolist(), result.visit_counts.tolist(), result.nodes])
    return said


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("chosen", [{"selection": UCB1()}, PUCT_ROOT, GUMBEL], ids=["ucb1", "puct", "gumbel"])
@pytest.mark.parametrize("slots", SLOTS, ids=str)
def test_a_batch_of_one_is_no_batch(slots, chosen, capped):
    """To the last bit, with a cap on nodes, too."""
    if "recommendation" in slots and chosen is GUMBEL:
        pytest.skip("a Gumbel root decides by itself")
    for number, table in enumerate(TABLES):
        said = [
            answers(
                bound(
                    recipe_of({**slots, **chosen}, len(table[0]), batch, prior=chosen in (PUCT_ROOT, GUMBEL)),
                    table,
                    (number, 1),
                    max_nodes=30 if capped else None,
                )
            )
            for batch in (None, 1)
        ]
        assert said[0] == said[1]


@pytest.mark.parametrize("slots", SLOTS, ids=str)
def test_neither_growth_nor_chunks_change_a_batch(slots):
    recipe = recipe_of({**slots, **PUCT_ROOT}, 4, 16)
    said = [answers(bound(recipe, TABLES[2], (1, 2), first_rows=rows)) for rows in (4, 4096)]
    assert said[0] == said[1]
    slow = bound(recipe, TABLES[2], (1, 2))
    slow._adapt_chunk = lambda *measured: None  # one simulation a chunk
    assert answers(slow) == said[0]


def test_where_nothing_is_random_waiting_leaves_no_trace():
    """Each action of the root is worth its reward and the value behind it, however many simulations wait."""
    table = random_table(74, states=9, actions=5, outcomes=1, ends=0, rewards=(0.0, 1.0))
    exact = []
    for action in range(5):
        after, reward, _ = table_step(table, 0, action, 0.5)
        exact.append(reward + 0.95 * values([after])[0])
    slots = {"key": "state", "horizon": FixedHorizon(1), "selection": UCB1()}
    for batch in (2, 7, 32):
        search = bound(recipe_of(slots, 5, batch, prior=False), table, (1, 2))
        result = search.plan(np.zeros(1, np.int64), Budget(50), 0, 9)
        assert result.q_values.tolist() == pytest.approx(exact, abs=1e-12)
        assert result.visit_counts.sum() == 50
