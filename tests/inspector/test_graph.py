"""The searched graph as a value: its numbers are those of the search, and every export holds them."""

import pickle
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.inspector.graph import TERMINAL


def searched(algorithm="gs-power-uct", env="GSP/FrozenLake-v0", steps=0, **options):
    env = gym.make(env)
    agent = gsp.make_agent(env, algorithm, **{"budget": 200, "seed": 0, "keep_outcomes": True, **options})
    observation, info = env.reset(seed=0)
    for _ in range(steps):
        observation, *_, info = env.step(agent.act(observation, info))
    agent.act(observation, info)
    return agent


@pytest.mark.parametrize("algorithm", gsp.ALGORITHMS)
@pytest.mark.parametrize("steps", [0, 3])
def test_every_algorithm_has_a_graph_whose_root_is_the_results(algorithm, steps):
    agent = searched(algorithm, steps=steps, budget=60)
    graph, result = agent.graph(), agent.result
    assert graph.counts[0].tolist() == result.visit_counts.tolist()
    assert graph.depth[0] == 0
    assert (np.diff(graph.depth) >= 0).all()
    assert 1 <= len(graph) <= result.graph_size
    stored = graph.target >= 0
    assert (graph.depth[graph.target[stored]] <= graph.depth[graph.source[stored]] + 1).all()
    assert set(graph.target[stored].tolist()) | {0} == set(range(len(graph)))
    np.testing.assert_array_equal(np.isnan(graph.q), graph.counts == 0)
    tried = np.zeros_like(graph.counts)
    np.add.at(tried, (graph.source, graph.action), graph.count)
    assert (tried <= graph.counts).all()
    if graph.bounded:
        assert (graph.lower[graph.counts > 0] <= graph.upper[graph.counts > 0]).all()


@pytest.mark.parametrize("env", ["GSP/FrozenLake-v0", "GSP/FactoredRiverSwim-v0", "GSP/PassengerGrid-v0"])
@pytest.mark.parametrize("steps", [0, 5])
def test_values_of_actions_are_the_means_over_the_outcomes(env, steps):
    """With present values, Q(s,a) is the mean of r + V(s') over what was counted, so the outcomes must be right."""
    graph = searched("gs-power-uct", env, steps).graph()
    value = np.where(graph.target >= 0, graph.value[graph.target], 0.0)
    means, sums = np.zeros_like(graph.q), np.zeros_like(graph.counts)
    np.add.at(means, (graph.source, graph.action), graph.probability * (graph.reward + value))
    np.add.at(sums, (graph.source, graph.action), graph.count)
    np.testing.assert_array_equal(sums, graph.counts)
    np.testing.assert_allclose(means[graph.counts > 0], graph.q[graph.counts > 0], rtol=1e-12)


def test_intervals_are_two_standard_errors_of_what_was_seen():
    graph = searched().graph()
    node, action = np.argwhere((graph.counts > 4) & (graph.upper > graph.lower))[0]
    at = (graph.source == node) & (graph.action == action)
    value = np.where(graph.target[at] >= 0, graph.value[graph.target[at]], 0.0)
    seen = np.repeat(graph.reward[at] + value, graph.count[at])
    half = 2.0 * seen.std(ddof=1) / np.sqrt(len(seen))
    assert graph.upper[node, action] == pytest.approx(graph.q[node, action] + half)
    assert graph.lower[node, action] == pytest.approx(graph.q[node, action] - half)
    assert np.isnan(graph.lower[graph.counts == 1]).all()


def test_a_tree_has_one_parent_each_and_a_graph_shares():
    assert (searched("uct").graph().parents()[1:] == 1).all()
    assert (searched("gs-power-uct").graph().parents() > 1).any()


@pytest.mark.parametrize("algorithm", ["uct", "gs-power-uct", "kl-olop", "gbop"])
def test_the_principal_variation_follows_outcomes_from_the_recommended_action(algorithm):
    agent = searched(algorithm)
    moves = agent.graph().principal_variation()
    assert moves[0][:2] == (0, agent.result.action)
    assert len({move.node for move in moves}) == len(moves)
    for move, after in pairwise(moves):
        assert move.target == after.node


def test_exports_hold_every_outcome():
    graph = searched(budget=60).graph()
    table = graph.to_dataframe()
    network = pytest.importorskip("networkx") and graph.to_networkx()
    dot = graph.to_dot()
    assert len(table) == network.number_of_edges() == dot.count(" -> ") == len(graph.source)
    assert table["probability"].groupby([table["source"], table["action"]]).sum().to_numpy() == pytest.approx(1.0)
    assert ("end" in network) == (TERMINAL in graph.target)
    assert network.nodes[0]["visits"] == graph.visits[0]
    assert dot.count("style=bold") == len(graph.principal_variation())
    assert dot.count("peripheries=2") == (graph.parents() > 1).sum()
    assert table["action_name"][0] in ("left", "down", "right", "up")


def test_a_graph_is_a_copy():
    agent = searched()
    graph = agent.graph()
    before = graph.visits.copy()
    agent.plan(agent._binding.view.env.unwrapped.observe(agent._last_root.cells))
    assert (graph.visits == before).all()


@pytest.mark.parametrize("options", [{"preset": "paper"}, {"algorithm": "brue"}, {"algorithm": "uct"}])
def test_stored_outcomes_change_no_result(options):
    kept, plain = searched(steps=4, **options), searched(steps=4, keep_outcomes=False, **options)
    for name in ("action", "value", "model_steps", "nodes", "graph_size"):
        assert getattr(kept.result, name) == getattr(plain.result, name), name
    assert kept.result.q_values.tobytes() == plain.result.q_values.tobytes()
    assert kept.result.visit_counts.tobytes() == plain.result.visit_counts.tobytes()


def test_shared_states_without_outcomes_have_no_graph():
    agent = searched(preset="paper", keep_outcomes=False)
    with pytest.raises(gsp.PlanningError, match="keep_outcomes=True"):
        agent.graph()


def test_a_tree_is_known_by_its_paths():
    """Without stored outcomes a tree has its parents all the same; with them, also where an episode ended."""
    plain, kept = (searched("uct", budget=400, keep_outcomes=keep).graph() for keep in (False, True))
    assert np.isnan(plain.reward).all()
    stored = kept.target >= 0
    links = {tuple(link) for link in np.stack((plain.source, plain.action, plain.target, plain.count)).T.tolist()}
    assert {link[:3] for link in links} == set(
        zip(*(part[stored].tolist() for part in (kept.source, kept.action, kept.target)), strict=True)
    )
    assert not np.isnan(kept.reward).any()


def test_where_nothing_was_searched_there_is_no_graph():
    env = gym.make("GSP/FrozenLake-v0")
    agent = gsp.make_agent(env, budget=8, seed=0)
    with pytest.raises(gsp.PlanningError, match="no result before the first decision"):
        agent.graph()
    agent.act(*env.reset(seed=0))
    with pytest.raises(gsp.PlanningError, match="no searched graph"):
        pickle.loads(pickle.dumps(agent)).graph()


@pytest.mark.parametrize(("algorithm", "steps"), [("graft", 1), ("gs-power-uct", 2), ("uct-max", 1)])
def test_a_few_steps_of_a_graph(algorithm, steps):
    agent = searched(algorithm, **({"key": "actions"} if algorithm == "uct-max" else {}))
    whole, part = agent.graph(), agent.graph(steps=steps)
    near = whole.depth <= steps
    assert len(part) == near.sum() < len(whole)
    assert (part.visits == whole.visits[near]).all()
    assert np.array_equal(part.lower[0], whole.lower[0], equal_nan=True)
    followed = whole.depth[whole.source] < steps
    assert (part.source == whole.source[followed]).all()
    assert (part.target == whole.target[followed]).all()
