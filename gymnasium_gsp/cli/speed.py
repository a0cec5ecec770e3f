"""`gsp speed`: what planning costs on this machine."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from gymnasium_gsp.cli.front import app, one_line_errors
from gymnasium_gsp.errors import RecipeError


@app.command()
def speed(
    rounds: Annotated[int, typer.Option(help="How often each case is timed; medians count.")] = 5,
    scale: Annotated[float, typer.Option(help="Multiplies the number of episodes.")] = 1.0,
    python: Annotated[
        bool, typer.Option("--python", help="What planning adds to a simulator in Python, and a deepcopy search.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Time the search beside hand-written C++, every algorithm, the first decision, and count bytes."""
    from gymnasium_gsp.bench.console import show_python_speed, show_speed
    from gymnasium_gsp.bench.protocol import check_count
    from gymnasium_gsp.bench.python_speed import measure
    from gymnasium_gsp.bench.speed import report

    with one_line_errors():
        check_count("rounds", rounds)
        if scale <= 0.0:
            raise RecipeError(f"scale must be above 0, not {scale!r}")
        if python and as_json:
            print(json.dumps([asdict(row) for row in measure(rounds)], indent=2))
        elif python:
            show_python_speed(measure(rounds))
        elif as_json:
            print(json.dumps(report(rounds, scale), indent=2))
        else:
            report(rounds, scale, show_speed)
