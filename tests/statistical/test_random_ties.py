"""No action is preferred for its number: relabelled actions give relabelled results, in distribution."""

import numpy as np
import pytest
from scipy import stats
from statistical.claims import FALSE_ALARM

from benchmarks.searches import FreshSearch
from gymnasium_gsp import ALGORITHMS, make_recipe, tabular_model_from_arrays
from gymnasium_gsp.search.recipe import SearchValues

ACTIONS, HORIZON, STATES = 3, 4, 4
SEARCHES = 2000
STATE_KEYED = ("gs-power-uct-f", "gs-power-uct-f+")
ORDERS = [(1, 2, 0), (2, 0, 1), (0, 2, 1)]


def choices(transitions, rewards, recipe, budget, first_seed):
    """How often each action was recommended, and how often each alone had the most root visits, over many seeds."""
    planner = FreshSearch(tabular_model_from_arrays(transitions, rewards), recipe, steps_left=HORIZON)
    recommended, visited = np.zeros(ACTIONS, int), np.zeros(ACTIONS, int)
    for seed in range(first_seed, first_seed + SEARCHES):
        result = planner.plan(budget, seed)
        recommended[result.action] += 1
        most = result.visit_counts == result.visit_counts.max()
        if most.sum() == 1:
            visited[most] += 1
    return recommended, visited


def cyclic_process():
    """Every action leads everywhere; the first and the last action are alike in all they do."""
    rng = np.random.default_rng(1)
    transitions, rewards = rng.dirichlet(np.ones(STATES), size=(STATES, ACTIONS)), rng.random((STATES, ACTIONS))
    transitions[:, 2], rewards[:, 2] = transitions[:, 0], rewards[:, 0]
    return transitions, rewards


def layered_process():
    """The same with states of their own for each depth."""
    inner, rewards = cyclic_process()
    count = STATES * (HORIZON + 1)
    transitions = np.zeros((count, ACTIONS, count))
    for depth in range(HORIZON):
        here, below = STATES * depth, STATES * (depth + 1)
        transitions[here : here + STATES, :, below : below + STATES] = inner
    transitions[range(count - STATES, count), :, range(count - STATES, count)] = 1.0
    return transitions, np.tile(rewards, (HORIZON + 1, 1))


def assert_relabelling_relabels(process, recipe):
    """Compare the process as it is with each renumbering of its actions."""
    transitions, rewards = process
    as_is = choices(transitions, rewards, recipe, 8, 0)
    for number, order in enumerate(ORDERS, start=1):
        renumbered = choices(transitions[:, order], rewards[:, order], recipe, 8, number * SEARCHES)
        for before, after in zip(as_is, renumbered, strict=True):
            for new, old in enumerate(order):
                table = [[before[old], before.sum() - before[old]], [after[new], after.sum() - after[new]]]
                assert stats.fisher_exact(table).pvalue >= FALSE_ALARM / (2 * ACTIONS * len(ORDERS)), (before, after)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_equal_rewards_give_uniform_recommendations(name):
    """Claim: where all rewards are equal, each of 3 actions is recommended, and favoured by visits, equally often.

    Sample: 2,000 searches with 7 simulations, so that one action is visited more often than the others.  Each count
    is binomial, exactly; with two counts for each of three actions, 1e-6 / 6 is left for the two-sided test of each.
    All actions lead to the same states alike, or they would not be the same to state keys, which mix depths.
    """
    transitions = cyclic_process()[0][:, :1].repeat(ACTIONS, axis=1)
    for counts in choices(transitions, np.full((STATES, ACTIONS), 0.5), make_recipe(name), 7, 0):
        for count in counts.tolist():
            p_value = stats.binomtest(count, int(counts.sum()), 1.0 / ACTIONS).pvalue
            assert p_value >= FALSE_ALARM / (2 * ACTIONS), counts


@pytest.mark.parametrize("name", ALGORITHMS)
def test_relabelled_actions_give_relabelled_results(name):
    """Claim: if the actions are renumbered, recommendations and visits are renumbered alike, in distribution.

    Sample: 2,000 searches with 8 simulations of a random process for each of three renumberings and for the process
    as it is, with seeds of their own.  Whether a given action was chosen gives a 2 x 2 table, which Fisher's exact
    test compares; 1e-6 / 18 is left for each (renumbering, action, recommendation or visits).  Two of the actions are
    alike in all they do, so that ties are part of it.
    """
    assert_relabelling_relabels(layered_process(), make_recipe(name))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_relabelled_actions_give_relabelled_results_on_cycles(name):
    """Claim and sample: the same where states are met again and again, so that no order of a sweep is the right one."""
    assert_relabelling_relabels(cyclic_process(), make_recipe(name))


@pytest.mark.parametrize("name", STATE_KEYED)
def test_state_keys_on_cycles_relabel_without_a_sweep(name):
    """Claim and sample: the same for state keys on cycles, deciding by the search's own values."""
    assert_relabelling_relabels(cyclic_process(), make_recipe(name, decision=SearchValues()))
