"""The golden values of the baselines' formulas, to 1e-6, and the solver against bisection."""

import math

import numpy as np
import pytest
from naive_gbop import largest_mean, reward_bound
from scipy.optimize import minimize

from gymnasium_gsp.search.ingredients.divergence import PAIR, bernoulli_divergence, extreme_mean, extreme_reward, tilt
from gymnasium_gsp.search.ingredients.horizon import split_budget


def solve(f, q, radius):
    """(mean, law) by the package's solver; values where q is 0 are unseen."""
    f, q = np.array(f, float), np.array(q, float)
    seen = q > 0.0
    unseen = f[~seen].max() if (~seen).any() else -math.inf
    pairs = np.column_stack([f[seen], q[seen]]).reshape(-1)
    assert len(pairs) == PAIR * seen.sum()
    law = q.copy()
    if radius > 0.0:
        top, above, mass = tilt(pairs, seen.sum(), unseen, radius)
        if above < math.inf:
            weights = q[seen] / (above + (top - f[seen]))
            law[seen] = (1.0 - mass) * weights / weights.sum()
        best = ~seen & (f == unseen)
        law[best] = mass / max(best.sum(), 1)
    return extreme_mean(pairs, seen.sum(), unseen, radius), law


@pytest.mark.parametrize(
    ("f", "q", "radius", "law"),
    [
        ([1, 0], [0.5, 0.5], 0.1, [0.712879, 0.287121]),
        ([0, 1], [1, 0], 0.1, [0.904837, 0.095163]),
        ([1, 0.4, 0], [0.2, 0.5, 0.3], 0.2, [0.494708, 0.359051, 0.146241]),
        ([10, 3, 1], [0, 0.6, 0.4], 0.05, [0.041671, 0.631094, 0.327234]),
        ([3.1, 3, 1], [0, 0.6, 0.4], 0.05, [0.0, 0.744728, 0.255272]),
    ],
)
def test_golden_laws(f, q, radius, law):
    mean, found = solve(f, q, radius)
    np.testing.assert_allclose(found, law, rtol=0, atol=1e-6)
    assert mean == pytest.approx(np.dot(found, f), abs=1e-9)
    np.testing.assert_allclose(largest_mean(f, q, radius)[1], law, rtol=0, atol=1e-6)


def test_golden_reward_bounds():
    radius = math.log(50) / 10
    assert extreme_reward(0.5, radius, 1.0) == pytest.approx(0.868339, abs=1e-6)
    assert extreme_reward(0.5, radius, 0.0) == pytest.approx(0.131661, abs=1e-6)
    assert extreme_reward(0.3, 0.0, 1.0) == extreme_reward(0.3, 0.0, 0.0) == 0.3
    assert extreme_reward(1.0, radius, 1.0) == 1.0
    assert extreme_reward(0.0, radius, 1.0) == pytest.approx(1.0 - math.exp(-radius), abs=1e-9)
    for mean in (0.0, 1e-9, 0.2, 0.5, 0.99, 1.0):
        for end in (0.0, 1.0):
            assert extreme_reward(mean, 0.03, end) == pytest.approx(reward_bound(mean, 0.03, end), abs=1e-9)
    assert bernoulli_divergence(0.5, 0.25) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))


@pytest.mark.parametrize(
    ("steps", "discount", "trajectories", "length"),
    [
        (500, 0.8, 55, 9),
        (1000, 0.9, 52, 19),
        (200, 0.7, 35, 5),
        (1000, 0.7, 142, 7),
        (5000, 0.95, 108, 46),
        (100, 0.9, 9, 11),
    ],
)
def test_golden_budget_splits(steps, discount, trajectories, length):
    assert split_budget(steps, discount) == (trajectories, length)


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.9, 0.99])
def test_a_split_is_the_last_that_can_be_paid(discount):
    def length(m):
        return 1 if discount == 0.0 else max(1, math.ceil(math.log(m) / (2.0 * math.log(1.0 / discount))))

    for steps in range(1, 400):
        m = 1
        while (m + 1) * length(m + 1) <= steps:
            m += 1
        assert split_budget(steps, discount) == (m, length(m))


def test_the_solver_agrees_with_bisection_on_random_problems():
    """2,000 problems of both cases, relative to the spread of values: 1e-9."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n, size = int(rng.integers(6, 400)), int(rng.integers(1, 6))
        q = (rng.multinomial(n - size, rng.dirichlet(np.ones(size))) + 1) / n
        f = rng.random(size) * 10.0 ** rng.uniform(-3, 2)
        if rng.random() < 0.2:
            f[:] = f[0]
        radius = 10.0 ** rng.uniform(-5, 0.5)
        unseen = rng.choice([f.max() + 10.0 ** rng.uniform(-4, 2), f.max(), -1.0])
        wanted, _ = largest_mean([*f, unseen], [*q, 0.0], radius)
        found, law = solve([*f, unseen], [*q, 0.0], radius)
        assert abs(found - wanted) <= 1e-9 * max(1e-3, np.ptp([*f, unseen]))
        assert law.sum() == pytest.approx(1.0)
        kept = q * np.log(q / law[:-1])
        assert kept.sum() <= radius + 1e-8


def test_the_solver_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, f, radius = rng.dirichlet(np.ones(3) * 2.0), rng.random(3), 10.0 ** rng.uniform(-2, 0)
        answer = minimize(
            lambda p, f=f: -np.dot(p, f),
            q,
            method="SLSQP",
            bounds=[(1e-9, 1.0)] * 3,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1.0},
                {"type": "ineq", "fun": lambda p, q=q, radius=radius: radius - np.sum(q * np.log(q / p))},
            ],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert solve(f, q, radius)[0] == pytest.approx(-answer.fun, abs=1e-5)


def test_extreme_problems_give_numbers():
    """Nothing is NaN: one outcome, equal values, almost no radius, a radius far beyond."""
    for f, q in (
        ([0.5], [1.0]),
        ([0.2, 0.2], [0.3, 0.7]),
        ([0.0, 1.0], [1e-9, 1.0 - 1e-9]),
        ([0.0, 1e-15], [0.5, 0.5]),
    ):
        for unseen in (-math.inf, 0.0, 1.0):
            for radius in (0.0, 1e-12, 1e-3, 1.0, 50.0):
                pairs = np.column_stack([f, q]).reshape(-1)
                mean = extreme_mean(pairs, len(f), unseen, radius)
                assert np.dot(f, q) - 1e-12 <= mean <= max(*f, unseen) + 1e-12
