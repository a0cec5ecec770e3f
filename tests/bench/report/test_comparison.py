import math
import re
import warnings

import numpy as np
import pytest
from invented_rows import frame, paper, row, rows

from gymnasium_gsp.bench.intervals import bootstrap_interval
from gymnasium_gsp.bench.report.cells import label_episodes, measure
from gymnasium_gsp.bench.report.comparison import both_ways, paired, scored_environments, scores
from gymnasium_gsp.bench.report.headline import headline
from gymnasium_gsp.exact import shipped_optima


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pairs_of(found):
    return paired(label_episodes(frame(found)))


def cells_of(found):
    return measure(label_episodes(frame(found)))


def sentence(found):
    episodes = label_episodes(frame(found))
    cells = measure(episodes)
    return headline(episodes, cells)


def test_only_episodes_that_both_played_are_compared():
    one = [row(algorithm="uct", index=index, total_reward=float(index)) for index in range(7)]
    other = [row(algorithm="ments", index=index, total_reward=1.0) for index in (1, 2, 3, 4, 6, 50)]
    (pair,) = pairs_of(one + other).itertuples()
    assert (pair.planner, pair.against) == ("uct", "ments")
    assert (pair.episodes, pair.mean_difference) == (5, pytest.approx(2.2))  # of 0, 1, 2, 3, 5
    assert pair.low < 2.2 < pair.high


def test_both_ways_are_mirror_images():
    both = both_ways(pairs_of(rows([1.0, 2.0, 3.0, 4.0, 9.0], algorithm="uct") + rows([0.0] * 5, algorithm="ments")))
    assert list(zip(both.planner, both.against, strict=True)) == [("uct", "ments"), ("ments", "uct")]
    assert list(both.mean_difference) == [3.8, -3.8]
    assert (both.low[1], both.high[1]) == (-both.high[0], -both.low[0])


def test_episodes_of_different_seeds_are_no_pairs():
    assert pairs_of(rows([1.0], algorithm="uct", seed=1) + rows([1.0], algorithm="ments", seed=2)).empty


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


def test_the_interval_over_several_samples_is_that_of_the_mean_of_their_means():
    draw = np.random.default_rng(5)
    samples = [draw.normal(level, 1.0, 300) for level in (0.0, 1.0, 5.0)]
    low, high = bootstrap_interval(*samples)
    mean, error = np.mean([sample.mean() for sample in samples]), math.sqrt(3) / math.sqrt(300) / 3
    assert (low, high) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.02)
    assert bootstrap_interval(samples[0], samples[1][:4]) is None


def test_the_score_is_the_mean_share_of_the_optimum():
    lake, grid = (shipped_optima()[f"GSP/{name}-v0"] for name in ("FrozenLake", "PassengerGrid"))
    found = rows([0.2, 0.4]) + rows([3.0, 5.0], env="GSP/PassengerGrid-v0")
    (score,) = scores(cells_of(found)).itertuples()
    assert score.score == pytest.approx((0.3 / lake + 4.0 / grid) / 2)
    assert score.standard_error == pytest.approx(math.hypot(0.1 / lake, 1.0 / grid) / 2)
    assert score.published == pytest.approx((0.006 / lake + 1.053 / grid) / 2)  # uct at 64 simulations


def test_a_planner_without_all_environments_has_no_score_and_says_why():
    found = rows([1.0, 1.0]) + rows([1.0, 1.0], env="GSP/PassengerGrid-v0") + rows([1.0, 1.0], algorithm="ments")
    with_score, without = scores(cells_of(found)).itertuples()
    assert with_score.not_played == ""
    assert math.isnan(without.score)
    assert without.not_played == "PassengerGrid"


def test_a_failed_cell_takes_the_score_and_not_the_environment():
    found = rows([1.0, 1.0]) + rows([1.0, 1.0], env="GSP/PassengerGrid-v0") + rows([1.0, 1.0], algorithm="ments")
    found += rows([math.nan] * 2, algorithm="ments", env="GSP/PassengerGrid-v0")
    assert scored_environments(cells_of(found)) == (["FrozenLake", "PassengerGrid"], [])
    _, failed = scores(cells_of(found)).itertuples()
    assert (math.isnan(failed.score), failed.not_played) == (True, "PassengerGrid")


def test_environments_without_a_positive_optimum_are_left_out():
    found = rows([1.0, 1.0]) + rows([-3.0, -4.0], env="Own-v0")
    found += [row(env="Layouts-v0", index=index, total_reward=-1.0, optimum=-0.5) for index in range(3)]
    counted, left_out = scored_environments(cells_of(found))
    assert counted == ["FrozenLake"]
    assert sorted(left_out) == ["Layouts-v0", "Own-v0"]


def test_the_published_scores_are_those_of_the_design():
    """The best published algorithm of each budget cannot beat the best of each cell: 0.46, 0.61, 0.73, 0.83."""
    bounds = {"16": 0.465, "64": 0.615, "256": 0.735, "1024": 0.835}
    best = scores(cells_of(paper(2, budgets=set(map(int, bounds))))).groupby("budget", observed=True).published.max()
    assert all(0.4 < best[budget] <= bound for budget, bound in bounds.items())


def test_a_difference_is_clear_where_the_interval_leaves_0_out_and_enough_episodes_are_compared():
    def clear(ones, episodes):
        better = rows([1.0] * ones + [0.0] * (episodes - ones), algorithm="uct")
        (pair,) = pairs_of(better + rows([0.0] * episodes, algorithm="ments")).itertuples()
        return pair.clear

    assert clear(20, 40)
    assert clear(40, 40)
    assert not clear(20, 20)
    assert not clear(0, 40)
    assert not clear(3, 40)  # a fair coin gives three of a kind every fourth time


def test_the_headline_names_the_winner_by_how_much_and_how_sure():
    better = rows([0.0, 1.0] * 20, algorithm="ments")
    winner, words, left_out = sentence(rows([0.0] * 40, algorithm="uct") + better)
    assert winner == "ments"
    assert words.startswith(
        "ments wins in FrozenLake at 64 simulations per decision: it reaches a mean return of 0.500, 0.500 above uct"
    )
    assert re.search(r"\(95 % interval of the difference \+0\.3\d\d to \+0\.6\d\d, on the same 40 episodes\)", words)
    assert left_out == ""


def test_the_headline_claims_no_more_than_it_knows():
    tie = rows([0.0, 1.0] * 20, algorithm="ments") + rows([1.0, 0.0] * 19 + [0.0, 0.0], algorithm="uct")
    assert re.match("No clear winner in FrozenLake .*ments reaches .*which chance can explain", sentence(tie)[1])
    few = rows([1.0] * 20, algorithm="ments") + rows([0.0] * 20, algorithm="uct")
    assert re.match(r"No clear winner .*, but fewer than 30 pairs of episodes decide nothing \(", sentence(few)[1])
    assert "(in all of the same 20 episodes)" in sentence(few)[1], "an interval would be a point"
    mixed = rows([1.0, 0.9] * 10, algorithm="ments") + rows([0.0] * 20, algorithm="uct")
    low, high = re.search(r"fewer than 30 .*difference \+(.*) to \+(.*), on the same 20", sentence(mixed)[1]).groups()
    assert 0.9 < float(low) < float(high) < 1.0
    fewer = rows([1.0] * 3, algorithm="ments") + rows([0.0] * 3, algorithm="uct")
    assert re.match("No clear winner .*too few for an interval", sentence(fewer)[1])
    apart = rows([1.0] * 40, algorithm="ments", seed=1) + rows([0.0] * 40, algorithm="uct", seed=2)
    assert re.match("No clear winner .*the same 0 episodes, too few", sentence(apart)[1])
    assert "nothing to compare it with" in sentence(rows([1.0] * 9))[1]
    assert "Do not trust it" in sentence(rows([1.0] * 300, algorithm="ments") + rows([0.0] * 300, algorithm="uct"))[1]


def test_the_headline_says_why_it_is_about_one_budget():
    small, large = (rows([1.0] * 9, budget=budget) for budget in (16, 256))
    largest = "The winner is named at the largest of 2 budgets"
    assert sentence(small + large)[2] == f"{largest} played; the others stand below."
    both = small + large + rows([0.0] * 9, algorithm="ments", budget=16)
    assert " at 16 simulations" in sentence(both)[1]
    assert sentence(both)[2].startswith(f"{largest} at which two planners can be compared; ")
    assert sentence(small)[2] == ""


def test_the_headline_over_environments_counts_in_shares_of_the_optimum():
    lake, grid = (shipped_optima()[f"GSP/{name}-v0"] for name in ("FrozenLake", "PassengerGrid"))
    found = [
        *rows([0.2] * 40, algorithm="uct"),
        *rows([0.4] * 40, algorithm="ments"),
        *rows([1.0] * 40, algorithm="uct", env="GSP/PassengerGrid-v0"),
        *rows([2.0] * 40, algorithm="ments", env="GSP/PassengerGrid-v0"),
        *rows([3.0] * 40, algorithm="brue", env="GSP/PassengerGrid-v0"),
        *rows([3.0] * 40, algorithm="uct", budget=256),
    ]
    winner, words, left_out = sentence(found)
    level, lead = 50.0 * (0.4 / lake + 2.0 / grid), 50.0 * (0.2 / lake + 1.0 / grid)
    assert words.startswith(
        f"ments wins at 64 simulations per decision: it reaches {level:.1f} % of the optimum on average over 2 "
        f"environments, {lead:.1f} points above uct, the second best (in all of the same 40 episodes in each)."
    )
    assert left_out == (
        "The winner is named at the largest of 2 budgets at which two planners can be compared; the others stand "
        "below. Not compared, because not every environment was played at 64 simulations per decision: brue."
    )
    assert winner == "ments"


def test_without_an_overall_winner_the_headline_says_why():
    unknown = rows([1.0] * 40, env="Own-v0") + rows([1.0] * 40, env="Other-v0")
    unknown += rows([0.0] * 40, env="Other-v0", algorithm="ments")
    winner, words, _ = sentence(unknown)
    assert winner is None
    assert words.startswith("No overall winner: fewer than two environments have a known optimum above 0")
    apart = rows([1.0] * 9) + rows([1.0] * 9, env="GSP/PassengerGrid-v0", budget=16)
    assert "no planner played every environment at one budget" in sentence(apart)[1]
