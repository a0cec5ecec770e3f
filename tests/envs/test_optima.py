"""The optima of the registry, by backward induction written as plainly as possible over `transitions`.

Those of SysAdminRing and FourRooms take a computation of their own and are tested where that stands; Sailing is large.
"""

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.exact import shipped_optima
from gymnasium_gsp.models.legal import legal_actions

OPTIMUM = {entry.name: shipped_optima()[entry.id] for entry in ENVIRONMENTS}


def expected(rows, values, discount=1.0):
    """Expected reward plus discounted value of the next state."""
    return sum(p * (reward + (0.0 if ended else discount * values[after])) for p, after, reward, ended in rows)


def reachable_law(env):
    """State -> action -> rows, for every state from which an episode may go on."""
    model, law, waiting = env.compiled_model(), {}, [env.clone_state().cells]
    while waiting:
        cells = waiting.pop()
        if cells in law or (env.clock is not None and cells[env.clock] == env.horizon):
            continue
        law[cells] = [env.transitions(cells, action) for action in np.flatnonzero(legal_actions(model, cells)).tolist()]
        waiting += [after for rows in law[cells] for _, after, _, terminated in rows if not terminated]
    return law


def optimal_return(env):
    """Optimal return from the start within the horizon."""
    law = reachable_law(env)
    values = dict.fromkeys(law, 0.0)
    for _ in range(env.horizon):
        values = {cells: max(expected(rows, values, env.discount) for rows in law[cells]) for cells in law}
    return values[env.clone_state().cells]


@pytest.mark.parametrize(
    ("name", "arguments", "optimum"),
    [
        *[(name, {}, best) for name, best in OPTIMUM.items() if name not in ("SysAdminRing", "FourRooms", "Sailing")],
        ("FactoredRiverSwim", {"length": 5}, 6.7074713667),
        ("Sailing", {"size": 10}, -17.2900296005),
    ],
)
def test_optimum(name, arguments, optimum):
    env = gym.make(f"GSP/{name}-v0", **arguments).unwrapped
    env.reset(seed=0)
    assert optimal_return(env) == pytest.approx(optimum, abs=1e-10)


def test_four_rooms_pays_what_its_law_promises():
    """Claim: the optimal policy of one layout earns the value that its law gives.

    4,000 episodes through `Env.step`; a difference beyond 4.9 standard errors has a probability of 1e-6.
    """
    env = gym.make("GSP/FourRooms-v0").unwrapped
    env.reset(seed=3)
    start = env.clone_state()
    law, values, policy = reachable_law(env), {}, {}
    for cells in sorted(law, key=lambda cells: -cells[env.clock]):
        for rows in law[cells]:
            values.update({after: 0.0 for _, after, _, _ in rows if after[env.clock] == env.horizon})
        returns = [expected(rows, values) for rows in law[cells]]
        values[cells], policy[cells] = max(returns), int(np.argmax(returns))
    earned = []
    for _ in range(4_000):
        env.set_state(start)
        reward, done = 0.0, False
        while not done:
            _, reward, terminated, truncated, _ = env.step(policy[env.clone_state().cells])
            done = terminated or truncated
        earned.append(reward)
    standard_error = np.std(earned) / np.sqrt(len(earned))
    assert 0.0 < values[start.cells] < 1.0
    assert abs(np.mean(earned) - values[start.cells]) < 4.9 * standard_error
