import csv
import re
import sqlite3
import sys

import gymnasium as gym
import numpy as np
import pytest
from invented_rows import paper, rows
from typer.testing import CliRunner

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.cli.commands import app

OWN = """
import gymnasium as gym

LAKE = "gymnasium_gsp.envs.frozen_lake:FrozenLakeEnv"
gym.register("ReportedLake-v0", LAKE, kwargs={"slip": 0.0}, max_episode_steps=30)
"""


def gsp(*arguments, command="report"):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


def add(opened, episodes):
    def part(values, of_cell):
        return {name: value for name, value in values.items() if (name in Cell.model_fields) is of_cell}

    opened.add((Cell(**part(values, True)), Episode(**part(values, False))) for values in episodes)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(here):
    with Store(here / "results.sqlite") as opened:
        add(opened, paper(6, envs=("FrozenLake",), algorithms=("uct", "gs-power-uct"), budgets=(16, 64)))
    return here / "results.sqlite"


def refused(answer):
    assert answer.exit_code == 2, answer.output
    assert len(answer.stderr.splitlines()) == 1
    return answer.stderr


def test_by_default_a_page_is_written_from_results_sqlite(store):
    before = store.read_bytes()
    answer = gsp()
    assert answer.exit_code == 0, answer.output
    assert (store.parent / "report.html").read_text().startswith("<!doctype html>")
    assert answer.stdout.splitlines()[0] == (
        "24 episodes, 1 environment, 2 planners, 2 budgets. The winner is named at the largest of 2 budgets at "
        "which two planners can be compared; the others stand below."
    )
    assert answer.stdout.splitlines()[-1] == "written: report.html"
    assert store.read_bytes() == before


def test_a_mean_above_the_optimum_is_said_and_ends_with_one(store):
    with Store(store) as opened:
        add(opened, rows(np.full(300, 1.0), algorithm="ments", budget=16))
        add(opened, rows(np.zeros(2), algorithm="brue", budget=16))
    answer = gsp("-o", "x.csv")
    assert answer.exit_code == 1, answer.output
    assert any("ments" in line.lower() and "optimum" in line for line in answer.stdout.splitlines())
    assert answer.stdout.splitlines()[-1] == "written: x.csv"


def test_a_run_that_is_not_finished_is_shown_with_what_is_missing(store):
    with Store(store) as opened:
        add(opened, rows(np.ones(3), algorithm="ments", budget=16))
    answer = gsp("-o", "x.md")
    assert "Gaps in the grid: 2," in answer.stdout
    text = (store.parent / "x.md").read_text()
    assert "ments in FrozenLake at 16: 3 episodes only." in text
    assert "ments in FrozenLake at 64: no episodes." in text


def test_an_alarm_is_said_aloud(store):
    with Store(store) as opened:
        add(opened, rows(np.ones(300), algorithm="ments", budget=64))
    answer = gsp()
    assert "Above the exact optimum: ments in FrozenLake at 64 has a mean return of 1.0000" in answer.stdout
    assert 'class="notice alarm"' in (store.parent / "report.html").read_text()


def test_a_missing_an_empty_and_a_foreign_store_are_refused_by_name(here):
    assert "there is no store results.sqlite" in refused(gsp())
    assert not (here / "results.sqlite").exists()
    with Store(here / "empty.sqlite"):
        pass
    assert "no episodes yet" in refused(gsp("--store", "empty.sqlite"))
    (here / "text.sqlite").write_text("these are my notes, and no database at all\n" * 50)
    assert "text.sqlite" in refused(gsp("--store", "text.sqlite"))
    connection = sqlite3.connect(here / "other.sqlite")
    connection.execute("CREATE TABLE music (title TEXT)")
    connection.close()
    assert "another program" in refused(gsp("--store", "other.sqlite"))
    assert not (here / "report.html").exists()


def test_bad_places_are_refused_in_one_line(store):
    assert "must end in .html, .md, .csv, .svg, .pdf, .png" in refused(gsp("-o", "x.docx"))
    assert "there is no folder nowhere" in refused(gsp("-o", "nowhere/x.html"))


def test_what_bench_plays_is_reported(here):
    """The whole way, with an environment of one's own and one that draws layouts."""
    (here / "own_lake.py").write_text(OWN)
    sys.path.insert(0, str(here))
    try:
        flags = [
            "--algorithms",
            "uct,ments",
            "--budgets",
            "4,8",
            "--episodes",
            "6",
            "--jobs",
            "1",
            "--import",
            "own_lake",
        ]
        played = gsp("--envs", "ReportedLake-v0,FourRooms", *flags, command="bench")
        assert played.exit_code == 0, played.output
        answer = gsp("-o", "out", "--import", "own_lake")
    finally:
        sys.path.remove(str(here))
        gym.registry.pop("ReportedLake-v0", None)
    assert answer.exit_code == 0, answer.output
    cells = list(csv.DictReader((here / "out" / "cells.csv").open()))
    assert len(cells) == 2 * 2 * 2
    by_env = {cell["environment"]: cell for cell in cells}
    assert float(by_env["ReportedLake-v0"]["optimum"]) == pytest.approx(1.0)
    assert 0.0 < float(by_env["FourRooms"]["optimum"]) < 1.0
    assert by_env["FourRooms"]["published_mean"] == ""  # no budget of 8 was published
    text = (here / "out" / "report.md").read_text()
    (command,) = re.findall("gsp bench --envs FourRooms,ReportedLake-v0 .*(?= *|)", text)
    assert " --algorithms ments,uct --budgets 4,8 --episodes 6 --import own\\_lake " in command
    assert "Gaps in the grid" not in text
