"""One compiled search for everything: what a recipe or a model brings along adds no compilation to it."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from naive_parts import random_table

import gymnasium_gsp as gsp
from gymnasium_gsp.abi import RUNNING, uniform
from gymnasium_gsp.abi.compilation import compiled_entry
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.abi.signatures import STEP
from gymnasium_gsp.ingredients import (
    UCB1,
    Budget,
    Cautious,
    Custom,
    PolynomialBonus,
    PowerMean,
    PythonValue,
    Recipe,
    Sweep,
)
from gymnasium_gsp.models.compiled import CompiledModel
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search import decide, loop, store
from gymnasium_gsp.search.search import Search


def walk(params, state, action, rng, reward):
    """A walk on the whole numbers; `params` holds the chance of a step the other way."""
    step = 1 if action == 1 else -1
    state[0] += -step if uniform(rng) < params[0] else step
    reward[0] = 1.0 if state[0] == 3 else 0.0
    return RUNNING


def last_action(params, context, visits, q, counts, rng):
    return context.actions - 1


def first_value(params, context, visits, q, counts, variance, value, target):
    return q[0] + params[0]


def python_walk(params, state, action, rng, reward):
    cells = (ctypes.c_int64 * 1).from_address(state)
    cells[0] += 1 if action == 1 else -1
    ctypes.c_double.from_address(reward).value = float(cells[0] == 3)
    return RUNNING


def search_once(model, recipe, state=0, timed=True, **options):
    search = Search(model, recipe, timed, **options)
    search.seed(np.array([1, 2], np.uint64))
    result = search.plan(model.cells(state), Budget(40), 0, 8 if timed else None)
    assert result.simulations == 40
    return search


def signatures(nogil):
    """How many versions there are of each entry that was compiled at all."""
    functions = (loop.run_simulations, decide.decide, store.fill_table, store.mark_future, store.compact)
    return [len(compiled_entry(function, nogil).signatures) for function in functions]


def test_no_recipe_and_no_model_compiles_the_search_again():
    env = gym.make("GSP/FrozenLake-v0").unwrapped
    env.reset(seed=0)
    table = tabular_model(random_table(51, actions=2))
    rows = [CompiledModel(walk, actions=2, params=[0.2]), env.compiled_model(), table]
    recipes = [
        Recipe(),
        Recipe(key="path", selection=UCB1(), target="return", backup=PowerMean(1.0)),
        Recipe(key="state", estimator="current", expansion="path", retention="episode", decision=Sweep(Cautious())),
        Recipe(selection=PolynomialBonus(0.3, "range"), backup=PowerMean(2.5), keep_variance=True),
        Recipe(selection=last_action, backup=Custom(first_value, (0.5,))),
    ]
    for model in rows:
        for recipe in recipes[:3] if model is table else recipes:
            state = env.clone_state().cells if model is rows[1] else 0
            search_once(model, recipe, state)
    # Growth and compaction have entries of their own.
    search = search_once(rows[0], recipes[2], timed=False, first_rows=1)
    search.store.drop_past()
    assert signatures(nogil=True) == [1, 1, 1, 1, 1]


def test_nor_does_python_code():
    step = ctypes_type(STEP)(python_walk)
    search_once(CompiledModel(step, actions=2), Recipe())
    search_once(CompiledModel(step, actions=2), Recipe(decision=Sweep(), selection=last_action))
    search_once(CompiledModel(walk, actions=2, params=[0.2]), Recipe(evaluation=PythonValue(lambda cells: 0.5)))
    assert signatures(nogil=False)[:2] == [1, 1]


SCRIPT = """
from numba.core import event
passes = event.RecordingListener()
event.register("numba:run_pass", passes)

import gymnasium as gym
import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import Budget, Cautious, PowerMean, Sweep, UCB1
from gymnasium_gsp.abi.compilation import compiled_entry, compiled_pointer
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.search import decide, loop, store

for name, options in (("gs-power-uct", {"decision": Sweep(Cautious())}), ("uct", {})):
    env = gym.make("GSP/FrozenLake-v0")
    agent = gsp.make_agent(env, name, budget=400, seed=0, **options)
    agent.plan(env.reset(seed=0)[0])
gsp.plan(gsp.tabular_model([[[(1.0, 0, 1.0, False)]]]), 0, gsp.Recipe(evaluation=gsp.ingredients.Constant()), 9, 0)

entries = [compiled_entry(function, True) for function in (loop.run_simulations, decide.decide, store.fill_table)]
ingredients = [gsp.Recipe().selection, gsp.Recipe().backup, UCB1(), Cautious()]
pointers = [compiled_pointer(type(i).function, SIGNATURES[i.kind]) for i in ingredients]
print(
    sum(sum(entry.stats.cache_misses.values()) for entry in entries),
    sum(sum(entry.stats.cache_hits.values()) for entry in entries),
    sum(pointer.cache_hits for pointer in pointers),
    len(passes.buffer),
)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    # A copy, whose sources nobody edits in between.
    shutil.copytree(Path(gsp.__file__).parent, tmp_path / "gymnasium_gsp", ignore=shutil.ignore_patterns("*.pyc"))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    counts, said = [], []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        counts.append([int(number) for number in done.stdout.split()])
        said.append(done.stderr)
    (misses, hits, pointer_hits, passes), second = counts
    assert (misses, hits, pointer_hits) == (3, 0, 0)
    assert passes > 0
    assert second == [0, 3, 4, 0]
    # The wait is announced, and only then.
    assert "compiling" in said[0]
    assert said[1] == ""
