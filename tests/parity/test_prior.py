"""The compiled search with a prior against the textbook one, number by number; and what a prior must do."""

import math
import random

import gymnasium as gym
import numpy as np
import pytest
from naive_bridge import assert_same_decision, assert_same_graph, compiled_graph, settings_of
from naive_parts import Stream, random_table, table_step
from naive_prior import PriorTextbook

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import (
    PUCT,
    UCB1,
    Budget,
    Cautious,
    Constant,
    GumbelHalving,
    ImprovedPolicy,
    PolynomialBonus,
    PriorFunction,
    Recipe,
    Sweep,
)
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.search import Search

TABLES = [
    random_table(61, states=7, actions=5, rewards=(-1.0, 1.0)),
    random_table(62, states=9, actions=2, outcomes=2, ends=2, rewards=(0.0, 1.0)),
    random_table(63, states=5, actions=4, rewards=(0.0, 1.0), steps=3),
]
UNIFORM, DRAWN, SPARSE = "uniform", "drawn", "with zeros"


def weights_of(kind, actions):
    """A function of a state that returns weights."""

    def weights(state):
        rng = random.Random(1000 * state + actions)
        drawn = [rng.random() + 0.01 for _ in range(actions)]
        if kind == UNIFORM:
            return [1.0] * actions
        return drawn if kind == DRAWN else [0.0, *drawn[1:]]

    return weights


def play(table, recipe, prior, budget, words, left, **options):
    """Two decisions of one episode by both searches, which must agree.

    Exponentials and logarithms are the two languages' own, so values may differ in the last bits.
    """
    model, timed = tabular_model(table), left is not None
    search = Search(model, recipe.changed(prior=PriorFunction(prior)), timed, observe=lambda cells: cells[0])
    search.seed(np.array(words, np.uint64))
    plain = recipe.changed(selection=PolynomialBonus(), root_allocation=None)
    settings = settings_of(plain, timed, model.reward_bounds[0])
    textbook = PriorTextbook(table, settings, words, prior=prior, **options)
    world, state = Stream(7), 0
    for elapsed in range(2):
        steps_left = None if left is None else left - elapsed
        result = search.plan(model.cells(state), Budget(budget), elapsed, steps_left)
        wanted = textbook.decide(state, budget, elapsed, steps_left)
        assert_same_graph(compiled_graph(search), textbook.nodes, 1e-12)
        assert_same_decision(result, wanted, 1e-12)
        assert search.rng.tolist() == [textbook.search_stream.word, textbook.model_stream.word]
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            break


SLOTS = [
    {"key": "path", "target": "return"},
    {"key": "path", "recommendation": "most_visits"},
    {"key": "state_elapsed", "estimator": "current", "retention": "episode", "decision": Sweep()},
    {"key": "state", "discount": 0.9, "expansion": "path"},
    {"key": "path", "evaluation": Constant(0.25), "decision": Sweep(Cautious(0.3))},
]


@pytest.mark.parametrize("slots", SLOTS, ids=str)
@pytest.mark.parametrize("kind", [UNIFORM, DRAWN, SPARSE])
def test_puct(kind, slots):
    for number, table in enumerate(TABLES):
        for left in (None, 6) if slots.get("retention") is None else (6,):
            selection = PUCT(0.7, "raw") if number else PUCT()
            recipe = Recipe(**{"discount": 0.95, **slots, "selection": selection})
            prior = weights_of(kind, len(table[0]))
            play(table, recipe, prior, 60, (3, number), left, c=selection.c, scaled=selection.scale == "range")


@pytest.mark.parametrize("slots", [one for one in SLOTS if "recommendation" not in one], ids=str)
@pytest.mark.parametrize("kind", [UNIFORM, DRAWN, SPARSE])
def test_gumbel(kind, slots):
    for number, table in enumerate(TABLES):
        for considered, noise, budget in ((16, 0.0, 60), (3, 1.0, 61), (1, 0.5, 20), (16, 0.0, 2)):
            halving = GumbelHalving(considered, noise, 20.0, 0.3)
            recipe = Recipe(**{"discount": 0.95, **slots}, selection=ImprovedPolicy(20.0, 0.3), root_allocation=halving)
            options = {"considered": considered, "noise": noise, "c_visit": 20.0, "c_scale": 0.3}
            play(table, recipe, weights_of(kind, len(table[0])), budget, (number, 5), 6, **options)


def test_the_improved_policy_also_serves_the_root():
    recipe = Recipe(key="path", discount=0.95, selection=ImprovedPolicy())
    for number, table in enumerate(TABLES):
        play(table, recipe, weights_of(DRAWN, len(table[0])), 60, (number, 9), 6)


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_without_a_prior_it_is_uniform(name):
    """To the last bit, masks included."""
    env = gym.make("GSP/Sailing-v0", size=6)
    observation, info = env.reset(seed=3)
    actions = env.action_space.n
    answers = [
        gsp.make_agent(env, name, budget=200, seed=5, **options).plan(observation, info)
        for options in ({}, {"prior": lambda seen: np.full(actions, 0.25)})
    ]
    assert answers[0].q_values.tolist() == answers[1].q_values.tolist()
    assert answers[0].visit_counts.tolist() == answers[1].visit_counts.tolist()


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_the_prior_says_where_to_search(name):
    """An action without prior is never tried; one that has nearly all of it is tried first."""
    table = TABLES[0]
    weights = [0.001, 0.97, 0.001, 0.0, 0.028]
    result = gsp.plan(tabular_model(table), 0, name, 60, seed=1, steps_left=4, prior=lambda state: weights)
    assert result.visit_counts[3] == 0
    first = gsp.plan(tabular_model(table), 0, "puct", 1, seed=1, steps_left=4, prior=lambda state: weights)
    assert first.visit_counts.tolist() == [0, 1, 0, 0, 0]


def test_gumbel_draws_without_replacement_by_the_prior():
    """Claim: the first of the drawn actions has the prior's law.  400 draws, chi-square, false alarm 1e-6."""
    weights, draws = np.array([0.5, 0.25, 0.15, 0.1, 0.0]), 400
    recipe = gsp.make_recipe("gumbel", considered=1).changed(prior=PriorFunction(lambda state: weights))
    model, counts = tabular_model(TABLES[0]), np.zeros(5)
    for seed in range(draws):
        counts += gsp.plan(model, 0, recipe, 1, seed=seed, steps_left=2).visit_counts
    assert counts[4] == 0
    distance = ((counts[:4] - draws * weights[:4]) ** 2 / (draws * weights[:4])).sum()
    assert distance < 30.67  # of 3 degrees of freedom


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_the_prior_is_asked_once_for_a_node(name):
    asked = []

    def prior(state):
        asked.append(state)
        return [1.0] * 5

    result = gsp.plan(tabular_model(TABLES[0]), 0, name, 80, seed=2, steps_left=5, prior=prior)
    assert 1 < len(asked) <= result.graph_size


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_a_compiled_prior_is_the_same(name):
    def compiled(params, context, state, weights):
        for action in range(context.actions):
            weights[action] = params[0] + ((state[0] + action) % 3)
        return 1

    def python(state):
        return [0.5 + (state + action) % 3 for action in range(5)]

    model = tabular_model(TABLES[0])
    priors = (gsp.ingredients.Custom(compiled, (0.5,)), python)
    answers = [gsp.plan(model, 0, name, 90, seed=4, steps_left=5, prior=prior) for prior in priors]
    assert answers[0].q_values.tolist() == answers[1].q_values.tolist()


def silent(params, context, state, weights):
    return 0


def negative(params, context, state, weights):
    for action in range(context.actions):
        weights[action] = 1.0 - action
    return 1


def no_number(params, context, state, weights):
    for action in range(context.actions):
        weights[action] = math.nan
    return 1


def raises(params, context, state, weights):
    if state[0] == 0:
        raise ValueError("no prior")
    return 1


@pytest.mark.parametrize("function", [silent, negative, no_number, raises])
def test_a_compiled_prior_that_makes_no_sense(function):
    words = (
        "ingredient raised" if function is raises else r"prior of state \(0,\) must be a finite number of at least 0"
    )
    with pytest.raises(gsp.PlanningError, match=words):
        gsp.plan(tabular_model(TABLES[0]), 0, "puct", 9, prior=gsp.ingredients.Custom(function))


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ({"prior": silent}, r"nothing in this recipe reads a prior: use the algorithm puct"),
        ({"root_allocation": GumbelHalving(), "root_selection": UCB1()}, "GumbelHalving chooses the root's actions"),
        ({"root_allocation": GumbelHalving(), "recommendation": "most_visits"}, "leave root_selection, recommendation"),
        ({"prior": UCB1(), "selection": PUCT()}, "prior was given UCB1.* takes prior"),
    ],
)
def test_slots_that_do_not_fit(slots, words):
    with pytest.raises(gsp.RecipeError, match=words):
        Recipe(**slots)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PUCT(-1.0), "c must be a finite number of at least 0"),
        (lambda: ImprovedPolicy(c_scale=math.nan), "c_scale must be a finite number"),
        (lambda: GumbelHalving(0), "considered must be a whole number of at least 1"),
        (lambda: GumbelHalving(noise=-0.1), "noise must be a finite number of at least 0"),
    ],
)
def test_numbers_that_make_no_sense(make, words):
    with pytest.raises(gsp.RecipeError, match=words):
        make()
