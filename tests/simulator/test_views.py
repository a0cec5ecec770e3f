"""Keys, holds and depths that an agent chooses where states do not recur; and each of them given by hand."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from simulator.toys import Corridor

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.values import parse_value
from gymnasium_gsp.binding.connection import read_environment, simulate
from gymnasium_gsp.binding.probe import choose_view


class Drift(gym.Env):
    """A point on a line, pushed left or right; with noise, by chance as well; the first line ends the episode."""

    def __init__(self, noise=0.0, scale=1.0, order=(0, 1), noisy_numbers=0, end=4.0):
        self.noise, self.scale, self.order, self.noisy_numbers, self.end = noise, scale, list(order), noisy_numbers, end
        self.observation_space = spaces.Box(-np.inf, np.inf, (2 + noisy_numbers,), np.float64)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([self.np_random.uniform(-0.1, 0.1), 0.0])
        return self.shown(), {}

    def shown(self):
        told = np.concatenate([self.state, self.np_random.normal(size=self.noisy_numbers)])
        return self.scale * told[self.order + list(range(2, len(told)))]

    def step(self, action):
        place, speed = self.state.tolist()
        speed = 0.9 * speed + (0.1 if action else -0.1) + self.noise * self.np_random.normal()
        self.state = np.array([place + speed, speed])
        return self.shown(), -1.0, bool(abs(place + speed) >= self.end), False, {}


class Once(Drift):
    """Ends at its first step."""

    def step(self, action):
        observation, reward, _, truncated, info = super().step(action)
        return observation, reward, True, truncated, info


class Masked(Drift):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": np.ones(2, np.int8)}

    def step(self, action):
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, {"action_mask": np.ones(2, np.int8)}


def limited(env, steps=50):
    return gym.wrappers.TimeLimit(env, steps)


def view_of(env):
    return choose_view(simulate(read_environment(limited(env))))


def test_states_that_recur_keep_their_exact_keys():
    """Discrete states are not even probed, and what is chosen for them is nothing."""
    agent = gsp.make_agent(limited(Corridor()), budget=100, seed=0)
    assert agent.chosen == {}
    assert agent.describe()["states keyed by"] == "the saved state"

    class Grid(Corridor):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Box(0.0, 5.0, (1,), np.float64)

        def reset(self, *, seed=None, options=None):
            return np.array([super().reset(seed=seed)[0]], float), {}

        def step(self, action):
            position, *rest = super().step(action)
            return np.array([position], float), *rest

    view = view_of(Grid())
    assert view.recurs
    assert view.state_key == "exact"
    assert view.found.recurrence > 0.9


def test_cells_where_states_never_meet_and_nothing_is_noisy():
    view = view_of(Drift())
    assert isinstance(view.state_key, gsp.Cells)
    assert view.found.recurrence == view.found.noise == 0.0
    assert view.found.cell_recurrence >= 0.3
    assert view == view_of(Drift())


def test_sequences_of_actions_where_repeated_steps_lead_elsewhere():
    agent = gsp.make_agent(limited(Drift(noise=0.1)), budget=gsp.Budget(model_steps=400), seed=0)
    assert agent.chosen["state_key"] == "actions"
    assert agent.chosen["commit"] is (agent.chosen["hold"] > 1)


def test_units_and_order_of_the_observation_change_nothing():
    plain, scaled, turned = (view_of(Drift(**options)) for options in ({}, {"scale": 1e3}, {"order": (1, 0)}))
    for other in (scaled, turned):
        assert other.hold == plain.hold
        assert other.found.cell_recurrence == pytest.approx(plain.found.cell_recurrence, abs=0.02)
    assert scaled.state_key.widths == pytest.approx([1e3 * width for width in plain.state_key.widths], rel=1e-2)
    assert turned.state_key.widths == plain.state_key.widths[::-1]


def test_numbers_that_are_noise_are_left_out():
    plain, noisy = view_of(Drift()), view_of(Drift(noisy_numbers=2))
    assert noisy.state_key.widths[2:] == (np.inf, np.inf)
    assert noisy.state_key.widths[:2] == pytest.approx(plain.state_key.widths, rel=0.5)
    assert noisy.hold == plain.hold


def test_the_choice_can_be_given_again_and_each_part_alone():
    env = limited(Drift())
    observation, info = env.reset(seed=0)
    budget = gsp.Budget(model_steps=400)
    chosen = gsp.make_agent(env, budget=budget, seed=0)
    assert set(chosen.chosen) == {"algorithm", "state_key", "hold", "horizon", "evaluation"}
    options = {name: parse_value(text) for name, text in chosen.describe()["chosen"].items()}
    given = gsp.make_agent(env, budget=budget, seed=0, **options)
    assert given.chosen == {}
    results = [agent.plan(observation, info) for agent in (chosen, given)]
    assert results[0].q_values.tolist() == results[1].q_values.tolist()
    given = {"hold": 1, "horizon": gsp.ingredients.FixedHorizon(7), "state_key": gsp.Cells((0.5, 0.5))}
    for name, value in given.items():
        other = gsp.make_agent(env, budget=budget, seed=0, **{name: value})
        beside = {"evaluation"} if name == "horizon" else set()  # leaves count 0 with the depth that is chosen
        assert set(other.chosen) == set(chosen.chosen) - {name} - beside
    for key in ("exact", gsp.ObservationKey(1)):
        assert gsp.make_agent(env, budget=budget, seed=0, state_key=key).chosen == {}
    assert gsp.make_agent(env, "uct-max", budget=budget, seed=0, key="actions").chosen == {}


def test_a_held_action_is_one_decision_of_the_search_and_as_many_steps_as_it_takes():
    """Three steps a decision, seven steps left: 3 + 3 + 1, and the budget counts steps of the environment."""
    taken = []

    class Told(Corridor):
        def step(self, action):
            taken.append(action)
            return super().step(action)

    env = limited(Told(length=99), 7)
    observation, info = env.reset(seed=0)
    agent = gsp.make_agent(
        env, "uct", budget=gsp.Budget(model_steps=90), seed=0, hold=3, simulator=lambda: Told(length=99)
    )
    taken.clear()
    result = agent.plan(observation, info)
    assert result.model_steps == 90
    episodes = [taken[begin : begin + 7] for begin in range(0, 70, 7)]  # 30 decisions of 3, 3 and 1 steps
    assert len(taken) == 70
    assert all(len({*part}) == 1 for steps in episodes for part in (steps[:3], steps[3:6]))


def test_the_reward_of_a_held_action_is_the_sum_until_the_end():
    class Paid(Corridor):
        def step(self, action):
            position, _, *rest = super().step(action)
            return position, 1.0, *rest

    env = limited(Paid(length=3), 20)
    agent = gsp.make_agent(env, "uct", budget=50, seed=0, hold=4, discount=1.0)
    agent.plan(*env.reset(seed=0))
    assert agent.result.q_values[1] == pytest.approx(2.0)


def test_who_commits_decides_once_for_all_held_steps(monkeypatch):
    env = limited(Corridor(length=99), 30)
    searched = []
    for commit in (True, False):
        agent = gsp.make_agent(env, budget=20, seed=0, hold=3, commit=commit)
        plan, planned = agent.plan, []
        monkeypatch.setattr(agent, "plan", lambda *given, plan=plan, planned=planned: planned.append(1) or plan(*given))
        observation, info = env.reset(seed=0)
        actions = []
        for _ in range(8):
            actions.append(agent.act(observation, info))
            observation, _, _, _, info = env.step(actions[-1])
        searched.append(len(planned))
        if commit:
            assert actions == [actions[0]] * 3 + [actions[3]] * 3 + [actions[6]] * 2
            agent.act(*env.reset(seed=1))
            assert len(planned) == 4
    assert searched == [3, 8]


def test_a_new_root_is_no_old_sequence():
    env = limited(Drift(noise=0.3))
    agent = gsp.make_agent(env, budget=gsp.Budget(model_steps=60), seed=0, state_key="actions", hold=1)
    observation, info = env.reset(seed=0)
    for _ in range(3):
        action = agent.act(observation, info)
        assert agent.result.inherited == 0
        observation, _, _, _, info = env.step(action)


def test_a_probe_that_ends_at_once_chooses_nothing():
    env = limited(Once())
    agent = gsp.make_agent(env, budget=20, seed=0)
    assert agent.plan(*env.reset(seed=0)).simulations == 20


class Blind(Drift):
    """Shows the same numbers everywhere."""

    def shown(self):
        return np.array([1.0, -2.0])


def test_numbers_that_never_change_make_no_cells():
    """Beside others they do not matter; where there are no others, nothing would tell two states apart."""
    view = view_of(Blind())
    assert view.state_key == "exact"
    assert view.found.cells is None

    class Beside(Drift):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)

        def shown(self):
            return np.append(super().shown(), 7.0)

    beside, plain = view_of(Beside()), view_of(Drift())
    assert beside.state_key.widths[:2] == plain.state_key.widths
    assert beside.found.cell_recurrence == plain.found.cell_recurrence
    assert beside.hold == plain.hold


@pytest.mark.parametrize("algorithm", [None, "uct"])
def test_a_hold_that_the_budget_does_not_pay_for_is_refused(algorithm):
    env = limited(Drift())
    with pytest.raises(gsp.RecipeError, match="hold=11 holds an action for more steps than the 10 model steps"):
        gsp.make_agent(env, algorithm, budget=gsp.Budget(model_steps=10), seed=0, hold=11)
    agent = gsp.make_agent(env, algorithm, budget=gsp.Budget(model_steps=11), seed=0, hold=11)
    assert agent.plan(*env.reset(seed=0)).model_steps == 11


def test_a_hold_is_chosen_that_leaves_each_action_a_step():
    """Two actions, each held for up to four steps."""
    for steps, longest in ((1, 1), (4, 2), (8, 4)):
        agent = gsp.make_agent(limited(Drift()), budget=gsp.Budget(model_steps=steps), seed=0)
        assert agent.chosen["hold"] <= longest
    assert gsp.make_agent(limited(Drift()), budget=gsp.Budget(model_steps=400), seed=0).chosen["hold"] > 1


def test_the_saved_state_is_keyed_where_a_wrapper_hides_the_observation():
    env = gym.wrappers.FrameStackObservation(gym.make("CartPole-v1"), 2)
    agent = gsp.make_agent(env, budget=gsp.Budget(model_steps=200), seed=0)
    assert agent.chosen["state_key"].of == "state"
    agent.plan(*env.reset(seed=0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"state_key": "cells"}, "'auto', 'exact', 'actions'"),
        ({"hold": 0}, "hold must be a whole number"),
        ({"commit": 3}, "commit must be True, False or None"),
        ({"state_key": gsp.Cells((1.0,))}, "a width of its own"),
    ],
)
def test_bad_options(options, words):
    env = limited(Drift())
    with pytest.raises((gsp.RecipeError, gsp.PlanningError), match=words):
        gsp.make_agent(env, budget=20, seed=0, **options).plan(*env.reset(seed=0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((),), "a width above 0"),
        (((0.0, 1.0),), "a width above 0"),
        ((0.5,), "a width above 0"),
        (((1.0,), "picture"), "'observation' or of the 'state'"),
    ],
)
def test_cells_that_make_no_sense(arguments, words):
    with pytest.raises(gsp.RecipeError, match=words):
        gsp.Cells(*arguments)


def test_masked_actions_are_not_held():
    assert view_of(Masked()).hold == 1
    with pytest.raises(gsp.RecipeError, match="may become illegal"):
        gsp.make_agent(limited(Masked()), hold=2)


def test_cells_lie_around_zero_and_refuse_nan():
    cells = gsp.Cells((0.5, np.inf))
    assert cells.cell([0.0, 3.0]) == cells.cell([-0.2, 7.0]) == cells.cell([0.2, -7.0]) == (0, 0)
    assert cells.cell([0.3, 0.0]) == (1, 0)
    assert parse_value(repr(cells)) == cells
    with pytest.raises(gsp.PlanningError, match="must be finite"):
        cells.cell([float("nan"), 0.0])


def test_nothing_is_chosen_beside_functions_that_were_learned_of_single_steps():
    agent = gsp.make_agent(gym.make("CartPole-v1"), "puct", budget=8, seed=0, value_function=lambda observation: 1.0)
    assert agent.chosen == {}


def test_another_algorithm_where_states_do_not_recur_only_if_none_was_given():
    for noise, name in ((0.0, "gs-power-uct-f"), (0.3, "uct-max")):
        env = limited(Drift(noise=noise))
        assert gsp.make_agent(env, budget=20).chosen["algorithm"] == gsp.make_agent(env, budget=20).name == name
        assert gsp.make_agent(env, budget=20, weight=0.3).name == "graft"
        assert "algorithm" not in gsp.make_agent(env, "graft", budget=20).chosen
    assert gsp.make_agent(limited(Corridor()), budget=20).name == "graft"
