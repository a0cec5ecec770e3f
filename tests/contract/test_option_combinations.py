"""Every combination of choices runs, or is refused in words before anything is searched."""

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.algorithms.registry import BENCHMARK_NAMES, preset_options
from gymnasium_gsp.envs import BENCHMARKS

PART = gsp.ingredients

STRUCTURE = {
    "key": [None, "path", "state_elapsed", "state"],
    "target": ["value", "return"],
    "estimator": ["running", "current"],
    "expansion": ["leaf", "path"],
    "retention": ["decision", "episode"],
    "decision": [PART.SearchValues(), PART.Sweep(), PART.Sweep(PART.Cautious()), PART.Sweep(PART.PowerMean(2.0))],
}
FILLINGS = {
    "selection": [PART.UCB1(), PART.PolynomialBonus(0.1, "range"), PART.Greedy(), PART.Uniform()],
    "root_selection": [None, PART.UCB1(2.0, "range"), PART.Uniform()],
    "backup": [
        PART.PowerMean(),
        PART.PowerMean(1.0),
        PART.PowerMean(2.5, "printed"),
        PART.PowerMean(1.0, "printed"),
    ],
    "evaluation": [PART.Rollout(), PART.Rollout(steps=2), PART.Constant(0.5), PART.PythonValue(lambda cells: 0.25)],
    "horizon": [PART.StepsLeft(), PART.FixedHorizon(1), PART.FixedHorizon(3), PART.AdaptiveHorizon()],
    "discount": [None, 0.0, 0.9, 1.0],
    "recommendation": ["best_value", "most_visits"],
    "keep_variance": [False, True],
}
CHOICES = {**STRUCTURE, **FILLINGS}


def combinations():
    """The full product of what shapes the graph, each filled up with a draw for every other slot, twice."""
    rng = np.random.default_rng(20)
    shapes = [dict(zip(STRUCTURE, values, strict=True)) for values in itertools.product(*STRUCTURE.values())]
    return [
        {**shape, **{slot: values[rng.integers(len(values))] for slot, values in FILLINGS.items()}}
        for _ in range(2)
        for shape in shapes
    ]


def index(slot, value):
    return next(i for i, choice in enumerate(CHOICES[slot]) if choice is value)


def test_the_draws_below_hold_every_pair_of_choices():
    drawn = {
        (a, index(a, slots[a]), b, index(b, slots[b]))
        for slots in combinations()
        for a, b in itertools.combinations(CHOICES, 2)
    }
    wanted = {
        (a, i, b, j)
        for a, b in itertools.combinations(CHOICES, 2)
        for i in range(len(CHOICES[a]))
        for j in range(len(CHOICES[b]))
    }
    assert drawn == wanted


def in_words(error):
    """Whether a refusal says what to do instead."""
    return "use " in str(error) or "give " in str(error)


def check(result, simulations):
    assert result.simulations == simulations
    assert math.isfinite(result.value)
    assert not np.isnan(result.q_values).any()
    assert 0 <= result.action < len(result.q_values)


@pytest.mark.parametrize("limit", [None, 6], ids=["untimed", "timed"])
def test_every_combination_runs_or_is_refused(random_model, limit):
    refused = []
    model = random_model(2)
    for number, slots in enumerate(combinations()):
        try:
            result = gsp.plan(model, 0, gsp.Recipe(**slots), 12, seed=number, steps_left=limit)
        except gsp.RecipeError as error:
            refused.append(in_words(error))
        else:
            check(result, 12)
    assert all(refused)
    assert len(refused) < 0.4 * number


def test_every_combination_plays_an_episode_or_is_refused():
    """With whatever is kept from decision to decision, on a small lake, and under a cap of six nodes as well."""
    env, refused = gym.make("GSP/FrozenLake-v0", desc=["SF", "FH", "FG"], horizon=4), []
    for number, slots in enumerate(combinations()[::2]):
        try:
            agent = gsp.make_agent(
                env, gsp.Recipe(**slots), budget=8, seed=number, max_nodes=6 if number % 3 == 0 else None
            )
            observation, _ = env.reset(seed=number)
            done = False
            while not done:
                observation, _, terminated, truncated, _ = env.step(agent.act(observation))
                check(agent.result, 8)
                done = terminated or truncated
            check(agent.plan(observation), 0)
        except gsp.RecipeError as error:
            refused.append(in_words(error))
    assert all(refused)


CAUTIOUS_SEARCH = """
import sys
import gymnasium_gsp as gsp
from gymnasium_gsp.algorithms.registry import BENCHMARK_NAMES
from gymnasium_gsp.envs import BENCHMARKS
part = gsp.ingredients
table = [[[(0.5, s, a / 2, False), (0.5, 1 - s, 1.0, False)] for a in range(2)] for s in range(2)]
try:
    recipe = gsp.Recipe(backup=part.Cautious(), keep_variance=sys.argv[1] == "kept")
    print("value", gsp.plan(gsp.tabular_model(table), 0, recipe, 40, seed=0, steps_left=5).value)
except gsp.RecipeError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize("variance", ["kept", "not kept"])
def test_a_cautious_backup_within_the_search_runs_or_is_refused(variance):
    """It reads variances, which a search keeps only if told to.  In a process of its own, lest this one goes too."""
    result = subprocess.run(
        [sys.executable, "-c", CAUTIOUS_SEARCH, variance],
        env={**os.environ, "PYTHONPATH": str(Path(gsp.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, f"the process died with {result.returncode}"
    assert result.stdout.startswith("value" if variance == "kept" else ("value", "refused: ")), result.stdout


@pytest.mark.parametrize("horizon", [PART.FixedHorizon(3), PART.AdaptiveHorizon()], ids=["fixed", "adaptive"])
def test_a_horizon_that_moves_with_the_root_does_not_go_with_a_kept_graph_of_elapsed_steps(horizon):
    """What was learnt at a leaf of the last horizon is no value of this one's: such keys need a fixed end."""
    env = gym.make("GSP/FactoredRiverSwim-v0")
    observation, _ = env.reset(seed=0)
    recipe = gsp.Recipe(key="state_elapsed", retention="episode", horizon=horizon, discount=0.9)
    with pytest.raises(gsp.RecipeError, match="end is fixed"):
        gsp.make_agent(env, recipe, budget=16, seed=0).act(observation)


def test_the_options_of_a_preset_may_be_given_by_hand(settings, entry):
    """What a preset sets, a user can set: the same names, and the same recipe."""
    name, preset = settings
    if preset is None:
        return
    options = preset_options(gsp.ALGORITHMS[name], preset, entry.id)
    assert gsp.make_recipe(name, **options) == gsp.make_recipe(name, preset=preset, env_id=entry.id)


def test_the_recommendation_is_the_rule_that_was_asked_for(random_model):
    """By values the largest Q, by visits the largest count; they differ where luck was on another's side."""
    differ = 0
    for seed in range(60):
        for rule in ("best_value", "most_visits"):
            recipe = gsp.Recipe(selection=PART.Uniform(), recommendation=rule)
            result = gsp.plan(random_model(5), 0, recipe, 25, seed=seed, steps_left=6)
            scores = result.q_values if rule == "best_value" else result.visit_counts
            assert scores[result.action] == scores.max()
        differ += result.q_values[result.action] < result.q_values.max()
    assert differ > 0


def test_an_algorithm_with_presets_has_one_for_every_benchmark():
    """One without has the same setting everywhere."""
    for found in gsp.ALGORITHMS.values():
        if not found.presets:
            continue
        complete = [preset for preset, settings in found.presets.items() if set(BENCHMARK_NAMES) <= set(settings)]
        assert complete, found.name
    assert {benchmark.name for benchmark in BENCHMARKS} == set(BENCHMARK_NAMES)
