import dataclasses
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from gymnasium_gsp import Budget, RecipeError
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play, play_episode
from gymnasium_gsp.bench.summary import known_optimum, summarise
from gymnasium_gsp.ingredients import FixedHorizon, PowerMean, Recipe


def small(env="FrozenLake", **changes):
    return Cell(**{"env": env, "algorithm": "gs-power-uct", "budget": 8, "seed": 3, **changes})


def numbers(episodes):
    return [dataclasses.replace(episode, seconds=0.0) for episode in episodes]


def summary_of(cell, episodes=4):
    env = cell.make_env()
    return SimpleNamespace(**summarise(cell, cell.make_agent(env), env, list(play(cell, episodes))))


def test_numbers_do_not_depend_on_the_number_of_jobs():
    alone = numbers(play(small(), 4))
    assert [episode.index for episode in alone] == [0, 1, 2, 3]
    assert numbers(play(small(), 4, jobs=2)) == alone
    assert numbers(play(small(), 4)) == alone


def test_an_episode_does_not_depend_on_the_others():
    assert numbers([play_episode(small(), 2)]) == numbers(play(small(), 4))[2:3]


def test_seeds_decide_the_numbers():
    assert numbers(play(small(seed=4), 4)) != numbers(play(small(seed=5), 4))


def test_one_episode_is_the_standard_loop_with_the_seeds_of_the_formula():
    env = gym.make("GSP/FrozenLake-v0")
    env_seed, agent_seed = episode_seeds(3, "GSP/FrozenLake-v0", 1)
    agent = small().make_agent(env)
    observation, _ = env.reset(seed=env_seed)
    agent.reset(seed=agent_seed)
    total, decisions, steps, nodes, done = 0.0, 0, 0, 0, False
    while not done:
        observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
        total, decisions, done = total + reward, decisions + 1, terminated or truncated
        steps, nodes = steps + agent.result.model_steps, nodes + agent.result.nodes
    played = play_episode(small(), 1)
    assert (played.total_reward, played.decisions, played.model_steps, played.nodes) == (total, decisions, steps, nodes)
    assert played.simulations == 8 * decisions
    assert played.seconds > 0.0
    assert played.recipe == repr(agent.recipe)


def test_totals_and_means_of_a_summary():
    cell = small(preset="paper")
    episodes = list(play(cell, 4))
    env = cell.make_env()
    summary = SimpleNamespace(**summarise(cell, cell.make_agent(env), env, episodes))
    returns = [episode.total_reward for episode in episodes]
    assert summary.mean_return == pytest.approx(np.mean(returns))
    assert summary.standard_error == pytest.approx(np.std(returns, ddof=1) / 2.0)
    for total in ("decisions", "simulations", "model_steps", "seconds"):
        assert getattr(summary, total) == pytest.approx(sum(getattr(episode, total) for episode in episodes))
    assert summary.nodes_per_decision == sum(episode.nodes for episode in episodes) / summary.decisions
    assert (summary.agent, summary.preset, summary.budget, summary.seed) == ("gs-power-uct", "paper", 8, 3)
    assert summary.optimum == pytest.approx(0.9132201502)
    assert summary.recipe == episodes[0].recipe


def test_one_episode_has_no_standard_error():
    assert summary_of(small(), 1).standard_error is None


@pytest.mark.parametrize(
    ("fields", "optimum"),
    [
        ({}, 0.9132201502),
        ({"env_options": {"render_mode": "ansi"}}, 0.9132201502),
        ({"env_options": {"slip": 0.0}}, 1.0),
        ({"env_options": {"max_episode_steps": 10}}, 0.0),
        ({"env": "OwnLake-v0"}, 0.0),
    ],
)
def test_the_optimum_is_that_of_the_environment_as_made(own_ids, fields, optimum):
    assert known_optimum(small(**fields).make_env()) == pytest.approx(optimum, abs=1e-9)


def test_the_optimum_of_a_run_on_drawn_layouts_is_their_mean():
    cell = small("FourRooms")
    drawn = [episode.optimum for episode in play(cell, 3)]
    assert len(set(drawn)) == 3
    assert summary_of(cell, 3).optimum == pytest.approx(sum(drawn) / 3)


@pytest.mark.parametrize(
    ("fields", "best"), [({}, 0.9132201502), ({"env": "FrozenLake-v1", "env_options": {"max_episode_steps": 30}}, None)]
)
def test_regret_is_stored_and_summed_up(fields, best):
    """By the law of what is planned in: a benchmark's own, and Gymnasium's table, whose optimum is stored, too."""
    cell = small(**fields)
    episodes = list(play(cell, 3))
    regrets = [episode.regret for episode in episodes]
    assert min(regrets) >= 0.0
    summary = summary_of(cell, 3)
    assert summary.mean_regret == pytest.approx(np.mean(regrets))
    assert summary.regret_standard_error == pytest.approx(np.std(regrets, ddof=1) / np.sqrt(3))
    if best is None:
        best = episodes[0].optimum
        assert {episode.optimum for episode in episodes} == {best}
        assert 0.0 < best < 1.0
    assert summary.optimum == pytest.approx(best, abs=1e-9)


def test_without_a_law_no_regret_is_stored():
    cell = small("Blackjack-v1", algorithm="uct")
    assert [episode.regret for episode in play(cell, 2)] == [None, None]
    assert summary_of(cell, 2).mean_regret is None


def test_a_recipe_and_a_budget_of_several_limits():
    recipe = Recipe(horizon=FixedHorizon(3), backup=PowerMean(2.0))
    summary = summary_of(small(algorithm=repr(recipe), budget=Budget(model_steps=30, nodes=5)), 1)
    assert summary.agent == "recipe"
    assert summary.budget == {"model_steps": 30, "nodes": 5}
    assert summary.recipe == repr(recipe)
    assert summary.model_steps <= 30 * summary.decisions


def test_environments_registered_by_a_script_reach_other_processes(own_ids):
    cell = small("OwnLake-v0")
    assert numbers(play(cell, 2, jobs=2)) == numbers(play(cell, 2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_an_environment_surface_as_they_are(own_ids, jobs):
    with pytest.raises(ZeroDivisionError, match="the ice is broken"):
        list(play(small("BrokenLake-v0"), 4, jobs=jobs))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"algorithm": "gs-power-utc"}, "Did you mean 'gs-power-uct'"),
        ({"env": "NoSuchLake-v0"}, "NoSuchLake"),
        ({"options": {"horizon": "FixedHorizon(5)"}}, "a graph keyed by"),
    ],
)
def test_what_cannot_be_played_is_refused_before_the_first_episode(fields, message):
    with pytest.raises(RecipeError, match=message):
        play(small(**fields), 4)


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", True])
def test_numbers_of_jobs_and_episodes_that_make_no_sense_are_refused(number):
    with pytest.raises(RecipeError, match="jobs must be a whole number of at least 1"):
        play(small(), 4, jobs=number)
    with pytest.raises(RecipeError, match="episodes must be a whole number of at least 1"):
        play(small(), number)
