"""Agents for vectors of environments, Gymnasium's and Stable-Baselines3's, in every autoreset mode."""

import functools
import importlib.util
import itertools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from simulator.toys import Corridor, Diary, Masked, NativeCorridor, Odd, Pair

import gymnasium_gsp as gsp

BUDGET = 24
needs_sb3 = pytest.mark.skipif(
    importlib.util.find_spec("stable_baselines3") is None, reason="stable-baselines3 is absent"
)


def counted():
    return gym.wrappers.TimeLimit(Corridor(slip=0.25), 12)


def uncounted():
    return NativeCorridor(slip=0.25)


def compiled():
    return gym.make("GSP/FrozenLake-v0", desc=["SFF", "FHF", "FFG"])


def planning(make):
    return gsp.PlanningWrapper(make())


PLACES = {
    "sync": (SyncVectorEnv, lambda make: make),
    "sync, wrapped": (SyncVectorEnv, lambda make: functools.partial(planning, make)),
    "async, wrapped": (AsyncVectorEnv, lambda make: functools.partial(planning, make)),
}


def vector(place, make, count=2, mode=AutoresetMode.NEXT_STEP):
    kind, wrapped = PLACES[place]
    return kind([wrapped(make)] * count, autoreset_mode=mode)


def alone(make, number, episodes):
    """The actions and rewards of some episodes that a single agent plays, in the environment of this number."""
    env = make()
    agent = gsp.make_agent(env, budget=BUDGET, seed=100 + number)
    observation, info = env.reset(seed=number)
    played = []
    for _ in range(episodes):
        agent.reset()
        steps, ended = [], False
        while not ended:
            action = agent.act(observation, info)
            observation, reward, terminated, truncated, info = env.step(action)
            steps.append((int(action), float(reward)))
            ended = terminated or truncated
        played.append(steps)
        observation, info = env.reset()
    return played


def together(envs, agent, episodes):
    """The same for each environment of a vector."""
    mode, count = envs.metadata["autoreset_mode"], envs.num_envs
    observations, infos = envs.reset(seed=0)
    played, waiting = [[[]] for _ in range(count)], np.zeros(count, bool)
    while min(map(len, played)) <= episodes:
        actions = agent.act(observations, infos)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        ended = terminated | truncated
        for number in np.flatnonzero(~waiting):
            assert agent.results[number].simulations > 0
            played[number][-1].append((int(actions[number]), float(rewards[number])))
            if ended[number]:
                played[number].append([])
        assert all(agent.results[number] is None for number in np.flatnonzero(waiting))
        waiting = ended & (mode == AutoresetMode.NEXT_STEP)
        if mode == AutoresetMode.DISABLED and ended.any():
            observations, infos = envs.reset(options={"reset_mask": ended})
    return [episodes_of_one[:episodes] for episodes_of_one in played]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("make", [counted, uncounted, compiled])
@pytest.mark.parametrize("place", PLACES)
def test_each_environment_is_played_as_by_an_agent_alone(place, make, mode):
    envs = vector(place, make, mode=mode)
    try:
        agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=100)
        assert together(envs, agent, 3) == [alone(make, number, 3) for number in range(2)]
    finally:
        envs.close()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_masks_are_those_of_the_present_states(place, mode):
    """An illegal action raises, in the simulator and in the environment."""
    envs = vector(place, Masked, mode=mode)
    try:
        agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=100)
        assert together(envs, agent, 3) == [alone(Masked, number, 3) for number in range(2)]
    finally:
        envs.close()


def test_a_mask_that_was_not_passed_on_is_asked_for():
    envs = vector("sync", Masked)
    agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=0)
    observations, infos = envs.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match="pass the info on"):
        agent.act(observations)
    assert agent.act(observations, infos).tolist() == [1, 1]


@pytest.mark.parametrize("place", PLACES)
def test_planning_moves_no_environment(place):
    def seen(plans):
        envs = vector(place, counted)
        try:
            observations, infos = envs.reset(seed=5)
            agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=0) if plans else None
            steps = []
            for step in range(30):
                if agent is not None:
                    agent.act(observations, infos)
                observations, *answer, infos = envs.step(np.array([step % 2, (step + 1) % 2]))
                streams = [generator.bit_generator.state for generator in envs.get_attr("np_random")]
                steps.append((observations.tolist(), [part.tolist() for part in answer], streams))
            return steps
        finally:
            envs.close()

    assert seen(True) == seen(False)


@pytest.mark.parametrize("make", [Diary, Pair])
def test_observations_and_actions_of_every_shape(make):
    envs = vector("sync", make, count=3)
    observations, _ = envs.reset(seed=0)
    actions = gsp.make_vector_agent(envs, budget=BUDGET, seed=0).act(observations)
    assert actions in envs.action_space
    assert actions.dtype == envs.action_space.dtype


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_evaluation_loop_of_cleanrl(count, mode):
    make = functools.partial(gym.make, "GSP/FrozenLake-v0", desc=["SF", "FG"])
    envs = SyncVectorEnv([lambda: gym.wrappers.RecordEpisodeStatistics(make())] * count, autoreset_mode=mode)
    agent = gsp.make_vector_agent(envs, budget=64, seed=0)
    observations, _ = envs.reset(seed=0)
    returns = []
    while len(returns) < 6:
        observations, _, _, _, infos = envs.step(agent.act(observations))
        told = infos.get("final_info", infos)
        if "episode" in told:
            returns += told["episode"]["r"][told["_episode"]].tolist()
    assert set(returns) == {1.0}


@needs_sb3
@pytest.mark.parametrize(
    ("place", "make"),
    [
        *itertools.product(["dummy", "dummy, wrapped"], [counted, uncounted, Masked]),
        ("subprocesses, wrapped", Masked),
    ],
)
def test_evaluate_policy_of_stable_baselines3(place, make):
    """Six episodes in four environments: the first two are played on after their share, whose figures are not asked."""
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    def watched():
        env = Monitor(make())
        return gsp.PlanningWrapper(env) if "wrapped" in place else env

    options = {"action_mask": Masked.mask} if make is Masked and place == "dummy" else {}
    envs = SubprocVecEnv([watched] * 4) if "subprocesses" in place else DummyVecEnv([watched] * 4)
    try:
        for _ in range(2):
            envs.seed(0)
            agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=100, **options)
            _, lengths = evaluate_policy(agent, envs, 6, return_episode_rewards=True)
            expected = [len(steps) for number in range(4) for steps in alone(make, number, (6 + number) // 4)]
            assert sorted(lengths) == sorted(expected)
    finally:
        envs.close()


@needs_sb3
def test_infos_of_stable_baselines3_hold_the_mask_of_a_new_episode_elsewhere():
    from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

    envs = VecMonitor(DummyVecEnv([Masked] * 2))
    agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=0)
    observations, infos, finished = envs.reset(), envs.unwrapped.reset_infos, 0
    while finished < 6:
        observations, _, ended, infos = envs.step(agent.act(observations, infos))
        finished += int(ended.sum())


def test_a_budget_is_chosen_once_for_all_environments():
    envs = vector("sync", counted, count=3)
    first, *others = gsp.make_vector_agent(envs, "gs-power-uct", seed=0).describe()
    assert "model_steps" in first["budget"]
    for other in others:
        assert (other["budget"], other["recipe"]) == (first["budget"], first["recipe"])


def test_environments_in_other_processes_need_a_wrapper_and_are_left_as_they_are():
    envs = AsyncVectorEnv([counted] * 2)
    try:
        with pytest.raises(gsp.RecipeError, match=r"AsyncVectorEnv are out of reach.*wrappers=\[gymnasium_gsp.Plan"):
            gsp.make_vector_agent(envs)
        envs.reset(seed=0)
    finally:
        envs.close()


@pytest.mark.parametrize("place", ["sync, wrapped", "async, wrapped"])
def test_errors_in_a_worker_are_told_and_end_nothing(place):
    envs = vector(place, Odd)
    try:
        for options, says in (({"budget": -1}, "budget"), ({"algorithm": "utc"}, "'uct'"), ({"colour": 1}, "colour")):
            with pytest.raises(gsp.RecipeError, match=says):
                gsp.make_vector_agent(envs, **options)
        agent = gsp.make_vector_agent(envs, budget=BUDGET)
        with pytest.raises(gym.error.ResetNeeded):
            agent.act(np.zeros(2, int))
        observations, _ = envs.reset(seed=0)
        assert agent.act(observations) in envs.action_space
        gsp.make_vector_agent(envs, budget=BUDGET)
        with pytest.raises(gsp.PlanningError, match="another agent was made"):
            agent.act(observations)
    finally:
        envs.close()


def test_a_failing_simulation_in_a_worker_ends_nothing():
    envs = vector("async, wrapped", functools.partial(Odd, "raises"))
    try:
        observations, _ = envs.reset(seed=0)
        agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=0)
        for _ in range(2):
            with pytest.raises(gsp.PlanningError, match=r"KeyError.*middle of a simulation"):
                agent.act(observations)
        assert envs.step(np.zeros(2, int))[0].tolist() == [0, 0]
    finally:
        envs.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Corridor, "for one environment there is make_agent"),
        (lambda: [Corridor()], "takes a vector of environments"),
        (lambda: gym.make_vec("CartPole-v1", 2, "vector_entry_point"), "computes all its environments at once"),
        (
            lambda: gym.wrappers.vector.TransformReward(SyncVectorEnv([Corridor]), np.negative),
            "TransformReward is wrap",
        ),
        (lambda: SyncVectorEnv([lambda: gym.wrappers.TimeLimit(planning(Corridor), 5)]), "TimeLimit is around it"),
    ],
)
def test_what_cannot_be_planned_in_is_refused(make, says):
    with pytest.raises(gsp.RecipeError, match=says):
        gsp.make_vector_agent(make())


def test_seeds_and_observations_must_be_as_many_as_environments():
    envs = vector("sync", Corridor)
    with pytest.raises(gsp.RecipeError, match="3 seeds were given for 2"):
        gsp.make_vector_agent(envs, seed=[1, 2, 3])
    agent = gsp.make_vector_agent(envs, budget=BUDGET, seed=[1, None])
    envs.reset(seed=0)
    with pytest.raises(gsp.PlanningError, match="plans in 2 environments, but was given 3"):
        agent.act(np.zeros(3, int))


def test_vector_wrappers_that_change_nothing_are_seen_through():
    envs = gym.wrappers.vector.RecordEpisodeStatistics(vector("sync", counted))
    observations, infos = envs.reset(seed=0)
    assert gsp.make_vector_agent(envs, budget=BUDGET).act(observations, infos) in envs.action_space
