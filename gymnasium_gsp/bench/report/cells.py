"""From episodes to cells: one planner in one environment at one budget, beside the published figure and the optimum."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
from scipy import stats

from gymnasium_gsp.algorithms.registry import ALGORITHMS
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.intervals import CONFIDENCE
from gymnasium_gsp.bench.published import competition, published_rewards
from gymnasium_gsp.bench.report.judgement import above_optimum, difference, verdict
from gymnasium_gsp.bench.summary import known_optimum, standard_error
from gymnasium_gsp.envs import ENVIRONMENTS
from gymnasium_gsp.errors import RecipeError

CELL = ["environment", "planner", "budget"]
PAPER_ALGORITHMS = list(dict.fromkeys(algorithm for _, algorithm, _ in published_rewards()))
ENVIRONMENT = ["env", "env_options", "wrap"]  # columns of a store that make an environment, and a planner
PLANNER = ["algorithm", "preset", "options", "simulator"]
PAPER_PLANNER = ("paper", "", "")  # what the paper's planners have there beside the algorithm
SHORT_NAMES = {entry.id: entry.name for entry in ENVIRONMENTS}


def label_episodes(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to the rows of a store what a report groups them by.

    Args:
        rows: one episode each, with the columns of a store.

    Returns:
        The rows with further columns. `environment`, `planner` and `budget` are ordered categories of texts, in the
        order of the paper; `simulations` is the budget as a number, missing for other budgets; `finite` tells whether
        the return counts; `best` is the exact optimum of the layout or of the environment, missing where unknown;
        `draws_layouts` tells which of the two; `best_of_all` is that of the environment, over all its layouts.
    """
    several_presets = rows.preset.nunique() > 1

    def environment_label(env: str, *details: str) -> str:
        return _label(SHORT_NAMES.get(env, env), *details)

    def planner_label(algorithm: str, preset: str, *details: str) -> str:
        return _label(algorithm, *[preset or "defaults"] * several_presets, *details)

    episodes = rows.assign(
        simulations=pd.to_numeric(rows.budget, errors="coerce").astype("Int64"),
        total_reward=pd.to_numeric(rows.total_reward),
        environment=_categories(rows, ENVIRONMENT, environment_label, _environment_order),
        planner=_categories(rows, PLANNER, planner_label, _planner_order),
        budget=_categories(rows, ["budget"], str, _budget_order),
    )
    episodes["finite"] = np.isfinite(episodes.total_reward)
    layouts = pd.to_numeric(rows.optimum)
    episodes["draws_layouts"] = layouts.notna().groupby(episodes.environment, observed=True).transform("any")
    keys = list(zip(*(rows[name] for name in ENVIRONMENT), strict=True))
    known = {key: _optimum_of(*key) for key in set(keys)}
    episodes["best_of_all"] = pd.Series([known[key] for key in keys], rows.index, dtype=float)
    episodes["best"] = layouts.where(episodes.draws_layouts, episodes.best_of_all)
    return episodes


def _label(name: str, *details: str) -> str:
    """A name with what is special about it in brackets."""
    given = ", ".join(filter(None, details))
    return f"{name} ({given})" if given else name


def _categories(
    rows: pd.DataFrame, keys: Sequence[str], label: Callable[..., str], order: Callable[..., tuple[Any, ...]]
) -> pd.Categorical:
    """One text for each combination of keys, in order."""
    values = list(zip(*(rows[key] for key in keys), strict=True))
    labels = {value: label(*value) for value in sorted(set(values), key=lambda value: order(*value))}
    return pd.Categorical([labels[value] for value in values], list(labels.values()), ordered=True)


def _environment_order(env: str, *details: str) -> tuple[Any, ...]:
    ids = list(SHORT_NAMES)
    return (ids.index(env) if env in ids else len(ids), env, *details)


def _planner_order(algorithm: str, *details: str) -> tuple[Any, ...]:
    names = list(dict.fromkeys([*PAPER_ALGORITHMS, *ALGORITHMS]))
    place = names.index(algorithm) if algorithm in names else len(names)
    return (place, algorithm, details != PAPER_PLANNER, *details)


def _budget_order(budget: int | str) -> tuple[Any, ...]:
    return (1, 0, budget) if isinstance(budget, str) else (0, budget, "")


def _optimum_of(env: str, arguments: str, wrap: str) -> float | None:
    """The exact optimum of a registered environment; a module that only the store names is not imported."""
    if env in competition() and not arguments and not wrap:
        return competition()[env].optimum
    if env not in gym.registry or wrap:
        return None
    try:
        live = Cell(env=env, env_options=arguments).make_env()
    except RecipeError:
        return None
    with closing(live):
        return known_optimum(live)


def measure(episodes: pd.DataFrame) -> pd.DataFrame:
    """Every cell that was played: means, errors, costs, the published figure and the optimum.

    Rows of the same cell under several seeds are episodes of one cell. Episodes without a finite return are counted as
    failed and are part of no mean.

    Args:
        episodes: what `label_episodes` returns.

    Returns:
        One row a cell, sorted by environment, planner and budget; what is not known is missing. The verdict is given
        for the paper's own settings alone.
    """
    excess = episodes.total_reward.where(episodes.finite) - episodes.best
    floors = excess.groupby(episodes.environment, observed=True).min()
    zeros = -episodes.best.abs().groupby(episodes.environment, observed=True).max()
    floors = floors.where(floors < 0.0, zeros)  # where nobody was seen to fail, a return of 0 stands for a failure
    cells = [
        dict(zip(CELL, labels, strict=True)) | _measure_cell(group, floors[labels[0]])
        for labels, group in episodes.groupby(CELL, observed=True)
    ]
    measured = pd.DataFrame(cells)
    student = stats.t.ppf((1.0 + CONFIDENCE) / 2.0, np.maximum(measured.episodes - 1, 1))
    measured.insert(5, "interval_half_width", student * measured.standard_error)
    return measured.astype({name: episodes[name].dtype for name in CELL})


def _measure_cell(group: pd.DataFrame, floor: float) -> dict[str, Any]:
    """The numbers of one cell.

    Args:
        group: its episodes.
        floor: the lowest return minus optimum that was seen in its environment.
    """
    key, played = group.iloc[0], group[group.finite]
    returns, best = played.total_reward.to_numpy(float), played.best.to_numpy(float)
    mean = float(returns.mean()) if len(returns) else np.nan
    error = standard_error(returns)
    regrets = played.regret.dropna().to_numpy(float)
    regret_error = standard_error(regrets)
    known = len(best) > 0 and not np.isnan(best).any()
    level = float(best.mean()) if known else np.nan
    decisions = max(int(played.decisions.sum()), 1)
    name = "" if key.env_options or key.wrap else SHORT_NAMES.get(key.env, "")
    in_paper = name, key.algorithm, key.simulations
    published = published_rewards().get(in_paper)
    judged = published if (key.preset, key.options, key.simulator) == PAPER_PLANNER else None
    z = difference(returns, judged) if judged else None
    return {
        "mean_return": mean,
        "standard_error": np.nan if error is None else error,
        "episodes": len(returns),
        "failed": len(group) - len(returns),
        "optimum": level,
        "percent_of_optimum": 100.0 * mean / level if known and level > 0.0 else np.nan,
        "mean_regret": float(regrets.mean()) if len(regrets) else np.nan,
        "regret_standard_error": np.nan if regret_error is None else regret_error,
        "above_optimum": known and above_optimum(returns - best, floor),
        "published_mean": published.mean if published else np.nan,
        "published_standard_error": published.standard_error if published else np.nan,
        "z": np.nan if z is None else z,
        "verdict": verdict(z) if judged else "",
        "ms_per_decision": 1e3 * played.seconds.sum() / decisions if len(returns) else np.nan,
        "nodes_per_decision": played.nodes.sum() / decisions if len(returns) else np.nan,
        **key[["simulations", *ENVIRONMENT, *PLANNER, "draws_layouts", "best_of_all"]],
    }


def names_of(column: pd.Series) -> list[str]:
    """The labels that occur in a column of categories, in order."""
    return list(column.cat.remove_unused_categories().cat.categories)
