"""Models of every shape: long corridors, cycles, one step, costs alone, ends, odd states, keys that collide."""

import math

import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import RUNNING, below

MASK = (1 << 64) - 1


def test_a_corridor_of_ten_thousand_states(algorithm, corridor):
    """Simulations ten thousand steps long, nodes as deep: nothing recurses."""
    recipe = gsp.make_recipe(algorithm)
    looks_ahead_a_few_steps = recipe.optimism is not None or isinstance(recipe.evaluation, gsp.ingredients.SampledTree)
    result = gsp.plan(corridor(10_000), 0, algorithm, 20, seed=0, steps_left=10_000)
    assert result.simulations == 20
    assert result.model_steps > 10_000 or looks_ahead_a_few_steps
    assert math.isfinite(result.value)


@pytest.mark.parametrize("slots", [{}, {"key": "state"}, {"key": "path"}, {"decision": None, "estimator": "running"}])
def test_a_graph_ten_thousand_deep(slots):
    """One action, one successor: each simulation walks the whole corridor, and the sweep comes back all the way."""
    states = [[[(1.0, min(state + 1, 9_999), 1.0, state == 9_998)]] for state in range(10_000)]
    result = gsp.plan(gsp.tabular_model(states), 0, gsp.make_recipe("gs-power-uct", **slots), 3, 0, steps_left=10_000)
    assert result.graph_size == 9_999  # the end itself is no node
    assert result.value == 9_999.0


CYCLE = gsp.tabular_model([[[(1.0, 1, 1.0, False)]] * 2, [[(1.0, 0, 1.0, False)]] * 2])


@pytest.mark.parametrize("limit", [None, 50])
def test_a_cycle_ends_as_every_algorithm_is_set(settings, limit):
    """Two states that lead to each other for ever, with and without a time limit."""
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0")
    if recipe.discount == 1.0 and limit is None:
        with pytest.raises(gsp.RecipeError, match="discount 1 needs a finite horizon"):
            gsp.plan(CYCLE, 0, recipe, 200, seed=0, steps_left=limit)
        return
    result = gsp.plan(CYCLE, 0, recipe, 200, seed=0, steps_left=limit)
    assert result.simulations == 200
    assert math.isfinite(result.value)


@pytest.mark.parametrize("key", ["state", "state_elapsed", "path"])
def test_a_cycle_ends(trial_settings, key):
    """The same without discount, under every key: the horizon ends each simulation."""
    name, preset = trial_settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0", key=key, discount=1.0)
    result = gsp.plan(CYCLE, 0, recipe, 200, seed=0, steps_left=50)
    assert (result.simulations, result.model_steps) == (200, 200 * 50)
    assert math.isfinite(result.value)
    assert key != "state" or result.graph_size == 2


def test_one_step_is_worth_its_reward(trial_settings):
    """With one step left Q(s,a) is the reward of a, whatever follows in the table."""
    rewards = [0.3, -1.7, 2.5]
    after = [[[(1.0, 0, 9.0, False)]] * 3] * 3
    model = gsp.tabular_model([[[(1.0, 1 + a, rewards[a], False)] for a in range(3)], *after])
    name, preset = trial_settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0")
    result = gsp.plan(model, 0, recipe, 50, seed=0, steps_left=1)
    np.testing.assert_allclose(result.q_values, rewards, rtol=0, atol=1e-12)
    assert result.action == 2


def test_the_reward_of_an_end_counts(trials):
    """The step that ends the process pays, and the end is worth exactly 0, though its row in the table pays too."""
    model = gsp.tabular_model_from_arrays(
        np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]), [[4.0, 3.0], [50.0, 50.0]], [False, True]
    )
    result = gsp.plan(model, 0, trials, 40, seed=0, steps_left=10)
    np.testing.assert_allclose(result.q_values, [4.0, 3.0], rtol=0, atol=1e-12)
    assert gsp.plan(model, 1, trials, 40, seed=0, steps_left=10).value == 0.0


def test_an_end_is_never_stepped_from(algorithm, python_step):
    """The step fails where the process has ended; no planner, no rollout goes there."""

    def rules(cells, action, draw):
        if cells[0] >= 5:
            return 0
        cells[0] += 1 + int(2 * draw())
        return 1.0, cells[0] >= 5

    model = gsp.CompiledModel(python_step(rules), 2, reward_bounds=(0.0, 1.0))
    assert gsp.plan(model, 0, algorithm, 200, seed=0, steps_left=30).simulations == 200


def test_a_leaf_at_the_horizon_is_evaluated_and_at_the_time_limit_worth_nothing(random_model):
    """A horizon of one step, then the constant 7; with one step left the constant has no say."""
    part = gsp.ingredients
    recipe = gsp.Recipe(evaluation=part.Constant(7.0), horizon=part.FixedHorizon(1), discount=0.5)
    model = random_model(3)
    rewards = [model.law((0,), action)[0][2] for action in range(3)]
    far, near = (gsp.plan(model, 0, recipe, 60, seed=0, steps_left=left) for left in (2, 1))
    np.testing.assert_allclose(far.q_values, np.add(rewards, 3.5), rtol=0, atol=1e-12)
    np.testing.assert_allclose(near.q_values, rewards, rtol=0, atol=1e-12)


def test_of_costs_alone_the_smallest_is_chosen(settings):
    """All rewards are negative; no maximum starts at 0 or -1."""
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/SysAdminRing-v0")
    costs = [-9.0, -2.0, -8.0, -5.0]
    model = gsp.tabular_model([[[(1.0, 1, cost, True)] for cost in costs], [[(1.0, 1, 0.0, True)]] * 4])
    result = gsp.plan(model, 0, recipe, 200, seed=0, steps_left=1)
    assert result.action == 1
    assert result.q_values.max() <= -2.0 + 1e-9


def test_a_cost_for_every_step_is_planned_with(algorithm, corridor):
    """Going on ends the cost, staying does not: every algorithm goes on, without NaN."""
    for cost in (-0.01, -1.0, -100.0):
        result = gsp.plan(corridor(4, cost=cost, prize=0.0), 0, algorithm, 400, seed=0, steps_left=8)
        assert result.action == 1
        assert np.isfinite(result.q_values).all()


@pytest.mark.parametrize("p", [1.0, math.inf])
def test_negative_rewards_need_no_bounds_at_p_1_and_infinity(trials, python_step, p):
    recipe = gsp.make_recipe(trials, backup=gsp.ingredients.PowerMean(p))
    model = gsp.CompiledModel(python_step(lambda cells, action, draw: (-2.0 + action, True)), 2)
    result = gsp.plan(model, 0, recipe, 30, seed=0, steps_left=3)
    np.testing.assert_allclose(result.q_values, [-2.0, -1.0])
    assert result.action == 1


@pytest.mark.parametrize("p", [1.5, 2.0, 3.7, 16.0])
def test_negative_rewards_at_other_powers_need_declared_bounds(trials, python_step, p):
    """Without them the search is refused, with the remedy; with them it is not, and nothing is NaN or silently 0."""
    recipe = gsp.make_recipe(trials, backup=gsp.ingredients.PowerMean(p))
    step = python_step(lambda cells, action, draw: (-2.0 + action, True))
    with pytest.raises(gsp.PlanningError, match=r"reward_bounds.*p = 1.*p = inf"):
        gsp.plan(gsp.CompiledModel(step, 2), 0, recipe, 30, seed=0, steps_left=3)
    bounded = gsp.CompiledModel(step, 2, reward_bounds=(-2.0, -1.0))
    result = gsp.plan(bounded, 0, recipe, 30, seed=0, steps_left=3)
    np.testing.assert_allclose(result.q_values, [-2.0, -1.0])
    assert -2.0 <= result.value <= -1.0
    assert result.action == 1


def scattered(params, state, action, rng, reward):
    """A ring of states that are far apart: negative ones, huge ones, 0."""
    place = 0
    for i in range(5):
        if state[0] == int(params[i]):
            place = i
    state[0] = int(params[(place + 1 + below(rng, 2)) % 5])
    reward[0] = 1.0
    return RUNNING


@pytest.mark.parametrize("key", ["state", "state_elapsed", "path"])
def test_states_are_any_whole_numbers(key):
    """A state is never taken for the number of a node."""
    places = [-7, 0, 1, 2**53, -(2**53)]
    model = gsp.CompiledModel(scattered, 2, params=places)
    for place in places:
        result = gsp.plan(model, place, gsp.Recipe(key=key), 2000, seed=0, steps_left=4)
        assert {"state": 5, "state_elapsed": 1 + 2 + 3 + 4 + 5}.get(key, result.graph_size) == result.graph_size
        assert key == "state" or result.value == pytest.approx(4.0)


def test_states_of_many_cells_that_differ_in_one_stay_apart(python_step):
    """1,200 cells, of which one tells the two outcomes apart."""

    def rules(cells, action, draw):
        cells[1150] = int(2 * draw())
        return 1.0, False

    model = gsp.CompiledModel(python_step(rules, width=1200), 1, width=1200)
    result = gsp.plan(model, [5] * 1200, gsp.Recipe(key="state"), 40, seed=0, steps_left=3)
    assert result.graph_size == 3  # the root, whose cell holds a 5, and the two


def test_states_of_real_numbers_are_told_apart_bit_by_bit(python_step):
    """0.1 and its neighbour are two states, 0.0 and -0.0 too, and a NaN equals itself: no printing, no rounding."""
    values = np.array([0.1, np.nextafter(0.1, 1.0), 0.1 + 1e-10, 0.0, -0.0, math.nan]).view(np.int64).tolist()

    def rules(cells, action, draw):
        cells[0] = values[action]
        return 1.0, False

    model = gsp.CompiledModel(python_step(rules), len(values))
    root = np.array([1.5]).view(np.int64)
    result = gsp.plan(model, root, gsp.Recipe(key="state"), 300, seed=0, steps_left=2)
    assert result.graph_size == 1 + len(values)


def mixed(h, key):
    """One cell taken into the store's hash."""
    h ^= key & MASK
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & MASK
    return h ^ h >> 33


def test_states_whose_hashes_are_equal_stay_apart(python_step):
    """For each first cell a second one is chosen such that all 64 bits of the hash agree; keys decide."""
    signed = [mixed(0, 0) ^ mixed(0, first) for first in range(50)]
    twins = [(first, word - (word >> 63 << 64)) for first, word in enumerate(signed)]

    def rules(cells, action, draw):
        cells[:] = twins[int(50 * draw())]
        return 1.0, False

    model = gsp.CompiledModel(python_step(rules, width=2), 2, width=2)
    result = gsp.plan(model, twins[0], gsp.Recipe(key="state", discount=0.9), 2000, seed=0, steps_left=3)
    assert result.graph_size == 50
