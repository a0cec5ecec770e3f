"""No action is preferred for its number, no reward for its unit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

import gymnasium_gsp as gsp

FALSE_ALARM = 1e-6


def bandit_and_after(seed, actions, order=None):
    """Random rewards and laws: state 0 leads to states 1 .. 3, which lead to each other, never back."""
    rng = np.random.default_rng(seed)
    law = np.zeros((4, actions, 4))
    law[:, :, 1:] = rng.dirichlet(np.ones(3), (4, actions))
    rewards = rng.random((4, actions))
    order = list(range(actions)) if order is None else order
    return gsp.tabular_model_from_arrays(law[:, order], rewards[:, order])


def recommendations(model, recipe, seeds, budget, actions):
    chosen = [gsp.plan(model, 0, recipe, budget, seed, steps_left=4).action for seed in seeds]
    return np.bincount(chosen, minlength=actions)


def test_the_first_simulations_try_each_action_once(trial_settings):
    name, preset = trial_settings
    if name == "puct":
        pytest.skip("an untried action counts as the mean of the tried ones, and need not come first")
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FourRooms-v0")
    for seed in range(20):
        for tried in (1, 4, 7):
            result = gsp.plan(bandit_and_after(seed, 7), 0, recipe, tried, seed, steps_left=4)
            assert sorted(result.visit_counts) == [0] * (7 - tried) + [1] * tried


def test_which_action_is_tried_first_is_chance(algorithm):
    """The single action tried by one simulation is uniform: 2,000 seeds, 4 actions, chi-square at 1e-6."""
    model = bandit_and_after(0, 4)
    counts = recommendations(model, gsp.make_recipe(algorithm), range(2000), 1, 4)
    assert ((counts - 500.0) ** 2 / 500.0).sum() < chi2.isf(FALSE_ALARM, 3)


@pytest.mark.parametrize("rule", ["best_value", "most_visits"])
def test_equal_rewards_give_a_uniform_recommendation(trials, rule):
    """Every step pays 0.1, so all actions are alike: 2,000 seeds, 4 actions, chi-square at 1e-6."""
    law = np.tile(np.array([0.0, 0.5, 0.3, 0.2]), (4, 4, 1))
    model = gsp.tabular_model_from_arrays(law, np.full((4, 4), 0.1))
    counts = recommendations(model, gsp.make_recipe(trials, recommendation=rule), range(2000), 11, 4)
    assert ((counts - 500.0) ** 2 / 500.0).sum() < chi2.isf(FALSE_ALARM, 3)


def test_permuted_actions_permute_the_recommendation(algorithm):
    """The same actions under other numbers are chosen as often: 2 * 2,000 seeds, homogeneity of 2 x 4 at 1e-6."""
    order = [2, 0, 3, 1]
    recipe = gsp.make_recipe(algorithm)
    straight = recommendations(bandit_and_after(1, 4), recipe, range(2000), 9, 4)
    permuted = recommendations(bandit_and_after(1, 4, order), recipe, range(2000, 4000), 9, 4)
    table = np.array([straight[order], permuted])
    assert chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > FALSE_ALARM


def test_rewards_in_other_units_change_no_choice(algorithm):
    """Times 1,024, which floating point does exactly: the same visits to the bit, values 1,024 times as large.

    Bounds that are the solution of an equation are so up to the solver's accuracy.
    """
    slack = 0.0 if gsp.make_recipe(algorithm).optimism is None else 1e-6
    for seed in range(10):
        rng = np.random.default_rng(seed)
        law, rewards = rng.dirichlet(np.ones(5), (5, 3)), rng.random((5, 3)) * (rng.random((5, 3)) < 0.5)
        small, large = (
            gsp.plan(gsp.tabular_model_from_arrays(law, rewards * unit), 0, algorithm, 300, seed, steps_left=8)
            for unit in (1.0, 1024.0)
        )
        assert small.action == large.action
        assert (small.visit_counts == large.visit_counts).all()
        np.testing.assert_allclose(small.q_values * 1024.0, large.q_values, rtol=slack)


def test_rewards_and_constant_in_other_units_change_no_choice(trial_settings):
    """With a raw exploration constant it has to be scaled along."""
    name, preset = trial_settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/SysAdminRing-v0")
    if not hasattr(recipe.selection, "c"):
        pytest.skip("no exploration constant")
    rng = np.random.default_rng(7)
    law, rewards = rng.dirichlet(np.ones(5), (5, 3)), rng.random((5, 3))
    small, large = (
        gsp.plan(
            gsp.tabular_model_from_arrays(law, rewards * unit),
            0,
            recipe.changed(selection=replace(recipe.selection, c=0.4 * unit, scale="raw")),
            300,
            seed=0,
            steps_left=8,
        )
        for unit in (1.0, 1024.0)
    )
    assert (small.visit_counts == large.visit_counts).all()
    assert (small.q_values * 1024.0 == large.q_values).all()


@pytest.mark.parametrize("scale", ["raw", "range"])
@pytest.mark.parametrize("c", [0.0, 5e-324, 1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize("selection", ["UCB1", "PolynomialBonus"])
def test_extreme_constants_explore_as_they_say(selection, c, scale):
    """Nothing is NaN; a bonus of nothing is greedy, one of everything visits all actions alike, give or take ties."""
    recipe = gsp.Recipe(selection=getattr(gsp.ingredients, selection)(c, scale))
    law = np.tile(np.array([0.0, 1.0]), (2, 3, 1))
    model = gsp.tabular_model_from_arrays(law, [[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    result = gsp.plan(model, 0, recipe, 300, seed=0, steps_left=3)
    assert np.isfinite(result.q_values).all()
    if c < 1.0:
        assert result.visit_counts.tolist() == [298, 1, 1]
    else:
        assert result.visit_counts.min() > 60
