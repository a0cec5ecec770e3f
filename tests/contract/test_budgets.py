"""Every algorithm, with every preset, in every environment: actions are legal, and budgets hold."""

import time
import types

import gymnasium as gym
import numpy as np
import pytest

import gymnasium_gsp as gsp
from gymnasium_gsp.ingredients import PairedScenarios
from gymnasium_gsp.search import codes
from gymnasium_gsp.search import search as engine
from gymnasium_gsp.search.search import Search

MANY = 10**6  # simulations that no other limit leaves unspent; H(n) wants a number of simulations beside any limit


@pytest.fixture
def clock(monkeypatch):
    """A clock in place of the engine's, in seconds; it moves only when told to."""
    now = types.SimpleNamespace(seconds=100.0)

    def read():
        return now.seconds

    fake = types.SimpleNamespace(perf_counter=read, monotonic=read, time=read)
    monkeypatch.setattr(engine, "time", fake)
    return now


@pytest.fixture
def timed_model(python_step, clock):
    """Function from a list of costs in seconds, one per call of the step and the last one ever after, to a model."""

    def build(costs):
        calls = iter(costs)

        def rules(cells, action, draw):
            cells[0] = int(6 * draw())
            clock.seconds += next(calls, costs[-1])
            return 1.0, False

        return gsp.CompiledModel(python_step(rules), 2, reward_bounds=(0.0, 1.0))

    return build


def test_budgets_are_exact_and_actions_legal(settings, entry, env, observe):
    name, preset = settings
    observation = observe(env)
    limits = {
        "simulations": gsp.Budget(simulations=37),
        "model_steps": gsp.Budget(simulations=MANY, model_steps=1000),
        "nodes": gsp.Budget(simulations=MANY, nodes=5),  # three steps from a corner lead to six states
    }
    for limit, budget in limits.items():
        agent = gsp.make_agent(env, name, budget=budget, preset=preset, seed=3)
        action = agent.act(observation)
        result = agent.result
        assert env.action_space.contains(action)
        assert result.stopped_by == limit
        assert getattr(result, limit) == getattr(budget, limit)
        assert result.simulations >= 1
        assert action == result.action
        assert result.q_values.shape == result.visit_counts.shape == (env.action_space.n,)
        assert np.isfinite(result.value)
        assert not np.isnan(result.q_values).any()
        assert result.visit_counts[action] > 0
    assert result.nodes <= result.graph_size


def test_a_whole_number_is_a_budget_of_simulations(env, observe):
    agent = gsp.make_agent(env, "uct", budget=np.int64(5), seed=0)
    agent.act(observe(env))
    assert (agent.result.simulations, agent.result.stopped_by) == (5, "simulations")


def test_the_first_limit_to_run_out_ends_the_search(settings, random_model):
    """Model steps cut a simulation where it stands; it is backed up, and the count of visits shows it."""
    name, preset = settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0")
    for limit in range(1, 30):
        budget = gsp.Budget(simulations=4, model_steps=limit, nodes=10**6)
        result = gsp.plan(random_model(0), 0, recipe, budget, seed=limit, steps_left=7)
        assert result.model_steps <= limit
        assert result.simulations <= 4
        spent = {"simulations": result.simulations == 4, "model_steps": result.model_steps == limit}
        assert spent[result.stopped_by]
        if recipe.key != "state" and recipe.learning == "on_the_trail":  # state keys meet the root again on the way
            assert result.visit_counts.sum() == result.simulations


def test_a_new_budget_counts_new_work_alone(algorithm, env, observe):
    """A kept graph brings visits along; they are not counted against the next decision."""
    agent = gsp.make_agent(env, algorithm, budget=40, seed=0, retention="episode")
    for step in range(3):
        action = agent.act(observe(env))
        assert agent.result.simulations == 40
        if agent.recipe.learning == "on_the_trail":
            assert agent.result.visit_counts.sum() >= 40 or step == 0
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return


@pytest.mark.parametrize("budget", [gsp.Budget(simulations=9), 9])
def test_the_budget_may_change_between_decisions(random_model, model_env, budget):
    env = model_env(random_model(0), horizon=5)
    agent = gsp.make_agent(env, "uct", budget=4, seed=0)
    agent.plan(env.reset()[0])
    agent.budget = budget
    agent.plan(env.reset()[0])
    assert agent.result.simulations == 9


def test_a_decided_search_still_spends_its_budget(algorithm):
    """One action ends with 1, the other with 0 for sure: no early stop unless it is asked for."""
    model = gsp.tabular_model([[[(1.0, 1, 0.0, True)], [(1.0, 1, 1.0, True)]], [[(1.0, 1, 0.0, True)]] * 2])
    result = gsp.plan(model, 0, algorithm, 300, seed=0, steps_left=1)
    assert (result.simulations, result.stopped_by, result.action) == (300, "simulations", 1)


@pytest.mark.parametrize("cost", [0.0001, 0.0006, 0.00124, 0.0026, 0.02])
@pytest.mark.parametrize("seconds", [1e-9, 0.004, 0.05, 0.33])
def test_seconds_are_exceeded_by_one_simulation_and_five_milliseconds_at_most(timed_model, cost, seconds):
    """On a clock that only the model's step moves, so that a busy machine changes nothing; 5 steps a simulation."""
    result = gsp.plan(timed_model([cost]), 0, "uct", gsp.Budget(seconds=seconds), seed=0, steps_left=5)
    assert result.stopped_by == "seconds"
    assert result.simulations >= 1
    assert seconds <= result.seconds <= seconds + 5 * cost + 0.005 + 1e-9


def test_seconds_hold_when_steps_become_dear(timed_model):
    """Cheap steps make long chunks; the first dear one must not be followed by a chunk full of them."""
    costs = [1e-6] * 5000 + [0.002]
    result = gsp.plan(timed_model(costs), 0, "uct", gsp.Budget(seconds=0.05), seed=0, steps_left=5)
    assert 0.05 <= result.seconds <= 0.05 + 5 * 0.002 + 0.005


def test_seconds_hold_at_the_next_decision(timed_model, model_env):
    """The length of chunks is carried from decision to decision, the cost of a step need not be."""
    costs = [1e-6]
    env = model_env(timed_model(costs), horizon=10)
    observation, _ = env.reset()
    agent = gsp.make_agent(env, "uct", budget=gsp.Budget(seconds=0.01), seed=0)
    agent.plan(observation)
    assert agent.result.simulations > 500
    costs[-1] = 0.002
    agent.plan(observation)
    assert 0.01 <= agent.result.seconds <= 0.01 + 10 * 0.002 + 0.005


@pytest.mark.parametrize("algorithm", ["gs-power-uct-f", "graft"])
def test_a_sweep_takes_its_share_of_the_seconds(algorithm, env, observe):
    """A quarter of 0.02 seconds pays for 250 outcomes and nodes of 0.02 milliseconds, and the search has the rest.

    The root, which is always swept, has fewer.
    """
    agent = gsp.make_agent(env, algorithm, budget=256, seed=0)
    agent.plan(observe(env))
    search = agent._search
    assert search.tally.updates > 250 or algorithm == "graft"  # scenarios may decide, which sweep nothing
    agent.budget, search.pace.update_seconds = gsp.Budget(simulations=50, seconds=0.02), 0.00002
    assert agent.plan(observe(env)).simulations > 1
    assert search.tally.updates <= 250


def test_scenarios_have_all_the_seconds(timed_model):
    """They sweep nothing, so no second is kept for a sweep, however long the last one took."""
    recipe = gsp.make_recipe("graft", root_allocation=PairedScenarios(0.0, 2.0, 0.0))
    search = engine.Search(timed_model([0.0001]), recipe, True)
    seen = search.store.arrays.allocation
    seen["phase"] = codes.BY_SCENARIOS
    search.pace.last_updates, search.pace.update_seconds = 1000, 0.001
    result = search.plan(search.model.cells(0), gsp.Budget(seconds=0.05), 0, 5)
    assert seen["phase"][0] == codes.BY_SCENARIOS
    assert 0.05 <= result.seconds <= 0.055


def test_seconds_on_the_real_clock(python_step):
    """Only what a busy machine cannot break: it stops by itself, after the time and not long after."""

    def rules(cells, action, draw):
        cells[0] = int(6 * draw())
        time.sleep(0.0005)
        return 1.0, False

    model = gsp.CompiledModel(python_step(rules), 2)
    result = gsp.plan(model, 0, "uct", gsp.Budget(seconds=0.05), seed=0, steps_left=4)
    assert result.stopped_by == "seconds"
    assert 0.05 <= result.seconds < 2.0
    assert 1 <= result.simulations <= 0.05 / 0.002 + 3 + 1


def test_progress_is_told_and_may_stop_the_search(algorithm, env, observe):
    told = []

    def on_progress(progress):
        told.append(progress)
        return progress.simulations >= 60

    agent = gsp.make_agent(env, algorithm, budget=gsp.Budget(simulations=MANY), seed=0, on_progress=on_progress)
    action = agent.act(observe(env))
    assert env.action_space.contains(action)
    assert agent.result.stopped_by == "callback"
    assert agent.result.simulations == told[-1].simulations < MANY
    for name in ("simulations", "model_steps", "nodes", "seconds"):
        values = [getattr(progress, name) for progress in told]
        assert values == sorted(values)
    assert agent.result.model_steps == told[-1].model_steps
    assert agent.result.nodes == told[-1].nodes


def test_an_exception_in_a_progress_callback_is_raised_and_the_agent_usable_again(env, observe):
    faults = [KeyboardInterrupt("enough")]

    def on_progress(progress):
        if faults:
            raise faults.pop()

    agent = gsp.make_agent(env, "gs-power-uct", budget=500, seed=0, on_progress=on_progress)
    with pytest.raises(KeyboardInterrupt, match="enough"):
        agent.act(observe(env))
    with pytest.raises(gsp.PlanningError, match="no result"):
        agent.result  # noqa: B018
    assert env.action_space.contains(agent.act(observe(env)))
    assert agent.result.simulations == 500


@pytest.mark.parametrize("algorithm", ["gs-power-uct", "gs-power-uct-f"])
def test_a_budget_in_nodes_ends_where_there_are_no_more_nodes(algorithm, random_model):
    """Four states and three steps: a graph has 13 nodes at most, so a budget of 100 nodes cannot be spent.

    That must end by itself (or be refused), not search for ever; the callback only saves the test from hanging.
    """
    begun = time.monotonic()
    try:
        result = gsp.plan(
            random_model(0),
            0,
            algorithm,
            gsp.Budget(nodes=100),
            seed=0,
            steps_left=3,
            on_progress=lambda progress: time.monotonic() - begun > 1.0,
        )
    except gsp.RecipeError:
        return
    assert result.stopped_by == "nodes"
    assert result.nodes <= 13


def test_nothing_is_searched_where_the_episode_has_ended(algorithm):
    env = gym.make("GSP/FrozenLake-v0")
    env.reset(seed=0)
    goal = env.unwrapped.clone_state()._replace(cells=(63,), elapsed=5, terminated=True)
    env.unwrapped.set_state(goal)
    agent = gsp.make_agent(env, algorithm, budget=10, seed=0)
    assert env.action_space.contains(agent.act(63))
    assert (agent.result.stopped_by, agent.result.simulations, agent.result.model_steps) == ("terminal", 0, 0)


def test_no_decision_compiles():
    """What the first decision takes would else be taken for the pace of all."""
    search = Search(gsp.tabular_model([[[(1.0, 0, 1.0, False)]]]), gsp.make_recipe("graft"), timed=False)
    entries = search._run_simulations, search._decide
    known = [list(entry.signatures) for entry in entries]
    assert all(len(each) == 1 for each in known)
    search.plan(search.model.cells(0), gsp.Budget(seconds=0.01))
    assert [list(entry.signatures) for entry in entries] == known
