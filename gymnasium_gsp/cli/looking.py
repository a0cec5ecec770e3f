"""`gsp inspect` and `gsp watch`: what a planner sees, as a page and live in the terminal."""

import os
from pathlib import Path
from typing import Annotated

import typer

from gymnasium_gsp.cli import front
from gymnasium_gsp.cli.front import app, leave
from gymnasium_gsp.errors import RecipeError

SeedOption = Annotated[int, typer.Option(metavar="S", help="The same seed gives the same numbers.")]
_PAGES = (".html", ".htm")


def draw_off_screen() -> None:
    """Let pygame, once it is imported, ask for no display: pictures go into a page, a film or the terminal."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


@app.command()
def inspect(
    env: front.Environment,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = Path("inspect.html"),
    step: Annotated[int, typer.Option(metavar="N", min=0, help="Inspect the decision after N steps.")] = 0,
    episode: Annotated[bool, typer.Option("--episode", help="Inspect every decision of the episode.")] = False,
    algorithm: front.FittingAlgorithm = None,
    preset: front.Preset = None,
    budget: front.FittingBudget = None,
    seed: SeedOption = 0,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
    force: front.Force = False,
) -> None:
    """Write a decision, or a whole episode, as one page: picture, actions with their exact values, search graph.

    The graph of the decision at --step is drawn whole, up to 20,000 nodes; with --episode, the other steps show their
    300 most visited nodes.
    """
    from gymnasium_gsp.bench.cell import Cell, import_needed
    from gymnasium_gsp.bench.console import progress_shown
    from gymnasium_gsp.bench.files import check_new, replace_file
    from gymnasium_gsp.bench.inspection import decisions, with_pictures
    from gymnasium_gsp.inspector.page import page

    draw_off_screen()
    check_new(output, force)
    if output.suffix.lower() not in _PAGES:
        raise RecipeError(f"a page is a file whose name ends in {' or '.join(_PAGES)}, not {output.name!r}")
    import_needed(env, modules)
    cell = Cell.asked(
        budget, env=env, algorithm=algorithm, preset=preset, seed=seed, options=front.with_actions(options, actions),
        env_options=env_options, wrap=wrap, simulator=simulator,
    )  # fmt: skip
    first, last, whole = (0, None, step or None) if episode else (step, step, step)
    with progress_shown(None if episode else step + 1, unit="decisions", delay=2.0) as show:
        recorded = list(decisions(with_pictures(cell), first, last, whole, show))
    replace_file(output, page(recorded, f"{cell}, seed {seed}").encode())
    print(f"{len(recorded)} {'decision is' if len(recorded) == 1 else 'decisions are'} in {output}")


@app.command()
def watch(
    env: front.Environment,
    algorithm: front.FittingAlgorithm = None,
    preset: front.Preset = None,
    budget: front.FittingBudget = None,
    seed: SeedOption = 0,
    fps: Annotated[float, typer.Option(min=0.1, help="Decisions a second, at most.")] = 4.0,
    video: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also a film: .gif, or .mp4 with the extra films.")
    ] = None,
    options: front.AlgorithmSettings = None,
    actions: front.Actions = None,
    env_options: front.EnvironmentSettings = None,
    wrap: front.Wrap = None,
    simulator: front.Simulator = None,
    modules: front.Modules = None,
    force: front.Force = False,
) -> None:
    """Play an episode in the terminal: the environment, the root's actions with value, interval and visits."""
    from rich.console import Console

    from gymnasium_gsp.bench.cell import Cell, import_needed
    from gymnasium_gsp.bench.files import check_new
    from gymnasium_gsp.bench.film import Frame, check_film, write_film
    from gymnasium_gsp.bench.inspection import with_pictures
    from gymnasium_gsp.bench.watching import watch as play

    draw_off_screen()
    if video is not None:
        check_film(video)
        check_new(video, force)
    import_needed(env, modules)
    cell = Cell.asked(
        budget, env=env, algorithm=algorithm, preset=preset, seed=seed, options=front.with_actions(options, actions),
        env_options=env_options, wrap=wrap, simulator=simulator,
    )  # fmt: skip
    shown = with_pictures(cell, ("rgb_array",) if video is not None else ("ansi", "rgb_array"))
    if video is not None and "rgb_array" not in shown.env_options:
        raise RecipeError(
            f"no film can be made of {cell.env}: it draws no pictures, or pygame or pillow is missing "
            "(pip install 'gymnasium-gsp[rendering]'); leave out --video"
        )
    frames: list[Frame] = []
    console = Console()
    try:
        pause = 1.0 / fps if console.is_terminal else 0.0
        total = play(shown, str(cell), console, pause, frames.append if video else None).total
    except KeyboardInterrupt:
        leave("interrupted", front.INTERRUPTED)
    print(f"the return of the episode is {total:.6g}")
    if video is not None:
        write_film(video, frames, fps)
        print(f"the film is in {video}")
