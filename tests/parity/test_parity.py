"""The compiled search against the textbook one: the same graph, number by number.

Bit for bit where the backup is a mean or a maximum; to 1e-12 for other powers, which the two compute differently.
"""

import itertools
import math
import random

import numpy as np
import pytest
from naive import Textbook
from naive_bridge import NotInTheTextbook, assert_same_decision, assert_same_graph, compiled_graph, play, settings_of
from naive_parts import random_table

from gymnasium_gsp.algorithms.registry import make_recipe
from gymnasium_gsp.ingredients import (
    UCB1,
    AdaptiveHorizon,
    Budget,
    Cautious,
    Constant,
    FixedHorizon,
    PolynomialBonus,
    PowerMean,
    Recipe,
    Rollout,
    SearchValues,
    StepsLeft,
    Sweep,
    Table1,
)
from gymnasium_gsp.models.tabular import tabular_model
from gymnasium_gsp.search.search import Search

TABLES = {
    "rewards of both signs": random_table(11, states=6, actions=3, rewards=(-1.0, 1.0)),
    "gains": random_table(12, states=9, actions=2, outcomes=2, ends=2, rewards=(0.0, 1.0)),
    "ties": random_table(13, states=5, actions=4, rewards=(0.0, 1.0), steps=3),
}
ENVIRONMENTS = ("FrozenLake", "SysAdminRing", "PassengerGrid")  # their constants differ most
POWERS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, math.inf)


def registered():
    """Every algorithm with its defaults, with and without a time limit, and with the presets of some environments."""
    from gymnasium_gsp import ALGORITHMS

    for name, found in ALGORITHMS.items():
        yield pytest.param(name, None, None, 7, id=f"{name}-timed")
        yield pytest.param(name, None, None, None, id=f"{name}-untimed")
        for preset, settings in found.presets.items():
            for env in ENVIRONMENTS:
                if env in settings:
                    yield pytest.param(name, preset, f"GSP/{env}-v0", 7, id=f"{name}-{preset}-{env}")


@pytest.mark.parametrize(("name", "preset", "env_id", "left"), list(registered()))
def test_every_registered_algorithm(name, preset, env_id, left):
    recipe = make_recipe(name, preset=preset, env_id=env_id)
    try:
        p = settings_of(recipe, left is not None, 0.0).p
    except NotInTheTextbook as missing:
        pytest.skip(f"the textbook has no {missing}")
    exact = p in (1.0, math.inf)
    for number, (kind, table) in enumerate(TABLES.items()):
        # Powers differ in the last bit, which decides ties; where they are negative, see the tests at the end.
        if exact or kind == "gains":
            for budget in (9, 96 if left else 40):
                play(table, recipe, budget, (number + 1, budget, 7), left)


@pytest.mark.parametrize("key", ["path", "state_elapsed", "state"])
@pytest.mark.parametrize("estimator", ["running", "current"])
@pytest.mark.parametrize("expansion", ["leaf", "path"])
def test_every_combination_of_choices(key, estimator, expansion):
    words = (3, 4, 5)
    for p in POWERS:
        for target in ("value", "return"):
            for decision in (SearchValues(), Sweep(), Sweep(Cautious(0.3))):
                recipe = Recipe(
                    key=key,
                    target=target,
                    estimator=estimator,
                    expansion=expansion,
                    backup=PowerMean(p),
                    retention="episode",
                    decision=decision,
                )
                play(TABLES["gains"], recipe, 24, words, left=6)
                words = tuple(word + 1 for word in words)


def claim_of_table_1():
    """Constants that meet Table 1 with other exponents at every depth; b_h / alpha_h is chosen, the rest follows."""
    ratios, b = (0.55, 0.6, 0.5, 0.65, 0.6, 0.5), 2.5
    alphas, betas, bs = [], [], []
    for own, below in itertools.pairwise(ratios):
        # alpha_h = beta_h (1 - b_{h+1} / alpha_{h+1}) and beta_h = b_{h+1} - 1.
        alpha = b / own
        beta = alpha / (1.0 - below)
        alphas.append(alpha)
        betas.append(beta)
        bs.append(b)
        b = beta + 1.0
    return Table1(tuple(alphas), tuple(betas), tuple(bs))


def random_selection(rng, p):
    scale = rng.choice(["raw", "range"])
    constants = claim_of_table_1() if p <= 2.0 and rng.random() < 0.5 else None
    return rng.choice([UCB1(rng.choice([0.0, 0.7]), scale), PolynomialBonus(rng.choice([0.1, 1.0]), scale, constants)])


def random_case(seed, **fixed):
    """Arguments of `play`: any recipe, process, budget and limit; `fixed` are slots of the recipe."""
    rng = random.Random(seed)
    timed = rng.random() < 0.7
    p = fixed["backup"].p if "backup" in fixed else rng.choice((*POWERS, 1.0, math.inf, math.inf))
    recipe = Recipe(
        **{
            "key": rng.choice(["path", "state_elapsed", "state"]),
            "selection": random_selection(rng, p),
            "root_selection": rng.choice([None, random_selection(rng, p)]),
            "target": rng.choice(["value", "return"]),
            "backup": PowerMean(p, rng.choice(["normalised", "printed"])),
            "estimator": rng.choice(["running", "current"]),
            "expansion": rng.choice(["leaf", "path"]),
            "evaluation": rng.choice([Rollout(), Rollout(steps=rng.choice([0, 2])), Constant(0.25)]),
            "discount": rng.choice([0.5, 0.99, None, *([1.0] if timed else [])]),
            "retention": rng.choice(["decision", "episode"]),
            "decision": rng.choice([SearchValues(), Sweep(), Sweep(Cautious(rng.choice([0.0, 0.3])))]),
            "recommendation": rng.choice(["best_value", "most_visits"]),
            **fixed,
        }
    )
    if recipe.key == "state_elapsed" and not (timed and isinstance(recipe.horizon, StepsLeft)):
        recipe = recipe.changed(retention="decision")
    cautious = isinstance(recipe.decision, Sweep) and recipe.decision.backup is not None
    exact = p in (1.0, math.inf)
    limits = {}
    if rng.random() < 0.25:
        limits["model_steps"] = rng.randrange(1, 120)
    if rng.random() < 0.25:
        limits["nodes"] = rng.randrange(1, 30)
    return {
        "table": random_table(
            seed,
            states=rng.choice([3, 6, 9]),
            actions=rng.choice([1, 2, 4]),
            outcomes=rng.choice([1, 3]),
            ends=rng.choice([0, 1, 2]),
            rewards=(-1.0, 1.0) if exact else (0.0, 1.0),
            steps=rng.choice([None, 5]) if exact and not cautious else None,
        ),
        "recipe": recipe,
        "budget": rng.choice([1, 7, 40]),
        "words": (seed, seed + 1000, seed + 7),
        "left": rng.choice([1, 4, 9]) if timed else None,
        "max_nodes": rng.randrange(1, 40) if recipe.retention == "decision" and rng.random() < 0.3 else None,
        **limits,
    }


@pytest.mark.parametrize("batch", range(8))
def test_random_recipes_processes_and_limits(batch):
    for seed in range(40 * batch, 40 * (batch + 1)):
        case = random_case(seed)
        if case["left"] is not None or case["budget"] < 40:  # 200 steps deep, the textbook is too slow for more
            play(**case)


@pytest.mark.parametrize("horizon", [FixedHorizon(1), FixedHorizon(3), AdaptiveHorizon()])
def test_horizons_that_look_no_further(horizon):
    for seed in range(40):
        play(**random_case(seed, horizon=horizon, discount=0.5, evaluation=Constant(0.25)))


def test_planning_twice_from_one_state_goes_on_with_its_graph():
    table = TABLES["ties"]
    model = tabular_model(table)
    for key in ("path", "state_elapsed", "state"):
        for retention in ("decision", "episode"):
            recipe = Recipe(key=key, retention=retention, expansion="path")
            search = Search(model, recipe, True)
            search.seed(np.array([1, 2], np.uint64))
            textbook = Textbook(table, settings_of(recipe, True, 0.0), (1, 2))
            for again in (False, True):
                result = search.plan(model.cells(0), Budget(20), 2, 5, again)
                assert_same_decision(result, textbook.decide(0, 20, 2, 5, again), 0.0)
                assert_same_graph(compiled_graph(search), textbook.nodes, 0.0)
                if key != "state":  # else simulations may come back to the root
                    assert result.visit_counts.sum() == (40 if again and retention == "episode" else 20)


@pytest.mark.parametrize("horizon", [FixedHorizon(1), FixedHorizon(3), AdaptiveHorizon()])
def test_playouts_from_a_horizon_inside_the_episode(horizon):
    for seed in range(40):
        play(**random_case(seed, horizon=horizon, discount=0.5, evaluation=Rollout()))


def test_lower_bounds_in_the_sweep_of_a_tree():
    for seed in range(10):
        case = random_case(seed, key="path", backup=PowerMean(2.0), decision=Sweep())
        play(**{**case, "table": TABLES["rewards of both signs"], "left": 7})


def test_lower_bounds_where_depths_share_a_node():
    losses = random_table(14, states=4, ends=0, rewards=(-1.0, -0.5))
    for seed in range(10):
        play(**{**random_case(seed, key="state", backup=PowerMean(2.0)), "table": losses, "left": 7})


def test_lower_bounds_at_each_depth():
    for seed in range(40):
        case = random_case(seed, backup=PowerMean(2.5))
        recipe = case["recipe"]
        if recipe.key == "state_elapsed" or (recipe.key == "path" and recipe.decision == SearchValues()):
            play(**{**case, "table": TABLES["rewards of both signs"], "left": 7})
