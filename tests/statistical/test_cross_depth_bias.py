"""What a graph keyed by state alone converges to where a state is met at two depths.

The chain: the root leads to s at once or by a detour, so s is met at depths 1 and 2; from s a corridor x1, x2, x3, and
the horizon 4 cuts it.  With reward 1 per step in the corridor and V_0 = 0, the truncated values are V(s, 1) = 3 and
V(s, 2) = 2.  Four actions; at the root, so many of them go straight to s.
"""

import math

import numpy as np
import pytest
from statistical.claims import SIGMAS

from benchmarks.searches import FreshSearch
from benchmarks.study.chain import DETOUR, HORIZON, IN_TURN, MEAN_OF_TARGETS, ROOT, X1, X2, X3, S, chain
from benchmarks.study.cross_depth import cross_depth_gap
from benchmarks.study.random_processes import layered_process
from benchmarks.study.state_keyed import state_keyed_limit, uniform_policy
from gymnasium_gsp import tabular_model_from_arrays
from gymnasium_gsp.exact import backward_induction, enumerate_model
from gymnasium_gsp.search.ingredients.backup import PowerMean
from gymnasium_gsp.search.ingredients.evaluation import Constant
from gymnasium_gsp.search.ingredients.horizon import FixedHorizon
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus
from gymnasium_gsp.search.recipe import Recipe

ACTIONS = 4
BUDGET = 2**16
EQUAL = (1.0, 1.0, 1.0, 1.0)


def shared_values(tables, backup, seed=0, leaf_value=0.0, **slots):
    """V of each state in a graph keyed by state, after BUDGET simulations; and the nodes by state."""
    recipe = Recipe(
        key="state",
        selection=IN_TURN,
        backup=backup,
        horizon=FixedHorizon(HORIZON),
        evaluation=Constant(leaf_value),
        discount=1.0,
        **slots,
    )
    planner = FreshSearch(tabular_model_from_arrays(*tables), recipe)
    planner.plan(BUDGET, seed)
    nodes = {node["key"][0]: node for node in planner.nodes()}
    return np.array([nodes[state]["value"] for state in range(6)]), nodes


def truncated(tables, leaf_value=0.0):
    """V(state, depth) by backward induction."""
    space = enumerate_model(tabular_model_from_arrays(*tables), ROOT)
    return backward_induction(space, HORIZON, leaf_value=leaf_value)


def settling_error(visits, means=2):
    """How far a value may be from its limit after so many visits where nothing is random.

    At x2 shares of visits and the last evaluation at the horizon are off by at most H / k after k visits.  A running
    mean of what is off by c (1 + log k)^m / k is off by c (1 + log k)^(m+1) / ((m + 1) k), up to constants, and x1, s
    and the root's actions each take one more such mean; power means pass errors on without enlarging them (Minkowski).
    The factor 2 is for the constants.
    """
    return 2.0 * HORIZON * (1.0 + math.log(visits)) ** means / (math.factorial(means) * visits)


def fixed_point(tables, p, printed):
    """The limit of Algorithm 2 at s on the chain if actions are taken equally often."""
    space = enumerate_model(tabular_model_from_arrays(*tables), ROOT)
    weights = "printed" if printed else "normalised"
    return state_keyed_limit(space, uniform_policy(space), HORIZON, p, weights)[space.number(S)]


@pytest.mark.parametrize("leaf_value", [0.0, 2.0])
@pytest.mark.parametrize("straight", [1, 2, 3])
def test_a_shared_average_meets_the_mixture_formula(straight, leaf_value):
    """Claim (Proposition "Cross-depth merging can introduce irreducible bias"): V(s) = rho_1 V(s, 1) + rho_2 V(s, 2).

    Sample: one search of 2^16 simulations for each share rho_1 = 1/4, 1/2, 3/4 and V_0 = 0, 2.  Actions are taken in
    turn and nothing is random, so false alarms cannot happen; the bound is `settling_error`.
    """
    tables, rho = chain(straight), straight / ACTIONS
    values, nodes = shared_values(tables, MEAN_OF_TARGETS, leaf_value=leaf_value)
    truth = truncated(tables, leaf_value)
    first, second = truth.value(S, 1), truth.value(S, 2)
    assert (first, second) == (3.0 + leaf_value, 2.0 + leaf_value)
    settled = settling_error(nodes[S]["visits"]) * (1.0 + leaf_value)
    assert abs(values[S] - (rho * first + (1.0 - rho) * second)) <= settled
    # The bias at either depth, eq. two_depth_bias_exact; and what it does to the root's values.
    assert abs(abs(values[S] - first) - (1.0 - rho) * abs(second - first)) <= settled
    assert abs(abs(values[S] - second) - rho * abs(second - first)) <= settled
    assert settled < 0.2 * min(rho, 1.0 - rho)
    late = settling_error(BUDGET / ACTIONS, means=3) * (1.0 + leaf_value)
    assert nodes[ROOT]["q"] == pytest.approx([values[S]] * ACTIONS, abs=late)


def test_sampled_returns_meet_the_mixture_formula_exactly():
    """Claim: averages of sampled returns are the mixture of the depths' values with the very shares of their visits.

    Sample: a search of 2^16 simulations in which chance decides between s and the detour; an identity, no false alarms.
    """
    values, nodes = shared_values(chain(chance=0.3), MEAN_OF_TARGETS, target="return", expansion="path")
    late = sum(nodes[DETOUR]["counts"])
    early = nodes[S]["visits"] - late
    assert early + late == BUDGET
    assert values[S] == pytest.approx((3.0 * early + 2.0 * late) / BUDGET, abs=1e-9)


@pytest.mark.parametrize("chance", [0.25, 0.5, 0.75])
def test_random_depths_meet_the_mixture_formula(chance):
    """Claim: where chance decides at which depth s is met, V(s) tends to the mixture with its probabilities.

    Sample: one search of 2^16 simulations for each probability of going straight.  V(x2) is a mean of independent 0s
    and 1s; V(x1) averages its history, and V(s) averages that of V(x1), with weights log(n/i)^2 / (2n), whose squares
    sum to 6 / n.  So V(s) is normal with variance 6 rho_1 rho_2 / n; false alarms 1e-6 at 4.9 sigma, two-sided.  To
    that comes `settling_error` for the first visits.
    """
    values, nodes = shared_values(chain(chance=chance), MEAN_OF_TARGETS)
    visits = nodes[S]["visits"]
    sigma = math.sqrt(6.0 * chance * (1.0 - chance) / visits)
    assert abs(values[S] - (2.0 + chance)) <= SIGMAS * sigma + settling_error(visits)


@pytest.mark.parametrize("corridor", [EQUAL, (1.0, 0.75, 0.5, 0.0)], ids=["equal", "unequal"])
@pytest.mark.parametrize("weights", ["normalised", "printed"])
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
def test_a_power_mean_meets_its_fixed_point(p, weights, corridor):
    """Claim: with Algorithm 2's power mean V(s) tends to the fixed point of its own backup, not to the mixture.

    Sample: one search of 2^16 simulations per power, weights and rewards; nothing is random, the bound is
    `settling_error`.
    """
    tables, printed = chain(corridor=corridor), weights == "printed"
    values, nodes = shared_values(tables, PowerMean(p, weights))
    assert values[S] == pytest.approx(fixed_point(tables, p, printed), abs=settling_error(nodes[S]["visits"]))


def test_the_fixed_point_of_the_power_mean_is_not_the_mixture():
    """Claim: where the formula says 2.50, normalised weights give 3.00 at every p; printed weights keep 2.50 at p = 1.

    By hand, rewards 1: V(x2) = 1 + V(x3) = 1, as the averages made at the horizon are overwritten, so V(s) = 3.  With
    the printed weights V(x2) = (1/2)^(1/p), as half of its visits ended there, so V(s) = 2 + (1/2)^(1/p).
    """
    tables = chain()
    for p in (1.0, 1.5, 2.0, 4.0):
        assert fixed_point(tables, p, printed=False) == pytest.approx(3.0)
        assert fixed_point(tables, p, printed=True) == pytest.approx(2.0 + 0.5 ** (1.0 / p))
    assert fixed_point(tables, math.inf, printed=False) == fixed_point(tables, math.inf, printed=True) == 3.0


@pytest.mark.parametrize("expansion", ["leaf", "path"])
@pytest.mark.parametrize(
    "backup",
    [PowerMean(1.0), PowerMean(2.0), PowerMean(), MEAN_OF_TARGETS],
    ids=["p = 1", "p = 2", "maximum", "targets"],
)
def test_no_bias_where_every_state_has_one_depth(backup, expansion):
    """Claim: with every state at one depth, keys of states and of (state, elapsed) give the same search.

    Sample: 5 random layered processes, 2,000 simulations, equal seeds; an identity, no false alarms.  Together with
    test_convergence, where the same processes' values tend to the truncated optimum, the bias is gone.
    """
    for seed in range(5):
        model = layered_process(seed, layers=4)
        searches = [
            FreshSearch(model, Recipe(key=key, selection=PolynomialBonus(), backup=backup, expansion=expansion), 4)
            for key in ("state", "state_elapsed")
        ]
        first, second = (planner.plan(2000, seed) for planner in searches)
        assert (first.value, first.action, first.graph_size) == (second.value, second.action, second.graph_size)
        np.testing.assert_array_equal(first.q_values, second.q_values)
        visited = {}
        for node in searches[1].nodes():
            visited.setdefault(node["key"], set()).add(node["tag"])
        gap = cross_depth_gap(backward_induction(enumerate_model(model, 0), 4), visited)
        assert gap.largest == 0.0
        assert set(gap.bounds.values()) == {0.0}


def test_the_gap_is_that_of_the_chain():
    """Claim: `cross_depth_gap` gives 1 for s, x1 and x2 and 0 for what has one depth, and no bias exceeds it.

    Sample: the depths at which a search of 2^16 simulations met each state; nothing is random.
    """
    tables = chain()
    model = tabular_model_from_arrays(*tables)
    planner = FreshSearch(model, Recipe(key="state_elapsed", selection=IN_TURN), steps_left=HORIZON)
    planner.plan(BUDGET, 0)
    visited = {}
    for node in planner.nodes():
        visited.setdefault(node["key"][0], set()).add(node["tag"])
    assert visited == {ROOT: {0}, DETOUR: {1}, S: {1, 2}, X1: {2, 3}, X2: {3, 4}, X3: {4}}
    truth = truncated(tables)
    gap = cross_depth_gap(truth, visited)
    assert gap.gaps == {(ROOT,): 0.0, (DETOUR,): 0.0, (S,): 1.0, (X1,): 1.0, (X2,): 1.0, (X3,): 0.0}
    assert gap.largest == 1.0
    assert all(gap.gaps[state] <= gap.bounds[state] for state in gap.gaps)
    values, _ = shared_values(tables, MEAN_OF_TARGETS)
    for state in (S, X1, X2):
        for depth in visited[state]:
            assert abs(values[state] - truth.value(state, depth)) <= gap.gaps[(state,)]
