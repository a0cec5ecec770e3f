"""The slot `optimism`: what a recipe with bounds takes and refuses."""

import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.ingredients import (
    UCB1,
    Cautious,
    Constant,
    GreedySimulations,
    ImaginedOutcomes,
    KullbackLeibler,
    PairedScenarios,
    PowerMean,
    Propagation,
    Recipe,
    RewardBound,
    SearchValues,
    Sweep,
)

GIVEN = {"key": "state", "discount": 0.9, "optimism": KullbackLeibler()}


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        ({"selection": UCB1()}, "selection means nothing to a recipe with optimism"),
        ({"root_selection": UCB1()}, "root_selection means nothing"),
        ({"target": "return"}, "target means nothing"),
        ({"backup": PowerMean(1.0)}, "backup means nothing"),
        ({"estimator": "current"}, "estimator means nothing"),
        ({"evaluation": Constant(1.0)}, "evaluation means nothing"),
        ({"decision": Sweep()}, "decision means nothing"),
        ({"keep_variance": True}, "keep_variance means nothing"),
        ({"key": "path"}, "by key='state' or key='actions', not by 'path'"),
        ({"key": None}, "not by None"),
        ({"discount": 1.0}, "need a discount"),
        ({"discount": None}, "need a discount"),
        ({"discount": "from_horizon"}, "belongs to a recipe with optimism=ImaginedOutcomes"),
        ({"optimism": PowerMean()}, "optimism was given PowerMean"),
        ({"optimism": "kl"}, "optimism was given 'kl'"),
        ({"propagation": 0.1}, "propagation was given 0.1; allowed is a value of one of: Propagation"),
        ({"propagation": Propagation(0.01), "optimism": None}, "propagation belongs to a recipe with optimism"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(slots, words):
    with pytest.raises(gsp.RecipeError, match=words):
        Recipe(**{**GIVEN, **slots})


LEARNED = {"key": "state", "discount": 0.9, "optimism": ImaginedOutcomes(), "decision": Sweep(Cautious(), passes=3)}


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        (
            {"optimism": KullbackLeibler(), "decision": SearchValues(), "root_allocation": PairedScenarios()},
            "PairedScenarios belongs to a recipe with optimism",
        ),
        (
            {"optimism": None, "discount": 1.0, "decision": Sweep(), "root_allocation": PairedScenarios()},
            "PairedScenarios belongs to a recipe with optimism",
        ),
        ({"optimism": None}, "a sweep of 3 passes belongs to a recipe with optimism=ImaginedOutcomes"),
        ({"optimism": KullbackLeibler()}, "a sweep of 3 passes|decision means nothing"),
        ({"key": "actions"}, 'give key="state" and decision=Sweep'),
        ({"key": "state_elapsed"}, 'give key="state" and decision=Sweep'),
        ({"decision": SearchValues()}, 'give key="state" and decision=Sweep'),
        ({"discount": 1.0}, "discount must be at least 0 and below 1"),
        ({"discount": "1 - 1/H"}, "discount"),
        (
            {"optimism": KullbackLeibler(), "decision": SearchValues(), "greedy_simulations": GreedySimulations()},
            "greedy_simulations belong to a recipe with optimism",
        ),
        ({"greedy_simulations": 2}, "greedy_simulations was given 2; allowed is a value of one of: GreedySimulations"),
        ({"root_allocation": 1}, "root_allocation was given 1; allowed is a value of one of: PairedScenarios"),
        ({"evaluation": Constant(1.0)}, "evaluation means nothing"),
    ],
)
def test_what_does_not_fit_learned_values_is_refused_in_words(slots, words):
    with pytest.raises(gsp.RecipeError, match=words):
        Recipe(**{**LEARNED, **slots})


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (lambda: ImaginedOutcomes(weight=0.0), "weight must be above 0"),
        (lambda: ImaginedOutcomes(weight=-1.0), "weight"),
        (lambda: ImaginedOutcomes(margin=-0.5), "margin"),
        (lambda: ImaginedOutcomes(floor=float("nan")), "floor"),
        (lambda: ImaginedOutcomes(patience=0.0), "patience must be a finite number of at least 1"),
        (lambda: Propagation(0.01, backups=0), "backups"),
        (lambda: Propagation(0.01, backups=1.5), "backups"),
        (lambda: Propagation(0.0), "accuracy must be above 0"),
        (lambda: Sweep(passes=0), "passes"),
        (lambda: GreedySimulations(every=1), "every must be a whole number of at least 2"),
        (lambda: GreedySimulations(after=-1), "after"),
        (lambda: PairedScenarios(novelty=1.5), "novelty"),
        (lambda: PairedScenarios(known=-0.1), "known"),
        (lambda: PairedScenarios(evidence=-0.1), "evidence"),
        (lambda: PairedScenarios(evidence=-1), "evidence"),
        (lambda: gsp.make_recipe("graft", weight=0), "weight must be above 0"),
        (lambda: gsp.make_recipe("graft", backups=0), "backups"),
    ],
)
def test_parts_of_learned_values_refuse_what_makes_no_sense(part, words):
    with pytest.raises(gsp.RecipeError, match=words):
        part()


def test_learned_values_print_as_the_call_that_makes_them():
    for recipe in (Recipe(**LEARNED), gsp.make_recipe("graft"), gsp.make_recipe("graft", backups=None, floor=0.0)):
        assert eval(repr(recipe), vars(gsp.ingredients)) == recipe


def test_bounds_on_rewards_serve_states_as_well_as_sequences():
    """Optimism is a slot: OLOP's bounds on the graph of states, GBOP's on sequences of actions."""
    table = [[[(1.0, 1, 0.0, False)], [(1.0, 0, 0.1, False)]], [[(1.0, 1, 1.0, False)]] * 2]
    for key, optimism in (("state", RewardBound("kl")), ("actions", KullbackLeibler("none"))):
        recipe = Recipe(**{**GIVEN, "key": key, "optimism": optimism, "expansion": "path"})
        result = gsp.plan(gsp.tabular_model(table), 0, recipe, 200, seed=0, steps_left=8)
        assert result.action == 0
        assert eval(repr(recipe), vars(gsp.ingredients)) == recipe


def test_a_full_store_and_a_widening_action_come_to_an_end():
    """60 states that all lead to each other, and room for 40: outcomes go on widening after the last node."""
    rng = np.random.default_rng(0)
    model = gsp.tabular_model_from_arrays(rng.dirichlet(np.ones(60), (60, 4)), rng.random((60, 4)))
    result = gsp.plan(model, 0, gsp.make_recipe("gbop", discount=0.8), budget=100, seed=0, max_nodes=40)
    assert result.at_cap
    assert result.simulations == 100


def masked_walk(params, state, action, rng, reward):
    state[0] += 1 if uniform(rng) < (0.8 if action == 1 else 0.2) else -1
    reward[0] = 1.0 if state[0] == 10 else 0.0
    return TERMINATED if state[0] in (0, 10) else RUNNING


def none_at_the_ends(params, state, mask):
    mask[0] = mask[1] = 0.0 if state[0] in (0, 10) else 1.0
    mask[2] = 0.0
    return int(2 * mask[0])


@pytest.mark.parametrize("name", ["olop", "kl-olop"])
def test_sequences_go_on_behind_an_end_without_legal_actions(name):
    """And an action that is never legal keeps nobody's bound at the top: the better way is tried more often."""
    model = gsp.CompiledModel(masked_walk, actions=3, legal=none_at_the_ends, reward_bounds=(0.0, 1.0))
    result = gsp.plan(model, 9, name, budget=4000, seed=0, steps_left=3)
    assert result.visit_counts[2] == 0
    assert result.action == 1
    assert result.visit_counts[1] > 2 * result.visit_counts[0]
