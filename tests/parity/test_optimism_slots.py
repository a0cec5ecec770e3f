"""The slot `optimism`: what a recipe with bounds takes and refuses."""

import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import (
    UCB1,
    Constant,
    KullbackLeibler,
    PowerMean,
    Propagation,
    Recipe,
    RewardBound,
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
        ({"optimism": PowerMean()}, "optimism was given PowerMean"),
        ({"optimism": "kl"}, "optimism was given 'kl'"),
        ({"propagation": 0.1}, "propagation was given 0.1; allowed is a value of one of: Propagation"),
        ({"propagation": Propagation(0.01), "optimism": None}, "propagation belongs to a recipe with optimism"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(slots, words):
    with pytest.raises(gsp.RecipeError, match=words):
        Recipe(**{**GIVEN, **slots})


def test_bounds_on_rewards_serve_states_as_well_as_sequences():
    """Optimism is a slot: OLOP's bounds on the graph of states, GBOP's on sequences of actions."""
    table = [[[(1.0, 1, 0.0, False)], [(1.0, 0, 0.1, False)]], [[(1.0, 1, 1.0, False)]] * 2]
    for key, optimism in (("state", RewardBound("kl")), ("actions", KullbackLeibler("none"))):
        recipe = Recipe(**{**GIVEN, "key": key, "optimism": optimism, "expansion": "path"})
        result = gsp.plan(gsp.tabular_model(table), 0, recipe, 200, seed=0, steps_left=8)
        assert result.action == 0
        assert eval(repr(recipe), vars(gsp.ingredients)) == recipe
