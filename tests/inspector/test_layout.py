"""Which nodes are drawn, and where: depth downwards, what is left out counted."""

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.inspector.layout import WIDE, lay_out


@pytest.fixture(scope="module", params=["gs-power-uct", "uct", "kl-olop"])
def graph(request):
    env = gym.make("GSP/FrozenLake-v0")
    agent = gsp.make_agent(env, request.param, budget=300, seed=0, keep_outcomes=True)
    agent.act(*env.reset(seed=0))
    return agent.graph()


@pytest.mark.parametrize("most", [1, 40, 100_000])
def test_the_most_visited_are_drawn_and_the_rest_is_counted(graph, most):
    layout = lay_out(graph, most)
    assert len(layout.nodes) == min(most, len(graph))
    assert layout.nodes[0] == 0
    assert (np.diff(layout.nodes) > 0).all()
    drawn = np.isin(np.arange(len(graph)), layout.nodes)
    assert drawn[graph.source[layout.edges]].all()
    assert drawn[graph.target[layout.edges]].all()
    leaving = drawn[graph.source] & (graph.target >= 0)
    assert len(layout.edges) + layout.folded.sum() == leaving.sum()
    assert layout.ends.sum() == graph.count[drawn[graph.source] & (graph.target == -1)].sum()
    into = set(graph.target[layout.edges].tolist())
    assert into | {0} == set(layout.nodes.tolist()) | {0}, "every drawn node hangs from another"


def test_depth_is_the_vertical_axis_and_no_two_nodes_share_a_place(graph):
    layout = lay_out(graph, 150)
    depth = graph.depth[layout.nodes]
    np.testing.assert_allclose(-layout.y * max(1, depth.max()), depth)
    assert layout.x.min() >= 0.0
    assert layout.x.max() <= WIDE
    assert len(set(zip(layout.x.tolist(), layout.y.tolist(), strict=True))) == len(layout.nodes)


def test_a_trees_branches_do_not_cross():
    env = gym.make("GSP/FrozenLake-v0")
    agent = gsp.make_agent(env, "uct", budget=60, seed=0)
    agent.act(*env.reset(seed=0))
    graph = agent.graph()
    layout = lay_out(graph, 1000)
    place = dict(zip(layout.nodes.tolist(), layout.x.tolist(), strict=True))
    links = [(graph.depth[a], place[a], place[b]) for a, b in zip(graph.source, graph.target, strict=True)]
    for depth in range(graph.depth.max()):
        row = sorted((above, below) for d, above, below in links if d == depth)
        assert [below for _, below in row] == sorted(below for _, below in row)
