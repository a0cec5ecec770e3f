"""The families: relabelled environments are the same processes, and a network with one predecessor each is a ring."""

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from benchmarks.families import FAMILIES
from benchmarks.families.__main__ import main
from benchmarks.families.left_out import choose
from benchmarks.families.relabelled import relabelled
from benchmarks.families.sysadmin_graph import SysAdminGraphEnv
from gymnasium_gsp.envs.factored_river_swim import FactoredRiverSwimEnv
from gymnasium_gsp.envs.four_rooms import FourRoomsEnv
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv
from gymnasium_gsp.envs.sysadmin_ring import RUNNING_PROBABILITY
from gymnasium_gsp.exact import Regret, backward_induction, enumerate_model, episode_optimum, optimum

KINDS = [(FrozenLakeEnv, {"horizon": 30}), (FactoredRiverSwimEnv, {"horizon": 6}), (FourRoomsEnv, {"room_size": 2})]


@pytest.mark.parametrize(("kind", "arguments"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_relabelling_changes_neither_optimum_nor_episodes(kind, arguments):
    """The same seed and the permuted actions give the same observations and rewards."""
    env, other = kind(**arguments), relabelled(kind)(shuffle=5, **arguments)
    observation, _ = env.reset(seed=2)
    shown, _ = other.reset(seed=2)
    assert other._order != sorted(other._order)
    assert episode_optimum(other) == pytest.approx(episode_optimum(env), abs=1e-12)
    rng, done = np.random.default_rng(0), False
    while not done:
        np.testing.assert_array_equal(observation, shown)
        action = int(rng.integers(env.actions))
        assert other.clone_state().cells != env.clone_state().cells
        observation, reward, *ends, _ = env.step(action)
        shown, same_reward, *same_ends, _ = other.step(other._order.index(action))
        assert (same_reward, same_ends) == (reward, ends)
        done = any(ends)


@pytest.mark.parametrize(("kind", "arguments"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_relabelled_environment_is_planned_in_by_its_compiled_model(kind, arguments):
    env = relabelled(kind)(shuffle=1, **arguments)
    observation, info = env.reset(seed=0)
    agent = gsp.make_agent(env, budget=20, seed=0)
    before = env.clone_state()
    env.step(agent.act(observation, info))
    env.set_state(before)
    assert env.clone_state() == before
    assert "compiled" in agent.describe()["model"]


def test_the_law_of_a_network_by_hand():
    """Down: 0.0238 + f (0.0475 - 0.0238), running: 0.525 + f (0.95 - 0.525), f the share of running predecessors."""
    env = SysAdminGraphEnv(machines=4, seed=0)
    env._masks = [0b0010, 0b1101, 0b0011, 0b0001]  # of machine 0, 1, 2, 3
    env.reset(seed=0)
    state = 0b0011
    model = env.compiled_model()
    rows = model.factors.rows(model.params, (state,), 3)
    up = [sum(p for p, after, _, _ in rows if after[0] >> machine & 1) for machine in range(4)]
    neither, own_only, other_only, both = RUNNING_PROBABILITY
    assert up == pytest.approx([both, own_only + (both - own_only) / 3, other_only, 1.0])
    assert neither < up[2]
    assert all(reward == 0.5 and not ended for _, _, reward, ended in rows)


def test_regret_in_a_network_is_by_exact_values():
    """9 machines are eliminated, as an action leads to 512 states: the same values as by enumeration."""
    env = SysAdminGraphEnv(machines=9, seed=2, horizon=3)
    env.reset(seed=0)
    model = env.compiled_model()
    truth = backward_induction(enumerate_model(model, 0), 3)
    regret = Regret(model, 0, 3)
    assert regret.optimum == pytest.approx(truth.value(0), rel=1e-12) == optimum(env)
    regret.add(0, 9)
    regret.add(0b1001, 2)
    lost = [truth.value(state, depth) - truth.q_values(state, depth)[a] for state, depth, a in ((0, 0, 9), (9, 1, 2))]
    assert regret.total == pytest.approx(sum(lost), abs=1e-12)
    assert lost[0] > 0.0


def test_every_machine_has_one_to_three_others_and_large_networks_no_optimum():
    for machines in (2, 12, 40):
        env = SysAdminGraphEnv(machines=machines, seed=3)
        for machine, mask in enumerate(env._masks):
            assert 1 <= mask.bit_count() <= 3
            assert not mask >> machine & 1
    with pytest.raises(gsp.RecipeError, match="no exact law"):
        optimum(SysAdminGraphEnv(machines=13))
    with pytest.raises(ValueError, match="between 2 and 40"):
        SysAdminGraphEnv(machines=41)


def test_the_step_of_a_network_follows_its_law():
    """6 machines, 3,000 steps from one state: each machine's share within 5.5 standard errors (fixed seed)."""
    env = SysAdminGraphEnv(machines=6, seed=1)
    env.reset(seed=0)
    env.set_state(env.clone_state()._replace(cells=(0b101101,)))
    model, start, counts = env.compiled_model(), env.clone_state(), np.zeros(6)
    rows = model.factors.rows(model.params, start.cells, 6)
    up = np.array([sum(p for p, after, _, _ in rows if after[0] >> machine & 1) for machine in range(6)])
    for _ in range(3000):
        env.set_state(start)
        counts += env.step(6)[0]
    assert (abs(counts / 3000 - up) <= 5.5 * np.sqrt(up * (1 - up) / 3000)).all()


def test_every_member_can_be_made():
    for family in FAMILIES:
        sizes = [gym.make(family.id, size=size).observation_space for size in family.sizes]
        assert len(set(map(str, sizes))) == len(sizes)


@pytest.mark.slow
def test_the_table(baselines, capsys):
    main(["--budgets", "2", "--episodes", "2", "--jobs", "1"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[2] for row in rows] == ["FrozenLake", "RiverSwim", "SysAdmin", "FourRooms", "mean"]
    scores = [float(row[3].split()[0]) for row in rows]
    assert scores[4] == pytest.approx(np.mean(scores[:4]), abs=0.001)


def test_constants_are_chosen_by_the_families_that_are_not_left_out():
    scores = {"weight": {0.1: [0.5, 0.7], 1.0: [0.9, 0.2]}, "margin": {0.5: [0.6, 0.9], 2.0: [0.6, 0.8]}}
    assert choose([0.6, 0.8], scores) == {"margin": 0.5}
