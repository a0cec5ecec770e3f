"""What the statistical tests share: bounds that follow from a false-alarm probability, and random processes.

A test fails only where its claim is *significantly* violated: if the claim holds, a run with fresh seeds fails with a
probability of at most FALSE_ALARM.  Where a test makes several comparisons, they share that probability equally.
"""

import math

import numpy as np
from scipy import stats

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.search import layout as at
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.planners import bind
from gymnasium_gsp.search.store import MEMORY

FALSE_ALARM = 1e-6
SIGMAS = 4.9  # two-sided 1e-6 of a normal distribution

# Entropy-regularised planners tend to the regularised value; recipes of other kinds have loops and limits of their own.
_REGULARISED = ("ments", "rents", "tents")
TRUNCATED_OPTIMUM = [
    name for name in gsp.ALGORITHMS if name not in _REGULARISED and type(gsp.make_recipe(name)) is gsp.Recipe
]
"""Algorithms whose root value tends to the truncated optimum where every state has one depth."""


def standard_error(samples):
    """Standard error of the mean of independent samples."""
    return float(np.std(samples, ddof=1) / math.sqrt(len(samples)))


def margin(samples, comparisons=1):
    """By how much a mean of independent samples may lie on the wrong side of the truth: Student's t, one-sided."""
    return float(stats.t.isf(FALSE_ALARM / comparisons, len(samples) - 1)) * standard_error(samples)


def interval(samples, level=0.95):
    """Student's interval for the mean, as (low, high)."""
    half = float(stats.t.isf((1.0 - level) / 2.0, len(samples) - 1)) * standard_error(samples)
    return float(np.mean(samples)) - half, float(np.mean(samples)) + half


def random_process(seed, states=6, actions=3):
    """A process where every action leads everywhere, with Dirichlet(1) transitions and rewards from [0, 1)."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(states), size=(states, actions))
    return gsp.tabular_model_from_arrays(transitions, rng.random((states, actions)))


def layered_process(seed, layers, states=6, actions=3):
    """The same with a start, state 0, and a layer of states of its own for each depth 1 .. layers."""
    rng = np.random.default_rng(seed)
    count = 1 + layers * states
    transitions = np.zeros((count, actions, count))
    here = slice(0, 1)
    for layer in range(layers):
        below = slice(1 + layer * states, 1 + (layer + 1) * states)
        transitions[here, :, below] = rng.dirichlet(np.ones(states), size=(here.stop - here.start, actions))
        here = below
    transitions[range(here.start, count), :, range(here.start, count)] = 1.0
    return gsp.tabular_model_from_arrays(transitions, rng.random((count, actions)))


def return_range(model, steps):
    """Largest minus smallest return of so many steps, from the bounds on one reward."""
    low, high = model.reward_bounds
    return steps * (high - low)


class Planner:
    """A search that is begun anew with another seed for each result, so that nothing is built twice.

    Args:
        model: what to plan in.
        recipe: how.
        steps_left: to the time limit.
        root: the state to plan from.
    """

    def __init__(self, model, recipe, steps_left=None, root=0):
        self.search = bind(model, recipe, steps_left is not None, None, MEMORY)
        self._steps_left, self._root = steps_left, model.cells(root)

    def plan(self, budget, *seeds):
        """One result from a fresh graph; the seeds are a seed and, if there is another, a number below it."""
        self.search.begin_episode()
        self.search.seed(agent_stream(seeds[0], seeds[1] if len(seeds) > 1 else 0))
        return self.search.plan(self._root, Budget(simulations=budget), 0, self._steps_left)

    def nodes(self):
        """The stored graph: for each node its tag, key, visits, value, and visits and value of each action."""
        program, rows = self.search.program, self.search.store.rows
        stride, actions = int(program[at.STRIDE]), int(program[at.ACTIONS])
        counts_at, q_at = int(program[at.COUNTS_AT]), int(program[at.Q_AT])
        stored = []
        for row in rows.reshape(-1, stride)[: int(self.search.tally[at.NODES])]:
            reals = row.view(np.float64)
            stored.append(
                {
                    "tag": int(row[at.TAG]),
                    "key": tuple(row[at.FIRST_KEY : counts_at].tolist()),
                    "visits": int(row[at.VISITS]),
                    "value": float(reals[at.NODE_VALUE]),
                    "counts": row[counts_at : counts_at + actions].tolist(),
                    "q": reals[q_at : q_at + actions].tolist(),
                }
            )
        return stored
