"""What a search for options came to: a ranking for people, and the preset file."""

from collections.abc import Sequence
from pathlib import Path

from gymnasium_gsp.bench.protocol import full_id
from gymnasium_gsp.bench.provenance import versions
from gymnasium_gsp.bench.report.output import write_files
from gymnasium_gsp.bench.tuning.candidates import named
from gymnasium_gsp.bench.tuning.preset_file import ENDING, preset_text
from gymnasium_gsp.bench.tuning.search import Score, Task
from gymnasium_gsp.errors import RecipeError

_SHOWN = 10  # candidates of a ranking


def check_preset(path: Path) -> Path:
    """The place of a preset file.

    Raises:
        RecipeError: for another ending, or a folder that is not there.
    """
    if path.suffix != ENDING:
        raise RecipeError(f"a preset file ends in {ENDING}, not {path.name!r}; give another -o")
    if not path.parent.is_dir():
        raise RecipeError(f"there is no folder {path.parent} for {path.name}; make it first, or give another -o")
    return path


def ranking(scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score) -> list[str]:
    """The best candidates, and what the winner is worth on episodes that it was not chosen by."""
    ranked = sorted(scores, key=lambda one: -one.mean)[:_SHOWN]
    lines = [f"{_number(one)}  {named(one.candidate)}" for one in ranked]
    if len(scores) > _SHOWN:
        lines.append(f"... and {len(scores) - _SHOWN} more")
    return [
        *lines,
        f"best: {named(winner.candidate)}",
        f"on fresh episodes: {_number(fresh)}; the algorithm's defaults: {_number(defaults)}",
    ]


def write_preset(
    path: Path, task: Task, command: str, scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score
) -> None:
    """Write the winner as a preset file, under another name first.

    Raises:
        RecipeError: if the place cannot be written.
    """
    found: dict[str, str | int | float] = {
        "command": command,
        "candidates": len(scores),
        "budgets": ", ".join(map(str, task.budgets)),
        "runs": task.runs,
        **_table("score", winner),
        **_table("fresh_score", fresh),
        **_table("default_score", defaults),
        "versions": versions(),
    }
    text = preset_text(task.algorithm, full_id(task.env).rpartition(":")[2], dict(winner.candidate), found)
    write_files({path: text.encode()})


def _table(name: str, score: Score) -> dict[str, str | int | float]:
    error = {} if score.standard_error is None else {f"{name}_standard_error": score.standard_error}
    return {name: score.mean, **error}


def _number(score: Score) -> str:
    return f"{score.mean:.4f}" + ("" if score.standard_error is None else f" ({score.standard_error:.4f})")
