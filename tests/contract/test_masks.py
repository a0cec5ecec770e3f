"""Actions that a state does not have: never simulated, never recommended, whoever chooses; and states without any."""

import ctypes

import numpy as np
import pytest
from numba import cfunc

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import is_legal
from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type

STATES, ACTIONS = 6, 4


def allows(state, action):
    """State 0 has every action but the first, state 5 only the last, the others those that do not divide them."""
    if state == STATES - 1:
        return action == ACTIONS - 1
    return action != state % ACTIONS


def legal(params, state, mask):
    count = 0
    for action in range(4):
        fine = action == 3 if state[0] == 5 else action != state[0] % 4
        mask[action] = 1.0 if fine else 0.0
        count += int(fine)
    return count


def first_legal(params, context, state, rng):
    """A rollout policy: the first legal action."""
    for action in range(4):
        if is_legal(context, action):
            return action
    return -1


def legal_in_python(params, state, mask):
    cell = ctypes.c_int64.from_address(state).value
    given = (ctypes.c_double * ACTIONS).from_address(mask)
    given[:] = [float(allows(cell, action)) for action in range(ACTIONS)]
    return int(sum(given))


@pytest.fixture(scope="module")
def first_policy():
    """`first_legal` as a C function."""
    return cfunc(abi.POLICY)(first_legal)


@pytest.fixture
def masked(python_step):
    """Function from a `legal` to a model in which forbidden actions pay best, and the list of steps that broke it."""

    def build(mask):
        broken = []

        def rules(cells, action, draw):
            fine = allows(cells[0], action)
            if not fine:
                broken.append((cells[0], action))
            cells[0] = int(STATES * draw())
            return (1.0 + action if fine else 1000.0), False

        return gsp.CompiledModel(python_step(rules), ACTIONS, legal=mask, reward_bounds=(0.0, 1000.0)), broken

    return build


def test_masked_actions_are_never_simulated_and_never_recommended(settings, masked):
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FourRooms-v0")
    model, broken = masked(legal)
    for state in range(STATES):
        result = gsp.plan(model, state, recipe, 60, seed=state, steps_left=6)
        assert allows(state, result.action)
        for action in range(ACTIONS):
            if not allows(state, action):
                assert result.visit_counts[action] == 0
                assert result.q_values[action] == -np.inf
    assert not broken


@pytest.mark.parametrize("expansion", ["leaf", "path"])
@pytest.mark.parametrize("policy", ["uniform", "first"])
@pytest.mark.parametrize("selection", ["UCB1", "PolynomialBonus", "Greedy", "Uniform"])
def test_masks_hold_for_every_choice_of_an_action(masked, first_policy, expansion, policy, selection):
    part = gsp.ingredients
    rollout = part.Rollout(part.Custom(first_policy.address) if policy == "first" else None)
    recipe = gsp.Recipe(selection=getattr(part, selection)(), evaluation=rollout, expansion=expansion, key="state")
    model, broken = masked(legal)
    for state in range(STATES):
        assert allows(state, gsp.plan(model, state, recipe, 80, seed=state, steps_left=6).action)
    assert not broken


@pytest.mark.parametrize("form", ["cfunc", "ctypes", "address"])
def test_a_mask_may_be_any_c_function(masked, form):
    callback = ctypes_type(abi.LEGAL)(legal_in_python)
    compiled = cfunc(abi.LEGAL)(legal)
    model, broken = masked({"cfunc": compiled, "ctypes": callback, "address": compiled.address}[form])
    result = gsp.plan(model, 5, "gs-power-uct", 60, seed=0, steps_left=6)
    assert result.action == 3
    assert not broken


def test_an_action_that_was_never_tried_is_recommended_only_if_legal(masked):
    """One model step, and of four actions one: where nothing legal was tried, the answer is legal all the same."""
    model, _ = masked(legal)
    for seed in range(40):
        budget = gsp.Budget(simulations=1, model_steps=1)
        assert allows(2, gsp.plan(model, 2, "uct", budget, seed, steps_left=5).action)


def test_a_mask_that_changes_between_decisions_is_obeyed(masked, model_env):
    """The same state, met again in a kept graph, now with another action: what was learnt does not override it."""

    def changing(params, state, mask):
        for action in range(4):
            mask[action] = 1.0 if action == int(params[0]) else 0.0
        return 1

    def rules(params, state, action, rng, reward):
        reward[0] = 1.0
        return 1 if action == int(params[0]) else 0

    allowed = np.array([1.0])
    env = model_env(gsp.CompiledModel(rules, ACTIONS, params=allowed, legal=changing), horizon=9)
    agent = gsp.make_agent(env, "gs-power-uct-f", budget=20, seed=0)
    for elapsed, action in enumerate((1, 1, 3, 0)):
        allowed[0] = action
        assert agent.act(env.go((0,), elapsed)) == action
        assert not elapsed or agent.result.graph_size == 1


def nothing_in_4(params, state, mask):
    if state[0] == 4:
        return 0
    for action in range(4):
        mask[action] = 1.0
    return 4


@pytest.fixture
def dead_end(python_step):
    """Every step leads on, to state 4, where nothing can be done."""

    def rules(cells, action, draw):
        cells[0] = min(cells[0] + 1, 4)
        return 1.0, False

    return gsp.CompiledModel(python_step(rules), 4, legal=nothing_in_4, reward_bounds=(0.0, 1.0), name="dead end")


NO_ACTION = r"dead end: state \(4,\) has no legal action .*TERMINATED"


def test_a_state_without_actions_that_is_no_end_is_named(algorithm, dead_end):
    """At the root and below it: an error with the state in it, and no answer; where the limit comes first, none."""
    for start in (3, 4):
        with pytest.raises(gsp.PlanningError, match=NO_ACTION):
            gsp.plan(dead_end, start, algorithm, 300, seed=0, steps_left=9)
    assert gsp.plan(dead_end, 0, algorithm, 30, seed=0, steps_left=4).simulations == 30


@pytest.mark.parametrize("expansion", ["leaf", "path"])
def test_a_state_without_actions_is_named_in_rollouts_too(trials, dead_end, expansion):
    with pytest.raises(gsp.PlanningError, match=NO_ACTION):
        gsp.plan(dead_end, 0, gsp.make_recipe(trials, expansion=expansion), 3, seed=0, steps_left=9)
