"""The development set: its environments, their optima, the file that `gsp bench` plays, and the table of its scores."""

import sys
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest

from benchmarks import development
from benchmarks.development.__main__ import main, scored
from gymnasium_gsp.agents.agent import make_agent
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import play_episode
from gymnasium_gsp.bench.grid import read_grids
from gymnasium_gsp.bench.store import Store, read

FILE = Path(development.__file__).parents[1] / "development.toml"
OPTIMA = {  # by hand where whole: moves, or steps
    "Chain40": 1.0,
    "SlidingTiles": -18.0,
    "Boxes": -9.0,
    "KeyMaze7": -20.0,
    "SlipperyCliff": -63.0133732918,
}


@pytest.mark.parametrize("name", development.ENTRIES)
def test_every_environment_is_gymnasiums_and_has_an_exact_optimum(name):
    cell = Cell(env=f"Development/{name}-v0", algorithm="uct", budget=1)
    first, again = play_episode(cell, 0), play_episode(cell, 0)
    assert (first.total_reward, first.regret) == (again.total_reward, again.regret)
    assert first.regret >= 0.0
    env = cell.make_env()
    limit = development.ENTRIES[name].steps
    assert env.spec.max_episode_steps == limit
    assert make_agent(env, "uct", budget=1).describe()["time limit"] == ("none" if limit is None else f"{limit} steps")
    if name in OPTIMA:
        assert first.optimum == pytest.approx(OPTIMA[name], abs=1e-6)


def test_steps_follow_the_table():
    env = gym.make("Development/Endless35-v0").unwrapped
    env.reset(seed=0)
    counts = np.zeros(len(env.P))
    for _ in range(4000):
        env.s = 0
        after, *_ = env.step(1)
        counts[after] += 1
    expected = np.zeros(len(env.P))
    for chance, after, _, _ in env.P[0][1]:
        expected[after] += 4000 * chance
    error = np.sqrt(np.maximum(expected * (1 - expected / 4000), 1e-9))
    assert (abs(counts - expected) <= 5.5 * error).all()  # 36 comparisons, fixed seed


def test_the_file_plays_every_environment_and_holds_four_out(baselines, monkeypatch):
    monkeypatch.setitem(sys.modules, "minigrid", ModuleType("minigrid"))  # it may not be installed
    grids = read_grids(FILE).grid
    played = {env for grid in grids for env in grid.envs}
    assert {f"Development/{name}-v0" for name in development.ENTRIES} <= played
    assert len(development.HELD_OUT) == 4
    assert set(development.HELD_OUT) < played
    assert sum(env.startswith("IPPC/") for env in played) == 5
    scored = {env for grid in grids for env in grid.envs if grid.budgets == (1,) and grid.algorithms == ("uct",)}
    assert scored == {env for grid in grids for env in grid.envs if "retention" in grid.options}
    assert played - scored == {"Blackjack-v1", "minigrid:MiniGrid-DoorKey-5x5-v0"}  # whose optimum is not known


def test_scores_are_0_for_uniform_play_and_1_for_the_optimum(tmp_path, capsys, baselines):
    store = tmp_path / "development.sqlite"
    cells = [
        Cell(env=f"Development/{name}-v0", algorithm=algorithm, budget=budget, options=options)
        for name in ("Random10", "Racetrack")
        for algorithm, budget, options in (("uct", 1, ""), ("graft", 8, ""), ("graft", 8, {"retention": "decision"}))
    ]
    with Store(store) as opened:
        for cell in cells:
            opened.add((cell, play_episode(cell, index)) for index in range(3))
    rows = read(store)
    rows["regret"] = np.where(rows.algorithm == "uct", rows.regret, 0.5 * rows.regret)
    found = scored(rows).set_index(["env", "planner"])
    uniform = rows[(rows.algorithm == "uct") & (rows.env == "Development/Random10-v0")].regret.mean()
    graft = rows[(rows.options == "") & (rows.algorithm == "graft") & (rows.env == "Development/Random10-v0")].regret
    assert found.loc[("Development/Random10-v0", "graft")].score == pytest.approx(1.0 - graft.mean() / uniform)
    assert len(found) == 4
    assert (found.simulations > 8.0).all()  # of an episode, not of a decision
    main([str(store)])
    printed = capsys.readouterr().out
    means, chosen, held_out = printed.split("## ")[1:]
    assert "graft, fresh graph" in means
    assert "Random10" in chosen
    assert "Racetrack" not in chosen
    assert "Racetrack" in held_out
