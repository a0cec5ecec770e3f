"""The baselines: each plans, and the bounds of the three that plan on samples are those of their papers."""

import math

import numpy as np
import pytest

import gymnasium_gsp as gsp
from benchmarks.study.random_processes import random_process
from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.exact import enumerate_model, value_iteration

NAMES = ("mbie-eb", "ucbvi", "rtdp", "paired-rollouts", "hindsight", "uct-star", "uct-deviation")


class Context:
    """What a bound reads."""

    discount, top, smallest_return, root_returns = 0.5, 8.0, 2.0, 98


def test_the_bonus_by_hand(baselines):
    """Three outcomes of reward 1 to a state worth 4, and one that found no room: (3 (1 + 2) + 8) / 4 = 4.25."""
    outcomes = np.array([3.0, 3.0, 4.0])
    for factor, logarithm, bonus in ((0.0, 0.0, 0.0), (0.5, 0.0, 1.5), (0.5, 1.0, 1.5 * math.sqrt(math.log(100.0)))):
        bound = baselines.count_bonus_bound((factor, logarithm), Context, 4, outcomes, 1, 1.0)
        assert bound == pytest.approx(4.25 + bonus)


@pytest.mark.parametrize("name", ["mbie-eb", "ucbvi", "rtdp"])
def test_values_on_many_samples_are_those_of_value_iteration(baselines, name):
    """4,000 simulations of a process of 4 states: within 3 % of the range of values."""
    model = random_process(3, states=4, actions=2)
    recipe = gsp.make_recipe(name, discount=0.8)
    result = gsp.plan(model, 0, recipe, 4000, seed=0)
    truth = value_iteration(enumerate_model(model, 0), 0.8)
    assert result.action == int(truth.q_values(0).argmax())
    assert result.value == pytest.approx(truth.value(0), abs=0.03 / (1.0 - 0.8))


@pytest.mark.parametrize("name", NAMES)
def test_each_plays_and_prints_as_it_is_registered(baselines, name):
    assert name in ALGORITHMS
    model = random_process(1)
    result = gsp.plan(model, 0, name, 64, seed=0, steps_left=5)
    assert result.simulations == 64
    again = gsp.plan(model, 0, name, 64, seed=0, steps_left=5)
    assert (result.action, result.value) == (again.action, again.value)
    assert ALGORITHMS[name].citation


def test_hindsight_believes_that_it_can_guess_a_coin(baselines):
    """A coin is drawn after the guess: each guess is right in half of the futures, one of the two in three quarters.

    Guessing is worth 1/2, so the sure 0.6 is the right choice.
    """
    first, coin = [[(1.0, 1, 0.0, False)], [(1.0, 2, 0.6, True)]], [(0.5, 2, 1.0, True), (0.5, 2, 0.0, True)]
    model = gsp.tabular_model([first, [coin, coin], [[(1.0, 2, 0.0, True)]] * 2])
    result = gsp.plan(model, 0, "hindsight", 4000, seed=0, steps_left=2)
    assert result.action == 0
    assert result.q_values == pytest.approx([0.75, 0.6], abs=0.05)  # 5 standard errors


def test_the_deviation_makes_choices_free_of_units(baselines):
    """Rewards times 1,024 change no choice, and no constant must be chosen anew."""
    model = random_process(2)
    table = [
        [[(p, after[0], 1024.0 * r, ended) for p, after, r, ended in model.law((s,), a)] for a in range(3)]
        for s in range(6)
    ]
    results = [gsp.plan(m, 0, "uct-deviation", 300, seed=4, steps_left=6) for m in (model, gsp.tabular_model(table))]
    assert results[0].visit_counts.tolist() == results[1].visit_counts.tolist()
