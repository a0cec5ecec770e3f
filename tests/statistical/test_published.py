"""Our returns beside the published ones, and beside what the default planner must reach; `-m slow -s` prints them."""

import gymnasium as gym
import numpy as np
import pytest
from statistical.claims import SIGMAS, standard_error

from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play
from gymnasium_gsp.bench.published import published_rewards
from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.exact import episode_optimum

JOBS = 2
# (environment, simulations) -> what the default gs-power-uct must reach; of FourRooms a share of the layouts' optima.
TO_REACH = {
    ("FrozenLake", 64): 0.52,
    ("PassengerGrid", 64): 5.6,
    ("FourRooms", 64): 0.90,
    ("FrozenLake", 256): 0.79,
    ("PassengerGrid", 256): 6.4,
    ("FourRooms", 256): 0.97,
}


def returns_of(cell, episodes):
    """The return of each episode."""
    return np.array([episode.total_reward for episode in play(cell, episodes, JOBS)])


def optima_of(cell, episodes):
    """The optimum of each episode's layout."""
    env, optima = gym.make(cell.env), []
    for index in range(episodes):
        env.reset(seed=episode_seeds(cell.seed, cell.env, index)[0])
        optima.append(episode_optimum(env))
    return np.array(optima)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [64, 256])
@pytest.mark.parametrize("env", [benchmark.name for benchmark in BENCHMARKS])
def test_the_paper_preset_reaches_the_published_return(env, budget):
    """Claim: with preset="paper", GS-Power-UCT's mean return is the published one, or above.

    Sample: 300 episodes beside the paper's own number of runs.  Both means are normal, so that ours may lie 4.9
    combined standard errors below; false alarms 1e-6.
    """
    ours = returns_of(Cell(env=env, algorithm="gs-power-uct", budget=budget, preset="paper"), 300)
    published = published_rewards()[env, "gs-power-uct", budget]
    combined = np.hypot(standard_error(ours), published.standard_error)
    difference = ours.mean() - published.mean
    print(
        f"\n{env}, {budget}: {ours.mean():.3f} ({standard_error(ours):.3f}), published {published.mean:.3f} "
        f"({published.standard_error:.3f}): {difference / combined:+.1f} standard errors"
    )
    assert difference >= -SIGMAS * combined


@pytest.mark.slow
@pytest.mark.parametrize(("env", "budget"), TO_REACH)
def test_the_default_reaches_what_it_must(env, budget):
    """Claim: the default gs-power-uct's expected return is at least the threshold.

    Sample: 1,000 episodes.  Of FourRooms the claim is that return - threshold * optimum of the layout has a mean of at
    least 0.  The mean is normal; it fails if it lies 4.9 standard errors below, false alarms 1e-6.
    """
    cell, threshold = Cell(env=env, algorithm="gs-power-uct", budget=budget), TO_REACH[env, budget]
    returns = returns_of(cell, 1000)
    optima = optima_of(cell, 1000) if env == "FourRooms" else np.ones(len(returns))
    above = returns - threshold * optima
    share, error = returns.mean() / optima.mean(), standard_error(above) / optima.mean()
    distance = above.mean() / standard_error(above)
    print(f"\n{env}, {budget}: {share:.4f} ({error:.4f}), to reach {threshold}: {distance:+.1f} standard errors")
    assert above.mean() >= -SIGMAS * standard_error(above)


def test_published_figures_are_read_as_they_are_meant():
    """Claim: by hand, UCT on FrozenLake at 64 is 0.006 +- 0.155 over 1,000 runs, GBOP 0.060 +- 0.011 over 500."""
    cells = published_rewards()
    cell = cells["FrozenLake", "uct", 64]
    assert (cell.mean, cell.runs) == (0.006, 1000)
    assert cell.standard_error == pytest.approx(0.155 / (2 * 1000**0.5))
    assert cells["FrozenLake", "gbop", 64] == (0.060, 0.011, 500)
    # Five environments, six algorithms, eight budgets.
    assert len(cells) == 5 * 6 * 8
    assert {env for env, _, _ in cells} == {benchmark.name for benchmark in BENCHMARKS}
