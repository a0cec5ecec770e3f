"""Selection and backup one call at a time, through their C pointers, against numbers worked out by hand."""

import itertools
import math
import random
import warnings

import numpy as np
import pytest
from naive_bridge import bonus_of
from naive_parts import Stream, cautious, power_mean
from records import made_context

from gymnasium_gsp.abi.context import CONTEXT_SIZE
from gymnasium_gsp.abi.pointers import ctypes_type
from gymnasium_gsp.abi.signatures import SIGNATURES
from gymnasium_gsp.ingredients import UCB1, Cautious, PolynomialBonus, PowerMean, Table1

TINY, HUGE = 5e-324, 1e300


def context_block(actions, **cells):
    return made_context(actions, **{name.lower(): value for name, value in cells.items()})[0]


def select(selection, visits, q, counts, word=1, **cells):
    """The action that a selection answers with, and the scores that it compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params, context = np.array(selection.params()), context_block(len(q), **cells)
        values, tried, rng = np.array(q, float), np.array(counts), np.array([word], np.uint64)
        function = ctypes_type(SIGNATURES["select"])(selection.pointer().address)
        action = function(*(array.ctypes.data for array in (params, context)), visits, *(
            array.ctypes.data for array in (values, tried, rng)
        ))  # fmt: skip
    scores = context[CONTEXT_SIZE + len(q) : CONTEXT_SIZE + 2 * len(q)]
    return action, scores.tolist()


def back_up(backup, q, counts, visits=None, variance=None, **cells):
    """The value that a backup answers with."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params, context = np.array(backup.params()), context_block(len(q), **cells)
        values, tried = np.array(q, float), np.array(counts)
        variances = np.zeros(len(q)) if variance is None else np.array(variance, float)
        function = ctypes_type(SIGNATURES["backup"])(backup.pointer().address)
        visits = int(sum(counts)) if visits is None else visits
        addresses = [array.ctypes.data for array in (params, context, values, tried, variances)]
        return function(*addresses[:2], visits, *addresses[2:], 0.0, 0.0)


def test_ucb1_by_hand():
    # N = 8, n = (2, 6), C = 1.5: sqrt(ln 8 / 2) = sqrt(1.0397208) = 1.0196670, sqrt(ln 8 / 6) = 0.5887050;
    # 0.25 + 1.5 * 1.0196670 = 1.7795005 and 0.75 + 1.5 * 0.5887050 = 1.6330575.
    action, scores = select(UCB1(1.5), 8, [0.25, 0.75], [2, 6])
    assert action == 0
    assert scores == pytest.approx([1.7795005, 1.6330575], abs=1e-7)
    assert scores == pytest.approx([q + 1.5 * math.sqrt(math.log(8) / n) for q, n in ((0.25, 2), (0.75, 6))], rel=1e-12)


def test_polynomial_bonus_by_hand():
    # N = 16, n = (4, 9), C = 0.5: 16^(1/4) = 2, so 0.5 * 2 / sqrt(4) = 1/2 and 0.5 * 2 / sqrt(9) = 1/3.
    action, scores = select(PolynomialBonus(0.5), 16, [0.25, 0.75], [4, 9])
    assert action == 1
    assert scores == pytest.approx([0.75, 0.75 + 1 / 3], rel=1e-12)


def test_exponents_of_a_depth_are_those_of_the_next():
    # b/beta and alpha/beta of depths 1 and 2: (2/4, 4/4) and (3/12, 6/12).  N = 16, n = 4, C = 1:
    # depth 0: 16^(1/2) / 4 = 1; depth 1: 16^(1/4) / 4^(1/2) = 1; deeper: as depth 1.  With n = 2: 2 and sqrt(2).
    bonus = PolynomialBonus(1.0, constants=Table1(alpha=(9.0, 4.0, 6.0), beta=(9.0, 4.0, 12.0), b=(9.0, 2.0, 3.0)))
    for depth, expected in enumerate(((1.0, 2.0), (1.0, math.sqrt(2.0)), (1.0, math.sqrt(2.0)), (1.0, math.sqrt(2.0)))):
        assert select(bonus, 16, [0.0, 0.0], [4, 2], DEPTH=depth)[1] == pytest.approx(expected, rel=1e-12)


def test_the_scale_multiplies_the_constant():
    for kind in (UCB1, PolynomialBonus):
        scaled = select(kind(0.1, "range"), 9, [0.3, 0.2], [4, 5], RANGE=7.0)
        assert scaled[1] == pytest.approx(select(kind(0.7), 9, [0.3, 0.2], [4, 5])[1], rel=1e-12)


@pytest.mark.parametrize("kind", [UCB1, PolynomialBonus])
@pytest.mark.parametrize("c", [0.0, TINY, 1e-3, 1.0, 1e6, HUGE])
def test_scores_are_the_formula_and_finite(kind, c):
    rng = random.Random(c)
    bonus = bonus_of(kind(c))
    cases = [(1, [1]), (2, [1, 1]), (2, [1])]  # N = 1 makes log N = 0
    cases += [(sum(n) + 1, n) for n in ([rng.randint(1, 10**6) for _ in range(4)] for _ in range(20))]
    for visits, counts in cases:
        q = [rng.uniform(-2.0, 2.0) for _ in counts]
        action, scores = select(kind(c), visits, q, counts)
        expected = [value + bonus(visits, n, 0, 1.0) for value, n in zip(q, counts, strict=True)]
        assert all(map(math.isfinite, scores))
        assert scores == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert action == max(range(len(q)), key=lambda a: scores[a])


@pytest.mark.parametrize("selection", [UCB1(0.0), UCB1(HUGE), PolynomialBonus(0.0), PolynomialBonus(HUGE)])
def test_untried_actions_come_first_each_as_likely(selection):
    # Nothing tried (N = 0), or some: the untried action is the draw's, whatever the values of the others.
    for counts in ([0, 0, 0], [5, 0, 0], [0, 9, 0], [3, 1, 0]):
        untried = [a for a in range(3) if counts[a] == 0]
        for word in range(20):
            action, _ = select(selection, sum(counts), [1e9, -1e9, 0.0], counts, word)
            assert action == untried[Stream(word).below(len(untried))]


@pytest.mark.parametrize("kind", [UCB1, PolynomialBonus])
def test_ties_of_scores_are_broken_evenly(kind):
    # 3000 draws of a third each: 5.3 standard deviations, false alarm below 1e-6 (and the words are fixed).
    found = [select(kind(1.0), 9, [0.5, 0.5, 0.0, 0.5], [2, 2, 3, 2], word)[0] for word in range(3000)]
    assert set(found) == {0, 1, 3}
    for action in (0, 1, 3):
        assert abs(found.count(action) - 1000) <= 5.3 * math.sqrt(3000 * (1 / 3) * (2 / 3))


def test_power_means_by_hand():
    # Counts 1 and 3: weights 1/4 and 3/4 of 2 and 1.
    q, counts = [2.0, 1.0], [1, 3]
    assert back_up(PowerMean(1.0), q, counts) == 1.25
    assert back_up(PowerMean(2.0), q, counts) == pytest.approx(math.sqrt(7 / 4), rel=1e-12)  # (4 + 3 * 1) / 4
    assert back_up(PowerMean(3.0), q, counts) == pytest.approx((11 / 4) ** (1 / 3), rel=1e-12)  # (8 + 3) / 4
    assert back_up(PowerMean(1.5), q, counts) == pytest.approx(((2 * math.sqrt(2) + 3) / 4) ** (2 / 3), rel=1e-12)
    assert back_up(PowerMean(math.inf), q, counts) == 2.0
    # As printed, over N(s) = 5, which also counts the first evaluation: (4 + 3) / 5, and 5/5 for the mean.
    assert back_up(PowerMean(2.0, "printed"), q, counts, visits=5) == pytest.approx(math.sqrt(7 / 5), rel=1e-12)
    assert back_up(PowerMean(1.0, "printed"), q, counts, visits=5) == 1.0
    # Untried actions do not count.
    for p in (1.0, 2.5, math.inf):
        assert back_up(PowerMean(p), [*q, 99.0], [*counts, 0]) == back_up(PowerMean(p), q, counts)


@pytest.mark.parametrize(("shift", "expected"), [(0, 0.758), (1, 0.618), (10, 0.518), (200, 0.501)])
def test_a_lower_bound_shifts_the_mean(shift, expected):
    # M_2.5(s, 1 + s) - s: for s = 0, (1/2)^(2/5) = 0.7579.
    value = back_up(PowerMean(2.5), [0.0, 1.0], [1, 1], LOWER=-float(shift))
    assert value == pytest.approx(expected, abs=5e-4)
    exact = ((shift**2.5 + (1 + shift) ** 2.5) / 2) ** 0.4 - shift
    assert value == pytest.approx(exact, abs=1e-12 * (1 + shift))


def test_power_means_of_random_numbers():
    rng = random.Random(5)
    powers = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 7.5, 50.0, 1e3, math.inf)
    for _ in range(200):
        low = rng.choice([0.0, -3.0, -200.0])
        actions = rng.randint(1, 5)
        q = [rng.uniform(low, 4.0) for _ in range(actions)]
        counts = [rng.choice([0, 1, 2, 1000]) for _ in range(actions)]
        counts[0] += not any(counts)
        values = [back_up(PowerMean(p), q, counts, LOWER=low) for p in powers]
        size = 1e-12 * max(1.0, abs(low))
        for p, value in zip(powers, values, strict=True):
            assert value == pytest.approx(power_mean(q, counts, sum(counts), p, low=low), rel=1e-12, abs=size)
        # Monotone in p, between the mean and the maximum.
        assert all(here <= there + size for here, there in itertools.pairwise(values))
        # Towards the maximum: at p = 1000 the weight of one visit in a thousand is worth 1 - 1001^(-1/1000) = 0.7 %.
        top = max(value for value, n in zip(q, counts, strict=True) if n)
        assert top - values[-2] <= 0.01 * (top - low) + size
        assert values[-1] == top


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 9.7, 1e3, math.inf])
def test_constants_are_preserved(p):
    for constant in (0.0, 1e-300, 0.1, 1.0, 7.25, 1e300):
        assert back_up(PowerMean(p), [constant] * 3, [1, 5, 2]) == pytest.approx(constant, rel=1e-15)
        assert back_up(PowerMean(p), [-constant] * 3, [1, 5, 2], LOWER=-constant) == pytest.approx(-constant, rel=1e-15)


@pytest.mark.parametrize("p", [2.0, 4.0, 40.0, 1e4, 1e300])
def test_large_powers_do_not_overflow(p):
    value = back_up(PowerMean(p), [1e200, 3e200, 0.0], [1, 1, 1])
    assert 3e200 * (1 / 3) ** (1 / p) <= value * (1 + 1e-12)
    assert value <= 3e200


def test_values_below_the_bound_are_refused_and_rounding_is_not():
    assert math.isnan(back_up(PowerMean(2.0), [-0.5, 1.0], [1, 1]))
    assert math.isnan(back_up(PowerMean(2.0), [-0.5, -0.1], [1, 1]))
    assert back_up(PowerMean(2.0), [-0.5, 1.0], [1, 1], LOWER=-0.5) == pytest.approx(
        -0.5 + 1.5 / math.sqrt(2), rel=1e-12
    )
    assert back_up(PowerMean(2.0), [-1e-12, 1.0], [1, 1]) == pytest.approx(1 / math.sqrt(2), rel=1e-9)
    # The mean and the maximum need no bound.
    assert back_up(PowerMean(1.0), [-0.5, -1.5], [1, 1]) == -1.0
    assert back_up(PowerMean(math.inf), [-0.5, -1.5], [1, 1]) == -0.5


def test_caution_by_hand():
    # n = (4, 1), Q = (1, 2), var = (0, 3), S^2 = 1, kappa = 1: sigma^2 = (1 + 0) / 5 and (1 + 3) / 2;
    # 1 - sqrt(0.2 / 4) = 0.7763932, 2 - sqrt(2) = 0.5857864; the mean over visits is 6 / 5.
    arguments = {"counts": [4, 1], "variance": [0.0, 3.0], "ROOT_VARIANCE": 1.0}
    assert back_up(Cautious(1.0), [1.0, 2.0], **arguments) == 1.2
    # Q = (1, -4): the mean is 0, so the first action's bound counts.
    value = back_up(Cautious(1.0), [1.0, -4.0], **arguments)
    assert value == pytest.approx(1 - math.sqrt(0.05), rel=1e-12)
    assert value == pytest.approx(cautious([1.0, -4.0], [4, 1], [0.0, 3.0], 1.0, 1.0), rel=1e-12)
    # Without caution, the maximum.
    assert back_up(Cautious(0.0), [1.0, 2.0], **arguments) == 2.0
