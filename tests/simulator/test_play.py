"""The "It plays" table: its cheap rows at small budgets, resumed where they stopped, and put between its markers."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import gymnasium_gsp as gsp

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CHEAP = ("taxi", "cliff", "lake", "blackjack", "cartpole", "acrobot", "mountaincar")


@pytest.fixture
def command(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import play

    yield play
    sys.modules.pop("play", None)
    sys.modules.pop("rows", None)


def test_the_cheap_rows_play(command, capsys):
    command.main([*CHEAP, "--trial"])
    printed = capsys.readouterr().out
    for row in command.ROWS:
        if row.name in CHEAP:
            line = next(text for text in printed.splitlines() if text.startswith(f"| {row.env} "))
            assert line.count("|") == 10
            assert "not played" not in line
    assert command.RESULTS.name not in printed


def small(command, name, **changes):
    row = next(row for row in command.ROWS if row.name == name)
    return dataclasses.replace(row, budget=gsp.Budget(simulations=64), episodes=3, longest=30, **changes)


def test_a_row_is_resumed_and_reaches_what_it_must(command, tmp_path):
    row, kept = small(command, "cliff"), tmp_path / "play.jsonl"
    command.play(dataclasses.replace(row, episodes=1), kept, np.inf)
    first = kept.read_text()
    assert "so far" in "\n".join(command.table([row], kept))
    command.play(row, kept, np.inf)
    assert kept.read_text().startswith(first)
    assert [line["episode"] for line in command.known(row, command.settings(row), kept)] == [0, 1, 2]
    command.play(row, kept, np.inf)
    assert len(kept.read_text().splitlines()) == 3
    assert "so far" not in "\n".join(command.table([row], kept))
    command.play(dataclasses.replace(row, episodes=9), kept, -np.inf)  # no time left
    assert len(kept.read_text().splitlines()) == 3
    assert command.known(small(command, "cliff", algorithm="uct"), "uct(), 64 simulations", kept) == []


def test_a_rival_plays_the_same_seeds(command, tmp_path):
    rows = sys.modules["rows"]
    row = small(command, "lake", goal=None, rival=("random", rows.random_policy), sigmas=4.9)
    kept = tmp_path / "play.jsonl"
    command.play(row, kept, np.inf)
    for player in (command.settings(row), "random"):
        assert [line["episode"] for line in command.known(row, player, kept)] == [0, 1, 2]
    assert "standard errors above" in "\n".join(command.table([row], kept))


def test_the_table_goes_between_its_markers(command):
    page = f"before\n{command.MARKERS[0]}\nold\n{command.MARKERS[1]}\nafter\n"
    filled = command.fill(page, "| new |")
    assert "old" not in filled
    assert filled.startswith("before\n")
    assert filled.endswith("\nafter\n")
    assert command.fill(filled, "| new |") == filled
    assert command.fill("no markers", "| new |") == "no markers"
