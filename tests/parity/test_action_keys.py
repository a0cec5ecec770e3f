"""Nodes that are sequences of actions, whatever states they lead through (`key="actions"`)."""

import itertools

import numpy as np
import pytest
from naive_bridge import compiled_graph
from naive_parts import random_table

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import Constant, FixedHorizon, PowerMean, Recipe, Sweep, Uniform
from gymnasium_gsp.search.search import Search

TABLE = random_table(5, states=7, actions=2, ends=0, rewards=(0.0, 1.0))


def expected_return(sequence):
    """Expected return of a sequence of actions from state 0, by the law."""
    law, total = {0: 1.0}, 0.0
    for action in sequence:
        after = {}
        for state, mass in law.items():
            for probability, following, reward, _ in TABLE[state][action]:
                total += mass * probability * reward
                after[following] = after.get(following, 0.0) + mass * probability
        law = after
    return total


def searched(simulations, **slots):
    search = Search(gsp.tabular_model(TABLE), Recipe(key="actions", **slots), True)
    search.seed(np.array([3, 4], np.uint64))
    return search, search.plan(np.zeros(1, np.int64), gsp.Budget(simulations), 0, 3)


@pytest.mark.parametrize("estimator", ["running", "current"])
def test_a_node_is_a_sequence(estimator):
    """After many uniform simulations of three steps there is a node for each sequence, and no other."""
    search, _ = searched(400, selection=Uniform(), estimator=estimator, expansion="path", backup=PowerMean(1.0))
    graph = compiled_graph(search)
    wanted = {sequence for length in range(4) for sequence in itertools.product(range(2), repeat=length)}
    assert set(graph) == wanted
    assert graph[()].visits == 400


def test_the_value_is_that_of_the_best_sequence():
    """Claim: within 3 % of the range of the largest expected return of a sequence, not of a policy, at 2**16."""
    best = max(expected_return(sequence) for sequence in itertools.product(range(2), repeat=3))
    _, result = searched(2**16, estimator="current", expansion="path", evaluation=Constant(0.0), decision=Sweep())
    assert abs(result.value - best) < 0.03 * 3.0


def test_a_sweep_and_a_full_store_know_the_keys():
    search, result = searched(300, estimator="current", decision=Sweep(), retention="episode")
    assert result.value == pytest.approx(search.plan(np.zeros(1, np.int64), gsp.Budget(1), 0, 3, True).value, abs=0.5)
    small = Search(gsp.tabular_model(TABLE), Recipe(key="actions", estimator="current"), True, max_nodes=4)
    small.seed(np.array([1, 2], np.uint64))
    capped = small.plan(np.zeros(1, np.int64), gsp.Budget(200), 0, 3)
    assert capped.at_cap
    assert capped.graph_size <= 4


def test_a_kept_tree_of_sequences_starts_anew_when_something_has_happened():
    search, first = searched(50, retention="episode")
    assert first.inherited == 0
    assert search.plan(np.zeros(1, np.int64), gsp.Budget(50), 0, 3, same_root=True).inherited == 50
    assert search.plan(np.zeros(1, np.int64), gsp.Budget(50), 1, 2).inherited == 0


@pytest.mark.parametrize("name", ["uct", "gs-power-uct", "olop"])
def test_open_loop_search_plans_in_simulators_too(name):
    import gymnasium as gym

    env = gym.make("CartPole-v1")
    observation, _ = env.reset(seed=0)
    options = {} if name != "olop" else {"reward_bounds": (0.0, 1.0)}
    agent = gsp.make_agent(env, name, budget=60, seed=0, key="actions", horizon=FixedHorizon(5), **options)
    assert agent.act(observation) in (0, 1)
    assert agent.result.simulations == 60


def test_the_theorem_does_not_cover_it():
    assert any("best sequence" in doubt for doubt in Recipe(key="actions").guarantee)
