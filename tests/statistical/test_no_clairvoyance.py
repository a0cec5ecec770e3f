"""No planner scores above the exact optimum: one that did would have seen the real environment's random numbers.

The planners are seeded with the very seeds of the environments, as two streams that were one would be noticed here.
"""

import copy

import gymnasium as gym
import numpy as np
import pytest
from numba import njit, types
from scipy import stats
from statistical.claims import FALSE_ALARM, SIGMAS, standard_error

from gymnasium_gsp import ALGORITHMS, CompiledModel, make_agent, make_recipe
from gymnasium_gsp.abi.memory import offset
from gymnasium_gsp.abi.pointers import resolve
from gymnasium_gsp.agents.seeding import agent_stream
from gymnasium_gsp.exact import episode_optimum, optimum
from gymnasium_gsp.search.budget import Budget
from gymnasium_gsp.search.search import Search

ENVS = ("FrozenLake", "PassengerGrid", "FactoredRiverSwim", "FourRooms")
ONE_REWARD = ("FrozenLake", "PassengerGrid")  # where an episode's return is the reward at its end
SLOW = ("gbop",)  # about a second an episode
CELLS = [
    pytest.param(name, preset, marks=pytest.mark.slow if name in SLOW else ())
    for name, algorithm in ALGORITHMS.items()
    for preset in (None, *algorithm.presets)
    if preset != "printed"  # the algorithms of "paper", or slower versions of them
]
# Instances with room above the optimum.  Rivers have next to none: whether a stroke will succeed does not depend on
# what one does before it, so that foresight is worth less than the spread of returns would let one see.
ROOM_FOR_MORE = {
    "FrozenLake": {"desc": ("SFFF", "FHFH", "FFFH", "HFFG"), "horizon": 100},
    "PassengerGrid": {"passengers": ((1, 2),), "horizon": 24},
    "FourRooms": {},
}


def sees_the_future(returns, optima, largest):
    """Whether returns lie above the optima of their episodes, significantly.

    Returns that take no more than two values may have no variance in a sample.  With a mean of at most m they reach
    their upper limit L with a probability of at most m / L each (Markov), so that the count of those that do is
    compared with the binomial distribution.  Otherwise the mean difference may be up to 4.9 standard errors.
    """
    returns, optima = np.asarray(returns), np.asarray(optima)
    if len(set(returns.tolist())) <= 2:
        if largest is None:
            return False
        reached = int((returns == largest).sum())
        return bool(stats.binom.sf(reached - 1, len(returns), optima.mean() / largest) < FALSE_ALARM)
    above = returns - optima
    return bool(above.mean() > SIGMAS * standard_error(above))


def play(name, episodes, begin, **options):
    """Returns of some episodes, the optimum of each, and the largest possible one if it is a single reward.

    `begin(env, seed)` gives the policy of an episode.
    """
    env = gym.make(f"GSP/{name}-v0", **options)
    common = None if name == "FourRooms" else optimum(env)
    returns, optima = [], []
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        optima.append(episode_optimum(env) if common is None else common)
        policy, total, done = begin(env, seed), 0.0, False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total += reward
            done = terminated or truncated
        returns.append(total)
    return returns, optima, env.unwrapped.reward_bounds[1] if name in ONE_REWARD else None


def planner(name, preset, budget):
    """`begin` for an agent of the package; one agent for each environment."""
    agents = {}

    def begin(env, seed):
        if env not in agents:
            agents[env] = make_agent(env, name, budget=budget, preset=preset)
        agents[env].reset(seed=seed)
        return agents[env].act

    return begin


def foreseeing(rules, width):
    """A step that takes its random words from its parameters, by the time of the episode, as the environment will."""
    inner = njit(error_model="numpy")(rules)

    def step(params, state, action, rng, reward):
        time, own = state[width], rng[0]
        high, low = types.uint64(params[1 + 2 * time]), types.uint64(params[2 + 2 * time])
        rng[0] = (high << types.uint64(32)) | low
        status = inner(offset(params, 1 + 2 * int(params[0])), state, action, rng, reward)
        rng[0] = own
        state[width] = time + 1
        return status

    return step


def clairvoyant(budget):
    """`begin` for a planner whose model draws from a copy of the environment's own random stream."""
    steps = {}

    def begin(env, seed):
        core = env.unwrapped
        model, horizon = core.compiled_model(), core.horizon
        if type(core) not in steps:
            steps[type(core)] = resolve(foreseeing(type(core).rules, model.width), "step")
        words = copy.deepcopy(core.np_random).integers(2**64, size=horizon, dtype=np.uint64)
        halves = np.column_stack([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)]).astype(float)
        foreseen = CompiledModel(
            step=steps[type(core)],
            actions=model.actions,
            width=model.width + 1,
            key_size=model.key_size,
            params=np.concatenate([[horizon], halves.reshape(-1), model.params]),
            reward_bounds=model.reward_bounds,
        )
        search = Search(foreseen, make_recipe("gs-power-uct"), timed=True)
        search.seed(agent_stream(seed, 0))

        def act(observation):
            state = core.clone_state()
            cells = np.array([*state.cells, state.elapsed])
            return search.plan(cells, Budget(budget), state.elapsed, horizon - state.elapsed).action

        return act

    return begin


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize(("name", "preset"), CELLS)
def test_no_planner_sees_the_future(name, preset, env):
    """Claim: with 16 simulations a decision, no planner's mean return exceeds the optimum of the episodes played.

    Sample: 12 episodes; false alarms 1e-6 by `sees_the_future`, 4.9 standard errors or an exact binomial.
    """
    assert not sees_the_future(*play(env, 12, planner(name, preset, 16)))


@pytest.mark.parametrize("env", ENVS)
def test_a_good_planner_does_not_see_the_future(env):
    """Claim: the same of the default gs-power-uct with 64 simulations, which comes nearer to the optimum.

    Sample: 15 episodes; false alarms as above.
    """
    assert not sees_the_future(*play(env, 15, planner("gs-power-uct", None, 64)))


@pytest.mark.parametrize("env", ROOM_FOR_MORE)
def test_a_clairvoyant_planner_is_caught(env):
    """Claim: the same comparison catches a planner that plans with the environment's own future random numbers.

    Sample: 60 episodes with 256 simulations a decision, fixed.  No false alarm is possible: the test fails if the
    comparison has no power.
    """
    returns, optima, largest = play(env, 60, clairvoyant(256), **ROOM_FOR_MORE[env])
    print(f"\n{env}: clairvoyant {np.mean(returns):.3f}, optimum {np.mean(optima):.3f}")
    assert sees_the_future(returns, optima, largest)


def test_a_fair_sample_without_variance_is_not_caught():
    """Claim: what the binomial is for: 40 of 40 on FrozenLake is no proof (probability 0.026), 400 of 400 is."""
    assert not sees_the_future([1.0] * 40, [0.9132] * 40, 1.0)
    assert sees_the_future([1.0] * 400, [0.9132] * 400, 1.0)
