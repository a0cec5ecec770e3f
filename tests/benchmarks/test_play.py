"""The "It plays" table: its cheap rows at small budgets, resumed where they stopped, and put between its markers."""

import dataclasses

import numpy as np
import pytest

import gymnasium_gsp as gsp
from benchmarks import play
from benchmarks.markers import fill
from benchmarks.play_rows import random_policy

CHEAP = ("taxi", "cliff", "lake", "blackjack", "cartpole", "acrobot", "mountaincar")


def test_the_cheap_rows_play(capsys):
    play.main([*CHEAP, "--trial"])
    printed = capsys.readouterr().out
    for row in play.ROWS:
        if row.name in CHEAP:
            line = next(text for text in printed.splitlines() if text.startswith(f"| {row.env} "))
            assert line.count("|") == 10
            assert "not played" not in line
    assert play.RESULTS.name not in printed


def small(name, **changes):
    row = next(row for row in play.ROWS if row.name == name)
    return dataclasses.replace(row, budget=gsp.Budget(simulations=64), episodes=3, longest=30, **changes)


def test_a_row_is_resumed_and_reaches_what_it_must(tmp_path):
    row, kept = small("cliff"), tmp_path / "play.jsonl"
    play.play(dataclasses.replace(row, episodes=1), kept, np.inf)
    first = kept.read_text()
    assert "so far" in "\n".join(play.table([row], kept))
    play.play(row, kept, np.inf)
    assert kept.read_text().startswith(first)
    assert [line["episode"] for line in play.known(row, play.settings(row), kept)] == [0, 1, 2]
    play.play(row, kept, np.inf)
    assert len(kept.read_text().splitlines()) == 3
    assert "so far" not in "\n".join(play.table([row], kept))
    play.play(dataclasses.replace(row, episodes=9), kept, -np.inf)  # no time left
    assert len(kept.read_text().splitlines()) == 3
    assert play.known(small("cliff", algorithm="uct"), "uct(), 64 simulations", kept) == []


def test_a_rival_plays_the_same_seeds(tmp_path):
    row = small("lake", goal=None, rival="random", make_rival=random_policy, sigmas=4.9)
    kept = tmp_path / "play.jsonl"
    play.play(row, kept, np.inf)
    for player in (play.settings(row), "random"):
        assert [line["episode"] for line in play.known(row, player, kept)] == [0, 1, 2]
    assert "standard errors above" in "\n".join(play.table([row], kept))


def test_the_table_goes_between_its_markers():
    page = "before\n<!-- plays -->\nold\n<!-- /plays -->\nafter\n"
    filled = fill(page, "plays", "| new |")
    assert "old" not in filled
    assert filled.startswith("before\n")
    assert filled.endswith("\nafter\n")
    assert fill(filled, "plays", "| new |") == filled
    with pytest.raises(ValueError, match="are missing"):
        fill("no markers", "plays", "| new |")
    with pytest.raises(ValueError, match="are missing"):
        fill("<!-- /plays --> <!-- plays -->", "plays", "| new |")
