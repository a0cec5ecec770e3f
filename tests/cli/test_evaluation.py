"""`gsp evaluate` and `gsp compare`."""

import json

import pytest
from typer.testing import CliRunner

from gymnasium_gsp.bench.card import read_card
from gymnasium_gsp.cli.commands import app

LAKE = ("evaluate", "FrozenLake", "--budget", "4", "--episodes", "6", "--env-set", "horizon=10")


def gsp(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def cards(tmp_path):
    """Cards of two planners, with their answers."""
    paths = [tmp_path / f"{name}.json" for name in ("graft", "uct")]
    for path in paths:
        answer = gsp(*LAKE, "--algorithm", path.stem, "--json", path)
        assert answer.exit_code == 0, answer.output
        assert f"written: {path}" in answer.stdout
        assert "no spread was seen" in answer.stdout
        assert "simulator" in answer.stdout
    return paths


def test_two_cards_are_compared_by_one_interval(cards):
    found = json.loads(gsp("compare", *cards, "--json").stdout)
    first, second = map(read_card, cards)
    assert found["mean_difference"] == pytest.approx(first.mean_return - second.mean_return)
    assert (found["episodes"], found["clear"], found["notes"]) == (6, False, [])
    words = " ".join(gsp("compare", *cards).stdout.split())
    assert "first graft, 4 simulations second uct, 4 simulations difference" in words
    assert "over 6 episodes with the same resets: fewer than 30 pairs of episodes decide nothing" in words


def test_equal_returns_of_few_episodes_are_called_luck_and_have_no_interval(tmp_path):
    path = tmp_path / "card.json"
    five = ("evaluate", "FrozenLake", "--budget", 256, "--episodes", 5, "--seed", 1, "--json", path)
    words = " ".join(gsp(*five).stdout.split())
    assert read_card(path).returns == (1.0,) * 5
    assert "mean return 1.0000 no spread was seen" in words
    assert "no planner does better on average; above it is luck, which more episodes even out" in words
    assert "fewer than 30 episodes show little; all are equal, and still up to 45% of episodes may return" in words
    assert "95 %: 1 to 1" not in words
    words = " ".join(gsp("compare", path, path).stdout.split())
    assert "difference +0 no spread was seen" in words
    assert "fewer than 30 pairs of episodes decide nothing" in words
    assert "chance" not in words
    other = tmp_path / "other.json"
    spread = gsp("evaluate", "FrozenLake", "--budget", 64, "--episodes", 5, "--seed", 7, "--json", other).stdout
    mean = sum(read_card(other).returns) / 5
    assert 0.0 < mean < 0.9  # below the optimum
    assert f"{mean:.4f}  95 %: " in spread
    assert "above it is luck" not in spread


def test_an_existing_file_stays_unless_it_may_go(cards, tmp_path):
    before = cards[0].read_bytes()
    answer = gsp(*LAKE, "--json", cards[0])
    assert answer.exit_code == 2
    assert "exists; give --force to write over it" in answer.stderr
    assert cards[0].read_bytes() == before
    page = tmp_path / "card.md"
    assert gsp(*LAKE, "--seed", 1, "--json", cards[0], "--model-card", page, "--force").exit_code == 0
    assert read_card(cards[0]).seed == 1
    assert "model-index:" in page.read_text()
    assert "exists; give --force" in gsp(*LAKE, "--model-card", page).stderr
    answer = gsp("compare", *cards)
    assert answer.exit_code == 2
    assert "share no reset seed" in answer.stderr


def test_bad_input_is_one_line_before_anything_is_played(tmp_path):
    for words, arguments in {
        "there is no folder": (*LAKE, "--json", tmp_path / "no" / "card.json"),
        "Did you mean 'horizon'": (*LAKE, "--set", "horzion=3"),
        "is no evaluation card": ("compare", __file__, __file__),
        "nowhere.json cannot be read": ("compare", "nowhere.json", "nowhere.json"),
    }.items():
        answer = gsp(*arguments)
        assert answer.exit_code == 2
        assert answer.stdout == ""
        assert words in answer.stderr
        assert answer.stderr.startswith("gsp: ")
