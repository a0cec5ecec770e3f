"""Random processes (Garnet; Archibald, McKinnon and Thomas 1995) of several sizes and branching."""

from functools import cache

import numpy as np

from benchmarks.development.tables import Table, TableEnv

_SEED = 20_111


def make_random(
    states: int, actions: int, branching: int, end: float = 0.0, paying: float = 1.0, noisy: bool = False
) -> TableEnv:
    """A random process, always the same for the same arguments.

    Args:
        states: number of states, without the one in which the process has ended.
        actions: number of actions.
        branching: states that an action leads to, with Dirichlet(1) probabilities.
        end: probability that a step ends the process.
        paying: share of the pairs of state and action that pay at all; they pay a uniform amount of [0, 1).
        noisy: whether 1 is paid with that probability, instead of the amount itself.
    """
    return TableEnv(_random_table(states, actions, branching, end, paying, noisy))


@cache
def _random_table(states: int, actions: int, branching: int, end: float, paying: float, noisy: bool) -> Table:
    rng = np.random.default_rng([_SEED, states, actions, branching])
    table: Table = {}
    for state in range(states):
        table[state] = {}
        for action in range(actions):
            after = rng.choice(states, branching, replace=False).tolist()
            chances = ((1.0 - end) * rng.dirichlet(np.ones(branching))).tolist()
            amount = float(rng.random() * (rng.random() < paying))
            ways = [(chance, place, False) for chance, place in zip(chances, after, strict=True)]
            ways += [(end, states, True)] if end > 0.0 else []
            pays = ((amount, 1.0), (1.0 - amount, 0.0)) if noisy else ((1.0, amount),)
            table[state][action] = [
                (chance * share, place, reward, ended) for chance, place, ended in ways for share, reward in pays
            ]
    if end > 0.0:
        table[states] = {action: [(1.0, states, 0.0, True)] for action in range(actions)}
    return table
