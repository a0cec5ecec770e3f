"""What users bring along plugs in without touching the package: steps, selections, backups, policies, leaf values."""

import ctypes
import math

import numpy as np
import pytest
from numba import cfunc, njit, types

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import below, compilation
from gymnasium_gsp.abi import signatures as abi
from gymnasium_gsp.abi.context import ABI_VERSION, ContextStruct
from gymnasium_gsp.abi.memory import CELLS, REALS
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.search import decide, loop

FORMS = ["plain", "njit", "cfunc", "ctypes", "address"]
PART = gsp.ingredients

# A walk on 0 .. 9: action 1 goes up, action 0 goes down, and one draw may do the opposite; 9 pays.


def walk(params, state, action, rng, reward):
    step = 1 if (below(rng, 4) > 0) == (action == 1) else -1
    state[0] = min(max(state[0] + step, 0), 9)
    reward[0] = 1.0 if state[0] == 9 else 0.0
    return abi.RUNNING


def select_last(params, context, visits, q, counts, rng):
    """Untried actions first, then the last one for ever."""
    for action in range(2):
        if counts[action] == 0:
            return action
    return 1


def backup_smallest(params, context, visits, q, counts, variance, value, target):
    """A pessimist: the smallest value among tried actions, less what the parameter says."""
    worst = math.inf
    for action in range(2):
        if counts[action] > 0:
            worst = min(worst, q[action])
    return worst - params[0]


def policy_up(params, context, state, rng):
    return 1


def value_of_place(params, context, state, rng):
    return params[0] * state[0]


# The same in Python, for ctypes: pointers come as addresses.


def select_in_python(params, context, visits, q, counts, rng):
    tried = (ctypes.c_int64 * 2).from_address(counts)
    return 0 if tried[0] == 0 else 1


def backup_in_python(params, context, visits, q, counts, variance, value, target):
    values, tried = (ctypes.c_double * 2).from_address(q), (ctypes.c_int64 * 2).from_address(counts)
    worst = min(value for value, count in zip(values, tried, strict=True) if count)
    return worst - ctypes.c_double.from_address(params).value


def value_in_python(params, context, state, rng):
    return ctypes.c_double.from_address(params).value * ctypes.c_int64.from_address(state).value


PYTHON = {
    select_last: select_in_python,
    backup_smallest: backup_in_python,
    policy_up: policy_up,
    value_of_place: value_in_python,
}


@pytest.fixture(scope="module")
def in_form():
    """Function (compiled function, signature, form) to the same function as users may hand it over."""
    kept = []

    def build(function, signature, form):
        if form == "plain":
            return function
        if form == "njit":
            return njit(function)
        if form == "ctypes":
            kept.append(ctypes_type(signature)(PYTHON[function]))
            return kept[-1]
        kept.append(cfunc(signature)(function))
        return PART.Custom(kept[-1].address) if form == "address" else kept[-1]

    return build


@pytest.fixture(scope="module")
def walk_model():
    """The walk, compiled."""
    return gsp.CompiledModel(walk, 2, reward_bounds=(0.0, 1.0), name="walk")


def answer(result):
    return result.action, result.value, result.q_values.tolist(), result.visit_counts.tolist()


def test_a_step_in_any_form_is_the_same_model(walk_model, python_step):
    """Plain function, @njit, @cfunc, ctypes pointer to Python and to C, bare address: the same numbers."""

    def rules(cells, action, draw):
        step = 1 if (int(4 * draw()) > 0) == (action == 1) else -1
        cells[0] = min(max(cells[0] + step, 0), 9)
        return float(cells[0] == 9), False

    compiled = cfunc(abi.STEP)(walk)
    forms = [walk, njit(walk), compiled, python_step(rules), ctypes_type(abi.STEP)(compiled.address), compiled.address]
    for algorithm in ("uct", "gs-power-uct"):
        wanted = answer(gsp.plan(walk_model, 7, algorithm, 200, seed=1, steps_left=12))
        for step in forms:
            assert answer(gsp.plan(gsp.CompiledModel(step, 2), 7, algorithm, 200, seed=1, steps_left=12)) == wanted


@pytest.mark.parametrize("form", FORMS)
def test_a_selection_of_ones_own(walk_model, in_form, form):
    """After one visit of each other action, all visits go to the last."""
    recipe = gsp.Recipe(selection=in_form(select_last, abi.SELECT, form))
    result = gsp.plan(walk_model, 4, recipe, 100, seed=0, steps_left=6)
    assert result.visit_counts.tolist() == [1, 99]


@pytest.mark.parametrize("form", FORMS)
def test_a_root_selection_of_ones_own(walk_model, in_form, form):
    """At the root alone, and with the graph kept at each new root as well."""
    recipe = gsp.Recipe(root_selection=in_form(select_last, abi.SELECT, form))
    assert gsp.plan(walk_model, 4, recipe, 100, seed=0, steps_left=6).visit_counts.tolist() == [1, 99]


def test_an_address_may_be_a_whole_number_of_numpy(walk_model, in_form):
    address = in_form(backup_smallest, abi.BACKUP, "cfunc").address
    recipes = [gsp.Recipe(backup=PART.Custom(number, (0.25,))) for number in (address, np.int64(address))]
    found = [gsp.plan(walk_model, 8, recipe, 100, seed=0, steps_left=2) for recipe in recipes]
    assert answer(found[0]) == answer(found[1])


@pytest.mark.parametrize("form", FORMS)
def test_a_backup_of_ones_own(walk_model, in_form, form):
    """Two steps from the end: V is the smaller Q less the parameter."""
    given = in_form(backup_smallest, abi.BACKUP, form)
    custom = PART.Custom(given.function if form == "address" else given, (0.25,))
    result = gsp.plan(walk_model, 8, gsp.Recipe(backup=custom), 100, seed=0, steps_left=2)
    assert result.value == min(result.q_values) - 0.25


@pytest.mark.parametrize("form", FORMS)
def test_a_rollout_policy_of_ones_own(in_form, python_step, form):
    """Every step after the new node goes up."""
    taken = []

    def rules(cells, action, draw):
        cells[0] += 1 + 100 * action
        taken.append(action)
        return 0.0, False

    recipe = gsp.Recipe(evaluation=PART.Rollout(in_form(policy_up, abi.POLICY, form)))
    gsp.plan(gsp.CompiledModel(python_step(rules), 2), 0, recipe, 2, seed=0, steps_left=6)
    assert taken[1:6] == taken[7:12] == [1] * 5


@pytest.mark.parametrize("form", FORMS)
def test_a_heuristic_of_ones_own(walk_model, in_form, form):
    """One step, then half the place one stands on: Q of the two actions is known from the law of the step."""
    given = in_form(value_of_place, abi.VALUE, form)
    heuristic = PART.Heuristic(given.function if form == "address" else given, (0.5,))
    recipe = gsp.Recipe(evaluation=heuristic, horizon=PART.FixedHorizon(1))
    result = gsp.plan(walk_model, 4, recipe, 400, seed=0, steps_left=6)
    downs, ups = (q * 2 - 4 for q in result.q_values)
    assert -1.0 <= downs < 0.0 < ups <= 1.0
    for q, count in zip(result.q_values, result.visit_counts, strict=True):
        assert (q * 2 - 4) * count == pytest.approx(round((q * 2 - 4) * count))


def test_a_python_leaf_value_gets_the_state_and_is_used(python_step):
    seen = []

    def leaf(cells):
        seen.append((type(cells), cells.dtype, cells.tolist()))
        return 10.0 * cells[0] + cells[1]

    def rules(cells, action, draw):
        cells[:] = [action, 5]
        return 1.0, False

    model = gsp.CompiledModel(python_step(rules, width=2), 2, width=2)
    recipe = gsp.Recipe(evaluation=PART.PythonValue(leaf), horizon=PART.FixedHorizon(1), discount=0.5)
    result = gsp.plan(model, (0, 0), recipe, 10, seed=0, steps_left=4)
    assert result.q_values.tolist() == [1.0 + 2.5, 1.0 + 7.5]
    assert {kind for kind, *_ in seen} == {np.ndarray}
    assert sorted({tuple(cells) for *_, cells in seen}) == [(0, 5), (1, 5)]


@pytest.mark.parametrize("error", [KeyError("no such place"), KeyboardInterrupt(), ZeroDivisionError("0/0")])
def test_what_a_python_leaf_value_raises_comes_out_as_it_is(model_env, walk_model, error):
    """The very same object, also Ctrl-C; then the agent plans on as if nothing had been."""
    faults = []

    def leaf(cells):
        if faults:
            raise faults.pop()
        return 0.0

    env = model_env(walk_model, horizon=9)
    agent = gsp.make_agent(env, gsp.Recipe(evaluation=PART.PythonValue(leaf)), budget=50, seed=0)
    observation, _ = env.reset()
    agent.act(observation)
    faults.append(error)
    with pytest.raises(type(error)) as caught:
        agent.plan(observation)
    assert caught.value is error
    with pytest.raises(gsp.PlanningError, match="no result before"):
        _ = agent.result
    assert agent.plan(observation).simulations == 50


def test_ingredients_read_the_context(python_step):
    """Depth, elapsed and left steps, discount, number of actions, version: written down by a selection in Python."""
    seen = []

    @ctypes_type(abi.SELECT)
    def select(params, context, visits, q, counts, rng):
        read = ContextStruct.from_address(context)
        names = ("version", "depth", "elapsed", "steps_left", "discount", "actions", "masked", "budget")
        seen.append(tuple(getattr(read, name) for name in names))
        return 0

    def rules(cells, action, draw):
        cells[0] += 1
        return 0.0, False

    model = gsp.CompiledModel(python_step(rules), 3)
    gsp.plan(model, 0, gsp.Recipe(selection=select, discount=0.75), 4, seed=0, elapsed=5, steps_left=10)
    assert set(seen) == {(ABI_VERSION, d, 5 + d, 10 - d, 0.75, 3, 0, 4.0) for d in range(4)}


def test_the_root_selection_is_asked_at_the_root_alone_also_when_the_graph_is_kept(model_env, walk_model):
    depths, elapsed = [], []

    @ctypes_type(abi.SELECT)
    def select(params, context, visits, q, counts, rng):
        read = ContextStruct.from_address(context)
        depths.append(read.depth)
        elapsed.append(read.elapsed)
        return len(depths) % 2

    env = model_env(walk_model, horizon=9)
    for key in ("path", "state_elapsed", "state"):
        agent = gsp.make_agent(env, "gs-power-uct", budget=20, seed=0, root_selection=select, key=key)
        agent.act(env.go((4,), 0))
        agent.act(env.go((5,), 1))
    assert set(depths) == {0}
    assert elapsed == [0.0] * 20 + [1.0] * 20 + [0.0] * 20 + [1.0] * 20 + [0.0] * 20 + [1.0] * 20


def test_a_users_function_is_compiled_once(walk_model):
    """Not once for each search: FourRooms, for one, makes a search for each episode."""

    def select_first(params, context, visits, q, counts, rng):
        return 0

    recipe = gsp.Recipe(selection=select_first)
    gsp.plan(walk_model, 4, recipe, 5, seed=0, steps_left=6)
    compiled = compilation.user_pointer.cache_info().misses
    for seed in range(3):
        gsp.plan(walk_model, 4, recipe, 5, seed=seed, steps_left=6)
    assert compilation.user_pointer.cache_info().misses == compiled


def test_another_recipe_and_another_model_compile_no_kernel_anew(walk_model, random_model):
    def signatures():
        loops = (loop.run_simulations, decide.decide)
        return [len(compilation.compiled_entry(entry, True).signatures) for entry in loops]

    gsp.plan(walk_model, 4, "uct", 5, seed=0, steps_left=6)
    assert signatures() == [1, 1]
    for algorithm in gsp.ALGORITHMS:
        gsp.plan(random_model(0), 0, algorithm, 5, seed=0, steps_left=6)
        gsp.plan(walk_model, 4, algorithm, 5, seed=0)
    assert signatures() == [1, 1]


def old_backup(params, context, visits, q, counts, variance, value, target):
    total = 0.0
    for action in range(int(context[5])):
        total += context[24 + action]
    return total


def test_ingredients_of_the_first_abi_version_are_refused(walk_model):
    """Then the context was an array: a function that walks it by index, or has the old C signature, is told so."""
    with pytest.raises(gsp.RecipeError, match=r"ABI version 2 .*write context\.actions, not context\[5\]"):
        gsp.plan(walk_model, 4, gsp.Recipe(backup=old_backup), 5, seed=0, steps_left=6)
    signature = types.float64(REALS, REALS, types.int64, REALS, CELLS, REALS, types.float64, types.float64)
    compiled = cfunc(signature)(old_backup)
    with pytest.raises(gsp.RecipeError, match=r"the search calls it as .*ABI version 2"):
        gsp.plan(walk_model, 4, gsp.Recipe(backup=compiled), 5, seed=0, steps_left=6)
