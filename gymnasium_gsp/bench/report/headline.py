"""The winner in one sentence: who, by how much, and how sure."""

import pandas as pd

from gymnasium_gsp.bench.intervals import FEW, bootstrap_interval, is_clear
from gymnasium_gsp.bench.report.cells import names_of
from gymnasium_gsp.bench.report.comparison import returns_by_planner, scored_environments, scores
from gymnasium_gsp.bench.report.text import number


def headline(episodes: pd.DataFrame, cells: pd.DataFrame) -> tuple[str | None, str, str]:
    """Compare the best two planners at the largest budget at which two can be compared as a whole.

    In one environment the mean return decides, in several the mean of return / optimum.

    Args:
        episodes: the value of `cells.label_episodes`.
        cells: the value of `cells.measure`.

    Returns:
        The planner with the highest figure, None if there is none; a sentence; and others on what it leaves out, ""
        for nothing.
    """
    one = cells.environment.nunique() == 1
    environments = names_of(cells.environment) if one else scored_environments(cells)[0]
    levels = cells.assign(level=cells.mean_return) if one else scores(cells).assign(level=lambda s: 100.0 * s.score)
    levels = levels.dropna(subset="level")
    if levels.empty or not (one or len(environments) > 1):
        why = "no planner played every environment at one budget"
        if len(environments) < 2:
            why = "fewer than two environments have a known optimum above 0 to compare by"
        return None, f"No overall winner: {why}.", ""
    counts = levels.groupby("budget", observed=True).size()
    budget = counts[counts >= min(2, counts.max())].index[-1]
    ranking = levels[levels.budget == budget].sort_values("level", ascending=False, kind="stable")
    first = ranking.planner.iloc[0]
    of_first = cells[(cells.planner == first) & (cells.budget == budget)].set_index("environment")
    doubt = " Do not trust it: a mean of this planner lies above the optimum." * bool(of_first.above_optimum.any())
    absent = [name for name in names_of(cells.planner) if name not in set(ranking.planner)]
    left_out = []
    if (budgets := cells.budget.nunique()) > 1:
        several = "at which two planners can be compared" if len(ranking) > 1 else "played"
        left_out.append(f"The winner is named at the largest of {budgets} budgets {several}; the others stand below.")
    if absent:
        words = f"Not compared, because not every environment was played{_budget_words(budget)}"
        left_out.append(f"{words}: {', '.join(absent)}.")
    scales = {name: 1.0 if one else 100.0 / of_first.optimum[name] for name in environments}
    here = episodes[episodes.finite & (episodes.budget == budget)]
    place = (f" in {environments[0]}" if one else "") + _budget_words(budget)
    return first, _sentence(ranking, place, here, scales) + doubt, " ".join(left_out)


def _sentence(ranking: pd.DataFrame, place: str, episodes: pd.DataFrame, scales: dict[str, float]) -> str:
    """The sentence on the best two planners.

    Args:
        ranking: `planner` and `level`, the best first; a level is a mean return or a percentage of the optimum.
        place: where and at which budget, in words.
        episodes: those played there, with finite returns.
        scales: from returns to levels, by environment.
    """
    digits, unit, of = (3, "", "a mean return of {}")
    if len(scales) > 1:
        digits, unit, of = 1, " points", "{} % of the optimum on average over {} environments"
    first, level = ranking.planner.iloc[0], ranking.level.iloc[0]
    reached = of.format(number(level, digits), len(scales))
    if len(ranking) == 1:
        return f"{first} reaches {reached}{place}; there is nothing to compare it with."
    second = ranking.planner.iloc[1]
    samples = []
    for environment, scale in scales.items():
        returns = returns_by_planner(episodes[episodes.environment == environment])
        samples.append(scale * (returns[first] - returns[second]).dropna().to_numpy())
    counts = [len(sample) for sample in samples]
    shared = "the same " + " to ".join(map(str, sorted({min(counts), max(counts)}))) + " episodes"
    lead = f"{number(level - ranking.level.iloc[1], digits)}{unit} above {second}, the second best"
    interval = bootstrap_interval(*samples)
    if interval is None:
        return f"No clear winner{place}: {first} reaches {reached}, {lead}, but on {shared}, too few for an interval."
    low, high = (number(end, digits, "+") for end in interval)
    spread = f"95 % interval of the difference {low} to {high}, on" if low != high else "in all of"
    sure = f"{spread} {shared}{' in each' * (len(counts) > 1)}"
    if is_clear(*interval, sum(counts)) and interval[0] > 0.0:
        return f"{first} wins{place}: it reaches {reached}, {lead} ({sure})."
    doubt = f"but fewer than {FEW} pairs of episodes decide nothing"
    if sum(counts) >= FEW:
        doubt = "which chance can explain"
    return f"No clear winner{place}: {first} reaches {reached}, {lead}, {doubt} ({sure})."


def _budget_words(budget: str) -> str:
    return f" at {int(budget):,} simulations per decision" if budget.isdecimal() else f" with {budget}"
