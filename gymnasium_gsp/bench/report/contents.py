"""What a report says and in which order: one description, from which the page and the documents are written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gymnasium_gsp.bench.report.cells import (
    Environment,
    Measurement,
    Planner,
    budgets_of,
    environments_of,
    measure,
    planners_of,
)
from gymnasium_gsp.bench.report.commands import commands
from gymnasium_gsp.bench.report.comparison import RESAMPLES, Paired, Score, paired, scored_environments, scores
from gymnasium_gsp.bench.report.comparison_tables import (
    cost_table,
    count_table,
    paired_grid,
    paired_table,
    recipe_table,
    score_grid,
    score_table,
)
from gymnasium_gsp.bench.report.figures import Panel, marks_of, return_panels, score_panel
from gymnasium_gsp.bench.report.judgement import FEW, TOO_FEW
from gymnasium_gsp.bench.report.provenance import Provenance, gaps, provenance
from gymnasium_gsp.bench.report.table import DOWN, PLUS_MINUS, UP, Column, Table
from gymnasium_gsp.bench.report.tables import ABOVE, MARKS, cell_table, optimum_in_words, return_table, verdict_table
from gymnasium_gsp.bench.store import Row
from gymnasium_gsp.errors import RecipeError, unknown_name

FIGURE = "figure"  # the section with the paper's figure


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Attributes:
        name: a word for links and markers.
        title: its heading.
        words: paragraphs.
        panels: of its figure.
        tables: below that.
        folded: whether the page shows its tables only when asked.
    """

    name: str
    title: str
    words: Sequence[str] = ()
    panels: Sequence[Panel] = ()
    tables: Sequence[Table] = ()
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        title: of the page.
        summary: what was measured, in a sentence.
        alarms: means above the optimum.
        warnings: what makes the rows less than one experiment, such as mixed versions.
        missing: what of the grid is not there yet.
        planners: in the order of the tables.
        marks: what the figures show beside the planners' lines.
        sections: its parts, in order.
        data: the tables that CSV files are written from, at full precision.
    """

    title: str
    summary: str
    alarms: Sequence[str]
    warnings: Sequence[str]
    missing: Sequence[str]
    planners: Sequence[Planner]
    marks: Sequence[str]
    sections: Sequence[Section]
    data: Sequence[Table]


def make_report(rows: Sequence[Row], reference: str | None = None) -> Report:
    """All that is said of some rows.

    Args:
        rows: what a store holds.
        reference: the planner, by its name or label, that the others are compared with; by default `gs-power-uct`, or
            else the last in order.

    Raises:
        RecipeError: if there are no rows with a return, or no such planner.
    """
    measured = measure(rows)
    if not measured:
        if rows:
            raise RecipeError(
                f"none of the {len(rows)} episodes in the store has a finite return, so nothing can be said"
            )
        raise RecipeError("the store has no episodes yet; `gsp bench paper --quick` plays some")
    planners, origin = planners_of(measured), provenance(rows)
    against = reference_planner(planners, reference)
    comparisons, normalised = list(paired(measured)), scores(measured)
    sections = [
        Section("verdicts", "Verdicts", [headline(measured)], (), [verdict_table(measured)]),
        _figure_section(measured),
        _score_section(measured, normalised),
        *_environment_sections(measured),
        _paired_section(comparisons, planners, against),
        _overhead_section(measured),
        Section("cells", "Every cell", (), (), [cell_table(measured)], folded=True),
        _origin_section(origin, commands(rows)),
    ]
    return Report(
        "Planning benchmark",
        _summary(measured, len(rows)),
        _alarms(measured),
        origin.warnings(),
        [str(gap) for gap in gaps(measured)],
        planners,
        marks_of(measured),
        [section for section in sections if section.words or section.panels or section.tables],
        [cell_table(measured), score_table(normalised), paired_table(comparisons)],
    )


def _figure_section(measured: Sequence[Measurement]) -> Section:
    panels = return_panels(measured)
    return Section(FIGURE, "Return against budget", [_about_figure(measured)] if panels else [], panels)


def _score_section(measured: Sequence[Measurement], found: Sequence[Score]) -> Section:
    """Nothing where a single environment would only be shown a second time."""
    counted, left_out = scored_environments(measured)
    if len(counted) < 2:
        words = [f"None: the optimum is not known, or not above 0, in {_names(left_out)}."] if left_out else []
        return Section("score", "Normalised score", words)
    panel = score_panel(found, planners_of(measured))
    return Section(
        "score",
        "Normalised score",
        _about_score(measured),
        [panel] if panel else [],
        [score_grid(found)] if found else [],
    )


def _environment_sections(measured: Sequence[Measurement]) -> list[Section]:
    """One an environment; names that are alike once signs are taken out get numbers."""
    sections: list[Section] = []
    for environment in environments_of(measured):
        section = _environment_section(measured, environment)
        alike = sum(other.name.partition(".")[0] == section.name for other in sections)
        sections.append(replace(section, name=f"{section.name}.{alike + 1}") if alike else section)
    return sections


def _environment_section(measured: Sequence[Measurement], environment: Environment) -> Section:
    table = return_table(measured, environment)
    words = [optimum_in_words(measured, environment), f"Mean return {PLUS_MINUS} standard error."]
    here = [cell for cell in measured if cell.environment == environment]
    if any(cell.published for cell in here):
        words.append(MARKS)
    if any(cell.alarm for cell in here):
        words.append(f"{ABOVE} above the optimum: an alarm.")
    return Section(table.name, environment.label, [" ".join(words)], (), [table])


def _paired_section(comparisons: Sequence[Paired], planners: Sequence[Planner], against: Planner) -> Section:
    about = (
        "Mean difference in return over the episodes that both planners played, which begin with the same seeds, and "
        f"its bootstrap interval at 95 % (SciPy, {RESAMPLES:,} resamples). {UP} {against.label} is better, {DOWN} "
        f"worse, where the interval leaves 0 out and at least {FEW} episodes are compared; of a hundred such intervals "
        "about five miss the truth."
    )
    if not comparisons:
        return Section("paired", "Paired comparison")
    return Section("paired", "Paired comparison", [about], (), [paired_grid(comparisons, planners, against)])


def _overhead_section(measured: Sequence[Measurement]) -> Section:
    about = "Planning alone, without the environment's own steps; wall-clock time of one process."
    if any(cell.published_cost for cell in measured):
        about += (
            " Published figures in brackets: another machine and another implementation, whose nodes are counted "
            "another way (a tree's are its simulations and the root); ours are those that a decision adds."
        )
    tables = [
        cost_table(measured, "Milliseconds per decision", "ms_per_decision", 3),
        cost_table(measured, "Nodes per decision", "nodes_per_decision", 1),
    ]
    return Section("overhead", "Overhead", [about], (), tables)


def _origin_section(origin: Provenance, played_by: Sequence[str]) -> Section:
    tables = [
        Table(
            "commands",
            "Commands that play these cells",
            [Column("command", "command", long=True)],
            [(line,) for line in played_by],
        ),
        count_table("versions", "Versions", "versions", origin.versions),
        count_table("machines", "Machines", "machine", origin.machines),
        recipe_table(origin),
    ]
    return Section("origin", "Where the numbers come from", (), (), tables)


def reference_planner(planners: Sequence[Planner], name: str | None) -> Planner:
    """The planner of a name or label.

    Raises:
        RecipeError: if there is none.
    """
    wanted = name or "gs-power-uct"
    fitting = [planner for planner in planners if wanted in (planner.algorithm, planner.label)]
    if fitting:
        return fitting[0]
    if name is None:
        return planners[-1]
    raise RecipeError(unknown_name("planner", name, [planner.label for planner in planners]))


def headline(measured: Sequence[Measurement]) -> str:
    """The verdicts in one sentence."""
    verdicts = Counter(cell.verdict for cell in measured if cell.planner.reproduces and cell.verdict)
    total = sum(verdicts.values())
    if not total:
        return "No cell was played with the paper's settings, so nothing is said to be reproduced."
    parts = [f"{verdicts[word]} {word}" for word in ("reproduced", "better", "not reproduced")]
    if verdicts[TOO_FEW]:
        parts.append(f"{verdicts[TOO_FEW]} with too few episodes to say")
    return f"Of {total} cells with the paper's settings: {', '.join(parts)}."


def _summary(measured: Sequence[Measurement], rows: int) -> str:
    counts = (
        (rows, "episode"),
        (len(environments_of(measured)), "environment"),
        (len(planners_of(measured)), "planner"),
        (len(budgets_of(measured)), "budget"),
    )
    return ", ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in counts) + "."


def _alarms(measured: Sequence[Measurement]) -> list[str]:
    return [
        f"Above the exact optimum: {cell.planner.label} in {cell.environment.label} at {cell.budget} has a mean return "
        f"of {cell.mean:.4f}, and the optimum is {cell.optimum:.4f}. A planner that does this sees the future."
        for cell in measured
        if cell.alarm
    ]


def _about_figure(measured: Sequence[Measurement]) -> str:
    words = "Mean return of an episode, undiscounted; bands are Student's intervals at 95 %."
    if any(cell.optimum is not None for cell in measured):
        words += " The dashed line is the exact optimum."
    if any(cell.published for cell in measured):
        words += " Short strokes are the published means."
    return words


def _about_score(measured: Sequence[Measurement]) -> list[str]:
    counted, left_out = scored_environments(measured)
    words = []
    if counted:
        words.append(f"Mean of return / exact optimum over {', '.join(item.label for item in counted)}.")
    if left_out:
        words.append(f"Left out, because the optimum is not known or not above 0: {_names(left_out)}.")
    return words


def _names(environments: Sequence[Environment]) -> str:
    return ", ".join(environment.label for environment in environments)
