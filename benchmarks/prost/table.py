"""The results as Markdown: one table for each budget, one row for each instance."""

import math
from collections.abc import Iterator, Sequence

from benchmarks.prost.players import Limit, Player
from benchmarks.prost.rows import EXACT, MINIMAL, OPTIMUM, Instance, Played, Rows
from benchmarks.prost.score import Scale, scale_of, score


def tables(rows: Rows, instances: Sequence[Instance], limits: Sequence[Limit], players: Sequence[Player]) -> str:
    """Write a table for each budget, without the instances that nobody has played with it."""
    return "\n\n".join(
        "\n".join(_table(rows, shown, limit, players))
        for limit in limits
        if (shown := [instance for instance in instances if _settings(limit, players) & rows.players(instance)])
    )


def _settings(limit: Limit, players: Sequence[Player]) -> set[str]:
    return {player.settings(limit) for player in players}


def _table(rows: Rows, instances: Sequence[Instance], limit: Limit, players: Sequence[Player]) -> Iterator[str]:
    ends = ["minimal", "optimum", "exact policy"]
    heads = [f"{limit} a decision", "instance", *ends, *(player.title for player in players)]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    complete = []
    for instance in instances:
        played = [rows.played(instance, player.settings(limit)) for player in players]
        results = [result if len(result.returns) else None for result in played]
        scale = scale_of(rows, instance)
        minimal, optimum = rows.value(instance, MINIMAL), rows.value(instance, OPTIMUM)
        cells = [instance.domain.replace("_MDP_ippc", " "), str(instance.number), _number(minimal), _number(optimum)]
        exact = rows.played(instance, EXACT)
        cells.append(_cell(exact, None) if len(exact.returns) else "")
        yield "| " + " | ".join([*cells, *(_cell(result, scale) for result in results)]) + " |"
        if scale is not None and None not in results:
            complete.append([score(result, scale) for result in results if result is not None])
    if complete:
        means = (_mean_score(list(column)) for column in zip(*complete, strict=True))
        yield "| " + " | ".join([f"mean score, {len(complete)} instances", "", "", "", "", *means]) + " |"
    yield ""
    yield "Mean seconds a decision, and the longest: " + "; ".join(
        f"{player.title} {_seconds([rows.played(instance, player.settings(limit)) for instance in instances])}"
        for player in players
    )


def _mean_score(scores: Sequence[tuple[float, float]]) -> str:
    mean = sum(score for score, _ in scores) / len(scores)
    return f"{mean:.3f} ({math.hypot(*(error for _, error in scores)) / len(scores):.3f})"


def _cell(result: Played | None, scale: Scale | None) -> str:
    """Mean return, its standard error in brackets, and the score."""
    if result is None:
        return ""
    scored = "" if scale is None else f", {score(result, scale)[0]:.2f}"
    return f"{_number(result.mean)} ({_error(result.error)}){scored}"


def _number(value: float | None) -> str:
    """At least four digits, thousands separated."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _error(value: float) -> str:
    """Two digits, or whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _seconds(played: Sequence[Played]) -> str:
    decisions = sum(each.decisions for each in played)
    if not decisions:
        return "not played"
    return f"{sum(each.seconds for each in played) / decisions:.4f}, {max(each.worst for each in played):.3f}"
