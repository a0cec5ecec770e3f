"""The contents of a report, in order: one description, from which the page and the documents are written."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gymnasium_gsp.bench.intervals import RESAMPLES
from gymnasium_gsp.bench.published import other_planners
from gymnasium_gsp.bench.report import judgement, provenance, tables
from gymnasium_gsp.bench.report.cells import label_episodes, measure, names_of
from gymnasium_gsp.bench.report.commands import commands
from gymnasium_gsp.bench.report.comparison import paired, scored_environments, scores
from gymnasium_gsp.bench.report.competition import competition_scores
from gymnasium_gsp.bench.report.figures import Panel, panels_of
from gymnasium_gsp.bench.report.headline import headline
from gymnasium_gsp.bench.report.judgement import BETTER, NOT_REPRODUCED, REPRODUCED, TOO_FEW
from gymnasium_gsp.bench.report.provenance import Notice
from gymnasium_gsp.bench.report.tables import Table
from gymnasium_gsp.bench.report.text import number
from gymnasium_gsp.bench.texts import counted
from gymnasium_gsp.errors import RecipeError

_MOST_NAMED = 10
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Attributes:
        name: a word for links and markers.
        title: its heading.
        words: paragraphs.
        tables: below them.
        level: of the heading; a section of level 3 is part of the one of level 2 before it.
    """

    name: str
    title: str
    words: Sequence[str] = ()
    tables: Sequence[Table] = ()
    level: int = 2


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        headline: the winner, by how much and how sure.
        summary: what was measured, in a sentence.
        alarms: means above the optimum.
        failures: cells with episodes that have no return.
        warnings: what makes the rows less than one experiment, such as mixed versions.
        gaps: what of the grid was not played.
        algorithms: by the planners' labels, in the order of the tables.
        panels: of the figure, in the section "figure".
        sections: its parts, in order.
        data: what CSV files are written from, by name.
    """

    headline: str
    summary: str
    alarms: Notice
    failures: Notice
    warnings: Notice
    gaps: Notice
    algorithms: dict[str, str]
    panels: Sequence[Panel]
    sections: Sequence[Section]
    data: Mapping[str, pd.DataFrame]
    title: str = "Planning benchmark"

    @property
    def notices(self) -> list[Notice]:
        """Those that have something to say, the gravest first."""
        return [notice for notice in (self.alarms, self.failures, self.warnings, self.gaps) if notice.lines]


def make_report(rows: pd.DataFrame) -> Report:
    """Compute a report.

    Args:
        rows: one episode each, with the columns of a store.

    Raises:
        RecipeError: if there are no rows with a return.
    """
    if rows.empty:
        raise RecipeError("the store has no episodes yet; `gsp bench paper --quick` plays some")
    episodes = label_episodes(rows)
    if not episodes.finite.any():
        raise RecipeError(f"none of the {len(rows)} episodes in the store has a finite return, so nothing can be said")
    cells, pairs = measure(episodes), paired(episodes)
    scored, competed = scores(cells), competition_scores(cells)
    winner, sentence, left_out = headline(episodes, cells)
    algorithms = dict(cells.sort_values("planner")[["planner", "algorithm"]].itertuples(index=False))
    # The score of one environment would only show it a second time.
    scores_shown = scored if len(scored_environments(cells)[0]) > 1 else scored.iloc[:0]
    panels = panels_of(cells, scores_shown)
    measures = [
        tables.measure_table(cells, measure) for measure in tables.MEASURES if cells[measure.column].notna().any()
    ]
    sections = [
        *([_section("figure")] if panels else []),
        *([_section("winners", [tables.winner_table(cells, pairs)])] if len(algorithms) > 1 else []),
        *_score_section(cells, scores_shown),
        *([_section("competition", [tables.competition_table(competed)])] if len(competed) else []),
        _section("overhead", measures),
        *([_section("paired", [tables.paired_table(pairs, winner or [*algorithms][-1])])] if len(pairs) else []),
        _section("returns"),
        *(_environment_section(cells[cells.environment == name], name) for name in names_of(cells.environment)),
        *_paper_section(cells),
        _section("origin", _origin_tables(episodes)),
    ]
    return Report(
        sentence,
        f"{_summary(len(rows), cells)} {left_out}".strip(),
        _alarms(cells),
        provenance.failures(episodes),
        provenance.warnings_on(episodes),
        provenance.gaps(episodes, cells),
        algorithms,
        panels,
        sections,
        {"cells": cells, "scores": scored, "paired": pairs},
    )


def _alarms(cells: pd.DataFrame) -> Notice:
    lines = [
        f"Above the exact optimum: {cell.planner} in {cell.environment} at {cell.budget} has a mean return of "
        f"{cell.mean_return:.4f}, and the optimum is {cell.optimum:.4f}. A planner that does this sees the future."
        for cell in cells[cells.above_optimum].itertuples()
    ]
    return Notice("alarm", "Alarm", lines)


def _summary(episodes: int, cells: pd.DataFrame) -> str:
    counts = {"episode": episodes} | {name: cells[name].nunique() for name in ("environment", "planner", "budget")}
    return ", ".join(counted(count, word) for word, count in counts.items()) + "."


def _section(name: str, shown: Sequence[Table] = (), facts: Sequence[str] = ()) -> Section:
    """A section with its heading and explanations, the facts before these."""
    words = [words.format(**vars(judgement), RESAMPLES=RESAMPLES) for words in _WORDS[name]["words"]]
    return Section(name, _WORDS[name]["title"], [*facts, *words], shown)


def _score_section(cells: pd.DataFrame, scored: pd.DataFrame) -> list[Section]:
    counted, left_out = scored_environments(cells)
    facts = [f"Mean of return / exact optimum over {', '.join(counted)}."] if len(scored) else []
    if left_out:
        more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
        named = ", ".join(left_out[:_MOST_NAMED]) + more
        facts.append(f"Left out, because the optimum is not known or not above 0: {named}.")
    absent = scored[scored.not_played != ""].groupby(["planner", "not_played"], observed=True).budget.agg(", ".join)
    facts += [
        f"No score for {planner} at {budgets}: not played, {names}." for (planner, names), budgets in absent.items()
    ]
    shown = [tables.score_table(scored)] if scored.score.notna().any() else []
    return [_section("score", shown, facts)] if facts else []


def _environment_section(cells: pd.DataFrame, environment: str) -> Section:
    """The returns in one environment."""
    name = "returns-" + re.sub(r"[^\w.+-]+", "-", environment)
    shown = [tables.return_table(cells, environment, name)]
    others = other_planners().get(cells.env.iloc[0], []) if cells.env_options.iloc[0] + cells.wrap.iloc[0] == "" else []
    if others:
        shown.append(tables.other_table(others, environment, f"others-{name}"))
    return Section(name, environment, [optimum_in_words(cells)], shown, level=3)


def optimum_in_words(cells: pd.DataFrame) -> str:
    """The optimum of an environment, and which one it is.

    Args:
        cells: those of the environment.
    """
    optima = cells.optimum.dropna()
    if optima.empty:
        why = ": a wrapper may change the returns" if cells.wrap.iloc[0] else ""
        model = " Regret is measured by the exact values of the model that was planned in."
        return f"The optimum is not known{why}.{model * bool(cells.mean_regret.notna().any())}"
    span = " to ".join(dict.fromkeys(number(end, 4) for end in (optima.min(), optima.max())))
    if not cells.draws_layouts.any():
        return f"Exact optimum: {span}."
    of_all = cells.best_of_all.iloc[0]
    mean = "" if pd.isna(of_all) else f" Over all layouts that a reset can draw it is {number(of_all, 4)}."
    return f"Exact optimum, mean over the layouts that a cell played: {span}.{mean}"


def _paper_section(cells: pd.DataFrame) -> list[Section]:
    """Nothing where no cell was played with the paper's settings."""
    judged = cells.verdict[cells.verdict != ""]
    parts = ", ".join(f"{judged.eq(word).sum()} {word}" for word in (REPRODUCED, BETTER, NOT_REPRODUCED, TOO_FEW))
    fact = f"Of {counted(len(judged), 'cell')} with the paper's settings: {parts}."
    return [_section("verdicts", [tables.verdict_table(cells)], [fact])] if len(judged) else []


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
