"""What makes no sense is refused in words: what was given, what is allowed, the nearest name.  The rest goes on."""

import ctypes
import math

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numba import cfunc, types

import gymnasium_gsp as gsp

PART = gsp.ingredients
TABLE = [[[(1.0, 0, 0.0, False)], [(1.0, 0, 1.0, False)]]]


def agent(**options):
    env = gym.make("GSP/FrozenLake-v0")
    env.reset(seed=0)
    name = options.pop("name", "gs-power-uct")
    return gsp.make_agent(env, name, **options)


def plan(recipe="uct", budget=10, **options):
    return gsp.plan(gsp.tabular_model(TABLE), 0, recipe, budget, 0, **options)


def table1(alpha, beta, b, p=math.inf):
    constants = PART.Table1(alpha=alpha, beta=beta, b=b)
    return gsp.Recipe(selection=PART.PolynomialBonus(constants=constants), backup=PART.PowerMean(p))


def step(params, state, action, rng, reward):
    return 1


def same(number):
    return number


def cannot_be_compiled(params, state, action, rng, reward):
    return "no such type" + state


class Acting(gym.Env):
    observation_space = spaces.Discrete(2)

    def __init__(self, space):
        self.action_space = space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, 0.0, True, False, {}


def acting(low, high, **options):
    return gsp.make_agent(Acting(spaces.Box(low, high, (2,))), "uct", **options)


# What is done, and what the message says: the thing given, and what is allowed or nearest.
REFUSED = {
    "algorithm": (lambda: agent(name="gs-power-utc"), ["'gs-power-utc'", "Did you mean 'gs-power-uct'", "power-uct"]),
    "algorithm, far from any": (lambda: agent(name="zzz"), ["'zzz'", "Allowed: .*uct"]),
    "algorithm, no name": (lambda: agent(name=3), ["3", "name or a [Rr]ecipe"]),
    "algorithm of plan": (lambda: plan("utc"), ["'utc'", "Did you mean 'uct'"]),
    "option": (lambda: agent(explansion="leaf"), ["'explansion'", "Did you mean 'expansion'", "retention"]),
    "argument": (lambda: agent(bugdet=3), ["'bugdet'", "Did you mean 'budget'"]),
    "argument seed": (lambda: agent(sed=3), ["'sed'", "Did you mean 'seed'"]),
    "field of a budget": (lambda: gsp.Budget(second=1), ["argument of Budget 'second'", "Did you mean 'seconds'"]),
    "slot": (lambda: gsp.Recipe(select=PART.UCB1()), ["argument of Recipe 'select'", "Did you mean 'selection'"]),
    "field of an ingredient": (lambda: PART.UCB1(k=1.0), ["argument of UCB1 'k'", "Allowed: c, scale"]),
    "field of a horizon": (lambda: PART.FixedHorizon(dept=3), ["argument of FixedHorizon 'dept'", "mean 'depth'"]),
    "slot of a recipe": (lambda: agent(name=gsp.Recipe(), explansion="leaf"), ["'explansion'", "mean 'expansion'"]),
    "choice": (lambda: agent(expansion="leef"), ["'leef'", "Did you mean 'leaf'", "path"]),
    "key": (lambda: gsp.Recipe(key="sate"), ["'sate'", "Did you mean 'state'", "path", "state_elapsed"]),
    "preset": (lambda: agent(preset="papper"), ["'papper'", "Did you mean 'paper'", "printed"]),
    "preset of a recipe": (lambda: agent(name=gsp.Recipe(), preset="paper"), ["'paper'", "named algorithm"]),
    "seed -1": (lambda: agent(seed=-1), ["-1", "at least 0"]),
    "seed 1.5": (lambda: agent(seed=1.5), ["1.5", "whole number"]),
    "budget 0": (lambda: agent(budget=0), ["0", "at least 1"]),
    "budget -5": (lambda: agent(budget=-5), ["-5", "at least 1"]),
    "budget text": (lambda: agent(budget="much"), ["'much'", "whole number"]),
    "budget 2.5": (lambda: agent(budget=2.5), ["2.5", "whole number", "seconds"]),
    "budget True": (lambda: agent(budget=True), ["True", "whole number"]),
    "budget nan": (lambda: agent(budget=math.nan), ["nan", "whole number"]),
    "budget of plan": (lambda: plan(budget=0), ["0", "at least 1"]),
    "budget later": (lambda: agent_with_budget(-2), ["-2", "at least 1"]),
    "empty budget": (lambda: gsp.Budget(), ["empty", "simulations, model_steps, seconds or nodes"]),
    "model steps": (lambda: gsp.Budget(model_steps=0), ["model_steps", "0", "at least 1"]),
    "nodes": (lambda: gsp.Budget(nodes="a"), ["nodes", "'a'"]),
    "no seconds": (lambda: gsp.Budget(seconds=0.0), ["seconds", "0.0", "above 0"]),
    "seconds without end": (lambda: gsp.Budget(seconds=math.inf), ["seconds", "inf", "finite"]),
    "seconds nan": (lambda: gsp.Budget(seconds=math.nan), ["seconds", "nan"]),
    "p below 1": (lambda: agent(p=0.5), ["0.5", "1 .*infinity"]),
    "p negative": (lambda: PART.PowerMean(-math.inf), ["-inf", "p"]),
    "p nan": (lambda: PART.PowerMean(math.nan), ["nan", "p"]),
    "p text": (lambda: PART.PowerMean("2"), ["'2'", "number"]),
    "weights": (lambda: PART.PowerMean(2.0, "printd"), ["'printd'", "Did you mean 'printed'"]),
    "c": (lambda: agent(c=-1.0), ["-1.0", "at least 0"]),
    "scale": (lambda: agent(scale="rang"), ["'rang'", "Did you mean 'range'"]),
    "discount above 1": (lambda: agent(discount=1.01), ["discount", "1.01", "between 0 and 1"]),
    "discount below 0": (lambda: agent(discount=-0.1), ["discount", "-0.1", "between 0 and 1"]),
    "discount nan": (lambda: agent(discount=math.nan), ["discount", "nan", "number"]),
    "discount 1 without end": (
        lambda: plan(gsp.Recipe(discount=1.0)),
        ["discount 1", "finite horizon", "FixedHorizon"],
    ),
    "H(n) without n": (lambda: plan("gs-power-uct-f+", gsp.Budget(seconds=1.0)), [r"H\(n\)", "budget in simulations"]),
    "Table 1, b": (lambda: table1((4.0,), (8.0,), (2.0,)), ["h=0", "2 < b_h < alpha_h"]),
    "Table 1, alpha": (lambda: table1((6.0,), (12.0,), (2.5,)), ["h=0", r"alpha_h \(1 - b_h / alpha_h\) <= b_h"]),
    "Table 1, beta": (lambda: table1((5.0,), (8.0,), (3.0,)), ["h=0", "alpha_h <= beta_h / 2"]),
    "Table 1, p": (lambda: table1((4.0,), (8.0,), (2.5,), 3.0), ["h=0", "0 < alpha_h - beta_h / p < 1", "p = 3"]),
    "Table 1, next": (lambda: table1((4.0, 30.0), (8.0, 60.0), (2.5, 16.0)), ["h=0", r"beta_h = b_\(h\+1\) - 1"]),
    "Table 1, lengths": (lambda: table1((4.0, 5.0), (8.0,), (2.5,)), ["equally long"]),
    "Table 1, a number": (lambda: table1(4.0, (8.0,), (2.5,)), ["alpha", "sequence", "4.0"]),
    "an array for a choice": (lambda: gsp.Recipe(key=np.array([1, 2])), ["unknown key", r"\[1, 2\]", "state_elapsed"]),
    "c beside a selection": (
        lambda: agent(name="uct", c=9, selection=PART.UCB1(2.0)),
        ["c of uct", "selection=", "give one"],
    ),
    "depth beside a horizon": (
        lambda: agent(name="fixed-depth-mcts", depth=4, horizon=PART.FixedHorizon(3)),
        ["depth of fixed-depth-mcts", "horizon=", "give one"],
    ),
    "threshold beside optimism": (
        lambda: agent(name="gbop", threshold="none", optimism=PART.KullbackLeibler("published", 1.0)),
        ["threshold of gbop", "optimism=", "give one"],
    ),
    "a class": (lambda: gsp.Recipe(selection=PART.UCB1), ["class UCB1", r"UCB1\(\)"]),
    "another slot's": (lambda: gsp.Recipe(selection=PART.PowerMean()), ["PowerMean", "backup", "select"]),
    "no backup": (lambda: gsp.Recipe(backup=None), ["backup", "None"]),
    "a text for a selection": (lambda: gsp.Recipe(selection="ucb1"), ["selection", "'ucb1'"]),
    "no evaluation": (
        lambda: gsp.Recipe(evaluation=3),
        ["evaluation", "3", "Rollout, Constant, Heuristic, PythonValue"],
    ),
    "no decision": (lambda: gsp.Recipe(decision="sweep"), ["decision", "'sweep'", "SearchValues, Sweep"]),
    "no horizon": (lambda: gsp.Recipe(horizon=50), ["horizon", "50", "StepsLeft, FixedHorizon, AdaptiveHorizon"]),
    "horizon 0": (lambda: PART.FixedHorizon(0), ["0", "at least 1"]),
    "rollout -1": (lambda: PART.Rollout(steps=-1), ["-1", "at least 0"]),
    "rollout text": (lambda: PART.Rollout(steps="two"), ["'two'", "whole number"]),
    "rollout without end": (lambda: PART.Rollout(steps=math.inf), ["inf", "whole number"]),
    "leaf value": (lambda: PART.PythonValue(3), ["3", "function"]),
    "actions of no kind": (lambda: gsp.make_agent(Acting(spaces.Text(3)), "uct"), ["Text", "Box", "[Dd]iscrete"]),
    "unbounded actions": (lambda: acting(-1.0, math.inf), ["Box", "no bounds", "TransformAction", "ClipAction"]),
    "unbounded grid": (lambda: acting(-math.inf, math.inf, actions=3), ["Box", "no bounds", "TransformAction"]),
    "one point": (lambda: acting(-1.0, 1.0, actions=1), ["actions", "1", "at least 2"]),
    "points as text": (lambda: acting(-1.0, 1.0, actions="5"), ["actions", "'5'", "whole number"]),
    "points of three": (lambda: acting(-1.0, 1.0, actions=(3, 3, 3)), ["3 numbers", "Box", "2 dimensions"]),
    "many points": (lambda: acting(-1.0, 1.0, actions=33), ["1,089 points", "1,024", "leave actions out"]),
    "points of discrete actions": (lambda: agent(actions=5), ["actions=5", "Discrete", "leave it out"]),
    "widening": (lambda: gsp.Recipe(widening=3), ["widening", "3", "Widening"]),
    "no widening at all": (lambda: PART.Widening(0.5), ["factor", "0.5", "1"]),
    "widening too fast": (lambda: PART.Widening(exponent=1.5), ["exponent", "1.5"]),
    "no environment": (lambda: gsp.make_agent(3, "uct"), ["3", "environment"]),
    "no cap": (lambda: agent(max_nodes=0), ["max_nodes", "0", "at least 1"]),
    "a cap of text": (lambda: agent(max_nodes="a"), ["max_nodes", "'a'"]),
    "no memory": (lambda: agent(memory=-5), ["memory", "-5"]),
    "steps left": (lambda: plan(steps_left=-1), ["steps_left", "-1", "at least 0"]),
    "elapsed": (lambda: plan(elapsed=1.5), ["elapsed", "1.5", "whole number"]),
    "state that is none": (lambda: gsp.plan(gsp.tabular_model(TABLE), 7, "uct", 5), ["7", "0 .. 0"]),
    "two cells": (lambda: gsp.plan(gsp.tabular_model(TABLE), (0, 1), "uct", 5), [r"\(0, 1\)", "1 whole"]),
    "real cells": (lambda: gsp.plan(gsp.tabular_model(TABLE), 0.5, "uct", 5), ["float64", r"view\(np.int64\)"]),
    "no model": (lambda: gsp.plan("uct", 0), ["'uct'", "model"]),
    "no actions": (lambda: gsp.CompiledModel(step, 0), ["actions", "0", "at least 1"]),
    "width": (lambda: gsp.CompiledModel(step, 2, width=2.5), ["width", "2.5", "whole number"]),
    "key size": (lambda: gsp.CompiledModel(step, 2, key_size=3), ["key_size", "3", "width 1"]),
    "clock in the key": (lambda: gsp.CompiledModel(step, 2, width=2, clock=1), ["clock", "behind the key"]),
    "bounds": (lambda: gsp.CompiledModel(step, 2, reward_bounds=(1.0, 0.0)), ["reward_bounds", "smallest, largest"]),
    "no step": (lambda: gsp.CompiledModel(None, 2), ["step", "None", "numba function, a ctypes function pointer"]),
    "step 1.5": (lambda: gsp.CompiledModel(1.5, 2), ["step", "1.5", "address"]),
    "address 0": (lambda: gsp.CompiledModel(0, 2), ["step", "0", "above 0"]),
    "cfunc": (lambda: gsp.CompiledModel(cfunc(types.int64(types.int64))(same), 2), ["step", "signature", "int64"]),
    "ctypes": (lambda: gsp.CompiledModel(ctypes.CFUNCTYPE(ctypes.c_int64)(int), 2), ["step", "argtypes"]),
    "null": (lambda: gsp.CompiledModel(type(NULL)(0), 2), ["step", "null"]),
    "not to be compiled": (lambda: gsp.CompiledModel(cannot_be_compiled, 2), ["step", "cannot_be_compiled"]),
}
POINTER = ctypes.c_void_p
NULL = ctypes.CFUNCTYPE(ctypes.c_int64, POINTER, POINTER, ctypes.c_int64, POINTER, POINTER)(0)


def agent_with_budget(budget):
    """An agent that is given another budget between decisions."""
    made = agent()
    made.budget = budget
    return made.act(0)


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_words(case):
    do, words = REFUSED[case]
    with pytest.raises(gsp.RecipeError) as caught:
        do()
    for word in words:
        assert caught.match(word)


def test_an_unknown_environment_is_answered_with_the_nearest():
    with pytest.raises(gym.error.NameNotFound, match="FrozenLake"):
        gym.make("GSP/FrozenLak-v0")


def test_a_preset_for_another_environment_says_which_it_has():
    env = gym.make("GSP/FrozenLake-v0").unwrapped
    env.spec = None
    with pytest.raises(gsp.RecipeError, match=r"'paper' of uct has settings for .*FrozenLake.*not for None"):
        gsp.make_agent(env, "uct", preset="paper")


@pytest.mark.parametrize("wrong", ["another state's", "cut short", "none", "text", "from another environment"])
def test_an_observation_that_does_not_fit_is_refused(env, observe, wrong):
    """What was given and what the environment shows; the agent plans on with the right one."""
    planner = gsp.make_agent(env, "gs-power-uct", budget=8, seed=0)
    right = observe(env)
    env.reset(seed=9)
    env.step(1)
    env.step(min(2, env.action_space.n - 1))
    shown = observe(env)
    given = {
        "another state's": right if not np.array_equal(right, shown) else np.asarray(right) + 1,
        "cut short": np.asarray(shown).reshape(-1)[:-1],
        "none": None,
        "text": "left",
        "from another environment": np.zeros((3, 3)),
    }[wrong]
    with pytest.raises(gsp.PlanningError, match=r"(?s)observation .*not that of the environment .*last reset"):
        planner.act(given)
    with pytest.raises(gsp.PlanningError, match="no result before"):
        _ = planner.result
    assert env.action_space.contains(planner.act(shown))
