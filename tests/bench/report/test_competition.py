"""The planning competitions' score, and the figures of other planners beside ours."""

import math

import pytest
from invented_rows import frame, row, rows

from gymnasium_gsp.bench.published import competition, other_planners
from gymnasium_gsp.bench.report.cells import label_episodes, measure
from gymnasium_gsp.bench.report.competition import competition_scores
from gymnasium_gsp.bench.report.contents import make_report
from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.envs.rddl_instances import competition_instances

ADVISING, NAVIGATION = "IPPC/AcademicAdvising_MDP_ippc2014-4", "IPPC/Navigation_MDP_ippc2011-1"  # without, with optimum


def scores_of(*cells):
    """Scores by planner and budget, from (environment, planner, budget, mean)."""
    played = [
        row
        for env, algorithm, budget, mean in cells
        for row in rows([mean], env=env, algorithm=algorithm, budget=budget)
    ]
    scores = competition_scores(measure(label_episodes(frame(played))))
    return {(s.planner, s.budget): (s.instances, s.score) for s in scores.itertuples()}


def test_the_score_by_hand():
    """Halfway from the minimal policy to the best is 0.5; below the minimal policy is 0."""
    minimal, best = competition()[ADVISING].minimal, competition()[ADVISING].minimal + 80.0
    scores = scores_of(
        (ADVISING, "uct", 64, best), (ADVISING, "ments", 64, best - 40.0), (ADVISING, "gbop", 64, minimal - 1.0)
    )
    assert scores == {("uct", "64"): (1, 1.0), ("ments", "64"): (1, pytest.approx(0.5)), ("gbop", "64"): (1, 0.0)}


def test_the_optimum_is_the_best_where_it_is_known_and_other_planners_are_scored():
    minimal, best = competition()[NAVIGATION]
    scores = scores_of((NAVIGATION, "uct", "Budget(seconds=0.06)", (minimal + best) / 2))
    assert scores["uct", "Budget(seconds=0.06)"] == (1, pytest.approx(0.5))
    prost = next(o for o in other_planners()[NAVIGATION] if (o.planner, o.budget) == ("PROST 2014", "100 trials"))
    assert prost.mean == pytest.approx(-14.1, abs=0.05)
    assert scores["PROST 2014", "100 trials"] == (1, pytest.approx((prost.mean - minimal) / (best - minimal)))


def test_another_planner_is_the_best_where_the_optimum_is_unknown():
    traffic = "IPPC/Traffic_CTM_MDP_ippc2011-1"
    minimal, best = competition()[traffic].minimal, max(other.mean for other in other_planners()[traffic])
    scores = scores_of((traffic, "uct", 64, (minimal + best) / 2))
    assert scores["uct", "64"] == (1, pytest.approx(0.5))
    assert max(score for _, score in scores.values()) == 1.0


def test_where_no_planner_beats_the_minimal_policy_all_have_nothing():
    assert scores_of((ADVISING, "uct", 64, competition()[ADVISING].minimal))["uct", "64"] == (1, 0.0)


def test_the_mean_is_taken_over_instances():
    other = "IPPC/AcademicAdvising_MDP_ippc2014-5"
    high = {env: competition()[env].minimal + 10.0 for env in (ADVISING, other)}
    cells = [(env, "uct", 64, best) for env, best in high.items()] + [(other, "ments", 64, high[other] - 5.0)]
    assert scores_of(*cells, (ADVISING, "ments", 64, -1e9))["ments", "64"] == (2, pytest.approx(0.25))


def test_other_environments_have_no_such_score():
    assert scores_of(("GSP/FrozenLake-v0", "uct", 64, 0.5)) == {}
    arguments = row(env=ADVISING, env_options='{"instance": 3}')
    assert competition_scores(measure(label_episodes(frame([arguments])))).empty


def test_the_report_shows_scores_and_other_planners():
    report = make_report(frame(rows([-10.0, -12.0], env=NAVIGATION)))
    sections = {section.name: section for section in report.sections}
    assert sections["competition"].tables[0].frame.planner.tolist()[:2] == ["uct", "PROST 2014"]
    returns, others = sections["returns-IPPC-Navigation_MDP_ippc2011-1"].tables
    assert others.frame["mean return"].str.startswith("\N{MINUS SIGN}14.100").any()
    assert "9.5669" in sections["returns-IPPC-Navigation_MDP_ippc2011-1"].words[0]
    assert returns.title.startswith(NAVIGATION)


def test_the_published_curve_of_sailing_stands_beside_ours():
    report = make_report(
        frame(rows([-30.0, -31.0], env="GSP/Sailing-v0", budget=100, preset="", options="discount=0.95"))
    )
    section = next(section for section in report.sections if section.name == "returns-Sailing")
    others = section.tables[1].frame
    assert set(others.source) == {"Bonet and Geffner 2012"}
    curve = [figure.mean for figure in other_planners()["GSP/Sailing-v0"]]
    assert curve == [-44.4, -30.6, -26.5, -33.6, -26.3, -25.8]
    assert "competition" not in {section.name for section in report.sections}
    smaller = make_report(frame(rows([-30.0], env="GSP/Sailing-v0", env_options='{"size": 10}')))
    assert all(len(section.tables) == 1 for section in smaller.sections if section.name.startswith("returns-"))


def test_the_figures_are_whole():
    """Every instance has its minimal policy; none is above the optimum, nor is another planner by chance's measure."""
    known = competition()
    assert list(known) == [name for name, _ in competition_instances()]
    assert all(math.isfinite(instance.minimal) for instance in known.values())
    assert sum(instance.optimum is not None for instance in known.values()) >= 26
    assert all(instance.optimum is None or instance.optimum > instance.minimal for instance in known.values())
    assert set(other_planners()) <= {*known, *(entry.id for entry in ENVIRONMENTS)}
    for env, figures in other_planners().items():
        best = known[env].optimum if env in known else None
        assert best is None or all(figure.mean < best + 4.9 * figure.standard_error for figure in figures)
