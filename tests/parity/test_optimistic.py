"""GBOP against its textbook version, number by number, and what its bounds promise."""

import math

import numpy as np
import pytest
from naive_gbop import END, Gbop, Settings
from naive_parts import Stream, random_table, table_step
from scipy.stats import binom

import gymnasium_gsp as gsp
from gymnasium_gsp.exact import enumerate_model, value_iteration
from gymnasium_gsp.ingredients import AdaptiveHorizon, Confidence, FixedHorizon
from gymnasium_gsp.search import frame
from gymnasium_gsp.search.ingredients.horizon import planned_trajectories
from gymnasium_gsp.search.search import Search

FALSE_ALARM = 1e-6
WORDS = [(1 << 63) + 12345, 977, 31]


def gbop(**options):
    """GBOP's recipe."""
    return gsp.make_recipe("gbop", **options)


def made(table, recipe, words=WORDS, **options):
    search = Search(gsp.tabular_model(table), recipe, False, **options)
    search.seed(np.array(words[:2], np.uint64))
    return search


def textbook(table, recipe, budget, words=WORDS, steps_left=None):
    model = gsp.tabular_model(table)
    m = planned_trajectories(budget.simulations, budget.model_steps, recipe.discount)
    low, high = model.reward_bounds
    return Gbop(
        table,
        Settings(
            low=low,
            high=high,
            discount=recipe.discount,
            accuracy=recipe.propagation.accuracy,
            log_m=math.log(m),
            length=recipe.horizon.steps(steps_left, recipe.discount, m),
            factor=0.0 if recipe.optimism.threshold == "none" else 0.1,
            reward_factor=recipe.optimism.rewards,
            delta=getattr(recipe.optimism.threshold, "delta", None),
            first_only=recipe.expansion == "leaf",
        ),
        words,
    )


def interval(search, state):
    """(lower, upper) of a state."""
    return search.interval(np.array([state], np.int64))


def rows_of(search):
    """The stored nodes' rows."""
    nodes, stride = int(search.tally.nodes), int(search.program.stride)
    return search.store.arrays.rows[: nodes * stride].reshape(nodes, stride)


def stored(search):
    """State -> (birth order, (lower, upper), counts by action) of the compiled graph."""
    counts = int(search.program.counts_at)
    return {
        int(row[frame.FIRST_KEY]): (
            order,
            interval(search, int(row[frame.FIRST_KEY])),
            row[counts : counts + 3].tolist(),
        )
        for order, row in enumerate(rows_of(search))
    }


def assert_same(search, naive, tolerance=1e-8):
    found = stored(search)
    assert list(found) == list(naive.nodes)
    span = naive.top - naive.bottom
    for state, node in naive.nodes.items():
        _, (lower, upper), counts = found[state]
        assert counts == [node.tried(action) for action in range(3)]
        assert abs(lower - node.lower) <= tolerance * span, (state, lower, node.lower)
        assert abs(upper - node.upper) <= tolerance * span, (state, upper, node.upper)


RECIPES = {
    "published": gbop(discount=0.8, accuracy=0.01),
    "paper": gbop(discount=0.9, accuracy=0.001),
    "rewards": gbop(discount=0.8, accuracy=0.01, reward_threshold=1.0),
    "confidence": gbop(discount=0.7, accuracy=0.01, threshold=Confidence(0.5)),
    "deterministic": gbop(discount=0.8, accuracy=0.01, threshold="none", expansion="leaf", horizon=FixedHorizon(20)),
    "fixed": gbop(discount=0.5, accuracy=0.01, horizon=FixedHorizon(3)),
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("seed", range(4))
def test_the_graph_is_the_textbooks(name, seed):
    """Three decisions of one episode: nodes in the same order, equal counts, bounds to 1e-8 of their range."""
    recipe, budget = RECIPES[name], gsp.Budget(60)
    table = random_table(seed, states=7, rewards=[(0.0, 1.0), (-1.0, 1.0), (-2.0, -0.5), (0.5, 3.0)][seed])
    search, naive = made(table, recipe), textbook(table, recipe, budget)
    world, state = Stream(WORDS[2]), 0
    for _ in range(3):
        result = search.plan(search.model.cells(state), budget)
        action, q, steps = naive.plan(state, 60)
        assert_same(search, naive)
        assert (result.action, result.model_steps, result.simulations) == (action, steps, 60)
        np.testing.assert_allclose(result.q_values, q, rtol=0, atol=1e-8 * (naive.top - naive.bottom))
        assert search.rng.tolist() == [naive.search.word, naive.model.word]
        state, _, ended = table_step(table, state, action, world.uniform())
        if ended:
            return


def test_the_time_limit_shortens_trajectories_and_pins_nothing():
    """With two steps left no trajectory is longer, yet the bounds are those of the endless process."""
    recipe, budget, table = RECIPES["paper"], gsp.Budget(50), random_table(3, ends=0)
    search, naive = made(table, recipe), textbook(table, recipe, budget, steps_left=2)
    result = search.plan(search.model.cells(0), budget, steps_left=2)
    naive.plan(0, 50)
    assert result.model_steps == 100
    assert_same(search, naive)
    truth = value_iteration(enumerate_model(search.model, 0), 0.9).value(0)
    assert interval(search, 0)[1] > truth


def test_the_budget_decides_length_and_threshold():
    """L(M) steps a trajectory where nothing ends, M from simulations, or from steps by the split of section 5.1."""
    table = random_table(1, ends=0)
    for budget, trajectories, steps in (
        (gsp.Budget(55), 55, 55 * 9),
        (gsp.Budget(model_steps=500), 56, 500),  # 55 of 9 steps, and 5 steps more
        (gsp.Budget(9, model_steps=500), 9, 9 * 5),
    ):
        result = made(table, gbop(discount=0.8)).plan(np.zeros(1, np.int64), budget)
        assert (result.simulations, result.model_steps) == (trajectories, steps)
    with pytest.raises(gsp.RecipeError, match="simulations"):
        made(table, gbop()).plan(np.zeros(1, np.int64), gsp.Budget(seconds=0.01))
    with pytest.raises(gsp.RecipeError, match="number of trajectories"):
        made(table, gbop(horizon=FixedHorizon(3))).plan(np.zeros(1, np.int64), gsp.Budget(seconds=0.01))
    timed = gbop(horizon=FixedHorizon(3), threshold=Confidence())
    assert made(table, timed).plan(np.zeros(1, np.int64), gsp.Budget(seconds=0.01)).stopped_by == "seconds"


def test_stated_confidence_holds_at_every_moment():
    """W <= V* <= U for every node after every trajectory, with probability 1 - delta for a whole graph.

    200 random processes with random rewards per outcome, delta = 0.5, 150 trajectories each, looked at after each; the
    number of graphs in which anything failed must not exceed what Binomial(200, 0.5) exceeds with probability 1e-6.
    In fact union bounds are wide, so none is expected; bounds that ignore the confidence do fail (the next test).
    """
    failures, narrowed = 0, 0
    for seed in range(200):
        recipe = gbop(discount=0.5, accuracy=0.01, threshold=Confidence(0.5), horizon=FixedHorizon(6))
        failures += not bounds_hold(seed, recipe, 150)
        search = made(random_table(seed), recipe, [seed, 7 * seed])
        search.plan(search.model.cells(0), gsp.Budget(2000))
        low, high = interval(search, 0)
        narrowed += high - low < 0.8 * 2.0 / (1.0 - 0.5)
    assert failures <= binom.isf(FALSE_ALARM, 200, 0.5)
    assert failures == 0
    assert narrowed > 100  # the bounds say something


def bounds_hold(seed, recipe, trajectories):
    """Whether the interval of each node holds its V* after each trajectory."""
    table = random_table(seed)
    search = made(table, recipe, [seed, 7 * seed])
    values = value_iteration(enumerate_model(search.model, 0), recipe.discount)
    for _ in range(trajectories):
        search.plan(search.model.cells(0), gsp.Budget(1), same_root=True)
        for state, (_, (lower, upper), _) in stored(search).items():
            if not lower - 1e-9 <= values.value(state) <= upper + 1e-9:
                return False
    return True


def test_the_published_threshold_states_no_confidence():
    """0.1 log M fails on a good part of the same processes, which is why it is no guarantee."""
    failures = 0
    for seed in range(30):
        search = made(random_table(seed), gbop(discount=0.5, accuracy=0.01), [seed, 7 * seed])
        values = value_iteration(enumerate_model(search.model, 0), 0.5)
        for _ in range(20):
            search.plan(search.model.cells(0), gsp.Budget(8), same_root=True)
            for state, (_, (lower, upper), _) in stored(search).items():
                if not lower - 1e-9 <= values.value(state) <= upper + 1e-9:
                    failures += 1
    assert failures > 0
    assert gsp.make_recipe("gbop").guarantee
    assert not gsp.make_recipe("gbop", threshold=Confidence(0.1)).guarantee


def test_the_interval_closes_on_the_stationary_value():
    """With many samples the two bounds meet at V*, discounted and without end: within 10 % of the range of values."""
    for seed in range(3):
        table = random_table(seed, ends=0)
        search = made(table, gbop(discount=0.5, accuracy=1e-4, threshold=Confidence(0.1)))
        truth = value_iteration(enumerate_model(search.model, 0), 0.5).value(0)
        widths = []
        for budget in (500, 20_000):
            search.begin_episode()
            search.plan(search.model.cells(0), gsp.Budget(budget))
            lower, upper = interval(search, 0)
            assert lower - 1e-9 <= truth <= upper + 1e-9
            widths.append(upper - lower)
        assert widths[1] < 0.4 * widths[0]
        assert widths[1] < 0.1 * 4.0


def test_the_deterministic_form_finds_the_exact_value():
    """Nothing is random: the interval closes to the accuracy, and the action is the best one."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        law = np.eye(8)[rng.integers(8, size=(8, 3))]
        model = gsp.tabular_model_from_arrays(law, rng.random((8, 3)))
        values = value_iteration(enumerate_model(model, 0), 0.8)
        search = Search(model, gsp.make_recipe("gbop-d", discount=0.8, accuracy=1e-6), False)
        search.seed(np.array([seed, 1], np.uint64))
        result = search.plan(model.cells(0), gsp.Budget(300))
        lower, upper = interval(search, 0)
        assert lower - 1e-6 <= values.value(0) <= upper + 1e-6
        assert result.action == values.q_values(0).argmax()


def test_ends_are_worth_nothing():
    """The step that ends the process pays 1 and the row behind the end pays 5: neither bound takes it in."""
    table = [[[(1.0, 1, 1.0, True)], [(0.5, 0, 0.0, False), (0.5, 1, 0.0, True)]], [[(1.0, 1, 5.0, True)]] * 2]
    search = made(table, gbop(discount=0.9, threshold="none"))
    result = search.plan(search.model.cells(0), gsp.Budget(100))
    assert result.q_values[0] == 1.0
    assert result.action == 0
    assert list(stored(search)) == [0]


def test_successors_need_no_largest_number():
    """One action with 500 next states: all are stored, and the bounds enclose the value."""
    states = 501
    law = np.zeros((states, 1, states))
    law[0, 0, 1:], law[1:, 0, 0] = 1.0 / 500, 1.0
    rewards = np.zeros((states, 1))
    rewards[1:, 0] = np.linspace(0, 1, 500)
    model = gsp.tabular_model_from_arrays(law, rewards)
    search = Search(model, gbop(discount=0.5, threshold=Confidence(0.1)), False)
    search.seed(np.array([3, 4], np.uint64))
    search.plan(model.cells(0), gsp.Budget(3000))
    lower, upper = interval(search, 0)
    assert search.tally.widest > 400
    assert lower <= value_iteration(enumerate_model(model, 0), 0.5).value(0) <= upper


@pytest.mark.parametrize("name", ["published", "confidence", "deterministic"])
def test_results_do_not_depend_on_the_starting_size_or_chunks(name):
    table = random_table(5, states=40, outcomes=6)
    results = []
    for options in ({"first_rows": 2}, {"first_rows": 4096}):
        search = made(table, RECIPES[name], **options)
        if options["first_rows"] == 2:
            search.pace.chunk = 64
        results.append((search.plan(search.model.cells(0), gsp.Budget(300)), stored(search)))
    assert results[0][1] == results[1][1]
    assert (results[0][0].q_values == results[1][0].q_values).all()


def test_what_is_known_is_kept_for_an_episode_and_no_longer():
    table = random_table(2, states=8, ends=0)
    search = made(table, RECIPES["published"])
    first = search.plan(search.model.cells(0), gsp.Budget(50))
    second = search.plan(search.model.cells(1), gsp.Budget(50))
    assert second.graph_size >= first.graph_size
    assert sum(sum(counts) for _, _, counts in stored(search).values()) == first.model_steps + second.model_steps
    search.begin_episode()
    third = search.plan(search.model.cells(1), gsp.Budget(50))
    assert sum(sum(counts) for _, _, counts in stored(search).values()) == third.model_steps
    forgetful = made(table, RECIPES["published"].changed(retention="decision"))
    for state in (0, 1):
        result = forgetful.plan(forgetful.model.cells(state), gsp.Budget(50))
        assert sum(sum(counts) for _, _, counts in stored(forgetful).values()) == result.model_steps


@pytest.mark.parametrize("cap", [1, 2, 5, 12])
def test_a_full_store_keeps_the_bounds_true(cap):
    """What finds no room counts as the worst or the best: bounds hold, and nothing is NaN."""
    table = random_table(4, states=40, outcomes=6)
    search = made(table, gbop(discount=0.5, threshold=Confidence(0.1)), max_nodes=cap)
    values = value_iteration(enumerate_model(search.model, 0), 0.5)
    state, world = 0, Stream(9)
    for _ in range(4):
        result = search.plan(search.model.cells(state), gsp.Budget(200))
        assert result.at_cap
        assert result.graph_size <= cap
        for kept, (_, (lower, upper), _) in stored(search).items():
            assert lower - 1e-9 <= values.value(kept) <= upper + 1e-9
        state, _, ended = table_step(table, state, result.action, world.uniform())
        if ended:
            return


def test_predecessors_survive_the_cleaning_of_the_store():
    """After nodes of the past have gone, the lists of predecessors are what the edges say."""
    rng = np.random.default_rng(0)
    law = np.zeros((60, 2, 60))
    for state in range(60):  # a river: what has been passed is never reached again
        law[state, :, min(state + 1, 59) : min(state + 6, 60)] = rng.dirichlet(np.ones(max(1, min(5, 59 - state))), 2)
    law[59, :, 59] = 1.0
    model = gsp.tabular_model_from_arrays(law, rng.random((60, 2)))
    search = Search(model, gbop(discount=0.7, horizon=FixedHorizon(6)), False, max_nodes=40)
    search.seed(np.array([1, 2], np.uint64))
    for state in (0, 12, 24, 36):
        search.plan(model.cells(state), gsp.Budget(100))
        assert_linked(search)


def assert_linked(search):
    program, edges, rows = search.program, search.store.arrays.edges, rows_of(search)
    own, heads = int(program.interval_at), int(program.heads_at)
    intervals = [row[own : own + frame.INTERVAL.itemsize // 8].view(frame.INTERVAL)[0] for row in rows]

    def children(number):
        while number:
            yield int(edges[number]["child"])
            number = int(edges[number]["next"])

    wanted = {node: set() for node in range(len(rows))}
    for node in range(len(rows)):
        for action in range(2):
            for child in children(int(rows[node, heads + action])):
                wanted[child].add(node)
    for node in range(len(rows)):
        listed = list(children(int(intervals[node]["predecessors"])))
        assert len(listed) == len(set(listed))
        assert set(listed) == wanted[node]


def test_recipes_print_as_the_call_that_makes_them():
    for recipe in (*RECIPES.values(), gsp.make_recipe("gbop"), gsp.make_recipe("gbop-d")):
        assert eval(repr(recipe), vars(gsp.ingredients)) == recipe
    assert gsp.make_recipe("gbop", preset="paper", env_id="GSP/FrozenLake-v0") == gbop(
        discount=0.99, accuracy=0.001, threshold="published", horizon=AdaptiveHorizon()
    )


def test_the_textbook_ends_where_the_process_does():
    """The oracle itself: an end is no node."""
    table = random_table(0, ends=2)
    naive = textbook(table, RECIPES["published"], gsp.Budget(100))
    naive.plan(0, 100)
    assert END not in naive.nodes
    assert set(naive.nodes) <= set(range(len(table) - 2))
