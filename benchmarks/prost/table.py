"""The results as Markdown: one table for each budget, one row for each instance."""

import math
from collections.abc import Iterator, Sequence

from benchmarks.prost.players import Limit, Planner, Prost
from benchmarks.prost.rows import MINIMAL, OPTIMUM, Instance, Played, Rows

Player = Prost | Planner


def tables(rows: Rows, instances: Sequence[Instance], limits: Sequence[Limit], players: Sequence[Player]) -> str:
    """Write a table for each budget."""
    return "\n\n".join("\n".join(_table(rows, instances, limit, players)) for limit in limits)


def _table(rows: Rows, instances: Sequence[Instance], limit: Limit, players: Sequence[Player]) -> Iterator[str]:
    heads = [f"{limit} a decision", "instance", "minimal", "optimum", *(player.title for player in players)]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    complete = []
    for instance in instances:
        played = [rows.played(instance, player.settings(limit)) for player in players]
        results = [result if len(result.returns) else None for result in played]
        scale = _scale(rows, instance)
        minimal, optimum = rows.value(instance, MINIMAL), rows.value(instance, OPTIMUM)
        cells = [instance.domain.replace("_MDP_ippc", " "), str(instance.number), _number(minimal), _number(optimum)]
        yield "| " + " | ".join([*cells, *(_cell(result, scale) for result in results)]) + " |"
        if scale is not None and None not in results:
            complete.append([_score(result, scale) for result in results if result is not None])
    if complete:
        means = (_mean_score(list(column)) for column in zip(*complete, strict=True))
        yield "| " + " | ".join([f"mean score, {len(complete)} instances", "", "", "", *means]) + " |"
    yield ""
    yield "Mean seconds a decision, and the longest: " + "; ".join(
        f"{player.title} {_seconds([rows.played(instance, player.settings(limit)) for instance in instances])}"
        for player in players
    )


def _scale(rows: Rows, instance: Instance) -> tuple[float, float] | None:
    """The minimal policy's return and the best: the optimum, or the highest mean of any player where it is unknown."""
    minimal, best = rows.value(instance, MINIMAL), rows.value(instance, OPTIMUM)
    if best is None:
        settings = {line["settings"] for line in rows.lines if "returns" in line}
        means = [result.mean for each in settings if len((result := rows.played(instance, each)).returns)]
        best = max(means, default=None)
    return None if minimal is None or best is None or best == minimal else (minimal, best)


def _score(result: Played, scale: tuple[float, float]) -> tuple[float, float]:
    """The competition's score, (return - minimal policy) / (best - minimal policy), and its standard error."""
    minimal, best = scale
    return (result.mean - minimal) / (best - minimal), result.error / (best - minimal)


def _mean_score(scores: Sequence[tuple[float, float]]) -> str:
    mean = sum(score for score, _ in scores) / len(scores)
    return f"{mean:.3f} ({math.hypot(*(error for _, error in scores)) / len(scores):.3f})"


def _cell(result: Played | None, scale: tuple[float, float] | None) -> str:
    """Mean return, its standard error in brackets, and the score."""
    if result is None:
        return ""
    score = "" if scale is None else f", {_score(result, scale)[0]:.2f}"
    return f"{_number(result.mean)} ({result.error:.2g}){score}"


def _number(value: float | None) -> str:
    """At least four digits, thousands separated."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _seconds(played: Sequence[Played]) -> str:
    decisions = sum(each.decisions for each in played)
    if not decisions:
        return "not played"
    return f"{sum(each.seconds for each in played) / decisions:.4f}, {max(each.worst for each in played):.3f}"
