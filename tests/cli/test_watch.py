"""`gsp watch`: the planner in a terminal, as plain lines elsewhere, and as a film."""

import io

import gymnasium as gym
import pytest
from rich.console import Console
from typer.testing import CliRunner

from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.inspection import with_pictures
from gymnasium_gsp.bench.watching import watch
from gymnasium_gsp.cli.commands import app

pytest.importorskip("pygame", reason="pictures need pygame-ce")


def gsp(*arguments):
    return CliRunner().invoke(app, ["watch", *map(str, arguments), "--budget", "16"])


def test_elsewhere_than_on_a_terminal_each_decision_is_a_line():
    answer = gsp("FrozenLake", "--env-set", "horizon=3", "--seed", 1)
    assert answer.exit_code == 0, answer.output
    *steps, end = answer.stdout.splitlines()
    assert [step.partition(":")[0] for step in steps] == ["step 0", "step 1", "step 2", "step 3"]
    assert "return so far 0, best expected return" in steps[0]
    assert "the episode has ended" in steps[-1]
    assert end == "the return of the episode is 0"


def test_modules_wrappers_and_simulators_are_taken(tmp_path, monkeypatch):
    (tmp_path / "watched_lake.py").write_text(
        "import gymnasium as gym\nfrom gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv\n"
        "gym.register('WatchedLake-v0', FrozenLakeEnv, max_episode_steps=2)\n"
        "def dearer(env):\n    return gym.wrappers.TransformReward(env, lambda reward: reward - 1.0)\n"
        "def simulated():\n    return gym.make('WatchedLake-v0')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    flags = ["--wrap", "watched_lake:dearer", "--simulator", "watched_lake:simulated"]
    try:
        answer = gsp("WatchedLake-v0", "--import", "watched_lake", *flags)
    finally:
        gym.registry.pop("WatchedLake-v0", None)
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines()[-1] == "the return of the episode is -2"


@pytest.mark.parametrize(("mode", "looks"), [("ansi", " F  F  F "), ("rgb_array", "▀\x1b")])
def test_a_terminal_shows_the_environment_beside_the_actions(mode, looks):
    cell = with_pictures(
        Cell(env="FrozenLake", algorithm="gs-power-uct", budget=16, env_options={"horizon": 2}), (mode,)
    )
    screen = io.StringIO()
    watch(cell, "a lake", Console(file=screen, force_terminal=True, width=120, height=40), 0.0)
    text = screen.getvalue()
    for words in (
        "a lake",
        looks,
        "action",
        "visits",
        "standard errors",
        "left",
        "█",
        "simulations used",
        "return so far",
    ):
        assert words in text, words


def test_bounds_are_called_bounds():
    screen = io.StringIO()
    cell = Cell(env="FrozenLake", algorithm="gbop", budget=16, env_options={"horizon": 1})
    watch(cell, "", Console(file=screen, force_terminal=True, width=120, height=40), 0.0)
    assert "bounds" in screen.getvalue()
    assert "this environment shows nothing" in screen.getvalue()


@pytest.mark.parametrize("env", ["SysAdminRing", "FourRooms", "CliffWalking-v1"])
def test_a_film_has_the_search_beside_the_picture(env, tmp_path):
    from PIL import Image

    film = tmp_path / "film.gif"
    limit = () if env.startswith("Cliff") else ("--env-set", "horizon=3")
    gym.register("ShortCliff-v0", "gymnasium.envs.toy_text:CliffWalkingEnv", max_episode_steps=3)
    try:
        answer = gsp("ShortCliff-v0" if env.startswith("Cliff") else env, *limit, "--video", film)
    finally:
        del gym.registry["ShortCliff-v0"]
    assert answer.exit_code == 0, answer.output
    assert f"the film is in {film}" in answer.stdout
    with Image.open(film) as frames:
        assert 2 <= frames.n_frames <= 4
        assert frames.size[0] > 700 or env.startswith("Cliff")


def test_bad_input_says_what_to_do(tmp_path, monkeypatch):
    assert (
        "a film is a .gif or, with moviepy, a .mp4, not 'film.avi'" in gsp("FrozenLake", "--video", "film.avi").stderr
    )
    monkeypatch.setattr("gymnasium_gsp.bench.film.find_spec", lambda name: None)
    assert "actions=3 counts points of a continuous action space" in gsp("FrozenLake", "--actions", 3).stderr
    assert "pip install 'gymnasium-gsp[films]'" in gsp("FrozenLake", "--video", "film.mp4").stderr
    there = tmp_path / "there.gif"
    there.write_text("kept")
    assert "exists; give --force" in gsp("FrozenLake", "--video", there).stderr
    assert there.read_text() == "kept"
    monkeypatch.setattr("gymnasium_gsp.bench.inspection.find_spec", lambda name: None)
    answer = gsp("FrozenLake", "--video", tmp_path / "film.gif")
    assert answer.exit_code == 2
    assert "no film can be made of GSP/FrozenLake-v0" in answer.stderr
