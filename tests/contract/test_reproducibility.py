"""Same seed, same numbers: in any process, beside other agents, after pickling, however memory is cut up."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.agents.seeding import agent_stream, episode_seeds
from gymnasium_gsp.search import pace
from gymnasium_gsp.search.search import Search

INCREMENT, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1

RUN = """
import json
import gymnasium as gym
import gymnasium_gsp as gsp
from gymnasium_gsp.envs import BENCHMARKS

answers = []
for name, found in gsp.ALGORITHMS.items():
    for preset in (None, *found.presets):
        for entry in BENCHMARKS:
            env = gym.make(entry.id)
            observation, _ = env.reset(seed=4)
            agent = gsp.make_agent(env, name, budget=40, preset=preset, seed=4)
            for _ in range(2):
                observation, *_ = env.step(agent.act(observation))
                result = agent.result
                values = [result.value, *result.q_values.tolist()]
                answers.append([name, preset, entry.name, result.action, *map(float.hex, values), result.model_steps])
print(json.dumps(answers))
"""


def run_python(code, **environment):
    """What code prints in a fresh interpreter."""
    surroundings = {**os.environ, "PYTHONPATH": str(Path(gsp.__file__).parents[1]), **environment}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_results_are_the_same_in_any_process():
    """Every algorithm, preset and environment, with hashes of strings that differ from process to process."""
    answers = [json.loads(run_python(RUN, PYTHONHASHSEED=seed)) for seed in ("1", "2")]
    assert len(answers[0]) >= 2 * 5 * len(gsp.ALGORITHMS)
    assert answers[0] == answers[1]


def test_results_are_the_same_for_the_same_seed_alone(settings, env, observe, same_result):
    name, preset = settings

    def plan(seed):
        return gsp.make_agent(env, name, budget=40, preset=preset, seed=seed).plan(observe(env))

    assert same_result(plan(7), plan(7))
    assert any(not same_result(plan(7), plan(other)) for other in range(8, 16))


def test_without_a_seed_streams_differ(random_model):
    values = {gsp.plan(random_model(0), 0, "uct", 50, steps_left=5).value for _ in range(3)}
    assert len(values) == 3


def test_two_agents_interleaved_are_as_two_apart(algorithm, same_result):
    def bind(env_id, seed):
        env = gym.make(env_id)
        env.reset(seed=seed)
        agent = gsp.make_agent(env, algorithm, budget=30, seed=seed)
        return env, agent

    def decide(env, agent):
        bare = env.unwrapped
        action = agent.act(bare.observe(bare.clone_state().cells))
        env.step(action)
        return agent.result

    pairs = ("GSP/FactoredRiverSwim-v0", 1), ("GSP/SysAdminRing-v0", 2)
    together = [bind(*pair) for pair in pairs]
    interleaved = [[decide(*one) for one in together] for _ in range(4)]
    for place, pair in enumerate(pairs):
        alone = bind(*pair)
        assert all(same_result(decide(*alone), step[place]) for step in interleaved)


@pytest.mark.parametrize("slots", [{}, {"key": "path"}, {"key": "state"}, {"estimator": "running", "decision": None}])
def test_results_do_not_depend_on_the_starting_size_of_the_arrays(random_model, same_result, slots):
    recipe = gsp.make_recipe("gs-power-uct", **slots)
    results = []
    for rows in (1, 300, 1 << 15):
        search = Search(random_model(1, states=400), recipe, timed=True, first_rows=rows)
        search.seed(agent_stream(3, 0))
        results.append(search.plan(np.array([0]), gsp.Budget(simulations=500), steps_left=12))
    assert results[0].graph_size > 300
    assert same_result(results[0], results[1])
    assert same_result(results[0], results[2])


def test_results_do_not_depend_on_chunks(settings, random_model, same_result, monkeypatch):
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0")
    results = []
    for seconds in (1e-9, 0.0002, 10.0):
        monkeypatch.setattr(pace, "CHUNK_SECONDS", seconds)
        results.append(gsp.plan(random_model(1), 0, recipe, 700, seed=2, steps_left=9))
    assert same_result(results[0], results[1])
    assert same_result(results[0], results[2])


def words_of_environment(seed, count):
    """The 64-bit numbers that an environment of ours hands to its step."""
    env = gym.make("GSP/SysAdminRing-v0").unwrapped
    env.reset(seed=seed)
    return env.np_random.integers(2**64, size=count, dtype=np.uint64)


def draws(start, count, word_bits):
    """The 64-bit numbers that a splitmix64 stream gives from a word on."""
    return np.array([word_bits(start + INCREMENT * k & MASK) for k in range(1, count + 1)], np.uint64)


def test_equal_seeds_of_environment_and_agent_give_unrelated_streams(word_bits):
    """No word in common, and no correlation.

    3 seeds, 4 streams each (environment, the agent's two in two episodes), 4096 words; 2 * 10 pairs a seed of samples
    of independent uniforms, a correlation beyond 4.9 + 0.6 standard errors has probability 6e-7 for all of them.
    """
    count = 4096
    for seed in (0, 1, 12345):
        streams = [words_of_environment(seed, count)]
        for episode in (0, 1):
            streams += [draws(int(word), count, word_bits) for word in agent_stream(seed, episode)]
        for i, left in enumerate(streams):
            for right in streams[:i]:
                assert not np.intersect1d(left, right).size
                correlation = np.corrcoef(left.astype(float), right.astype(float))[0, 1]
                assert abs(correlation) * np.sqrt(count) < 5.5


def test_the_search_draws_from_the_agents_stream(recorded, random_model, word_bits):
    """What the model sees are the words of the agent's own stream, one after another."""
    model, seen = recorded(random_model(0))
    gsp.plan(model, 0, "gs-power-uct", 50, seed=9, steps_left=6)
    start = int(agent_stream(9, 0)[1])
    assert [word for *_, word in seen] == [start + INCREMENT * k & MASK for k in range(len(seen))]
    assert len({word_bits(word) for *_, word in seen}) == len(seen)


def test_episode_seeds_differ_between_environments_episodes_and_roles():
    seeds = {
        seed
        for env_id in ("GSP/FrozenLake-v0", "GSP/FourRooms-v0")
        for run in range(3)
        for episode in range(20)
        for seed in episode_seeds(run, env_id, episode)
    }
    assert len(seeds) == 2 * 3 * 20 * 2
    assert episode_seeds(1, "GSP/FrozenLake-v0", 2) == episode_seeds(1, "GSP/FrozenLake-v0", 2)


def test_an_agent_pickled_before_its_first_decision_is_the_same_agent(settings, env, observe, same_result):
    name, preset = settings
    agent = gsp.make_agent(env, name, budget=30, preset=preset, seed=3)
    twin = pickle.loads(pickle.dumps(agent))
    observation = observe(env)
    assert twin.recipe == agent.recipe
    assert same_result(twin.plan(observation), agent.plan(observation))


def test_an_agent_pickled_within_an_episode_goes_on(algorithm, env, observe, same_result):
    agent = gsp.make_agent(env, algorithm, budget=30, seed=3)
    env.step(agent.act(observe(env)))
    data = pickle.dumps(agent)
    twins = [pickle.loads(data) for _ in range(2)]
    observation = observe(env)
    assert env.action_space.contains(agent.act(observation))
    assert same_result(*(twin.plan(observation) for twin in twins))


def test_a_pickled_agent_wakes_up_in_another_process(observe, tmp_path):
    env = gym.make("GSP/FourRooms-v0")
    env.reset(seed=1)
    agent = gsp.make_agent(env, "gs-power-uct", budget=30, seed=3)
    observation = observe(env)
    (tmp_path / "agent").write_bytes(pickle.dumps((agent, observation)))
    code = f"import pickle; a, o = pickle.load(open({str(tmp_path / 'agent')!r}, 'rb')); print(a.plan(o).value.hex())"
    assert run_python(code).strip() == agent.plan(observation).value.hex()


def test_a_recipe_is_printed_as_the_call_that_makes_it(settings, entry):
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id=entry.id)
    assert eval(repr(recipe), dict(vars(gsp.ingredients))) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert hash(recipe) == hash(eval(repr(recipe), dict(vars(gsp.ingredients))))


def test_a_recipe_of_numpy_numbers_is_printed_as_the_call_that_makes_it():
    """Numbers often come out of numpy, of `np.linspace` for instance."""
    part = gsp.ingredients
    recipe = gsp.Recipe(
        selection=part.PolynomialBonus(c=np.float64(0.25)),
        backup=part.PowerMean(p=np.float64(2.5)),
        evaluation=part.Constant(np.float64(1.5)),
        decision=part.Sweep(part.Cautious(np.float64(0.5))),
        discount=np.float64(0.75),
    )
    assert eval(repr(recipe), dict(vars(part))) == recipe


def test_every_ingredient_is_printed_as_the_call_that_makes_it():
    part = gsp.ingredients
    constants = part.Table1(alpha=(4.0,), beta=(8.0,), b=(2.5,))
    recipe = gsp.Recipe(
        key="state",
        selection=part.PolynomialBonus(c=1.25, scale="range", constants=constants),
        root_selection=part.UCB1(c=0.0, scale="range"),
        backup=part.PowerMean(p=1.5, weights="printed"),
        evaluation=part.Rollout(steps=3),
        horizon=part.FixedHorizon(4),
        discount=0.5,
        decision=part.Sweep(part.Cautious(kappa=0.25)),
        recommendation="most_visits",
        keep_variance=True,
    )
    for other in (recipe, recipe.changed(root_selection=part.Greedy(), selection=part.Uniform())):
        assert eval(repr(other), dict(vars(part))) == other
    assert eval(repr(gsp.Budget(3, 4, 0.5, 6)), dict(vars(part))) == gsp.Budget(3, 4, 0.5, 6)
