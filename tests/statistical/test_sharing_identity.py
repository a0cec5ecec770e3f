"""Theorem "Sample sharing": over the same trajectories a graph's node has the visits of all its copies in the tree.

The model writes every step into a log.  What a tree and a graph should have counted is read from the log alone, by
prefixes and by (state, depth); what they did count is read from the stores of two searches.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.searches import FreshSearch
from gymnasium_gsp.abi import RUNNING, TERMINATED, uniform
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.search.ingredients.selection import PolynomialBonus, Uniform
from gymnasium_gsp.search.recipe import Recipe

STATES, ACTIONS, HORIZON, SIMULATIONS = 5, 2, 6, 3000
ENTRY = 5  # cells of one entry of the log: state, depth, action, next state, whether it ended there


def logged_step(params, state, action, rng, reward):
    """A walk on a ring, which ends now and then.  params: number of entries so far, then the entries."""
    u = uniform(rng)
    after = (state[0] + 2 * action + int(3.0 * u)) % 5
    ended = u < 0.04
    first = 1 + 5 * int(params[0])
    params[first], params[first + 1], params[first + 2] = state[0], state[1], action
    params[first + 3], params[first + 4] = after, 1.0 if ended else 0.0
    params[0] += 1.0
    state[0], state[1] = after, state[1] + 1
    reward[0] = 0.25 * after
    return TERMINATED if ended else RUNNING


class Recorded:
    """One search, its graph and the trajectories that its model saw."""

    def __init__(self, key, selection, expansion, seed=7):
        log = np.zeros(1 + ENTRY * SIMULATIONS * HORIZON)
        model = CompiledModel(logged_step, actions=ACTIONS, width=2, key_size=1, clock=1, params=log)
        recipe = Recipe(key=key, selection=selection, expansion=expansion)
        planner = FreshSearch(model, recipe, steps_left=HORIZON, root=(0, 0))
        planner.plan(SIMULATIONS, seed)
        self.nodes = planner.nodes()
        self.trajectories = read(model.params)


def read(log):
    """The trajectories in a log: lists of (state, action, next state or None at the end), each from depth 0 on."""
    trajectories = []
    for state, depth, action, after, ended in log[1:].reshape(-1, ENTRY)[: int(log[0])].astype(int).tolist():
        if depth == 0:
            trajectories.append([])
        assert depth == len(trajectories[-1])
        trajectories[-1].append((state, action, None if ended else after))
    return trajectories


def cut(trajectories, name):
    """The part of each trajectory that a search with leaf expansion keeps: to the first node that is new to it."""
    known, kept = {name([], 0)}, []
    for steps in trajectories:
        part = []
        for step in steps:
            part.append(step)
            if step[2] is None or name(part, step[2]) not in known:
                break
        if part[-1][2] is not None:
            known.add(name(part, part[-1][2]))
        kept.append(part)
    return kept


def by_prefix(steps, state):
    """A node of the unrolled tree: everything that led there."""
    return (*((before, action) for before, action, _ in steps), state)


def by_depth(steps, state):
    """A node of the graph: the state and its depth."""
    return state, len(steps)


def count(trajectories, name):
    """Visits of each node and of each (node, action) under a naming of nodes, from trajectories alone."""
    visits, actions = Counter(), Counter()
    for steps in trajectories:
        visits[name([], 0)] += 1
        for depth, (state, action, after) in enumerate(steps):
            actions[name(steps[:depth], state), action] += 1
            if after is not None:
                visits[name(steps[: depth + 1], after)] += 1
    return visits, actions


def stored(nodes, names):
    """The same from the nodes of a search, given their names."""
    visits = Counter({name: node["visits"] for node, name in zip(nodes, names, strict=True)})
    actions = Counter(
        {(name, a): n for node, name in zip(nodes, names, strict=True) for a, n in enumerate(node["counts"]) if n}
    )
    return visits, actions


def graph_names(nodes):
    return [(node["key"][0], node["tag"]) for node in nodes]


def tree_names(nodes):
    """Prefixes, put together from each node's parent and the action that led from it."""
    names = []
    for node in nodes:
        (state,) = node["key"]
        parent, action = divmod(node["tag"], ACTIONS)
        names.append((state,) if node["tag"] < 0 else (*names[parent][:-1], (names[parent][-1], action), state))
    return names


def depth_of_prefix(name):
    return len(name) - 1


def depth_of_pair(name):
    return name[1]


def mean_visits(visits, depth_of, depth):
    """Mean visits of the nodes at a depth, exactly; and how many nodes that are."""
    here = [n for name, n in visits.items() if depth_of(name) == depth]
    return Fraction(sum(here), len(here)), len(here)


SELECTIONS = [PolynomialBonus(0.5), Uniform()]


@pytest.mark.parametrize("expansion", ["path", "leaf"])
@pytest.mark.parametrize("selection", SELECTIONS, ids=["polynomial bonus", "uniform"])
def test_the_identity_over_recorded_trajectories(selection, expansion):
    """Claim: mean visits per graph node / mean visits per tree node at depth h = |T_h| / |N_h| = 1 / tau_h, exactly.

    Sample: the trajectories of one search of 3,000 simulations.  The graph's side is what the search stored, the
    tree's side what the log of the model's steps says by prefixes.  An identity of whole numbers, no false alarms.
    """
    search = Recorded("state_elapsed", selection, expansion)
    trajectories = search.trajectories if expansion == "path" else cut(search.trajectories, by_depth)
    assert len(trajectories) == SIMULATIONS
    graph, graph_actions = stored(search.nodes, graph_names(search.nodes))
    assert (graph, graph_actions) == count(trajectories, by_depth)
    tree, tree_actions = count(trajectories, by_prefix)
    ratios = []
    for depth in range(HORIZON + 1):
        shared, graph_nodes = mean_visits(graph, depth_of_pair, depth)
        alone, tree_nodes = mean_visits(tree, depth_of_prefix, depth)
        assert shared / alone == Fraction(tree_nodes, graph_nodes)
        ratios.append(shared / alone)
    assert ratios == sorted(ratios)  # copies only multiply with depth, or this process would test nothing
    assert ratios[-1] > 100
    # Node by node: visits are the sum over the copies, and none of them has more.
    for total, copies, project in (
        (graph, tree, lambda name: (name[-1], depth_of_prefix(name))),
        (graph_actions, tree_actions, lambda pair: ((pair[0][-1], depth_of_prefix(pair[0])), pair[1])),
    ):
        merged = Counter()
        for name, n in copies.items():
            assert n <= total[project(name)]
            merged[project(name)] += n
        assert merged == total


def test_the_identity_between_a_tree_and_a_graph():
    """Claim: the same, with a tree search on the other side that played the very same trajectories.

    Sample: 3,000 simulations each, with uniform actions, every state a node, and equal seeds, so that both logs agree.
    """
    graph_search = Recorded("state_elapsed", Uniform(), "path")
    tree_search = Recorded("path", Uniform(), "path")
    assert graph_search.trajectories == tree_search.trajectories
    graph, _ = stored(graph_search.nodes, graph_names(graph_search.nodes))
    tree, tree_actions = stored(tree_search.nodes, tree_names(tree_search.nodes))
    assert (tree, tree_actions) == count(tree_search.trajectories, by_prefix)
    for depth in range(HORIZON + 1):
        shared, graph_nodes = mean_visits(graph, depth_of_pair, depth)
        alone, tree_nodes = mean_visits(tree, depth_of_prefix, depth)
        assert shared / alone == Fraction(tree_nodes, graph_nodes)


@pytest.mark.parametrize("selection", SELECTIONS, ids=["polynomial bonus", "uniform"])
def test_a_tree_counts_what_its_log_says(selection):
    """Claim: a tree search with leaf expansion counts, prefix by prefix, what its own log says; no chance involved."""
    search = Recorded("path", selection, "leaf")
    assert stored(search.nodes, tree_names(search.nodes)) == count(cut(search.trajectories, by_prefix), by_prefix)
