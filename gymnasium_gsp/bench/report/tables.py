"""The tables of a report, as frames of the texts that people read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gymnasium_gsp.bench.published import OtherPlanner
from gymnasium_gsp.bench.report.cells import names_of
from gymnasium_gsp.bench.report.comparison import both_ways
from gymnasium_gsp.bench.report.judgement import BETTER, NOT_REPRODUCED, REPRODUCED, TOO_FEW
from gymnasium_gsp.bench.report.text import ABOVE, BREAK, DOWN, FAILED, NOT_PLAYED, PLUS_MINUS, UP, number

MARKS = {BETTER: UP, NOT_REPRODUCED: DOWN}


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: a word for labels.
        title: its subject.
        frame: texts, under the headings that people read.
        headers: how many leading columns name the row.
        words: columns of words, aligned to the left; all others behind the headers hold numbers.
    """

    name: str
    title: str
    frame: pd.DataFrame
    headers: int = 1
    words: Sequence[str] = ()

    @property
    def left(self) -> list[bool]:
        """True for each column that is aligned to the left."""
        return [place < self.headers or name in self.words for place, name in enumerate(self.frame.columns)]


def _by_budget(data: pd.DataFrame, index: Sequence[str], text: Callable[[Any], str], gap: str = "") -> pd.DataFrame:
    """A frame of texts, one row an index and one column a budget.

    Args:
        data: one row a cell.
        index: the columns that name a row.
        text: from a row of `data` to what people read.
        gap: stands where there is no cell.
    """
    texts = data.assign(text=[text(row) for row in data.itertuples()])
    grid = texts.pivot(index=list(index), columns="budget", values="text").reindex(columns=names_of(data.budget))
    return grid.fillna(gap).rename_axis(columns=None).reset_index().sort_values(list(index))


def _stacked(grids: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Grids of planners under each other, those of one planner together; rows without any figure are left out."""
    frame = pd.concat([grid.assign(figure=name) for name, grid in grids.items()])
    budgets = [name for name in frame.columns if name not in ("planner", "figure")]
    frame = frame[(frame[budgets] != "").any(axis=1)].sort_values("planner", kind="stable")
    return frame[["planner", "figure", *budgets]].rename(columns={"figure": ""})


def _mean_and_error(mean: float, error: float) -> str:
    return f"{number(mean)} {PLUS_MINUS} {number(error)}" if error == error else number(mean)


def _return_text(cell: Any) -> str:
    """Mean and standard error of a cell with its marks."""
    if not cell.episodes:
        return FAILED
    failures = f"({cell.failed} {FAILED})" if cell.failed else ""
    marks = (MARKS.get(cell.verdict, ""), ABOVE if cell.above_optimum else "", failures)
    return " ".join(filter(None, (_mean_and_error(cell.mean_return, cell.standard_error), *marks)))


def return_table(cells: pd.DataFrame, environment: str, name: str) -> Table:
    """One environment: planners by budgets, ours above the published."""
    here, row = cells[cells.environment == environment], ["planner"]
    grids = {
        "ours": _by_budget(here, row, _return_text, NOT_PLAYED),
        "published": _by_budget(here, row, lambda c: _mean_and_error(c.published_mean, c.published_standard_error)),
        "regret": _by_budget(here, row, lambda c: _mean_and_error(c.mean_regret, c.regret_standard_error)),
        "% of optimum": _by_budget(here, row, lambda c: number(c.percent_of_optimum, 1)),
    }
    return Table(name, f"{environment}: mean return by simulations per decision", _stacked(grids), headers=2)


def other_table(others: Sequence[OtherPlanner], environment: str, name: str) -> Table:
    """One environment: what planners of others reached there."""
    columns = ["planner", "budget", "mean return", "source"]
    rows = [(o.planner, o.budget, _mean_and_error(o.mean, o.standard_error), o.source) for o in others]
    return Table(name, f"{environment}: other planners", pd.DataFrame(rows, columns=columns), 2, words=["source"])


def competition_table(scores: pd.DataFrame) -> Table:
    """The competition's score of every planner at every budget."""
    frame = scores.assign(instances=scores.instances.astype(str), score=scores.score.map(number))
    return Table("competition", "Score of the planning competitions", frame, headers=2)


def score_table(scores: pd.DataFrame) -> Table:
    """The normalised score: planners by budgets, ours above the published."""
    known = scores[scores.planner.isin(scores.planner[scores.score.notna()])]
    grids = {
        "ours": _by_budget(known, ["planner"], lambda s: _mean_and_error(s.score, s.standard_error), NOT_PLAYED),
        "published": _by_budget(known, ["planner"], lambda s: number(s.published)),
    }
    return Table("score", "Normalised score by simulations per decision", _stacked(grids), 2)


def paired_table(pairs: pd.DataFrame, reference: str) -> Table:
    """The reference planner against each of the others, by environment and budget."""

    def text(pair: Any) -> str:
        digits = 2 if max(abs(pair.low), abs(pair.high)) >= 1.0 else 3
        interval = "" if pd.isna(pair.low) else f"[{number(pair.low, digits, '+')}, {number(pair.high, digits, '+')}]"
        mark = (UP if pair.mean_difference > 0.0 else DOWN) if pair.clear else ""
        return f"{number(pair.mean_difference, digits, '+')} {mark}".strip() + f"{BREAK}{interval}"

    both = both_ways(pairs)
    frame = _by_budget(both[both.planner == reference], ["environment", "against"], text, NOT_PLAYED)
    return Table("paired", f"{reference} minus each other planner, by simulations per decision", frame, headers=2)


def cost_table(cells: pd.DataFrame, title: str, name: str, digits: int) -> Table:
    """Time or nodes per decision by budgets.

    Args:
        cells: the value of `cells.measure`.
        title: of the table.
        name: a column of the cells.
        digits: decimals.
    """
    row = ["environment", "planner"]
    frame = _by_budget(cells, row, lambda cell: number(getattr(cell, name), digits) or FAILED, NOT_PLAYED)
    return Table(name.replace("_", "-"), title, frame, headers=2)


def verdict_table(cells: pd.DataFrame) -> Table:
    """Numbers of cells with the paper's settings that came out as published, by planner."""
    judged = cells[cells.verdict != ""]
    verdicts = pd.crosstab(judged.planner, judged.verdict)
    verdicts = verdicts.reindex(columns=[REPRODUCED, BETTER, NOT_REPRODUCED, TOO_FEW], fill_value=0)
    return Table("verdicts", "Verdicts by planner", verdicts.reset_index().astype(str))
