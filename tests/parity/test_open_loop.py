"""OLOP and KL-OLOP against the enumeration of all sequences."""

import itertools
import math

import numpy as np
import pytest
from naive_olop import Olop
from naive_parts import random_table

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import FixedHorizon, RewardBound
from gymnasium_gsp.search.search import Search

WORDS = [(1 << 62) + 99, 1234567]


def both(seed, kl, trajectories=60, discount=0.8, length=4, **options):
    """The compiled search after its decision, its result, and the oracle before its own."""
    table = random_table(seed, states=6, actions=2, rewards=(0.0, 1.0))
    model = gsp.tabular_model(table)
    model = gsp.CompiledModel(model.step_pointer, 2, params=model.params, reward_bounds=(0.0, 1.0))
    recipe = gsp.make_recipe("kl-olop" if kl else "olop", discount=discount, horizon=FixedHorizon(length))
    search = Search(model, recipe, False, **options)
    search.seed(np.array(WORDS, np.uint64))
    result = search.plan(model.cells(0), gsp.Budget(trajectories))
    return search, result, Olop(table, discount, length, trajectories, kl, WORDS)


@pytest.mark.parametrize("kl", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_is_the_enumeration(kl, seed):
    """60 trajectories of 4 steps: counts, mean returns, streams; each sequence played has the largest B-value."""
    search, result, naive = both(seed, kl)
    everything = list(itertools.product(naive.actions, repeat=naive.length))
    for _ in range(60):
        before = {sequence: naive.b_value(sequence) for sequence in everything}
        played = naive.trajectory(0)
        assert before[played] >= max(before.values()) - 1e-9
    assert result.visit_counts.tolist() == [naive.n.get((action,), 0) for action in naive.actions]
    np.testing.assert_allclose(result.q_values, [naive.returns[action] for action in naive.actions], atol=1e-12)
    most = [action for action in naive.actions if naive.n[action,] == max(naive.n[a,] for a in naive.actions)]
    assert result.action in most
    assert result.q_values[result.action] == max(result.q_values[action] for action in most)
    assert search.rng[1] == naive.model.word


@pytest.mark.parametrize("name", ["olop", "kl-olop"])
def test_the_budget_in_steps_is_split(name):
    """500 steps at 0.8 are 55 trajectories of 9, and one of the 5 that are over."""
    rng = np.random.default_rng(0)
    model = gsp.tabular_model_from_arrays(rng.dirichlet(np.ones(5), (5, 3)), rng.random((5, 3)))
    result = gsp.plan(model, 0, gsp.make_recipe(name, discount=0.8), gsp.Budget(model_steps=500), seed=0)
    assert (result.simulations, result.model_steps) == (56, 500)


def test_thresholds():
    assert RewardBound().threshold(100) == pytest.approx(2.0 * math.log(100))
    assert RewardBound("kl").threshold(100) == pytest.approx(2.0 * math.log(100) + 2.0 * math.log(math.log(100)))
    assert RewardBound("kl").threshold(1) == RewardBound().threshold(1) == 0.0


@pytest.mark.parametrize("name", ["olop", "kl-olop"])
def test_a_sequence_that_pays_is_found(name):
    """Of the 16 sequences of four steps one pays, at its end; nothing is random, and its first action is played."""
    path = [1, 0, 0, 1]

    def outcome(state, action):
        right = action == path[state]
        return [(1.0, state + 1 if right else 5, float(right and state == 3), False)]

    table = [[outcome(state, action) for action in range(2)] for state in range(4)]
    table += [[[(1.0, 5, 0.0, False)]] * 2, [[(1.0, 5, 0.0, False)]] * 2]
    recipe = gsp.make_recipe(name, discount=0.9, horizon=FixedHorizon(4))
    results = [gsp.plan(gsp.tabular_model(table), 0, recipe, 400, seed=seed) for seed in range(5)]
    assert [result.action for result in results] == [1] * 5


def test_bad_recipes_are_refused_in_words():
    for slots, words in (
        ({"discount": 1.0}, "below 1"),
        ({"bound": "kll"}, "kl"),
        ({"horizon": 4}, "FixedHorizon"),
        ({"retention": "x"}, "decision"),
    ):
        with pytest.raises(gsp.RecipeError, match=words):
            gsp.make_recipe("olop", **slots)
    for recipe in (gsp.make_recipe("olop"), gsp.make_recipe("kl-olop")):
        assert eval(repr(recipe), vars(gsp.ingredients)) == recipe


def test_results_do_not_depend_on_the_starting_size():
    small, large = (both(1, True, 300, first_rows=rows)[1] for rows in (2, 4096))
    assert (small.q_values == large.q_values).all()
    assert (small.visit_counts == large.visit_counts).all()


def test_the_tree_lives_while_nothing_happens():
    search, first, _ = both(0, True)
    assert search.plan(np.zeros(1, np.int64), gsp.Budget(10), same_root=True).visit_counts.sum() == 10
    search.recipe = search.recipe.changed(retention="episode")
    assert search.plan(np.zeros(1, np.int64), gsp.Budget(10), same_root=True).visit_counts.sum() == 20
    assert search.plan(np.zeros(1, np.int64), gsp.Budget(10)).visit_counts.sum() == 10
    assert first.visit_counts.sum() == 60
