"""An episode watched: the planner live in the terminal, and films of it with the search beside the picture."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.color import Color
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.style import Style
from rich.table import Table
from rich.text import Text

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.film import Frame
from gymnasium_gsp.bench.inspection import Moment, moments
from gymnasium_gsp.bench.summary import known_optimum
from gymnasium_gsp.exact import episode_optimum
from gymnasium_gsp.inspector.graph import SearchGraph
from gymnasium_gsp.search.budget import Budget, Progress

MOST_ACTIONS = 14  # that are shown
COLUMNS = 40  # of the terminal that a picture takes
BAR = 24  # characters of the longest bar
REFRESH = 0.25  # seconds between two drawings during a search, which waits for them
PANEL = 0.9  # width of the panel beside a picture, in widths of the picture


@dataclass
class Screen:
    """What is shown now.

    Attributes:
        title: what is played.
        budget: of a decision.
        optimum: the best expected return, if known.
        moment, graph, shown: of the last decision; `shown` is what the environment rendered.
        sides: the environment beside the root's actions, laid out once a decision.
        spent: the present search so far.
    """

    title: str
    budget: Budget
    optimum: float | None = None
    moment: Moment | None = None
    graph: SearchGraph | None = None
    shown: Any = None
    sides: RenderableType = ""
    spent: Progress = Progress(0, 0, 0.0, 0)  # noqa: RUF009 (frozen)

    def __rich__(self) -> RenderableType:
        """The environment beside the root's actions, with budget and return below."""
        if self.moment is None:
            return Group(Text("planning the first action", style="dim"), self._budget_bar())
        title, words = Text(self.title, style="dim"), Text(self.words(), style="bold")
        return Group(title, self.sides, words, self._budget_bar())

    def decided(self, moment: Moment) -> None:
        """Show the decision of a moment."""
        self.moment, self.graph, result = moment, moment.agent.graph(steps=1), moment.agent.result
        self.shown = moment.env.render() if moment.env.render_mode else None
        self.spent = Progress(result.simulations, result.model_steps, result.seconds, result.nodes)
        self.sides = Table.grid(padding=(0, 3))
        self.sides.add_row(_shown(self.shown), _actions(self.graph))

    def words(self) -> str:
        """One line: step, action and return so far, beside the optimum."""
        assert self.moment is not None
        result, optimum = self.moment.agent.result, self.optimum
        best = "" if optimum is None else f", best expected return {optimum:.4g}"
        doing = "the episode has ended" if self.moment.ended else result.name(result.action)
        return f"step {self.moment.step}: {doing}; return so far {self.moment.total:.4g}{best}"

    def _budget_bar(self) -> RenderableType:
        name, share = "seconds", 0.0
        for name in ("simulations", "model_steps", "seconds", "nodes"):
            limit = getattr(self.budget, name)
            if limit is not None:
                share = getattr(self.spent, name) / limit
                break
        row = Table.grid(padding=(0, 2))
        spent = f"{self.spent.simulations:,} simulations, {1e3 * self.spent.seconds:.0f} ms"
        row.add_row(Text(f"{name} used", style="dim"), ProgressBar(1.0, min(1.0, share), width=BAR), spent)
        return row


def _actions(graph: SearchGraph) -> Table:
    """The root's actions, the recommended one first, visits as bars."""
    result, table = graph.result, Table(box=None, pad_edge=False, header_style="dim")
    for name in ("action", "value", "bounds" if graph.bounded else "± 2 standard errors", "visits"):
        table.add_column(name, justify="left" if name == "action" else "right")
    table.add_column("")
    most = max(1, int(result.visit_counts.max()))
    for action in result.ranking()[:MOST_ACTIONS]:
        low, high, visits = graph.lower[0, action], graph.upper[0, action], int(result.visit_counts[action])
        interval = "" if np.isnan(low) else f"{low:.3g} .. {high:.3g}"
        value = f"{result.q_values[action]:.4g}" if visits else "-"
        bar = "█" * round(BAR * visits / most) or "▏"
        style = "bold green" if action == result.action else ""
        table.add_row(result.name(action), value, interval, f"{visits:,}", Text(bar, style="blue"), style=style)
    return table


def _shown(shown: Any) -> Text:
    """What an environment rendered, as text; pixels as half blocks, two a character."""
    if not isinstance(shown, np.ndarray):
        return Text.from_ansi(str(shown or "this environment shows nothing"))
    from PIL import Image

    rows = max(1, round(COLUMNS * shown.shape[0] / shown.shape[1] / 2.0))
    pixels = np.asarray(Image.fromarray(shown).resize((COLUMNS, 2 * rows)))
    text = Text()
    for upper, lower in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
        for above, below in zip(upper, lower, strict=True):
            text.append("▀", Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below)))
        text.append("\n")
    return text


def watch(
    cell: Cell, title: str, console: Console, pause: float, on_frame: Callable[[Frame], object] | None = None
) -> Moment:
    """Play an episode and show it: live on a terminal, else a line for each decision.

    Args:
        cell: what to play, in an environment that shows itself.
        title: what is played, in words.
        console: where to show it.
        pause: seconds that each decision stays.
        on_frame: called with a picture for a film after each decision.

    Returns:
        the end of the episode.
    """
    screen = Screen(title, cell.limits())
    live = Live(screen, console=console, auto_refresh=False)  # a thread that draws would slow the search
    drawn_at = time.perf_counter()

    def note(spent: Progress) -> None:
        nonlocal drawn_at
        if console.is_terminal and time.perf_counter() > drawn_at + REFRESH:
            screen.spent = spent
            live.refresh()
            drawn_at = time.perf_counter()

    with live if console.is_terminal else nullcontext():
        for moment in moments(cell, note):
            if moment.step == 0:
                drawn = getattr(moment.env.unwrapped, "draws_layout", False)
                screen.optimum = episode_optimum(moment.env) if drawn else known_optimum(moment.env)
            screen.decided(moment)
            if console.is_terminal:
                live.refresh()
                drawn_at = time.perf_counter()
            else:
                console.print(screen.words(), highlight=False)
            if on_frame is not None:
                on_frame(film_frame(screen))
            time.sleep(pause)
    return moment


def film_frame(screen: Screen) -> Frame:
    """The environment's picture with the root's actions beside it."""
    from gymnasium_gsp.envs.picture import AGENT, FAINT, INK, Picture, as_array

    assert screen.graph is not None
    assert screen.moment is not None
    shown, graph, result = screen.shown, screen.graph, screen.graph.result
    high, wide = shown.shape[:2]
    pixels = 2 * round(PANEL * wide / 2.0)
    panel = Picture(100.0 * high / pixels - 11.0, pixels)
    order, most = result.ranking()[:MOST_ACTIONS], max(1, int(result.visit_counts.max()))
    row = min(12.0, (panel.height - 12.0) / max(1, len(order)))
    panel.text(4.0, 6.0, "action, visits and value", 5.0, FAINT, "midleft")
    for place, action in enumerate(order):
        y, visits = 12.0 + row * place, int(result.visit_counts[action])
        colour, length = AGENT if action == result.action else "#9fb4c8", max(0.6, 92.0 * visits / most)
        panel.rectangle(4.0, y + 0.55 * row, length, 0.3 * row, colour, 0.8)
        panel.text(4.0, y + 0.25 * row, result.name(action), 0.45 * row, INK, "midleft")
        value = f"{visits:,}   {graph.result.q_values[action]:.4g}" if visits else "never tried"
        panel.text(96.0, y + 0.25 * row, value, 0.45 * row, INK, "midright")
    best = "" if screen.optimum is None else f"best {screen.optimum:.3g}"
    panel.caption(f"return {screen.moment.total:.3g}", best)
    beside = as_array(panel.finished())
    frame = np.full((high + high % 2, wide + wide % 2 + pixels, 3), beside[0, 0], np.uint8)
    frame[:high, :wide] = shown
    frame[: len(beside[:high]), wide + wide % 2 :] = beside[:high]
    return frame
