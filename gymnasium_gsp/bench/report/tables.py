"""The tables of a report, as frames of the texts that people read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gymnasium_gsp.bench.published import OtherPlanner
from gymnasium_gsp.bench.report.cells import names_of
from gymnasium_gsp.bench.report.comparison import both_ways
from gymnasium_gsp.bench.report.judgement import BETTER, FEWEST, NOT_REPRODUCED, REPRODUCED, TOO_FEW
from gymnasium_gsp.bench.report.text import (
    ABOVE,
    BREAK,
    DOWN,
    FAILED,
    NOT_KNOWN,
    NOT_PLAYED,
    PLUS_MINUS,
    UP,
    number,
)

MARKS = {BETTER: UP, NOT_REPRODUCED: DOWN}


@dataclass(frozen=True)
class Measure:
    """What is measured in every cell beside the return, and shown as a table.

    Attributes:
        column: of the value of `cells.measure`.
        title: its name.
        unit: "" for none.
        digits: decimals.
        better: "lower" or "higher".
    """

    column: str
    title: str
    unit: str
    digits: int
    better: str


# A column of `cells.measure` and a line here give a measure its table in the section on cost.
MEASURES = (
    Measure("ms_per_decision", "Time per decision", "milliseconds", 3, "lower"),
    Measure("nodes_per_decision", "Nodes per decision", "", 1, "lower"),
)


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
    """Mean and standard error of a cell with its mark, and what is wrong with it on a second line."""
    if not cell.episodes:
        return FAILED
    mean = f"{_mean_and_error(cell.mean_return, cell.standard_error)} {MARKS.get(cell.verdict, '')}".strip()
    wrong = [ABOVE] * bool(cell.above_optimum) + [f"({cell.failed} {FAILED})"] * bool(cell.failed)
    return BREAK.join([mean, *([" ".join(wrong)] if wrong else [])])


def return_table(cells: pd.DataFrame, environment: str, name: str) -> Table:
    """One environment: planners by budgets, ours above the published."""
    here, row = cells[cells.environment == environment], ["planner"]
    grids = {
        "ours": _by_budget(here, row, _return_text, NOT_PLAYED),
        "published": _by_budget(here, row, lambda c: _mean_and_error(c.published_mean, c.published_standard_error)),
        "regret": _by_budget(here, row, lambda c: _mean_and_error(c.mean_regret, c.regret_standard_error)),
        "% of optimum": _by_budget(here, row, lambda c: number(c.percent_of_optimum, 1)),
    }
    return Table(name, f"{environment}: mean return, by simulations per decision", _stacked(grids), headers=2)


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
    return Table("score", "Normalised score, by simulations per decision", _stacked(grids), 2)


def paired_table(pairs: pd.DataFrame, reference: str) -> Table:
    """The reference planner against each of the others, by environment and budget."""

    def text(pair: Any) -> str:
        low, high, mean = (number(end, pair.digits, "+") for end in (pair.low, pair.high, pair.mean_difference))
        mark = (UP if pair.mean_difference > 0.0 else DOWN) if pair.clear else ""
        return f"{mean} {mark}".strip() + BREAK + (f"[{low}, {high}]" if low else "")

    both = both_ways(pairs)
    largest = both.mean_difference.abs().groupby(both.environment, observed=True).transform("max")
    both["digits"] = np.where(largest < 1.0, 3, 2)
    frame = _by_budget(both[both.planner == reference], ["environment", "against"], text, NOT_PLAYED)
    return Table("paired", f"{reference} minus each other planner, by simulations per decision", frame, headers=2)


def measure_table(cells: pd.DataFrame, measure: Measure) -> Table:
    """A measure by environment, planner and budget.

    Args:
        cells: the value of `cells.measure`.
        measure: what to show.
    """

    def text(cell: Any) -> str:
        return number(getattr(cell, measure.column), measure.digits) or (NOT_KNOWN if cell.episodes else FAILED)

    frame = _by_budget(cells, ["environment", "planner"], text, NOT_PLAYED)
    unit = f", in {measure.unit}" if measure.unit else ""
    title = f"{measure.title}{unit}; {measure.better} is better"
    return Table(measure.column.replace("_", "-"), title, frame, headers=2)


def winner_table(cells: pd.DataFrame, pairs: pd.DataFrame) -> Table:
    """The planner with the highest mean return in each environment at each budget, and its lead over the second best.

    Where a planner has played 5 episodes, those with fewer are left out.

    Args:
        cells: the value of `cells.measure`.
        pairs: the value of `comparison.paired`.
    """
    place = ["environment", "budget"]
    enough = cells.groupby(place, observed=True).episodes.transform("max").clip(1, FEWEST)
    ranked = cells[cells.episodes >= enough].sort_values("mean_return", ascending=False, kind="stable")
    ranked = ranked.groupby(place, observed=True)
    second = ranked.nth(1)[[*place, "planner", "mean_return"]].rename(columns={"planner": "against"})
    best = ranked.nth(0).merge(second, "left", on=place, suffixes=("", "_second"))
    leads = both_ways(pairs[pairs.clear.astype(bool)]).query("mean_difference > 0").assign(leads=True)
    best = best.merge(leads[[*place, "planner", "against", "leads"]], "left", on=[*place, "planner", "against"])

    def text(cell: Any) -> str:
        lead = cell.mean_return - cell.mean_return_second
        marks = f" {UP}" * pd.notna(cell.leads) + f" {ABOVE}" * bool(cell.above_optimum)
        if lead == 0.0:
            return f"tie{BREAK}{number(cell.mean_return)}"
        more = "" if pd.isna(lead) else f" ({number(lead, 3, '+')})"
        return f"{cell.planner}{marks}{BREAK}{number(cell.mean_return)}{more}"

    frame = _by_budget(best, ["environment"], text, NOT_PLAYED)
    return Table("winners", "Highest mean return, by simulations per decision", frame, words=list(frame.columns[1:]))


def verdict_table(cells: pd.DataFrame) -> Table:
    """Numbers of cells with the paper's settings that came out as published, by planner."""
    judged = cells[cells.verdict != ""]
    verdicts = pd.crosstab(judged.planner, judged.verdict)
    verdicts = verdicts.reindex(columns=[REPRODUCED, BETTER, NOT_REPRODUCED, TOO_FEW], fill_value=0)
    return Table("verdicts", "Verdicts by planner", verdicts.reset_index().astype(str))
