"""Limits in which two planners are one, and the error that falls as the budget grows."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from statistical.claims import FALSE_ALARM, TRUNCATED_OPTIMUM

from benchmarks.searches import FreshSearch
from benchmarks.study.random_processes import layered_process, return_range
from gymnasium_gsp import ALGORITHMS, CompiledModel, make_recipe, tabular_model_from_arrays
from gymnasium_gsp.abi import RUNNING, uniform
from gymnasium_gsp.exact import enumerate_model, truncated_value
from gymnasium_gsp.search.ingredients.backup import Cautious, PowerMean
from gymnasium_gsp.search.ingredients.selection import UCB1
from gymnasium_gsp.search.recipe import Recipe, Sweep

HORIZON = 4
RECIPES = {
    "printed": Recipe(),
    "mean": Recipe(backup=PowerMean(1.0)),
    "p = 2, current": Recipe(backup=PowerMean(2.0), estimator="current"),
    "returns": Recipe(selection=UCB1(0.7, "range"), target="return", backup=PowerMean(1.0)),
    "path": Recipe(expansion="path"),
    "default gs-power-uct": make_recipe("gs-power-uct"),
    "cautious": make_recipe("gs-power-uct", decision=Sweep(Cautious(0.3)), keep_variance=True),
}


def tree_process(seed, actions=2, outcomes=2, depth=HORIZON):
    """A process in which each state is reached in one way only: every outcome of every action is a new state."""
    rng = np.random.default_rng(seed)
    children = actions * outcomes
    inner = sum(children**level for level in range(depth))
    count = inner + children**depth
    transitions = np.zeros((count, actions, count))
    for state in range(count):
        for action in range(actions):
            first = 1 + state * children + action * outcomes
            if state < inner:
                transitions[state, action, first : first + outcomes] = rng.dirichlet(np.ones(outcomes))
            else:
                transitions[state, action, state] = 1.0
    return tabular_model_from_arrays(transitions, rng.random((count, actions)))


def assert_same(first, second):
    """Two results agree in all but the time they took."""
    for name in ("action", "value", "simulations", "model_steps", "nodes", "graph_size"):
        assert getattr(first, name) == getattr(second, name), name
    np.testing.assert_array_equal(first.q_values, second.q_values)
    np.testing.assert_array_equal(first.visit_counts, second.visit_counts)


@pytest.mark.parametrize("name", RECIPES)
def test_a_graph_on_a_tree_is_the_tree(name):
    """Claim: where every state is reached in one way only, keys of path, (state, elapsed) and state are one planner.

    Sample: 10 seeds on each of 3 random trees of depth 4, 300 simulations.  Equal seeds give equal results to the last
    bit, hence the same distribution; no false alarms.
    """
    for process in range(3):
        model = tree_process(process)
        keys = ("path", "state_elapsed", "state")
        planners = [FreshSearch(model, RECIPES[name].changed(key=key), steps_left=HORIZON) for key in keys]
        for seed in range(10):
            first, *others = [planner.plan(300, seed) for planner in planners]
            for other in others:
                assert_same(first, other)


def sure_step(params, state, action, rng, reward):
    """A walk on a ring of 7 without chance; draws nothing."""
    state[0] = (state[0] * 3 + action + 1) % 7
    reward[0] = params[state[0]]
    return RUNNING


def drawn_step(params, state, action, rng, reward):
    """The same walk, where a draw decides between two outcomes that are one."""
    if uniform(rng) < 0.3:
        state[0] = (state[0] * 3 + action + 1) % 7
    else:
        state[0] = (state[0] * 10 + action + 8) % 7
    reward[0] = params[state[0]]
    return RUNNING


@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
@pytest.mark.parametrize("name", RECIPES)
def test_chance_with_one_outcome_is_no_chance(name, key):
    """Claim: a step that draws but always comes to the same, a table with one outcome and a sure step are one model.

    Sample: 10 seeds, 300 simulations.  The model's draws come from a stream of their own, so equal seeds give equal
    results to the last bit; no false alarms.
    """
    rewards = np.random.default_rng(0).random(7)
    transitions = np.zeros((7, 2, 7))
    for state in range(7):
        for action in range(2):
            transitions[state, action, (state * 3 + action + 1) % 7] = 1.0
    models = [
        CompiledModel(sure_step, actions=2, params=rewards, reward_bounds=(0.0, 1.0)),
        CompiledModel(drawn_step, actions=2, params=rewards, reward_bounds=(0.0, 1.0)),
        tabular_model_from_arrays(transitions, transitions @ rewards),
    ]
    planners = [FreshSearch(model, RECIPES[name].changed(key=key), steps_left=HORIZON) for model in models]
    for seed in range(10):
        sure, drawn, table = [planner.plan(300, seed) for planner in planners]
        assert_same(sure, drawn)
        assert_same(sure, table)


def errors_by_budget(recipe, truth_of, budgets=(100, 1000, 10_000), processes=100):
    """Error of the root's value over the range of returns; one row for each process, one column for each budget."""
    errors = np.zeros((processes, len(budgets)))
    for seed in range(processes):
        model = layered_process(seed, HORIZON)
        truth, planner = truth_of(model), FreshSearch(model, recipe, steps_left=HORIZON)
        for column, budget in enumerate(budgets):
            value = planner.plan(budget, seed, column).value
            errors[seed, column] = abs(value - truth) / return_range(model, HORIZON)
    print(f"\nerror in % of the range {np.round(100 * errors.mean(axis=0), 2).tolist()} at {budgets}: {recipe}")
    return errors


def assert_errors_fall(errors):
    """No tenfold budget makes the error larger more often than not, significantly; all together make it smaller."""
    processes = len(errors)
    for rise in np.diff(errors, axis=1).T:
        assert stats.binom.sf((rise > 0).sum() - 1, processes, 0.5) >= FALSE_ALARM / 2
    assert stats.binom.sf((errors[:, -1] < errors[:, 0]).sum() - 1, processes, 0.5) < FALSE_ALARM


@pytest.mark.parametrize("name", TRUNCATED_OPTIMUM)
def test_more_simulations_make_a_smaller_error(name):
    """Claim (field report 62, where 10,000 iterations did worse than 1,000): the error falls with each tenfold budget.

    Sample: 100 random processes with states of their own at each depth, horizon 4, budgets 100, 1,000 and 10,000; the
    error against the truncated optimum.  If the claim holds, the error rises in at most half of the processes, so that
    the number of rises is bounded by the binomial distribution, exactly; 1e-6 is shared by the two tenfold steps.
    That it falls from 100 to 10,000 simulations must itself be significant at 1e-6.
    """
    recipe = make_recipe(name).settled(timed=True)
    assert_errors_fall(errors_by_budget(recipe, lambda model: truncated_value(model, 0, HORIZON, recipe.discount)))


def soft_value(model, temperature):
    """Backward induction with log-sum-exp in place of the maximum."""
    space = enumerate_model(model, 0)
    values = np.zeros(len(space))
    for _ in range(HORIZON):
        values = temperature * logsumexp(space.q_values(values, 1.0) / temperature, axis=1)
    return values[0]


@pytest.mark.skipif("ments" not in ALGORITHMS, reason="MENTS is not registered")
def test_ments_tends_to_the_soft_value():
    """Claim: at a fixed temperature MENTS tends to the value with log-sum-exp, not to the optimum.

    Sample and bounds as above.  The soft value lies above the optimum by more than the last error, process by process.
    """
    recipe = make_recipe("ments", temperature=0.1, scale="raw")
    errors = errors_by_budget(recipe, lambda model: soft_value(model, 0.1))
    assert_errors_fall(errors)
    for seed, error in enumerate(errors[:, -1]):
        model = layered_process(seed, HORIZON)
        excess = (soft_value(model, 0.1) - truncated_value(model, 0, HORIZON)) / return_range(model, HORIZON)
        assert excess > error
