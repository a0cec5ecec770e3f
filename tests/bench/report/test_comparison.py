import math
import warnings

import numpy as np
import pytest
from invented_rows import paper, row, rows

from gymnasium_gsp.bench.report.cells import measure
from gymnasium_gsp.bench.report.comparison import bootstrap_interval, paired, scored_environments, scores
from gymnasium_gsp.exact import shipped_optima


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_only_episodes_that_both_played_are_compared():
    one = [row(algorithm="uct", index=index, total_reward=float(index)) for index in range(7)]
    other = [row(algorithm="ments", index=index, total_reward=1.0) for index in (1, 2, 3, 4, 6, 50)]
    (found,) = paired(measure(one + other))
    assert (found.first.algorithm, found.second.algorithm) == ("uct", "ments")
    assert (found.episodes, found.mean) == (5, pytest.approx(2.2))  # of 0, 1, 2, 3, 5
    assert found.low < 2.2 < found.high


def test_episodes_of_different_seeds_are_no_pairs():
    assert not list(paired(measure(rows([1.0], algorithm="uct", seed=1) + rows([1.0], algorithm="ments", seed=2))))


@pytest.mark.parametrize(
    ("differences", "interval"),
    [
        ([0.5], None),
        ([0.0, 1.0, 0.0, 1.0], None),
        ([0.5] * 5, (0.5, 0.5)),
        ([0.0] * 200, (0.0, 0.0)),
        ([0.1 + 0.2] * 3 + [0.3] * 3, (0.3, 0.3)),
    ],
)
def test_degenerate_samples_have_plain_answers(differences, interval):
    found = bootstrap_interval(np.array(differences))
    assert found == (interval if interval is None else pytest.approx(interval))


@pytest.mark.parametrize("sample", [[0.0] * 4 + [1], [0.0] * 199 + [1], [1.0] * 5 + [-7], [1e-300] * 4 + [3e-300]])
def test_thin_samples_have_finite_intervals_around_the_mean(sample):
    low, high = bootstrap_interval(np.array(sample))
    assert math.isfinite(low)
    assert math.isfinite(high)
    assert low <= np.mean(sample) <= high


def test_the_interval_is_that_of_the_mean_and_the_same_each_time():
    sample = np.random.default_rng(3).normal(1.0, 2.0, 400)
    low, high = bootstrap_interval(sample)
    error = sample.std(ddof=1) / 20.0
    assert (low, high) == pytest.approx((sample.mean() - 1.96 * error, sample.mean() + 1.96 * error), abs=0.03)
    assert bootstrap_interval(sample) == (low, high)


def test_the_score_is_the_mean_share_of_the_optimum():
    lake, grid = (shipped_optima()[f"GSP/{name}-v0"] for name in ("FrozenLake", "PassengerGrid"))
    found = rows([0.2, 0.4]) + rows([3.0, 5.0], env="GSP/PassengerGrid-v0")
    (score,) = scores(measure(found))
    assert score.mean == pytest.approx((0.3 / lake + 4.0 / grid) / 2)
    assert score.standard_error == pytest.approx(math.hypot(0.1 / lake, 1.0 / grid) / 2)
    assert score.published == pytest.approx((0.006 / lake + 1.053 / grid) / 2)  # uct at 64 simulations


def test_a_planner_without_all_environments_has_no_score_and_says_why():
    found = rows([1.0, 1.0]) + rows([1.0, 1.0], env="GSP/PassengerGrid-v0") + rows([1.0, 1.0], algorithm="ments")
    with_score, without = scores(measure(found))
    assert with_score.missing == ()
    assert without.mean is None
    assert [environment.label for environment in without.missing] == ["PassengerGrid"]


def test_environments_without_a_positive_optimum_are_left_out():
    found = rows([1.0, 1.0]) + rows([-3.0, -4.0], env="Own-v0")
    found += [row(env="Layouts-v0", index=index, total_reward=-1.0, optimum=-0.5) for index in range(3)]
    counted, left_out = scored_environments(measure(found))
    assert [item.label for item in counted] == ["FrozenLake"]
    assert sorted(item.label for item in left_out) == ["Layouts-v0", "Own-v0"]


def test_the_published_scores_are_those_of_the_design():
    """The best published algorithm of each budget cannot beat the best of each cell: 0.46, 0.61, 0.73, 0.83."""
    bounds = {16: 0.465, 64: 0.615, 256: 0.735, 1024: 0.835}
    best: dict[int, float] = {}
    for score in scores(measure(paper(2, budgets=bounds))):
        best[score.budget] = max(best.get(score.budget, 0.0), score.published)
    assert all(0.4 < best[budget] <= bound for budget, bound in bounds.items())


def test_a_difference_is_clear_where_the_interval_leaves_0_out_and_enough_episodes_are_compared():
    def clear(ones, episodes):
        better = rows([1.0] * ones + [0.0] * (episodes - ones), algorithm="uct")
        (found,) = paired(measure(better + rows([0.0] * episodes, algorithm="ments")))
        return found.clear

    assert clear(20, 40)
    assert clear(40, 40)
    assert not clear(20, 20)
    assert not clear(0, 40)
    assert not clear(3, 40)  # a fair coin gives three of a kind every fourth time
