"""What a search for options came to: a ranking for people, and the preset file."""

import os
from collections.abc import Sequence
from pathlib import Path

from gymnasium_gsp.agents.preset_file import ENDING, Value, preset_text, read_preset
from gymnasium_gsp.bench.grid import arguments_text
from gymnasium_gsp.bench.provenance import versions
from gymnasium_gsp.bench.report.output import write_files
from gymnasium_gsp.bench.tuning.candidates import named
from gymnasium_gsp.bench.tuning.search import Score, Task
from gymnasium_gsp.errors import RecipeError

_SHOWN = 10  # candidates of a ranking
_CLEAR = 2.0  # standard errors of a gain


def check_preset(path: Path) -> Path:
    """The place of a preset file, where none is yet or one is.

    Raises:
        RecipeError: for another ending, a place that cannot be written, or a file of something else.
    """
    if path.suffix != ENDING:
        raise RecipeError(f"a preset file ends in {ENDING}, not {path.name!r}; give another -o")
    if not path.parent.is_dir():
        raise RecipeError(f"there is no folder {path.parent} for {path.name}; make it first, or give another -o")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise RecipeError(f"the folder {path.parent} cannot be written; give another -o")
    if path.exists():
        try:
            read_preset(path)
        except RecipeError as error:
            raise RecipeError(f"{path} is there and was left as it was; give another -o: {error}") from error
    return path


def ranking(scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score) -> list[str]:
    """The best candidates, and what the winner is worth on episodes that it was not chosen by."""
    lines = ranked(scores)[:_SHOWN]
    if len(scores) > _SHOWN:
        lines.append(f"... and {len(scores) - _SHOWN} more")
    return [
        *lines,
        f"best: {named(winner.candidate)}",
        f"on fresh episodes: {_number(fresh)}; without what was tried: {_number(defaults)}",
        f"gain there, episode by episode: {_gain(fresh, defaults)}",
        *_doubt(fresh, defaults),
    ]


def ranked(scores: Sequence[Score]) -> list[str]:
    """Every candidate with its score, a line each, the best first."""
    in_order = sorted(scores, key=lambda one: -one.mean)
    return [f"{_number(one)}  {named(one.candidate) or 'the defaults'}" for one in in_order]


def write_preset(
    path: Path, task: Task, command: str, scores: Sequence[Score], winner: Score, fresh: Score, defaults: Score
) -> None:
    """Write the winner as a preset file, under another name first.

    Raises:
        RecipeError: if the place cannot be written.
    """
    gain, error = fresh.gain(defaults)
    found: dict[str, Value] = {
        "command": command,
        "candidates": ranked(scores),
        "budgets": ", ".join(map(str, task.budgets)),
        "runs": task.runs,
        "seed": task.seed,
        "env_options": arguments_text(task.env_options),
        **_table("score", winner),
        **_table("fresh_score", fresh),
        **_table("default_score", defaults),
        "gain": gain,
        **({} if error is None else {"gain_standard_error": error}),
        "versions": versions(),
    }
    options = {**task.below(), **task.settings, **dict(winner.candidate)}
    text = preset_text(task.algorithm, task.env_id, options, found)
    write_files({path: text.encode()})


def _table(name: str, score: Score) -> dict[str, Value]:
    error = {} if score.standard_error is None else {f"{name}_standard_error": score.standard_error}
    return {name: score.mean, **error}


def _gain(fresh: Score, defaults: Score) -> str:
    mean, error = fresh.gain(defaults)
    return f"{mean:+.4f}" + ("" if error is None else f" ({error:.4f})")


def _doubt(fresh: Score, defaults: Score) -> list[str]:
    mean, error = fresh.gain(defaults)
    if error is not None and mean > _CLEAR * error:
        return []
    if error is not None and mean < -_CLEAR * error:
        return ["that is a loss: what was found was luck; keep the defaults, or give more --runs"]
    return ["that is no clear gain: what was found may be luck; keep the defaults, or give more --runs"]


def _number(score: Score) -> str:
    return f"{score.mean:.4f}" + ("" if score.standard_error is None else f" ({score.standard_error:.4f})")
