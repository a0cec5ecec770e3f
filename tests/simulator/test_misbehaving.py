"""What an environment must not do is named, the real one is untouched, and the agent can be used again."""

import random
import signal
import traceback

import gymnasium as gym
import numpy as np
import pytest
from simulator.toys import Corridor, EzCorridor, Guessing, NaNs, Odd, Uncopyable

import gymnasium_gsp as gsp


def bound(env, limit=10, **options):
    env = gym.wrappers.TimeLimit(env, limit)
    return env, gsp.make_agent(env, "gs-power-uct", budget=30, seed=0, **options)


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ("raises", KeyError, "in the middle of a simulation"),
        ("interrupts", KeyboardInterrupt, None),
        ("four", gsp.PlanningError, "tuple of 4"),
        ("nothing", gsp.PlanningError, "NoneType"),
        ("reward", gsp.PlanningError, "reward nan"),
        ("text", gsp.PlanningError, "reward 'much'"),
    ],
)
def test_what_goes_wrong_in_a_simulation_comes_out_of_it(how, error, says):
    env, agent = bound(Odd())
    for odd in (env.unwrapped, agent._binding.simulator.raw):
        odd.how = how
    observation, _ = env.reset(seed=0)
    before = repr(env.unwrapped.np_random.bit_generator.state)
    with pytest.raises(error, match=says) as caught:
        agent.act(observation)
    if how == "raises":
        assert "toys.py" in "".join(traceback.format_tb(caught.value.__traceback__))
    with pytest.raises(gsp.PlanningError, match="no result before"):
        _ = agent.result
    assert env.unwrapped.position == 0
    assert repr(env.unwrapped.np_random.bit_generator.state) == before
    agent._binding.simulator.raw.where = -1
    env.unwrapped.where = -1
    assert agent.act(observation) in (0, 1)
    assert agent.result.simulations == 30


def test_ctrl_c_ends_a_long_search():
    env, agent = bound(Corridor())
    agent.budget = gsp.Budget(seconds=60)
    observation, _ = env.reset(seed=0)
    previous = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            agent.plan(observation)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    agent.budget = gsp.Budget(simulations=5)
    assert agent.plan(observation).simulations == 5


def test_nan_observations_are_refused():
    env, agent = bound(NaNs())
    observation, _ = env.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match="NaN"):
        agent.act(observation)


def test_unbounded_actions_are_answered_with_what_to_do():
    with pytest.raises(gsp.RecipeError, match=r"TransformAction.*leave out a ClipAction"):
        gsp.make_agent(gym.wrappers.ClipAction(gym.make("Pendulum-v1")), "uct")


@pytest.mark.parametrize(
    "make",
    [
        lambda: gym.make("CartPole-v1"),
        lambda: gym.make("FrozenLake-v1"),
        lambda: gym.make("Blackjack-v1"),
        lambda: gym.wrappers.TimeLimit(Corridor(), 5),
        Corridor,
        lambda: gym.make("Blackjack-v1").unwrapped,
        lambda: gym.make("FrozenLake-v1").unwrapped,
    ],
)
def test_an_environment_that_is_not_reset_is_named(make):
    env = make()
    agent = gsp.make_agent(env, "uct", budget=5)
    with pytest.raises(gym.error.ResetNeeded, match="reset"):
        agent.act(env.observation_space.sample())


def test_an_ezpickle_environment_is_refused_by_name():
    with pytest.raises(gsp.RecipeError, match="EzCorridor is an EzPickle"):
        gsp.make_agent(EzCorridor(), "uct")


def test_a_constructor_that_wants_arguments_asks_for_a_simulator():
    class Sized(Corridor):
        def __init__(self, cells):
            super().__init__(cells)

    with pytest.raises(gsp.RecipeError, match=r"constructor wants cells.*simulator="):
        gsp.make_agent(Sized(4), "uct")
    env, agent = bound(Sized(4), simulator=lambda: Sized(4))
    assert agent.act(*env.reset(seed=0)) in (0, 1)


@pytest.mark.parametrize(
    ("simulator", "says"),
    [
        (Corridor(), "must be a function"),
        (lambda: 3, "must be another one"),
        (lambda: gym.make("CartPole-v1"), "must be another one"),
        (lambda: Corridor(length=7), "other spaces"),
    ],
)
def test_a_wrong_simulator_is_refused(simulator, says):
    with pytest.raises(gsp.RecipeError, match=says):
        gsp.make_agent(Corridor(), "uct", simulator=simulator)


def test_the_users_own_environment_is_no_simulator():
    env = Corridor()
    with pytest.raises(gsp.RecipeError, match="own environment"):
        gsp.make_agent(env, "uct", simulator=lambda: env)


def test_a_stale_observation_is_refused():
    env = gym.make("CartPole-v1")
    agent = gsp.make_agent(env, "uct", budget=5, seed=0)
    observation, _ = env.reset(seed=0)
    env.step(0)
    with pytest.raises(gsp.PlanningError, match="observation"):
        agent.act(observation)


def test_replay_says_what_it_needs():
    env, agent = bound(Uncopyable())
    observation, _ = env.reset()
    env.unwrapped.np_random = np.random.default_rng()  # a stream that no seed is known of
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(seed=\.\.\.\)"):
        agent.act(observation)
    observation, _ = env.reset(seed=1)
    env.step(1)
    with pytest.raises(gsp.PlanningError, match="chose 0"):
        agent.act(1)


def test_replay_refuses_steps_that_draw():
    env, agent = bound(Uncopyable(slip=0.5))
    observation, _ = env.reset(seed=0)
    action = agent.act(observation)
    observation = env.step(action)[0]
    with pytest.raises(gsp.PlanningError, match="draw random numbers"):
        agent.act(observation)


class NoPair(Corridor):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class Choosy(Corridor):
    def reset(self, *, seed=None, options=None):
        if options is None:
            raise ValueError("options wanted")
        return super().reset(seed=seed)


class Licensed(Corridor):
    def __init__(self, licence=None):
        if licence is None:
            raise ValueError("no licence")
        super().__init__()


class Iterating(Corridor):
    def reset(self, *, seed=None, options=None):
        self.script = (step for step in range(9))
        return super().reset(seed=seed)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (NoPair, "reset returned a int; it must return"),
        (Choosy, r"cannot be reset\(seed=0\): ValueError: options wanted"),
        (lambda: Licensed("mine"), "can be made by its class: ValueError: no licence.*simulator="),
        (Iterating, "variables of Iterating cannot be saved: cannot pickle 'generator'"),
        (lambda: gym.vector.SyncVectorEnv([Corridor, Corridor]), "make_vector_agent"),
    ],
)
def test_what_no_simulator_can_be_made_of_is_told_with_what_to_do(make, says):
    with pytest.raises(gsp.RecipeError, match=says):
        gsp.make_agent(make(), "uct")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"state_key": "position"}, "state_key must be 'auto', 'exact', 'actions', Cells"),
        ({"action_mask": [True, True]}, "action_mask must be a function"),
        ({"reward_bounds": (1.0, 0.0)}, "smallest first"),
        ({"reward_bounds": "much"}, "two finite numbers"),
        ({"reward_bounds": (0.0, float("inf"))}, "two finite numbers"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, says):
    with pytest.raises(gsp.RecipeError, match=says):
        gsp.make_agent(Corridor(), "uct", **options)


def test_an_info_that_is_none_does_no_harm():
    class Silent(Corridor):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)[0], None

        def step(self, action):
            return (*super().step(action)[:4], None)

    env, agent = bound(Silent())
    assert agent.act(*env.reset(seed=0)) in (0, 1)


@pytest.mark.parametrize("mask", [None, "11", {0, 1}, {0: 1}, [[1], [1, 1]]])
def test_a_mask_of_a_wrong_form_is_answered_with_the_right_ones(mask):
    env = gym.wrappers.TimeLimit(Guessing(), 30)
    agent = gsp.make_agent(env, "uct", budget=8, seed=0, action_mask=lambda raw: mask if planning else [1, 1])
    planning = True
    observation, info = env.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match=r"no array of numbers: .*; give an array or list with one number") as e:
        agent.act(observation, info)
    assert "inhomogeneous" not in str(e.value)


class AsksSystem(Guessing):
    def begin(self):
        self.rng = random.SystemRandom()

    def draw(self):
        return self.rng.randrange(2)


def test_a_stream_of_the_operating_system_is_named():
    failed = [
        row for row in gsp.check_snapshot(gym.wrappers.TimeLimit(AsksSystem(), 30)).rows if row.outcome == "FAILED"
    ]
    assert [row.claim for row in failed] == ["the global random streams are not used"]
    assert "random.SystemRandom draws what no seed repeats" in failed[0].note


def test_observations_with_drawn_noise_are_not_taken_for_stale_ones():
    draw = np.random.default_rng(0)
    space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float64)
    env = gym.wrappers.TransformObservation(
        gym.make("CartPole-v1"), lambda told: np.concatenate([told, draw.normal(size=2)]), space
    )
    agent = gsp.make_agent(env, "uct", budget=5, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(3):
        observation, *_ = env.step(agent.act(observation))
