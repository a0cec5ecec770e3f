"""The optima of the benchmark environments: factored oracles against enumeration, and the shipped numbers."""

import json

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp  # noqa: F401  registers the environments
from benchmarks import optima as command
from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.errors import RecipeError
from gymnasium_gsp.exact import (
    backward_induction,
    enumerate_model,
    episode_optimum,
    four_rooms_average,
    goal_values,
    optimum,
    shipped_optima,
    sysadmin_values,
    truncated_value,
    value_iteration,
)

RUNNING = [[0.0238, 0.0475], [0.525, 0.95]]


def test_shipped_optima_are_those_of_the_registry():
    assert shipped_optima().keys() == {benchmark.id for benchmark in ENVIRONMENTS}
    for benchmark in ENVIRONMENTS:
        assert optimum(gym.make(benchmark.id)) == shipped_optima()[benchmark.id]


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("FrozenLake", {"slip": 1 / 3}, 0.9132201502),
        ("PassengerGrid", {"slip": 0.25}, 6.8919380661),
        ("FactoredRiverSwim", {"length": 4}, 7.6925296853),
        ("FactoredRiverSwim", {"length": 5}, 6.7074713667),
        ("Sailing", {"size": 10}, -17.2900296005),
    ],
)
def test_known_optima(name, arguments, value):
    assert abs(optimum(gym.make(f"GSP/{name}-v0", **arguments)) - value) < 1e-10


@pytest.mark.slow
def test_recomputed_optima_are_the_shipped_ones(capsys):
    assert command.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(ENVIRONMENTS)
    assert "18.2721325866" in next(line for line in lines if "SysAdmin" in line)


@pytest.mark.parametrize(("size", "value"), [(10, -17.2900296), pytest.param(100, -26.0772878, marks=pytest.mark.slow)])
def test_the_published_value_of_sailing(size, value):
    """Bonet and Geffner's lake of 100 x 100 with discount 0.95 costs 26.08 at best; no other lake here is published."""
    env = gym.make("GSP/Sailing-v0", size=size).unwrapped
    env.reset(seed=0)
    space = enumerate_model(env.compiled_model(), env.clone_state().cells)
    assert len(space) == 8 * (size**2 - 1)
    assert value_iteration(space, env.discount).value(space.states[0]) == pytest.approx(value, abs=1e-6)


def test_the_average_over_all_four_rooms():
    assert abs(four_rooms_average(5, 0.25, 50) - 0.5919233) < 5e-8


@pytest.mark.parametrize("machines", [1, 2, 3, 4, 5, 6])
def test_the_factored_ring_agrees_with_enumeration(machines):
    model = gym.make("GSP/SysAdminRing-v0", machines=machines).unwrapped.compiled_model()
    space = enumerate_model(model, 0)
    assert len(space) == 2**machines
    truth = backward_induction(space, 4)
    for left in (0, 1, 2, 4):
        factored = sysadmin_values(machines, RUNNING, left)
        np.testing.assert_allclose(factored[space.states[:, 0]], truth.values[4 - left], atol=1e-13)


def test_the_factored_ring_with_other_numbers():
    # Two machines, nothing runs unless rebooted, one step: 1/2.  If running lasts for ever, two steps: 1/2 + 1.
    assert sysadmin_values(2, [[0, 0], [0, 0]], 1).tolist() == [0.5] * 4
    assert sysadmin_values(2, [[0, 0], [1, 1]], 2).tolist() == [1.5, 2.0, 2.0, 2.0]
    # Discount 1/2: 1/2 + 1/2 * 1.
    assert sysadmin_values(2, [[0, 0], [1, 1]], 2, discount=0.5)[0] == 1.0


@pytest.mark.parametrize("arguments", [{}, {"room_size": 3, "slip": 0.1}, {"slip": 0.5}, {"slip": 0.0, "horizon": 9}])
def test_one_layout_agrees_with_enumeration(arguments):
    env = gym.make("GSP/FourRooms-v0", **arguments)
    for seed in range(3):
        env.reset(seed=seed)
        core = env.unwrapped
        left = min(core.horizon, 50)
        generic = truncated_value(core.compiled_model(), core.clone_state().cells, left)
        assert episode_optimum(env) == pytest.approx(generic, abs=1e-13)


def test_the_average_agrees_with_every_layout_of_a_small_grid():
    # Rooms of one cell: one place for each door, 4 starts, 3 goals each.
    env = gym.make("GSP/FourRooms-v0", room_size=1, horizon=6)
    env.reset(seed=0)
    core = env.unwrapped
    state = core.clone_state()
    values = []
    for goal in (0, 2, 6, 8):
        for start in {0, 2, 6, 8} - {goal}:
            core.set_state(state._replace(cells=(start, 0), layout=(*state.layout[:-2], goal, state.layout[-1])))
            values.append(truncated_value(core.compiled_model(), (start, 0), 6))
    assert len(values) == 12
    assert four_rooms_average(1, 0.25, 6) == pytest.approx(np.mean(values), abs=1e-14)
    assert optimum(env) == pytest.approx(np.mean(values), abs=1e-14)


def test_a_corridor_to_the_goal():
    # Places 0 - 1 - 2 in a row, goal 2, no slip, horizon 10: 1 - 0.09 from place 1, 1 - 0.18 from place 0.
    row = [[0, 0, 1, 0], [0, 1, 2, 1], [1, 2, 2, 2]]
    np.testing.assert_allclose(goal_values(row, [2], 0.0, 10)[:, 0], [0.82, 0.91, 0.0])
    # One step left of five: only place 1 arrives, at the 10th step of 10, for 0.1.
    np.testing.assert_allclose(goal_values(row, [2], 0.0, 10, elapsed=9)[:, 0], [0.0, 0.1, 0.0])
    # Slip 1/4 to each side: right from place 1 arrives with 1/2, else stays: 0.91 / 2 + 0.82 / 4 for two steps.
    np.testing.assert_allclose(goal_values(row, [2], 0.25, 10, steps=2)[1, 0], 0.455 + 0.205)


def test_the_time_limit_counts():
    # Wait or swim: with 2 steps from position 0 nothing beats resting, 3 rivers * 0.1 / 6 a step.
    assert optimum(gym.make("GSP/FactoredRiverSwim-v0", max_episode_steps=2)) == pytest.approx(0.1)
    assert optimum(gym.make("GSP/FourRooms-v0", max_episode_steps=1)) < 0.1
    # In four rooms the horizon scales the reward as well; a shorter time limit does not.
    env = gym.make("GSP/FourRooms-v0", max_episode_steps=20)
    env.reset(seed=3)
    core = env.unwrapped
    assert episode_optimum(env) == pytest.approx(truncated_value(core.compiled_model(), core.clone_state().cells, 20))


def test_the_present_episode_is_left_alone():
    env = gym.make("GSP/FrozenLake-v0", horizon=30)
    env.reset(seed=0)
    at_start = episode_optimum(env)
    env.step(2)
    before, stream = env.unwrapped.clone_state(), env.unwrapped.np_random.bit_generator.state
    assert optimum(env) == at_start
    assert env.unwrapped.clone_state() == before
    assert env.unwrapped.np_random.bit_generator.state == stream
    model = env.unwrapped.compiled_model()
    assert episode_optimum(env) == truncated_value(model, before.cells, 29)


def test_a_finished_episode_is_worth_nothing():
    env = gym.make("GSP/SysAdminRing-v0", machines=3, horizon=2)
    env.reset(seed=0)
    assert episode_optimum(env) == pytest.approx(sysadmin_values(3, RUNNING, 2)[0])
    env.step(0)
    env.step(0)
    assert episode_optimum(env) == 0.0


def test_environments_without_an_exact_model():
    with pytest.raises(RecipeError, match="CartPoleEnv offers no exact model"):
        optimum(gym.make("CartPole-v1"))


def test_a_start_that_is_drawn():
    lake = type(gym.make("GSP/FrozenLake-v0").unwrapped)

    class Anywhere(lake):
        def _start(self):
            return (int(self.np_random.integers(8)),)

    env = Anywhere(horizon=5)
    with pytest.raises(RecipeError, match="Anywhere draws its start or its layout at reset"):
        optimum(env)
    env.reset(seed=0)
    assert 0.0 <= episode_optimum(env) <= 1.0


def test_what_is_too_dear():
    with pytest.raises(RecipeError, match=r"30 machines needs tables of 2.*31 numbers; allowed are 1 to 24"):
        optimum(gym.make("GSP/SysAdminRing-v0", machines=30))
    with pytest.raises(RecipeError, match="take the optimum of single layouts instead"):
        optimum(gym.make("GSP/FourRooms-v0", room_size=20))
    with pytest.raises(RecipeError, match=r"PassengerGrid has too many states.*100 were met"):
        optimum(gym.make("GSP/PassengerGrid-v0", horizon=60), limit=100)
    with pytest.raises(RecipeError, match=r"gives no law for state \(0,\).*oracles of their own"):
        enumerate_model(gym.make("GSP/SysAdminRing-v0").unwrapped.compiled_model(), 0)


@pytest.mark.parametrize("running", [[0.1, 0.2], [[0.1, 0.2], [0.3, 1.2]]])
def test_rings_that_are_refused(running):
    with pytest.raises(RecipeError, match=r"running must hold a probability .* shape \(2, 2\)"):
        sysadmin_values(3, running, 1)


def test_neighbours_that_are_refused():
    with pytest.raises(RecipeError, match=r"neighbours must hold four places .* shape \(1, 3\)"):
        goal_values([[0, 0, 0]], [0], 0.25, 10)


def test_writing_and_comparing(tmp_path, monkeypatch, capsys):
    swim, grid = "GSP/FactoredRiverSwim-v0", "GSP/PassengerGrid-v0"
    assert command.main([swim, grid]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr(command, "compute_optimum", lambda env: 7.0)
    assert command.main([swim]) == 1
    assert f"differs from what is shipped: {swim};" in capsys.readouterr().err
    monkeypatch.setattr(command, "DATA", tmp_path / "optima.json")
    assert command.main([swim, "--write"]) == 0
    assert json.loads((tmp_path / "optima.json").read_text())["optima"] == {**shipped_optima(), swim: 7.0}
