"""What Gymnasium and its users expect of every registered environment."""

import functools
import os
import pickle
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

import gymnasium_gsp
from gymnasium_gsp.envs import ENVIRONMENTS, register_envs
from gymnasium_gsp.envs.compiled_env import EnvState

OTHER_ARGUMENTS = {
    "FrozenLake": {"desc": ["SFF", "HFG"], "slip": 0.1, "horizon": 9},
    "PassengerGrid": {"width": 3, "height": 2, "start": [0, 1], "goal": [2, 0], "passengers": [[1, 1]], "slip": 0},
    "FactoredRiverSwim": {"length": 5, "chains": 2, "horizon": 9},
    "SysAdminRing": {"machines": 4, "horizon": 9},
    "FourRooms": {"room_size": 2, "slip": 0.1, "horizon": 9},
    "Sailing": {"size": 4, "start": [1, 0, 3], "discount": 0.9, "horizon": 9},
}

FRESH_PROCESS = """
import sys
import gymnasium as gym
for name in sys.argv[1:]:
    env = gym.make("gymnasium_gsp:" + name)
    assert "numba" in sys.modules and env.spec.id == name
    env.reset(seed=0)
    env.step(0)
"""

LIGHT_IMPORT = """
import sys
import gymnasium_gsp
heavy = {"numba", "scipy", "pygame", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""


def run_python(code, *arguments):
    """Run code in a fresh interpreter where each warning is an error."""
    environment = {**os.environ, "PYTHONPATH": str(Path(gymnasium_gsp.__file__).parents[1])}
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr


def play(env, steps, seed):
    """Observations, rewards and flags of random play, resetting where an episode ends."""
    actions = np.random.default_rng(seed)
    record = []
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(actions.integers(env.action_space.n))
        record.append((np.array(observation).tolist(), reward, terminated, truncated))
        if terminated or truncated:
            record.append(np.array(env.reset()[0]).tolist())
    return record


def random_state(env):
    """The state of the environment's generator."""
    return env.np_random.bit_generator.state


def test_check_env_passes_without_a_warning(env):
    """Includes a rendering by `spec.make` in every mode, where pygame-ce is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=find_spec("pygame") is None)


def test_registered_limit_is_the_horizon(entry):
    made = gym.make(entry.id)
    assert made.spec.max_episode_steps == made.unwrapped.horizon == entry.max_episode_steps


def test_ids_are_found_in_a_fresh_process():
    run_python(FRESH_PROCESS, *[entry.id for entry in ENVIRONMENTS])


def test_import_is_light():
    run_python(LIGHT_IMPORT)


def test_ids_are_found_in_spawned_workers():
    make = functools.partial(gym.make, "gymnasium_gsp:GSP/FourRooms-v0")
    workers = AsyncVectorEnv([make, make], context="spawn")
    try:
        observations, _ = workers.reset(seed=3)
        workers.step(np.array([0, 1]))
        states = workers.call("clone_state")
    finally:
        workers.close()
    assert observations.shape == (2, 6)
    assert [type(state) for state in states] == [EnvState, EnvState]


def test_registration_is_idempotent(entry):
    before = gym.registry[entry.id]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_envs()
    assert gym.registry[entry.id] is before


@pytest.mark.parametrize("changed", [False, True], ids=["default", "changed"])
def test_spec_survives_json(entry, changed):
    made = gym.make(entry.id, **(OTHER_ARGUMENTS.get(entry.name, {"horizon": 9}) if changed else {}))
    again = gym.make(EnvSpec.from_json(made.spec.to_json()))
    made.reset(seed=1)
    again.reset(seed=1)
    assert made.unwrapped.clone_state() == again.unwrapped.clone_state()
    assert made.observation_space == again.observation_space
    assert made.action_space == again.action_space


def test_equal_seeds_give_equal_episodes(entry):
    first, second = gym.make(entry.id).unwrapped, gym.make(entry.id).unwrapped
    assert np.array_equal(first.reset(seed=11)[0], second.reset(seed=11)[0])
    assert play(first, 300, seed=2) == play(second, 300, seed=2)
    assert random_state(first) == random_state(second)


def test_pickled_copy_goes_on_alike(env):
    env.reset(seed=5)
    play(env, 20, seed=1)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.clone_state() == env.clone_state()
    assert play(copy, 100, seed=2) == play(env, 100, seed=2)


def test_step_and_render_want_a_reset(entry):
    env = gym.make(entry.id, render_mode="ansi").unwrapped
    for call in (functools.partial(env.step, 0), env.render, env.clone_state):
        with pytest.raises(ResetNeeded):
            call()


def test_step_after_the_horizon_wants_a_reset(entry):
    env = gym.make(entry.id, horizon=3).unwrapped
    env.reset(seed=0)
    flags = [env.step(0)[2:4] for _ in range(3)]
    assert flags == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("name", ["FrozenLake", "PassengerGrid", "FourRooms"])
def test_step_after_termination_wants_a_reset(name):
    env = gym.make(f"GSP/{name}-v0").unwrapped
    env.reset(seed=0)
    actions = np.random.default_rng(0)
    for _ in range(10_000):
        _, _, terminated, truncated, _ = env.step(actions.integers(4))
        if terminated:
            break
        if truncated:
            env.reset()
    assert terminated
    assert env.clone_state().terminated
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    env.step(0)


@pytest.mark.parametrize("action", [1, np.int64(1), np.uint8(1), np.array(1), True], ids=repr)
def test_whole_numbers_are_actions(env, action):
    env.reset(seed=4)
    expected = env.step(1)
    env.reset(seed=4)
    assert repr(env.step(action)) == repr(expected)


@pytest.mark.parametrize("action", [0.0, np.float64(1), "0", None, [0], np.array([0])], ids=repr)
def test_other_things_are_no_actions(env, action):
    env.reset(seed=4)
    before = env.clone_state(), random_state(env)
    with pytest.raises(TypeError, match=r"whole number in 0 \.\. "):
        env.step(action)
    assert (env.clone_state(), random_state(env)) == before


@pytest.mark.parametrize("beyond", [-1, 0, 1000])
def test_actions_out_of_range_are_refused(env, beyond):
    env.reset(seed=4)
    before = env.clone_state(), random_state(env)
    with pytest.raises(ValueError, match=rf"allowed: 0 \.\. {env.actions - 1}"):
        env.step(beyond if beyond < 0 else env.actions + beyond)
    assert (env.clone_state(), random_state(env)) == before


def test_nothing_returned_is_shared(env):
    """Spoiling what was returned changes neither the environment nor what it returns next."""
    observations, infos = [], []
    observation, info = env.reset(seed=6)
    for _ in range(3):
        observations.append(observation)
        infos.append(info)
        before = env.clone_state()
        if isinstance(observation, np.ndarray):
            observation[:] = 1
        info["spoilt"] = True
        assert env.clone_state() == before
        observation, _, _, _, info = env.step(0)
        assert info.keys() == ({"action_mask"} if env.legal else set())
        assert observation in env.observation_space
    assert len({id(info) for info in infos}) == 3
    assert isinstance(observation, int) or len({id(observation) for observation in observations}) == 3


def test_reset_has_no_options(env):
    env.reset(seed=0, options={})
    with pytest.raises(ValueError, match=r"no reset options.*'start'"):
        env.reset(options={"start": 3})


def test_unknown_render_mode_is_refused(env):
    with pytest.raises(ValueError, match=r"'movie' is unknown.*ansi"):
        type(env)(render_mode="movie")


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("FrozenLake", {"desc": ["SF", "HG"]}, "[S] F \n H  G \n"),
        (
            "PassengerGrid",
            {"width": 3, "height": 2, "goal": [2, 0], "passengers": [[0, 1], [1, 1]]},
            "[.] .  G \n P  P  . \non board: 0 of 2\n",
        ),
        ("FactoredRiverSwim", {"length": 3, "chains": 2}, "[~] ~  G \n[~] ~  G \n"),
        ("SysAdminRing", {"machines": 3}, "...  running: 0 of 3\n"),
        ("Sailing", {"size": 3, "start": [1, 0, 5]}, " .  .  G \n .  .  . \n . [.] . \nwind along 5\n"),
    ],
)
def test_text_at_the_start(name, arguments, text):
    env = gym.make(f"GSP/{name}-v0", render_mode="ansi", **arguments)
    env.reset(seed=0)
    assert env.render() == text


def test_text_of_four_rooms():
    env = gym.make("GSP/FourRooms-v0", render_mode="ansi", room_size=1)
    env.reset(seed=0)
    text = env.render()
    assert text.replace("[.]", " . ").replace(" G ", " . ") == " .  +  . \n +  #  + \n .  +  . \n"
    assert text.count("G") == text.count("[") == 1
