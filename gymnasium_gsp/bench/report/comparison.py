"""Comparisons of planners: paired on the same episodes, and by normalised score."""

import math
from itertools import combinations

import numpy as np
import pandas as pd

from gymnasium_gsp.bench.intervals import bootstrap_interval, is_clear
from gymnasium_gsp.bench.report.cells import names_of


def paired(episodes: pd.DataFrame) -> pd.DataFrame:
    """Every pair of planners in every environment at every budget where both played some of the same episodes.

    Args:
        episodes: what `cells.label_episodes` returns.

    Returns:
        `environment, planner, against, budget, mean_difference, low, high, episodes, clear`: the mean difference in
        return, planner minus against, over the episodes of the same run seed and index, which begin with the same
        layouts and seeds, and its bootstrap interval.
    """
    pairs = []
    for (environment, budget), group in episodes[episodes.finite].groupby(["environment", "budget"], observed=True):
        returns = returns_by_planner(group)
        for planner, against in combinations(returns.columns, 2):
            differences = (returns[planner] - returns[against]).dropna().to_numpy()
            if len(differences):
                low, high = bootstrap_interval(differences) or (np.nan, np.nan)
                clear = is_clear(low, high, len(differences))
                mean = differences.mean()
                pairs.append((environment, planner, against, budget, mean, low, high, len(differences), clear))
    columns = ["environment", "planner", "against", "budget", "mean_difference", "low", "high", "episodes", "clear"]
    kinds = {name: episodes[name].dtype for name in ("environment", "planner", "budget")}
    return pd.DataFrame(pairs, columns=columns).astype({**kinds, "against": kinds["planner"]})


def returns_by_planner(episodes: pd.DataFrame) -> pd.DataFrame:
    """Returns by episode (seed of the run, index) and planner."""
    return episodes.pivot(index=["seed", "index"], columns="planner", values="total_reward")


def both_ways(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs and their mirror images, so that every planner stands first against every other."""
    signs = {"mean_difference": 0.0 - pairs.mean_difference, "low": 0.0 - pairs.high, "high": 0.0 - pairs.low}
    return pd.concat([pairs, pairs.assign(planner=pairs.against, against=pairs.planner, **signs)], ignore_index=True)


def scored_environments(cells: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The environments that count in the score, and those that do not: optimum unknown, or not above 0."""
    played = cells[cells.episodes > 0]
    without = names_of(played.environment[played.percent_of_optimum.isna()])
    return [name for name in names_of(played.environment) if name not in without], without


def scores(cells: pd.DataFrame) -> pd.DataFrame:
    """The mean over environments of return / optimum, for every planner at every budget.

    Returns:
        `planner, budget, simulations, score, standard_error, published, not_played`; a planner that has not played all
        environments that count has no score, and `not_played` names them.
    """
    counted, _ = scored_environments(cells)
    scored = []
    here = cells[cells.environment.isin(counted) & (cells.episodes > 0)]
    for (planner, budget), group in here.groupby(["planner", "budget"], observed=True):
        missing = [name for name in counted if name not in set(group.environment)]
        score = error = published = np.nan
        if not missing:
            score = (group.mean_return / group.optimum).mean()
            error = math.hypot(*(group.standard_error / group.optimum)) / len(group)
            published = (group.published_mean / group.optimum).mean(skipna=False)
        scored.append((planner, budget, group.simulations.iloc[0], score, error, published, ", ".join(missing)))
    columns = ["planner", "budget", "simulations", "score", "standard_error", "published", "not_played"]
    kinds = {"planner": cells.planner.dtype, "budget": cells.budget.dtype, "simulations": "Int64"}
    return pd.DataFrame(scored, columns=columns).astype(kinds)
