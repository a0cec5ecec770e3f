"""The score of the planning competitions: 0 for the minimal policy of an instance, 1 for the best known return."""

import pandas as pd

from gymnasium_gsp.bench.published import competition, other_planners


def competition_scores(cells: pd.DataFrame) -> pd.DataFrame:
    """The mean score of every planner at every budget over the competitions' instances, planners of others included.

    The score of a mean return in an instance is (mean - minimal) / (best - minimal), and 0 below the minimal policy,
    which is the better of doing nothing and of acting at random.  Best is the exact optimum, or where that is unknown
    the largest mean of a cell or of another planner.

    Args:
        cells: the value of `cells.measure`.

    Returns:
        `planner, budget, instances, score`, others behind the cells; no rows where no instance was played.
    """
    known = competition()
    ours = cells[cells.env.isin(list(known)) & (cells.env_options + cells.wrap == "") & (cells.episodes > 0)]
    means = ours[["planner", "budget", "env", "mean_return"]].astype({"planner": str, "budget": str})
    others = [
        (other.planner, other.budget, env, other.mean)
        for env in sorted(set(ours.env))
        for other in other_planners().get(env, [])
    ]
    means = pd.concat([means, pd.DataFrame(others, columns=means.columns)], ignore_index=True)
    means = means.astype({"mean_return": float})
    minimal = means.env.map({env: instance.minimal for env, instance in known.items()}).astype(float)
    optimum = means.env.map({env: instance.optimum for env, instance in known.items()}).astype(float)
    lead = (means.mean_return - minimal).clip(lower=0.0)
    best = (optimum - minimal).fillna(lead.groupby(means.env).transform("max"))
    scored = means.assign(score=(lead / best).where(best > 0.0, 0.0)).groupby(["planner", "budget"], sort=False).score
    return scored.agg(instances="size", score="mean").reset_index()
