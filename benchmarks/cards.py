"""Evaluation cards of ten standard environments, by the default planner with default options.

    python -m benchmarks.cards            play the cards that are missing, and write the table of docs/evaluation.md

Stopped and started again it goes on with the first card that is missing.  To measure one anew, delete its file.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.markers import fill
from gymnasium_gsp.bench.card import Card, Interval, read_card, write_card
from gymnasium_gsp.bench.evaluation import evaluate

FOLDER = Path(__file__).with_name("cards")
PAGE = Path(__file__).parents[1] / "docs/evaluation.md"
EPISODES = {  # as many as some minutes pay for
    "GSP/FrozenLake-v0": 100,
    "GSP/PassengerGrid-v0": 100,
    "GSP/FactoredRiverSwim-v0": 100,
    "GSP/SysAdminRing-v0": 100,
    "GSP/FourRooms-v0": 100,
    "FrozenLake-v1": 100,
    "CliffWalking-v1": 30,
    "Taxi-v4": 100,
    "Blackjack-v1": 60,
    "CartPole-v1": 3,
}


def card_file(env: str, folder: Path = FOLDER) -> Path:
    """The file of an environment's card."""
    return folder / f"{env.replace('/', '-')}.json"


def cards(folder: Path = FOLDER, episodes: Mapping[str, int] = EPISODES) -> Iterable[Card]:
    """The cards; what is missing is played and written first.

    Raises:
        RecipeError: if a file is damaged or of another version; it is left as it was.
    """
    for env, count in episodes.items():
        path = card_file(env, folder)
        if not path.exists():
            write_card(evaluate(env, episodes=count), path)
        yield read_card(path)


def table(played: Iterable[Card]) -> list[str]:
    """Lines of a Markdown table, one row a card."""
    lines = [
        "| environment | budget of a decision | episodes | mean return | interquartile mean | best | s a decision |",
        "|---|---|---|---|---|---|---|",
    ]
    for card in played:
        spent = f"{card.budget} simulations" if isinstance(card.budget, int) else f"`{card.budget}`"
        mean = f"{card.mean_return:.4g}{_ends(card.mean_interval)}"
        middle = f"{card.interquartile_mean:.4g}{_ends(card.interquartile_mean_interval)}"
        best = "" if card.optimum is None else f"{card.optimum:.4g}"
        place = f"[{card.environment}](../benchmarks/cards/{card_file(card.environment).name})"
        cells = (place, spent, len(card.returns), mean, middle, best, f"{card.seconds_per_decision:.2g}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _ends(interval: Interval) -> str:
    return "" if interval is None else f" ({interval[0]:.4g} to {interval[1]:.4g})"


def main() -> None:
    """Play what is missing, and write the table."""
    FOLDER.mkdir(exist_ok=True)
    played = []
    for card in cards():
        played.append(card)
        print(f"{card.environment}: {card.mean_return:.4g} over {len(card.returns)} episodes", flush=True)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), "cards", "\n".join(table(played))), encoding="utf-8")


if __name__ == "__main__":
    main()
