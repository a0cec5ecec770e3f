"""Right on stochastic environments: the planner sees the whole law, and nothing of the real future."""

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import binom, chi2

import gymnasium_gsp as gsp
from gymnasium_gsp.exact import optimum, truncated_value

FALSE_ALARM = 1e-6
ARGUMENTS = {"SysAdminRing": {"machines": 4}}  # of twenty machines there are too many outcomes for rows


def chi_square(counts, probabilities):
    """Pearson's statistic and its degrees of freedom, outcomes rarer than five in the sample taken together."""
    expected = np.array(probabilities) * sum(counts)
    rare = expected < 5.0
    seen = np.append(np.array(counts)[~rare], np.array(counts)[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    kept = wanted >= 5.0
    return ((seen - wanted) ** 2 / np.maximum(wanted, 1e-300))[kept].sum(), max(kept.sum() - 1, 0)


def standing_somewhere(entry):
    """The model of an environment a few steps into an episode, and its state."""
    env = gym.make(entry.id, **ARGUMENTS.get(entry.name, {}))
    env.reset(seed=3)
    for action in (1, 2, 1):
        env.step(action % env.action_space.n)
    state = env.unwrapped.clone_state()
    assert not state.terminated
    return env.unwrapped.compiled_model(), state


def test_the_planner_meets_every_outcome_about_as_often_as_the_law_says(trials, entry, recorded):
    """4,000 simulations of one step, actions uniform at the root so that counts do not depend on outcomes.

    One chi-square over all actions, false alarm 1e-6 for each algorithm and environment; every outcome that is
    expected 50 times is met, and none that the law does not have.
    """
    original, state = standing_somewhere(entry)
    model, seen = recorded(original)
    recipe = gsp.make_recipe(trials, root_selection=gsp.ingredients.Uniform())
    gsp.plan(model, state.cells, recipe, 4000, seed=1, elapsed=state.elapsed, steps_left=1)
    assert len(seen) == 4000
    statistic, freedom = 0.0, 0
    for action in range(model.actions):
        outcomes = [(after, reward, status == 2) for _, tried, after, reward, status, _ in seen if tried == action]
        law = {}
        for probability, after, reward, ended in model.law(state.cells, action):
            law[after, reward, ended] = law.get((after, reward, ended), 0.0) + probability
        assert set(outcomes) <= set(law)
        counts = [outcomes.count(outcome) for outcome in law]
        assert all(n > 0 for n, p in zip(counts, law.values(), strict=True) if p * len(outcomes) > 50)
        one, free = chi_square(counts, list(law.values()))
        statistic, freedom = statistic + one, freedom + free
    assert freedom > 0
    assert statistic < chi2.isf(FALSE_ALARM, freedom)


def test_deep_in_a_simulation_only_lawful_steps_are_taken(algorithm, entry, recorded):
    original, state = standing_somewhere(entry)
    model, seen = recorded(original)
    gsp.plan(model, state.cells, algorithm, 60, seed=1, elapsed=state.elapsed, steps_left=12)
    laws = {}
    for before, action, after, reward, status, _ in seen:
        rows = laws.setdefault((before, action), {row[1:] for row in model.law(before, action)})
        assert (after, reward, status == 2) in rows
    assert len(laws) > 20


def test_what_the_search_books_is_what_the_steps_paid(trials, entry, recorded):
    """With one step left, sum of N(s,a) Q(s,a) is the sum of all rewards that the model gave.

    Not where state keys mix depths: there a step that leads back to the root brings the root's own value.
    """
    if gsp.make_recipe(trials).key == "state":
        pytest.skip("state keys mix depths")
    original, state = standing_somewhere(entry)
    model, seen = recorded(original)
    result = gsp.plan(model, state.cells, trials, 300, seed=2, elapsed=state.elapsed, steps_left=1)
    paid = sum(reward for *_, reward, _, _ in seen)
    tried = result.visit_counts > 0  # Q of an action that the state lacks is minus infinity
    assert result.visit_counts[tried] @ result.q_values[tried] == pytest.approx(paid, rel=1e-9, abs=1e-9)


def test_a_coin_has_its_known_value(trial_settings):
    """One action, reward 1 with probability 0.3: n Q is binomial.  4,000 simulations, exact two-sided test at 1e-6."""
    name, preset = trial_settings
    recipe = gsp.make_recipe(name, preset=preset, env_id="GSP/FrozenLake-v0")
    model = gsp.tabular_model([[[(0.3, 1, 1.0, True), (0.7, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]])
    wins = round(gsp.plan(model, 0, recipe, 4000, seed=5, steps_left=3).q_values[0] * 4000)
    assert min(binom.cdf(wins, 4000, 0.3), binom.sf(wins - 1, 4000, 0.3)) > FALSE_ALARM / 2


def test_no_planner_sees_the_real_future(algorithm):
    """On slippery ice nobody wins more often than the optimum allows; with the future known, almost always.

    60 episodes; the exact probability of that many wins at the optimum is above 1e-6.  Equal seeds of environment and
    agent are the case that leaks if anything does.
    """
    env = gym.make("GSP/FrozenLake-v0", desc=["SFFF", "FHFH", "FFFH", "HFFG"], horizon=16)
    best = optimum(env)
    assert 0.1 < best < 0.2
    wins = 0
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        agent = gsp.make_agent(env, algorithm, budget=16, seed=seed)
        done = False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
            wins, done = wins + reward, terminated or truncated
    assert binom.sf(wins - 1, 60, best) > FALSE_ALARM


def layered(seed):
    """Three layers of four states below the first, random rewards and laws; each state is met at one depth alone."""
    rng = np.random.default_rng(seed)
    states = 1 + 3 * 4 + 1
    law, rewards = np.zeros((states, 3, states)), rng.random((states, 3))
    for state in range(states):
        layer = 0 if state == 0 else 1 + (state - 1) // 4
        after = range(1 + 4 * layer, 5 + 4 * layer) if layer < 3 else [states - 1]
        law[state][:, list(after)] = rng.dirichlet(np.ones(len(after)), 3)
    return gsp.tabular_model_from_arrays(law, rewards)


def test_more_budget_means_less_error(trials):
    """Mean error of the root's value over 40 random models falls from 16 to 4,096 simulations, by 4.9 standard errors.

    Of the algorithms whose value tends to the optimum; a regularised value tends to another limit.
    """
    recipe, differences = gsp.make_recipe(trials), []
    if not isinstance(recipe.backup, gsp.ingredients.PowerMean):
        pytest.skip("tends to a regularised value")
    for seed in range(40):
        model = layered(seed)
        truth = truncated_value(model, 0, 3, 1.0 if recipe.discount is None else recipe.discount)
        errors = [abs(gsp.plan(model, 0, recipe, n, seed, steps_left=3).value - truth) for n in (16, 4096)]
        differences.append(errors[0] - errors[1])
    assert np.mean(differences) > 4.9 * np.std(differences, ddof=1) / np.sqrt(len(differences))


@pytest.mark.parametrize("algorithm", ["gs-power-uct", "gs-power-uct-f"])
def test_action_values_are_those_of_dynamic_programming(algorithm):
    """Q(root, a) is the expected return from here on, nothing of the past in it: within 2 % of the range at 20,000."""
    for seed in range(5):
        model = layered(seed)
        truth = truncated_value(model, 0, 3)
        result = gsp.plan(model, 0, algorithm, 20_000, seed, steps_left=3)
        assert abs(result.q_values.max() - truth) < 0.02 * 3.0
        assert result.value == pytest.approx(result.q_values.max())
