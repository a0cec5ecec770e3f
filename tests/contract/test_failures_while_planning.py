"""What goes wrong during a search comes out as an error with a name; nothing is half done, and the agent plans on."""

import ctypes
import math
import types

import numpy as np
import pytest
from numba import njit

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.pointers import ctypes_type

PART = gsp.ingredients

# Exceptions in ctypes callbacks and in compiled functions are printed by those who swallow them.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

MODES = {
    "fails": r"the step failed in state \(3,\)",
    "raises": r"the step failed in state \(3,\)",
    "nan": r"the step failed in state \(3,\)",
    "no reward": r"the step failed in state \(3,\)",
    "inf": "finite|outside the declared bounds",
    "unknown status": r"RUNNING or TERMINATED",
    "draws too much": "same number of random values",
    "draws too little": "same number of random values",
}


@pytest.fixture
def moody(python_step):
    """A model that does what `mood.mode` says in state 3, and the mood."""
    mood = types.SimpleNamespace(mode=None)

    def rules(cells, action, draw):
        before, odd = cells[0], cells[0] == 3
        if odd and mood.mode == "draws too little":
            cells[0] = int(6 * draw())
            return (0.5, False)
        cells[0] = int(6 * draw() * draw() + 0.3 * action)
        if not odd or mood.mode is None:
            return (before / 6.0, False)
        if mood.mode == "raises":
            cells[0] = before
            raise ValueError("the step is in a bad mood")
        if mood.mode == "fails":
            cells[0] = before
            return abi.FAILED
        if mood.mode == "no reward":
            cells[0] = before
            return abi.RUNNING
        if mood.mode == "draws too much":
            draw()
        if mood.mode in ("nan", "inf"):
            cells[0] = before
            return (float(mood.mode), False)
        return 7 if mood.mode == "unknown status" else (0.5, False)

    return gsp.CompiledModel(python_step(rules), 2, reward_bounds=(0.0, 1.0), name="moody"), mood


@pytest.mark.parametrize("mode", MODES)
def test_a_step_that_misbehaves_in_some_states_is_named(algorithm, moody, model_env, mode):
    """An error that says what and where, no result, and afterwards a search from scratch as if nothing had been."""
    model, mood = moody
    env = model_env(model, horizon=12, start=(5,))
    agent = gsp.make_agent(env, algorithm, budget=120, seed=0)
    observation, _ = env.reset()
    agent.act(observation)
    mood.mode = mode
    before = env.clone_state()
    with pytest.raises(gsp.PlanningError, match=MODES[mode]):
        agent.act(env.go((4,), 1))
    with pytest.raises(gsp.PlanningError, match="no result before"):
        _ = agent.result
    assert env.clone_state() == before._replace(cells=(4,), elapsed=1)
    mood.mode = None
    assert env.action_space.contains(agent.act(env.go((4,), 1)))
    assert agent.result.simulations == 120
    assert agent.result.graph_size == agent.result.nodes + 1


def test_a_first_simulation_that_draws_oddly_leaves_no_wrong_count_behind(moody, model_env):
    """How many draws a step makes is learnt from the first simulation; one that was odd must not be believed."""
    model, mood = moody
    env = model_env(model, horizon=12, start=(3,))
    agent = gsp.make_agent(env, "uct", budget=50, seed=0)
    observation, _ = env.reset()
    mood.mode = "draws too little"
    with pytest.raises(gsp.PlanningError, match="same number of random values"):
        agent.act(observation)
    mood.mode = None
    agent.act(observation)
    assert agent.result.simulations == 50


def test_a_compiled_step_that_raises_is_named(random_model):
    def raises(params, state, action, rng, reward):
        if state[0] == 2:
            raise ValueError("no such place")
        state[0] += 1
        reward[0] = 1.0
        return 1

    model = gsp.CompiledModel(raises, 2, name="walk")
    with pytest.raises(gsp.PlanningError, match=r"walk: the step failed in state \(2,\)"):
        gsp.plan(model, 0, "uct", 20, seed=0, steps_left=9)
    assert gsp.plan(model, 0, "uct", 20, seed=0, steps_left=2).simulations == 20


# Ingredients of a user's own that misbehave once a node has been visited a few times.


def select_raises(params, context, visits, q, counts, rng):
    if visits > 3:
        raise ValueError("this selection cannot count further")
    return visits % 3


def select_nothing(params, context, visits, q, counts, rng):
    return -1 if visits > 3 else visits % 3


def select_too_far(params, context, visits, q, counts, rng):
    return 3 if visits > 3 else visits % 3


def backup_raises(params, context, visits, q, counts, variance, value, target):
    if visits > 3:
        raise ValueError("this backup cannot count further")
    return target


def backup_nan(params, context, visits, q, counts, variance, value, target):
    return math.nan if visits > 3 else target


def policy_raises(params, context, state, rng):
    if state[0] == 2:
        raise ValueError("no idea what to do in 2")
    return 0


def policy_too_far(params, context, state, rng):
    return 5


def value_raises(params, context, state, rng):
    if state[0] == 2:
        raise ValueError("2 has no value")
    return 0.0


def value_infinite(params, context, state, rng):
    return math.inf


COMPILED = [
    (lambda f: gsp.Recipe(selection=f), select_raises, "ingredient raised"),
    (lambda f: gsp.Recipe(selection=f), select_nothing, r"selection .*state \(\d,\).*legal actions"),
    (lambda f: gsp.Recipe(root_selection=f), select_too_far, r"selection .*state \(0,\).*legal actions"),
    (lambda f: gsp.Recipe(backup=f), backup_raises, "ingredient raised"),
    (lambda f: gsp.Recipe(backup=f), backup_nan, "backup returned .*not a finite number"),
    (lambda f: gsp.Recipe(decision=PART.Sweep(f)), backup_raises, "ingredient raised"),
    (lambda f: gsp.Recipe(decision=PART.Sweep(f)), backup_nan, "backup returned .*not a finite number"),
    (lambda f: gsp.Recipe(evaluation=PART.Rollout(f)), policy_raises, "ingredient raised"),
    (lambda f: gsp.Recipe(evaluation=PART.Rollout(f)), policy_too_far, r"policy .*state \(\d,\).*legal actions"),
    (lambda f: gsp.Recipe(evaluation=PART.Heuristic(f)), value_raises, "ingredient raised"),
    (lambda f: gsp.Recipe(evaluation=PART.Heuristic(f)), value_infinite, r"state \(\d,\) is not a finite number"),
]


@pytest.mark.parametrize(("recipe", "function", "says"), COMPILED, ids=lambda case: getattr(case, "__name__", None))
def test_a_compiled_ingredient_that_misbehaves_is_named(random_model, recipe, function, says):
    """Never a default answer after an exception: compiled functions return 0 then, which would be a valid one."""
    with pytest.raises(gsp.PlanningError, match=says):
        gsp.plan(random_model(0), 0, recipe(njit(function)), 100, seed=0, steps_left=5)


@pytest.mark.parametrize("kind", ["select", "backup", "policy", "value"])
def test_a_python_ingredient_that_raises_is_no_answer(random_model, kind):
    """ctypes prints what a callback raised and returns 0, which is a valid action and a valid value."""
    signature = {"select": abi.SELECT, "backup": abi.BACKUP, "policy": abi.POLICY, "value": abi.VALUE}[kind]
    calls = []

    def raises(*given):
        calls.append(given)
        if len(calls) > 5:
            raise ValueError("the ingredient is in a bad mood")
        return 1

    callback = ctypes_type(signature)(raises)
    recipe = {
        "select": lambda: gsp.Recipe(selection=callback),
        "backup": lambda: gsp.Recipe(backup=callback),
        "policy": lambda: gsp.Recipe(evaluation=PART.Rollout(callback)),
        "value": lambda: gsp.Recipe(evaluation=PART.Heuristic(callback)),
    }[kind]()
    with pytest.raises((gsp.PlanningError, ValueError)):
        gsp.plan(random_model(0), 0, recipe, 100, seed=0, steps_left=5)


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (math.nan, gsp.PlanningError, r"state \(\d,\) is not a finite number"),
        (math.inf, gsp.PlanningError, r"state \(\d,\) is not a finite number"),
        (None, TypeError, "NoneType"),
        ("much", ValueError, "much"),
        (np.zeros(2), TypeError, None),
    ],
)
def test_a_python_leaf_value_that_is_no_number_is_refused(random_model, value, error, says):
    recipe = gsp.Recipe(evaluation=PART.PythonValue(lambda cells: value))
    with pytest.raises(error, match=says):
        gsp.plan(random_model(0), 0, recipe, 100, seed=0, steps_left=5)


def test_a_legal_that_raises_or_miscounts_is_no_answer(random_model):
    """A mask says how many actions it allows; a count that is not the mask's would be taken for a choice."""

    def raises(params, state, mask):
        raise ValueError("no mask")

    def miscounts(params, state, mask):
        mask[0], mask[1], mask[2] = 1.0, 0.0, 0.0
        return 3

    for legal in (raises, miscounts):
        model = random_model(0)
        masked = gsp.CompiledModel(model.step_pointer, 3, params=model.params, legal=legal)
        for algorithm in ("uct", "gs-power-uct"):
            with pytest.raises(gsp.PlanningError, match="legal"):
                gsp.plan(masked, 0, algorithm, 100, seed=0, steps_left=5)


def test_the_state_of_a_failure_in_a_rollout_is_where_it_happened(python_step):
    """Behind the leaf, where no node is."""

    def rules(cells, action, draw):
        cells[0] += 1
        return abi.FAILED if cells[0] == 8 else (0.0, False)

    def fails_unmoved(params, state, action, rng, reward):
        cell = ctypes.c_int64.from_address(state)
        if cell.value == 7:
            return abi.FAILED
        cell.value += 1
        ctypes.c_double.from_address(reward).value = 0.0
        return abi.RUNNING

    step = ctypes_type(abi.STEP)(fails_unmoved)
    with pytest.raises(gsp.PlanningError, match=r"state \(7,\)"):
        gsp.plan(gsp.CompiledModel(step, 2), 0, "uct", 5, seed=0, steps_left=20)
    with pytest.raises(gsp.PlanningError, match="the step failed"):
        gsp.plan(gsp.CompiledModel(python_step(rules), 2), 0, "uct", 5, seed=0, steps_left=20)
