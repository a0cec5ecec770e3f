import math

import numpy as np
import pytest
from scipy.stats import binom

from gymnasium_gsp.bench.published import Published, published_rewards
from gymnasium_gsp.bench.report.judgement import above_optimum, difference, verdict

HALF = np.array([0.0, 1.0] * 50)  # mean 0.5, standard deviation 0.5025, standard error 0.05025


def test_the_distance_is_counted_in_combined_standard_errors():
    combined = math.hypot(0.0502519, 0.03, 0.0005)  # the last is the rounding of the published figure
    assert difference(HALF, Published(0.2, 0.03, 1000)) == pytest.approx(0.3 / combined)
    assert difference(HALF, Published(0.8, 0.03, 1000)) == pytest.approx(-0.3 / combined)


def test_a_distance_inside_the_rounding_of_the_paper_is_none():
    assert abs(difference(np.full(200, 1.7496), Published(1.75, 0.0, 1000))) < 1.0
    assert difference(np.full(200, 1.76), Published(1.75, 0.0, 1000)) == pytest.approx(20.0)


def test_a_few_failures_do_not_show_that_an_algorithm_never_succeeds():
    """Six of six failures where 0.227 of 1,000 episodes succeed: chance 0.21; the published spread stands in."""
    published = Published(0.227, 0.013, 1000)
    assert difference(np.zeros(6), published) == pytest.approx(
        -0.227 / math.hypot(0.013 * math.sqrt(1000 / 6), 0.013, 0.0005)
    )
    assert difference(np.zeros(4), published) is None
    assert difference(np.zeros(500), published) < -4.9


@pytest.mark.parametrize(
    ("z", "words"),
    [(None, "too few episodes"), (0.0, "reproduced"), (4.9, "reproduced"), (5.0, "better"), (-5.0, "not reproduced")],
)
def test_verdicts(z, words):
    assert verdict(z) == words


def test_the_alarm_is_as_rare_as_it_says():
    """Claim: with n episodes that succeed with probability p, the optimum, an alarm has probability 1e-6, by the exact
    binomial distribution; the normal quantile makes it 1.6e-6 at worst here."""
    for episodes in (1, 2, 3, 5, 10, 20, 40, 100, 200, 1000):
        for p in (0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            alarmed = [
                successes
                for successes in range(episodes + 1)
                if above_optimum(np.repeat([1.0 - p, -p], [successes, episodes - successes]), -p)
            ]
            assert sum(binom.pmf(alarmed, episodes, p)) < 2e-6, (episodes, p)


def test_a_planner_that_sees_the_future_is_noticed():
    optimum = 0.9132
    assert above_optimum(np.full(200, 1.0 - optimum), -optimum)
    assert not above_optimum(np.full(100, 1.0 - optimum), -optimum)  # 0.9132^100 = 1e-4
    assert not above_optimum(np.zeros(200), -1.0)
    assert not above_optimum(np.zeros(200), 0.0)


def test_the_published_tables_are_whole():
    assert len(published_rewards()) == 240
