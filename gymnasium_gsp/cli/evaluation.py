"""`gsp evaluate` and `gsp compare`: an evaluation as a card, and two cards episode by episode."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app
from gymnasium_gsp.cli.planning import AsJson, play_shown

CardFile = Annotated[Path, typer.Argument(metavar="CARD.json", help="A card that `gsp evaluate --json` wrote.")]


@app.command()
def evaluate(
    env: front.Environment,
    algorithm: front.FittingAlgorithm = None,
    preset: front.Preset = None,
    budget: front.FittingBudget = None,
    episodes: Annotated[int, typer.Option(metavar="M", min=1, help="How many episodes to play.")] = 100,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same resets.")] = 0,
    jobs: Annotated[int, typer.Option(metavar="J", min=1, help="Processes; they change no return.")] = 1,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
    output: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="The card to write.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--model-card", metavar="FILE.md", help="Also a model card for the Hugging Face Hub.")
    ] = None,
    force: front.Force = False,
) -> None:
    """Play episodes, and write a card: every return, intervals, cost, versions, and what the planner may use."""
    from gymnasium_gsp.bench.advice import Start
    from gymnasium_gsp.bench.card import write_card
    from gymnasium_gsp.bench.cell import Cell, import_needed
    from gymnasium_gsp.bench.console import print_card
    from gymnasium_gsp.bench.evaluation import doubt, make_card
    from gymnasium_gsp.bench.files import check_new, replace_file
    from gymnasium_gsp.bench.model_card import model_card

    for path in filter(None, (output, markdown)):
        check_new(path, force)
    modules = import_needed(env, modules)
    cell = Cell.asked(
        budget, env=env, algorithm=algorithm, preset=preset, seed=seed, options=front.with_actions(options, actions),
        env_options=env_options, wrap=wrap, simulator=simulator,
    )  # fmt: skip
    card = make_card(cell, play_shown(cell, episodes, jobs, modules, Start(cell, episodes, modules)), modules)
    if output is not None:
        write_card(card, output)
    if markdown is not None:
        replace_file(markdown, model_card(card).encode())
    print_card(card, doubt(card.returns))
    for path in filter(None, (output, markdown)):
        print(f"written: {path}")


@app.command()
def compare(first: CardFile, second: CardFile, as_json: AsJson = False) -> None:
    """Compare two cards over the episodes that began with the same resets: one interval of the mean difference."""
    from gymnasium_gsp.bench.card import read_card
    from gymnasium_gsp.bench.console import print_comparison
    from gymnasium_gsp.bench.evaluation import compare as paired

    comparison = paired(read_card(first), read_card(second))
    if as_json:
        print(json.dumps(asdict(comparison), indent=2))
    else:
        print_comparison(comparison)
