"""MENTS, RENTS and TENTS as searches: the compiled graph against a textbook one, shared nodes, cycles, sweeps."""

import numpy as np
import pytest
from naive_bridge import assert_same_graph, compiled_graph
from naive_entropy import SoftTextbook, soft
from naive_parts import random_table, total

import gymnasium_gsp as gsp
from gymnasium_gsp import make_recipe
from gymnasium_gsp.abi.context import CONTEXT_SIZE
from gymnasium_gsp.ingredients import Budget, Sweep
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.search import Search

NAMES = ("ments", "rents", "tents")


def compare(table, recipe, simulations, words, left=6, discount=1.0):
    """Search once by both, see that the graphs agree, and return them."""
    recipe = recipe.changed(discount=discount)
    model = tabular_model(table)
    search = Search(model, recipe, True)
    search.seed(np.array(words, np.uint64))
    result = search.plan(model.cells(0), Budget(simulations), 0, left)
    textbook = SoftTextbook(table, recipe, words, left)
    wanted = textbook.decide(0, simulations, 0, left)
    assert_same_graph(compiled_graph(search), textbook.nodes, 1e-9)
    assert (result.action, result.visit_counts.tolist()) == (wanted.action, wanted.counts)
    return result, textbook


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
@pytest.mark.parametrize("estimator", ["running", "current"])
@pytest.mark.parametrize("expansion", ["leaf", "path"])
def test_the_compiled_graph_is_the_textbooks(name, key, estimator, expansion):
    for seed, options in enumerate(({"scale": "raw"}, {"temperature": 0.3}, {"per_action": False, "epsilon": 0.1})):
        table = random_table(20 + seed, states=6, actions=3, rewards=(-1.0, 1.0))
        recipe = make_recipe(name, key=key, estimator=estimator, expansion=expansion, **options)
        compare(table, recipe, 150, (seed, 8), discount=0.9 if seed else 1.0)


def test_two_parents_give_one_node_two_references():
    """A diamond: state 1 prefers action 0, state 2 prefers action 1, and both lead to state 3."""
    over = [(1.0, 4, 0.0, True)]
    table = {
        0: {a: [(1.0, 1 + a, 0.0, False)] for a in (0, 1)},
        1: {a: [(1.0, 3, 20.0 - 20.0 * a, False)] for a in (0, 1)},
        2: {a: [(1.0, 3, 20.0 * a, False)] for a in (0, 1)},
        3: {a: [(1.0, 4, 1.0 - a, True)] for a in (0, 1)},
        4: {0: over, 1: over},
    }
    recipe = make_recipe("rents", key="state_elapsed", scale="raw", temperature=0.5)
    values = set()
    for simulations in range(40, 60):
        _, textbook = compare(table, recipe, simulations, (3, 4), left=3)
        values.add(round(textbook.nodes[(3, 2)].value, 2))
    references = {reference for key, reference in textbook.references_met if key == (3, 2) and reference}
    assert {(1.0, 0.0), (0.0, 1.0)} <= references
    # The parent's policy is all on one action, so V(3) is that action's value: 1 by way of state 1, 0 by way of 2.
    assert values == {1.0, 0.0}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("estimator", ["running", "current"])
def test_cycles_of_state_keys_do_not_diverge_at_discount_1(name, estimator):
    """Two states, to and fro without reward for as long as one likes; the best that can come is a prize of 1."""
    table = {
        0: {a: [(1.0, a, 0.0, False)] for a in (0, 1)} | {2: [(1.0, 2, 1.0, True)]},
        1: {a: [(1.0, a, 0.0, False)] for a in (0, 1)} | {2: [(1.0, 2, -1.0, True)]},
        2: {a: [(1.0, 2, 0.0, True)] for a in (0, 1, 2)},
    }
    options = {"key": "state", "discount": 1.0, "scale": "raw", "temperature": 0.5, "estimator": estimator}
    model = tabular_model(table)
    recipe = make_recipe(name, expansion="path", **options)
    result = gsp.plan(model, 0, recipe, 3000, seed=1, steps_left=100)
    assert -1.0 <= result.value <= 1.0 + 1e-9
    assert np.all(result.q_values <= 1.0 + 1e-9)
    if name != "rents":
        textbook_operator = gsp.plan(
            model, 0, make_recipe(name, expansion="path", non_expansive=False, **options), 3000, seed=1, steps_left=100
        )
        assert textbook_operator.value > 2.0


def regularised_value(kind, t, table, state, left):
    """Backward induction with the regularised maximum; 0 where nothing is left."""
    if left == 0:
        return 0.0
    q = [
        total(
            p * (r + (0.0 if over else regularised_value(kind, t, table, after, left - 1))) for p, after, r, over in law
        )
        for law in table[state].values()
    ]
    return soft(kind, t, q, [1] * len(q))[0]


@pytest.mark.parametrize(("name", "kind"), [("ments", "shannon"), ("tents", "tsallis")])
@pytest.mark.parametrize("key", ["path", "state_elapsed"])
def test_the_root_tends_to_the_regularised_value(name, kind, key):
    """Claim: on trees and on graphs, within 2 % of the range of returns at 2**16 simulations, 3 steps."""
    for seed in range(4):
        table = random_table(70 + seed, states=6, actions=3, ends=0, rewards=(0.0, 1.0))
        recipe = make_recipe(name, key=key, scale="raw", temperature=0.2)
        result = gsp.plan(tabular_model(table), 0, recipe, 2**16, seed=seed, steps_left=3)
        assert abs(result.value - regularised_value(kind, 0.2, table, 0, 3)) < 0.02 * 3.0


@pytest.mark.parametrize("key", ["path", "state_elapsed"])
def test_a_sweep_follows_no_trajectory(key):
    """What the last trajectory left in the notes is no reference for a sweep, whose references are uniform."""
    model = tabular_model(random_table(31, states=6, actions=3))
    recipe = make_recipe("rents", key=key, scale="raw", temperature=0.5, decision=Sweep())
    search = Search(model, recipe, True)
    search.seed(np.array([1, 2], np.uint64))
    search.plan(model.cells(0), Budget(200), 0, 4)
    values = [value for _, value in sorted(swept(search).items(), key=str)]
    cells = search.store.arrays.context.base
    cells[CONTEXT_SIZE:] = 0.7
    assert [value for _, value in sorted(swept(search).items(), key=str)] == values
    graph = compiled_graph(search)
    node = graph[(0,) if key == "path" else (0, 0)]
    assert node.value == pytest.approx(soft("relative", 0.5, node.q, node.n)[0], rel=1e-12)


def swept(search):
    """Values of all nodes after one more sweep."""
    search._result(0.0, "simulations")
    return {key: node.value for key, node in compiled_graph(search).items()}
