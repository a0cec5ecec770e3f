import dataclasses

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp import Budget, RecipeError
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.protocol import Run, known_optimum, summarise
from gymnasium_gsp.bench.runner import play, play_episode
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv
from gymnasium_gsp.ingredients import FixedHorizon, PowerMean, Recipe


def small(env="FrozenLake", **changes):
    return Run(env, **{"budget": 8, "episodes": 4, "seed": 3, **changes})


def numbers(episodes):
    return [dataclasses.replace(episode, seconds=0.0) for episode in episodes]


class BrokenLake(FrozenLakeEnv):
    def step(self, action):
        raise ZeroDivisionError("the ice is broken")


@pytest.fixture
def own_ids():
    """Environments that only this process has registered."""
    gym.register("OwnLake-v0", FrozenLakeEnv, max_episode_steps=5)
    gym.register("BrokenLake-v0", BrokenLake, max_episode_steps=5)
    yield
    del gym.registry["OwnLake-v0"], gym.registry["BrokenLake-v0"]


def summary_of(run):
    env = run.make_env()
    return summarise(run, run.make_agent(env), env, list(play(run)))


def test_numbers_do_not_depend_on_the_number_of_jobs():
    run = small()
    alone = numbers(play(run))
    assert [episode.index for episode in alone] == [0, 1, 2, 3]
    assert numbers(play(run, jobs=2)) == alone
    assert numbers(play(run)) == alone


def test_an_episode_does_not_depend_on_the_others():
    run = small()
    assert numbers([play_episode(run, 2)]) == numbers(play(run))[2:3]


def test_seeds_decide_the_numbers():
    assert numbers(play(small(seed=4))) != numbers(play(small(seed=5)))


@pytest.mark.parametrize("spelling", ["FrozenLake", "GSP/FrozenLake-v0", "gymnasium_gsp:GSP/FrozenLake-v0"])
def test_every_spelling_of_an_id_gives_the_same_episodes(spelling):
    run = small(spelling, episodes=2)
    assert numbers(play(run)) == numbers(play(small(episodes=2)))
    assert summary_of(run).env == "GSP/FrozenLake-v0"


def test_one_episode_is_the_standard_loop_with_the_seeds_of_the_formula():
    run = small()
    env = gym.make("GSP/FrozenLake-v0")
    env_seed, agent_seed = episode_seeds(3, "GSP/FrozenLake-v0", 1)
    agent = run.make_agent(env)
    observation, _ = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    total, decisions, steps, nodes, done = 0.0, 0, 0, 0, False
    while not done:
        observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
        total, decisions, done = total + reward, decisions + 1, terminated or truncated
        steps, nodes = steps + agent.result.model_steps, nodes + agent.result.nodes
    played = play_episode(run, 1)
    assert (played.total_reward, played.decisions, played.model_steps, played.nodes) == (total, decisions, steps, nodes)
    assert played.simulations == 8 * decisions
    assert played.seconds > 0.0


def test_totals_and_means_of_a_summary():
    run = small(preset="paper")
    episodes = list(play(run))
    env = run.make_env()
    summary = summarise(run, run.make_agent(env), env, reversed(episodes))
    returns = [episode.total_reward for episode in episodes]
    assert summary.mean_return == pytest.approx(np.mean(returns))
    assert summary.standard_error == pytest.approx(np.std(returns, ddof=1) / 2.0)
    for total in ("decisions", "simulations", "model_steps", "seconds"):
        assert getattr(summary, total) == pytest.approx(sum(getattr(episode, total) for episode in episodes))
    assert summary.nodes_per_decision == sum(episode.nodes for episode in episodes) / summary.decisions
    assert (summary.agent, summary.preset, summary.budget, summary.seed) == ("gs-power-uct", "paper", 8, 3)
    assert summary.optimum == pytest.approx(0.9132201502)


def test_one_episode_has_no_standard_error():
    assert summary_of(small(episodes=1)).standard_error is None


@pytest.mark.parametrize(
    ("arguments", "optimum"),
    [
        ({}, 0.9132201502),
        ({"env_options": {"render_mode": "ansi"}}, 0.9132201502),
        ({"env_options": {"slip": 0.0}}, 1.0),
        ({"env_options": {"max_episode_steps": 10}}, 0.0),
        ({"env": "OwnLake-v0"}, 0.0),
    ],
)
def test_the_optimum_is_that_of_the_environment_as_made(own_ids, arguments, optimum):
    found = known_optimum(small(**arguments).make_env())
    assert found == pytest.approx(optimum, abs=1e-9)


def test_the_optimum_of_a_run_on_drawn_layouts_is_their_mean():
    run = small("FourRooms", episodes=3)
    episodes = list(play(run))
    drawn = [episode.optimum for episode in episodes]
    assert len(set(drawn)) == 3
    assert known_optimum(run.make_env(), episodes) == pytest.approx(sum(drawn) / 3)


def test_a_recipe_value_and_a_budget_of_several_limits():
    recipe = Recipe(horizon=FixedHorizon(3), backup=PowerMean(2.0))
    summary = summary_of(small(agent=recipe, budget=Budget(model_steps=30, nodes=5), episodes=1))
    assert summary.agent == "recipe"
    assert summary.budget == {"model_steps": 30, "nodes": 5}
    assert summary.recipe == repr(recipe)
    assert summary.model_steps <= 30 * summary.decisions


def test_environments_registered_by_a_script_reach_other_processes(own_ids):
    run = small("OwnLake-v0", episodes=2)
    assert numbers(play(run, jobs=2)) == numbers(play(run))


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_an_environment_surface_as_they_are(own_ids, jobs):
    with pytest.raises(ZeroDivisionError, match="the ice is broken"):
        list(play(small("BrokenLake-v0"), jobs=jobs))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"episodes": 0}, "episodes must be a whole number of at least 1, not 0"),
        ({"episodes": 2.5}, "episodes must be"),
        ({"episodes": True}, "episodes must be"),
        ({"budget": 0}, "budget: simulations"),
        ({"seed": -1}, "a seed is"),
        ({"seed": None}, "a run needs a seed"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(RecipeError, match=message):
        small(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"agent": "gs-power-utc"}, RecipeError, "Did you mean 'gs-power-uct'"),
        ({"preset": "papr"}, RecipeError, "Did you mean 'paper'"),
        ({"options": {"horzion": 3}}, RecipeError, "Did you mean 'horizon'"),
        ({"options": {"preset": "paper"}}, RecipeError, "'preset' is no option"),
        ({"env": "NoSuchLake-v0"}, gym.error.NameNotFound, "NoSuchLake"),
        ({"env": "no_such_module:Lake-v0"}, ModuleNotFoundError, "no_such_module"),
        ({"env_options": {"slip": 2}}, ValueError, "slip must be"),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_first_episode(arguments, error, message):
    with pytest.raises(error, match=message):
        play(small(**arguments))


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2"])
def test_a_number_of_jobs_that_makes_no_sense_is_refused(jobs):
    with pytest.raises(RecipeError, match="jobs must be a whole number of at least 1"):
        play(small(), jobs=jobs)
