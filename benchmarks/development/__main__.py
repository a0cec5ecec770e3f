"""The table of the development set, from a store that `gsp bench benchmarks/development.toml` filled.

    python -m benchmarks.development development.sqlite

A score is 1 - regret / (optimum - return of uniform play): 0 for uniform play, 1 for the optimum.  Where there is no
exact oracle the regret is optimum - return; where there is no optimum, mean returns stand alone and count in no mean.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.development import HELD_OUT
from benchmarks.regret import BASELINES
from gymnasium_gsp.bench.cell import import_modules
from gymnasium_gsp.bench.report.cells import label_episodes
from gymnasium_gsp.bench.store import read

_UNIFORM = "uct", "1"  # a single simulation tries one action, each equally likely


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each environment, planner and budget: what was played there, and its score.

    Args:
        rows: of a store.

    Returns:
        `env, planner, budget, mean, error, score, score_error, simulations`; a score that cannot be had is missing.
    """
    episodes = label_episodes(rows).assign(spent=rows.simulations)
    loss = episodes.regret.fillna(episodes.best - episodes.total_reward)
    groups = episodes.assign(loss=loss).groupby(["env", "planner", "budget"], observed=True)
    cells = groups.agg(
        mean=("total_reward", "mean"),
        error=("total_reward", "sem"),
        loss=("loss", "mean"),
        loss_error=("loss", "sem"),
        simulations=("spent", "mean"),
    ).reset_index()
    uniform = cells[(cells.planner == _UNIFORM[0]) & (cells.budget == _UNIFORM[1])].set_index("env").loss
    scale = cells.env.map(uniform).astype(float)
    scale = scale.where(scale > 0.0)
    cells["score"], cells["score_error"] = 1.0 - cells.loss / scale, cells.loss_error / scale
    return cells[(cells.planner != _UNIFORM[0]) | (cells.budget != _UNIFORM[1])]


def means_table(cells: pd.DataFrame) -> Iterator[str]:
    """Mean scores by planner: over the environments to choose on, and over those held out."""
    budgets = list(dict.fromkeys(cells.budget.sort_values()))
    heads = [f"{where} {budget}" for where in ("", "held out") for budget in budgets]
    yield f"| planner | {' | '.join(head.strip() for head in heads)} | simulations an episode |"
    yield "|---|" + "---|" * (len(heads) + 1)
    for planner, rows in cells.groupby("planner", observed=True):
        parts = (rows[~rows.env.isin(HELD_OUT)], rows[rows.env.isin(HELD_OUT)])
        means = [_mean_text(part[part.budget == budget]) for part in parts for budget in budgets]
        spent = [
            f"{rows[rows.budget == budget].simulations.mean():,.0f}" for budget in budgets if budget in set(rows.budget)
        ]
        yield f"| {_planner_text(str(planner))} | {' | '.join(means)} | {' / '.join(spent)} |"


def _mean_text(cells: pd.DataFrame) -> str:
    known = cells.dropna(subset="score")
    if known.empty:
        return ""
    error = np.linalg.norm(known.score_error) / len(known)
    return f"{known.score.mean():.3f} ({error:.3f}), {len(known)}"


def environments_table(cells: pd.DataFrame) -> Iterator[str]:
    """Scores by environment and planner; mean returns where there is no score."""
    budgets = list(dict.fromkeys(cells.budget.sort_values()))
    yield f"| environment | planner | {' | '.join(map(str, budgets))} |"
    yield "|---|---|" + "---|" * len(budgets)
    for (env, planner), rows in cells.groupby(["env", "planner"], observed=True):
        texts = {
            row.budget: f"return {row.mean:.4g} ({row.error:.2g})"
            if np.isnan(row.score)
            else f"{row.score:.3f} ({row.score_error:.3f})"
            for row in rows.itertuples()
        }
        yield f"| {env} | {_planner_text(planner)} | {' | '.join(texts.get(budget, '') for budget in budgets)} |"


def _planner_text(planner: str) -> str:
    return planner.replace(" (retention='decision')", ", fresh graph")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.development", description="the development set's table")
    parser.add_argument("store", type=Path, help="filled by gsp bench benchmarks/development.toml --store STORE")
    options = parser.parse_args(arguments)
    import_modules([BASELINES])
    cells = scored(read(options.store))
    held_out = cells.env.isin(HELD_OUT)
    print("## Mean scores, with the number of environments\n", *means_table(cells), sep="\n")
    print("\n## To choose on\n", *environments_table(cells[~held_out]), sep="\n")
    print("\n## Held out\n", *environments_table(cells[held_out]), sep="\n")


if __name__ == "__main__":
    main()
