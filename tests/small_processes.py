"""Two decision processes whose values can be computed by hand."""

from gymnasium_gsp.abi import RUNNING
from gymnasium_gsp.models.compiled import CompiledModel

# State 0: stay (reward 1), or go on to state 1 with probability 1/2.  State 1: end, with reward 4.
WAIT_OR_GO = {
    0: {0: [(1.0, 0, 1.0, False)], 1: [(0.5, 1, 0.0, False), (0.5, 0, 0.0, False)]},
    1: {0: [(1.0, 2, 4.0, True)], 1: [(1.0, 2, 4.0, True)]},
    2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
}


def corridor(**arguments):
    """State n leads to n + 1 with reward n."""

    def step(params, state, action, rng, reward):
        reward[0] = float(state[0])
        state[0] += 1
        return RUNNING

    def law(cells, action):
        return [(1.0, (cells[0] + 1,), float(cells[0]), False)]

    return CompiledModel(**{"step": step, "actions": 2, "law": law, "name": "corridor", **arguments})
