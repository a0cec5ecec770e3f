"""Sparse sampling against the recursion it is printed as."""

import numpy as np
import pytest
from naive_parts import Stream, random_table, table_step

import gymnasium_gsp as gsp
from gymnasium_gsp.exact import truncated_value
from gymnasium_gsp.search.search import Search

WORDS = [(1 << 61) + 5, 424242]


class Textbook:
    """EstimateQ and EstimateV of Kearns, Mansour and Ng; the root's actions in turn, ties of counts at random."""

    def __init__(self, table, width, depth, discount, steps=10**9):
        self.table, self.width, self.depth, self.discount, self.left = table, width, depth, discount, steps
        self.search, self.model = Stream(WORDS[0]), Stream(WORDS[1])

    def target(self, state, action, depth):
        self.left -= 1
        after, reward, ended = table_step(self.table, state, action, self.model.uniform())
        return reward + (0.0 if ended else self.discount * self.estimate_v(after, depth - 1))

    def estimate_v(self, state, depth):
        if depth == 0:
            return 0.0
        means = []
        for action in range(len(self.table[0])):
            targets = []
            while len(targets) < self.width and self.left > 0:
                targets.append(self.target(state, action, depth))
            if targets:
                means.append(sum(targets) / len(targets))
        return max(means, default=0.0)

    def plan(self, state, simulations):
        actions = len(self.table[0])
        targets = [[] for _ in range(actions)]
        while sum(map(len, targets)) < simulations and self.left > 0:
            action, ties = 0, 1
            for other in range(1, actions):
                if len(targets[other]) < len(targets[action]):
                    action, ties = other, 1
                elif len(targets[other]) == len(targets[action]):
                    ties += 1
                    action = other if self.search.below(ties) == 0 else action
            targets[action].append(self.target(state, action, self.depth))
        return [sum(values) / len(values) if values else -np.inf for values in targets], list(map(len, targets))


@pytest.mark.parametrize("steps", [None, 1, 7, 50, 333])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 3), (3, 2), (1, 5)])
@pytest.mark.parametrize("seed", range(2))
def test_the_search_is_the_recursion(seed, width, depth, steps):
    table = random_table(seed)
    recipe = gsp.make_recipe("sparse-sampling", width=width, depth=depth, discount=0.9)
    search = Search(gsp.tabular_model(table), recipe, False)
    search.seed(np.array(WORDS, np.uint64))
    result = search.plan(search.model.cells(0), gsp.Budget(20, model_steps=steps))
    naive = Textbook(table, width, depth, 0.9, 10**9 if steps is None else steps)
    q, counts = naive.plan(0, 20)
    assert result.visit_counts.tolist() == counts
    np.testing.assert_allclose(result.q_values, q, rtol=0, atol=1e-12)
    assert result.model_steps == (10**9 if steps is None else steps) - naive.left
    assert result.action == int(np.argmax(q))
    assert search.rng[1] == naive.model.word


def test_a_wide_tree_gives_the_truncated_optimum():
    """Width 40 and 1,200 samples a root action at depth 3: within 5 % of the range of one reward times 3."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = gsp.tabular_model_from_arrays(rng.dirichlet(np.ones(6), (6, 2)), rng.random((6, 2)))
        recipe = gsp.make_recipe("sparse-sampling", width=40, discount=1.0)
        value = gsp.plan(model, 0, recipe, 2400, seed=seed).value
        assert abs(value - truncated_value(model, 0, 3)) < 0.05 * 3.0


def test_bad_recipes_are_refused_in_words():
    for slots, words in (
        ({"width": 0}, "width"),
        ({"width": 1.5}, "width"),
        ({"discount": 1.5}, "discount"),
        ({"depth": 0}, "depth"),
        ({"horizon": 3}, "depth=3"),
        ({"retention": "x"}, "decision"),
    ):
        with pytest.raises(gsp.RecipeError, match=words):
            gsp.make_recipe("sparse-sampling", **slots)
    recipe = gsp.make_recipe("sparse-sampling", width=3)
    assert eval(repr(recipe), vars(gsp.ingredients)) == recipe


@pytest.mark.parametrize("options", [{"width": 10**9}, {"depth": 40}])
def test_a_simulation_that_nothing_could_stop_is_refused(options):
    recipe = gsp.make_recipe("sparse-sampling", **options)
    model = gsp.tabular_model(random_table(3, states=5, actions=3))
    with pytest.raises(gsp.RecipeError, match="in which nothing can stop it"):
        gsp.plan(model, 0, recipe, 1, seed=0)
    assert gsp.plan(model, 0, recipe, gsp.Budget(model_steps=100), seed=0).model_steps == 100
