"""The ends of the competition's scale: the minimal policy and the optimum of an instance, and play by the optimum."""

from typing import Any

import numpy as np
from numba import njit

from benchmarks.prost.players import play_episode
from benchmarks.prost.rows import Batch
from gymnasium_gsp.abi.memory import address
from gymnasium_gsp.abi.signatures import TERMINATED, call_legal, call_step
from gymnasium_gsp.abi.stream import below
from gymnasium_gsp.binding.connection import connect
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import backward_induction, enumerate_model, truncated_value
from gymnasium_gsp.models.rddl.model import CompiledInstance, compile_instance

EPISODES = 10_000
"""Episodes of each of the two policies of which the better is the minimal one."""

STATES = 1_000_000
"""States up to which an optimum is computed."""


@njit
def returns(step, legal, params, first, actions, fixed, horizon, episodes):
    """Play episodes of one action, or of actions drawn uniformly from the legal ones where `fixed` is negative."""
    results, mask = np.zeros(episodes), np.ones(actions)
    words, reward = np.array([0, 1], np.uint64), np.zeros(1)  # the streams of the policy and of the model
    for episode in range(episodes):
        cells = first.copy()
        for _ in range(horizon):
            if fixed >= 0:
                action = fixed
            else:
                if legal != 0:
                    call_legal(legal, address(params, 0), address(cells, 0), address(mask, 0))
                allowed = np.flatnonzero(mask)
                action = allowed[below(words[:1], len(allowed))]
            ends = call_step(step, address(params, 0), address(cells, 0), action, address(words, 1), address(reward, 0))
            results[episode] += reward[0]
            if ends == TERMINATED:
                break
    return results


def minimal_policy(env: Any) -> tuple[str, float, float]:
    """Measure the competition's minimal policy: the better of doing nothing and of uniformly random actions.

    Returns:
        Which one it is ("idle" or "random"), its mean return, and the standard error of that.
    """
    compiled = compile_instance(env)
    played = {"random": _played(compiled, env, -1)}
    idle = tuple(action.default for action in compiled.instance.actions)
    if idle in compiled.joint.values:
        played["idle"] = _played(compiled, env, compiled.joint.values.index(idle))
    better = max(played, key=lambda name: float(played[name].mean()))
    return better, float(played[better].mean()), float(played[better].std(ddof=1) / np.sqrt(EPISODES))


def _played(compiled: CompiledInstance, env: Any, fixed: int) -> np.ndarray:
    model, first = compiled.model, compiled.instance.layout.pack(env.sampler.init_values)
    legal = 0 if model.legal_pointer is None else model.legal_pointer.address
    pointers = model.step_pointer.address, legal, model.params
    return returns(*pointers, first, model.actions, fixed, int(env.horizon), EPISODES)


def optimum(env: Any) -> float | None:
    """The best expected return of an episode; None where the state space is too large."""
    compiled = compile_instance(env)
    first = compiled.instance.layout.pack(env.sampler.init_values)
    try:
        return truncated_value(compiled.model, first, int(env.horizon), limit=STATES)
    except RecipeError:
        return None


def play_optimally(env: Any, numbers: range) -> Batch | None:
    """Play the episodes with these numbers, which are their seeds, by the exact optimal policy.

    Its mean on the seeds that the planners play tells their luck from their skill.

    Returns:
        The episodes; None where the state space is too large.
    """
    binding, horizon = connect(env), int(env.horizon)
    root = binding.root(*env.reset(seed=0))
    try:
        space = enumerate_model(root.model, root.cells, horizon, limit=STATES)
    except RecipeError:
        return None
    values = backward_induction(space, horizon)

    def act(observation: object, info: object) -> Any:
        now = binding.root(observation, info)
        return binding.actions[int(values.q_values(now.cells, now.elapsed).argmax())]

    decisions: list[float] = []
    return Batch([play_episode(env, act, number, decisions) for number in numbers], decisions)
