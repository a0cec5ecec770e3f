"""The contents of a report, in order: one description, from which the page and the documents are written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from gymnasium_gsp.bench.report import provenance, tables
from gymnasium_gsp.bench.report.cells import label_episodes, measure, names_of
from gymnasium_gsp.bench.report.commands import commands
from gymnasium_gsp.bench.report.comparison import RESAMPLES, paired, scored_environments, scores, winners
from gymnasium_gsp.bench.report.figures import Panel, panels_of
from gymnasium_gsp.bench.report.headline import headline
from gymnasium_gsp.bench.report.judgement import BETTER, FEW, FEWEST, NOT_REPRODUCED, REPRODUCED, SIGMAS, TOO_FEW
from gymnasium_gsp.bench.report.tables import Table
from gymnasium_gsp.bench.report.text import ABOVE, DOWN, FAILED, NOT_PLAYED, PLUS_MINUS, UP, listed, number
from gymnasium_gsp.errors import RecipeError, unknown_name
from gymnasium_gsp.exact import shipped_optima

MARKS = f"{UP} better, {DOWN} worse than the paper by more than {SIGMAS} combined standard errors."
ALARM = f"{ABOVE} the mean lies significantly above the optimum: a planner that does this sees the future."
CLEAR = f"where the interval leaves 0 out and at least {FEW} episodes are compared"
LEAD = (
    f"Of the planners with at least {FEWEST} episodes. Below each name, its lead over the second best on the same "
    "episodes and the bootstrap interval at 95 %. "
    f"{UP} a clear lead, {CLEAR}; without it, chance can explain the lead, or the episodes are few."
)
PAIRS = (
    "Mean difference in return over the episodes that both planners played, which begin with the same seeds, and its "
    f"bootstrap interval at 95 % (SciPy, {RESAMPLES:,} resamples). {UP} better, {DOWN} worse, {CLEAR}; of a hundred "
    "such intervals about five miss the truth."
)
COST = "Planning alone, without the environment's own steps; wall-clock time of one process."
PAPER_COST = (
    "The paper's figures in brackets: another machine and another implementation, whose nodes are counted another way "
    "(a tree's are its simulations and the root); ours are those that a decision adds."
)
VERDICTS = (
    "A cell is one planner in one environment at one budget. Better and not reproduced: the mean differs from the "
    f"published one by more than {SIGMAS} combined standard errors. Reproduced: chance can explain the difference; "
    f"with few episodes it can explain much. Below {FEWEST} episodes nothing is said."
)
CELLS = (
    "The optimum is exact, by backward induction; where a reset draws a layout it is the mean over the layouts that "
    f"the cell played. {ALARM} Significantly: by more than {SIGMAS} standard errors, four episodes at the lowest "
    "return seen there added. Failed: episodes without a finite return, which are in no mean.",
    "z, for the paper's settings alone, is the distance from the published mean in combined standard errors, with the "
    "rounding of the published figure as one more error. The paper's plus or minus is twice the standard deviation of "
    f"one episode; for GBOP it is taken for a standard error. With fewer than {FEW} episodes, or none that differ, the "
    "published spread of an episode stands in for ours where it is larger.",
)


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Attributes:
        name: a word for links and markers.
        title: its heading.
        words: paragraphs.
        tables: below them.
    """

    name: str
    title: str
    words: Sequence[str] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        headline: the winner, by how much and how sure.
        summary: what was measured, in a sentence.
        alarms: means above the optimum.
        warnings: what makes the rows less than one experiment, such as mixed versions.
        gaps: what of the grid was not played.
        algorithms: by the planners' labels, in the order of the tables.
        panels: of the figure, in the section "figure".
        sections: its parts, in order.
        data: what CSV files are written from, by name.
    """

    headline: str
    summary: str
    alarms: Sequence[str]
    warnings: Sequence[str]
    gaps: Sequence[str]
    algorithms: dict[str, str]
    panels: Sequence[Panel]
    sections: Sequence[Section]
    data: Mapping[str, pd.DataFrame]
    title: str = "Planning benchmark"


def make_report(rows: pd.DataFrame, reference: str | None = None) -> Report:
    """Compute a report.

    Args:
        rows: one episode each, with the columns of a store.
        reference: the planner, by its algorithm or label, that the others are compared with; by default the winner.

    Raises:
        RecipeError: if there are no rows with a return, or no such planner.
    """
    if rows.empty:
        raise RecipeError("the store has no episodes yet; `gsp bench paper --quick` plays some")
    episodes = label_episodes(rows)
    if not episodes.finite.any():
        raise RecipeError(f"none of the {len(rows)} episodes in the store has a finite return, so nothing can be said")
    cells, pairs = measure(episodes), paired(episodes)
    won, scored = winners(cells, pairs), scores(cells)
    winner, sentence, left_out = headline(episodes, cells, won)
    algorithms = dict(cells.sort_values("planner")[["planner", "algorithm"]].itertuples(index=False))
    against = _reference(algorithms, reference or winner)
    # The score of one environment would only show it a second time.
    scores_shown = scored if len(scored_environments(cells)[0]) > 1 else scored.iloc[:0]
    panels = panels_of(cells, scores_shown)
    sections = [
        Section("figure", "Return against budget", [_about_figure(cells, panels)] if panels else []),
        Section(
            "winners", "Who wins where", [LEAD] if len(won) else [], [tables.winner_table(won)] if len(won) else []
        ),
        _score_section(cells, scores_shown),
        _cost_section(cells),
        _paired_section(pairs, against),
        *_environment_sections(cells),
        _paper_section(cells),
        Section("cells", "Every cell", tables=[tables.cell_table(cells, CELLS)]),
        Section("origin", "Where the numbers come from", tables=_origin_tables(episodes)),
    ]
    return Report(
        sentence,
        f"{_summary(len(rows), cells)} {left_out}".strip(),
        [
            f"Above the exact optimum: {cell.planner} in {cell.environment} at {cell.budget} has a mean return of "
            f"{cell.mean_return:.4f}, and the optimum is {cell.optimum:.4f}. A planner that does this sees the future."
            for cell in cells[cells.above_optimum].itertuples()
        ],
        provenance.warnings_on(episodes),
        provenance.gaps(cells),
        algorithms,
        panels,
        [section for section in sections if section.words or section.tables],
        {"cells": cells, "scores": scored, "paired": pairs, "winners": won},
    )


def _reference(algorithms: Mapping[str, str], name: str | None) -> str:
    """The label of a planner that is given by its label or algorithm; the last where none is given."""
    if name is None:
        return list(algorithms)[-1]
    for label, algorithm in algorithms.items():
        if name in (algorithm, label):
            return label
    raise RecipeError(unknown_name("planner", name, algorithms))


def _summary(episodes: int, cells: pd.DataFrame) -> str:
    counts = {"episode": episodes} | {name: cells[name].nunique() for name in ("environment", "planner", "budget")}
    return listed(f"{count:,} {word}{'' if count == 1 else 's'}" for word, count in counts.items()) + "."


def _about_figure(cells: pd.DataFrame, panels: Sequence[Panel]) -> str:
    words = "Mean return of an episode, undiscounted; bands are intervals at 95 %."
    if cells.optimum.notna().any():
        of_layouts = ", where a reset draws a layout the mean over those played"
        words += (
            f" The dashed line is the exact optimum{of_layouts if cells.optimum_of.eq('layouts played').any() else ''}."
        )
    if any(panel.points.published.notna().any() for panel in panels):
        words += " Short strokes are the paper's means, with its own settings."
    return words


def _score_section(cells: pd.DataFrame, scored: pd.DataFrame) -> Section:
    counted, left_out = scored_environments(cells)
    words, shown = [], []
    if len(scored):
        words.append(f"Mean of return / exact optimum over {listed(counted)}.")
    if scored.score.notna().any():
        shown.append(tables.score_table(scored))
    if left_out:
        words.append(f"Left out, because the optimum is not known or not above 0: {listed(left_out)}.")
    return Section("score", "Normalised score", words, shown)


def _cost_section(cells: pd.DataFrame) -> Section:
    words = [COST, PAPER_COST] if cells.published_ms_per_decision.notna().any() else [COST]
    time = tables.cost_table(cells, "Milliseconds per decision", "ms_per_decision", 3)
    nodes = tables.cost_table(cells, "Nodes per decision", "nodes_per_decision", 1)
    return Section("overhead", "Cost", [" ".join(words)], [time, nodes])


def _paired_section(pairs: pd.DataFrame, against: str) -> Section:
    title = "Paired differences"
    return (
        Section("paired", title, [PAIRS], [tables.paired_table(pairs, against)]) if len(pairs) else Section("", title)
    )


def _environment_sections(cells: pd.DataFrame) -> list[Section]:
    """One an environment; names that are alike once signs are taken out get numbers."""
    sections: list[Section] = []
    for environment in names_of(cells.environment):
        here = cells[cells.environment == environment]
        name = "returns-" + "-".join(re.findall(r"[^\W_]+", environment))
        alike = sum(section.name.partition(".")[0] == name for section in sections)
        name = f"{name}.{alike + 1}" if alike else name
        table = tables.return_table(cells, environment, name)
        remarks = {
            f"Mean return {PLUS_MINUS} standard error.": True,
            "Published: the paper's figures, with its own settings.": here.published_mean.notna().any(),
            MARKS: here.verdict.isin([BETTER, NOT_REPRODUCED]).any(),
            ALARM: here.above_optimum.any(),
            f"{FAILED}: episodes without a finite return.": here.failed.any(),
            f"{NOT_PLAYED} not played.": table.frame.eq(NOT_PLAYED).any(axis=None),
        }
        words = [optimum_in_words(here), *(remark for remark, holds in remarks.items() if holds)]
        sections.append(Section(name, environment, [" ".join(words)], [table]))
    return sections


def optimum_in_words(cells: pd.DataFrame) -> str:
    """The optimum of an environment, and which one it is.

    Args:
        cells: those of the environment.
    """
    optima, key = cells.optimum.dropna(), cells.iloc[0]
    if optima.empty:
        return "The optimum is not known."
    low, high = number(optima.min(), 4), number(optima.max(), 4)
    if key.optimum_of == "environment":
        return f"Exact optimum {high}."
    span = high if low == high else f"{low} to {high}, by cell"
    of_all = None if key.environment_arguments else shipped_optima().get(key.environment_id)
    rest = "" if of_all is None else f"; over all layouts that a reset may draw it is {number(of_all, 4)}"
    return f"Exact optimum of the layouts played: {span}{rest}."


def _paper_section(cells: pd.DataFrame) -> Section:
    """Empty where no cell was played with the paper's settings."""
    verdicts = cells.verdict[cells.verdict != ""].value_counts()
    if verdicts.empty:
        return Section("verdicts", "Beside the paper")
    parts = [f"{verdicts.get(word, 0)} {word}" for word in (REPRODUCED, BETTER, NOT_REPRODUCED)]
    if TOO_FEW in verdicts:
        parts.append(f"{verdicts[TOO_FEW]} with too few episodes to say")
    words = f"Of {verdicts.sum()} cells with the paper's settings: {listed(parts)}."
    return Section("verdicts", "Beside the paper", [words, VERDICTS], [tables.verdict_table(cells)])


def _origin_tables(episodes: pd.DataFrame) -> list[Table]:
    """Commands, versions, machines and recipes."""
    played_by = pd.DataFrame({"command": commands(episodes)})
    versions, machines = (provenance.counts(episodes, name).astype(str) for name in ("versions", "machine"))
    return [
        Table("commands", "Commands that play these cells", played_by, 0, words=["command"]),
        Table("versions", "Versions", versions),
        Table("machines", "Machines", machines),
        Table("recipes", "Recipes", provenance.recipes(episodes), 4, words=["recipe"]),
    ]
