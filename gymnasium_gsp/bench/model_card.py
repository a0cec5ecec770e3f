"""An evaluation card as a model card: Markdown with the metadata that the Hugging Face Hub reads into leaderboards."""

from pathlib import Path

import jinja2
import numpy as np

from gymnasium_gsp.bench.card import Card, Interval
from gymnasium_gsp.bench.report.text import markdown_text


def model_card(card: Card) -> str:
    """The model card.

    Its metric `mean_reward` is written as leaderboards of reinforcement learning read it: mean +/- standard deviation
    of the returns.
    """
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "data"), trim_blocks=True, keep_trailing_newline=True
    )
    templates.filters |= {"text": markdown_text, "interval": _interval_text}
    reward = f"{card.mean_return:.2f} +/- {np.std(card.returns):.2f}"
    return templates.get_template("model_card.md").render(card=card, reward=reward)


def _interval_text(interval: Interval) -> str:
    return "" if interval is None or interval[0] == interval[1] else f" ({interval[0]:.4g} to {interval[1]:.4g})"
