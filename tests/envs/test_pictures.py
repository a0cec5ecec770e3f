"""Pictures of the environments: what differs looks different, at any size, without a display; films can be made."""

import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import RecordVideo

from gymnasium_gsp.envs import BENCHMARKS
from gymnasium_gsp.envs.compiled_env import CompiledEnv
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv

pytest.importorskip("pygame", reason="pictures need pygame-ce")


def made(name, mode="rgb_array", **arguments):
    env = gym.make(f"GSP/{name}-v0", render_mode=mode, **arguments)
    env.reset(seed=3)
    return env


@pytest.mark.parametrize("name", [benchmark.name for benchmark in BENCHMARKS])
@pytest.mark.parametrize("size", [256, pytest.param(1024, marks=pytest.mark.slow)])
def test_a_picture_has_the_size_asked_for_and_follows_the_state(name, size):
    with made(name) as env:
        env.unwrapped.render_size = size
        seen = {}
        for _ in range(12):
            pixels, state = env.render(), env.unwrapped.clone_state()
            assert pixels.dtype == np.uint8
            assert pixels.shape[1:] == (size, 3)
            assert pixels.shape[0] % 2 == 0
            assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 8
            np.testing.assert_array_equal(pixels, env.render())
            seen.setdefault(state, pixels.tobytes())
            if env.step(env.action_space.n // 2)[2]:
                break
        assert len(set(seen.values())) == len(seen) > 1


def changed_pixels(env, first, second):
    """How many pixels differ between two states, caption included."""
    pictures = []
    for state in (first, second):
        env.unwrapped.set_state(state)
        pictures.append(env.render().astype(int))
    return (np.abs(pictures[0] - pictures[1]).max(axis=2) > 24).sum()


@pytest.mark.parametrize(
    ("name", "cells", "other"),
    [
        ("FrozenLake", (0,), (1,)),
        ("PassengerGrid", (3,), (3 + 42,)),  # a passenger on board
        ("FactoredRiverSwim", (0,), (1 << 8,)),  # another river
        ("SysAdminRing", (1,), (2,)),  # another machine
    ],
)
def test_what_the_state_holds_can_be_seen(name, cells, other):
    with made(name) as env:
        env.unwrapped.render_size = 256
        state = env.unwrapped.clone_state()
        assert changed_pixels(env, state._replace(cells=cells), state._replace(cells=other)) > 60


def test_the_doors_and_the_goal_of_a_layout_can_be_seen():
    with made("FourRooms") as env:
        state = env.unwrapped.clone_state()
        *fixed, goal, doors = state.layout
        moved = (doors[0] - 11 if doors[0] >= 11 else doors[0] + 11, *doors[1:])
        assert changed_pixels(env, state, state._replace(layout=(*fixed, goal, moved))) > 400


def test_a_slip_can_be_seen():
    with made("FrozenLake", slip=0.5) as env:
        env.unwrapped.set_state(env.unwrapped.clone_state()._replace(cells=(9,)))
        env.step(2)  # wants right, is always turned up or down
        slipped = env.render()
        env.unwrapped.set_state(env.unwrapped.clone_state())
        assert (slipped != env.render()).any(axis=2).sum() > 400


def test_slip_is_told_by_the_way_not_by_the_place():
    """At the border an agent that stays has gone where it was turned to; staying on purpose is no slip."""
    with made("FrozenLake", slip=0.0) as env:
        env.step(0)
        stayed = env.render()
        red = (stayed[..., 0] > 150) & (stayed[..., 1] < 60) & (stayed[..., 2] < 60)
        assert red[-40:].sum() == 0


class Plain(FrozenLakeEnv):
    _picture = CompiledEnv._picture


def test_an_environment_without_a_drawing_shows_its_text():
    env = Plain(render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    env.step(1)
    assert (env.render() != first).any()


@pytest.mark.parametrize("size", [0, 15, 9000, 2.5, "large"])
def test_senseless_sizes_are_refused(size):
    with made("FrozenLake") as env:
        env.unwrapped.render_size = size
        with pytest.raises(ValueError, match="render_size"):
            env.render()


def test_a_film_can_be_made(tmp_path):
    pytest.importorskip("moviepy", reason="films of Gymnasium need moviepy")
    env = RecordVideo(gym.make("GSP/PassengerGrid-v0", render_mode="rgb_array"), str(tmp_path), disable_logger=True)
    env.reset(seed=0)
    done = False
    while not done:
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        done = terminated or truncated
    env.close()
    (film,) = tmp_path.glob("*.mp4")
    assert film.stat().st_size > 5_000


SCRIPT = """
import gymnasium as gym
import gymnasium_gsp
with gym.make("GSP/FourRooms-v0", render_mode="human") as env:
    env.reset(seed=0)
    env.step(0)
    import pygame
    print(pygame.display.get_surface().get_size())
"""


def run(script, **environment):
    clean = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        [sys.executable, "-c", script], env={**clean, **environment}, capture_output=True, text=True, check=False
    )


def test_a_window_follows_the_episode():
    done = run(SCRIPT, SDL_VIDEODRIVER="dummy")
    assert "(512, 568)" in done.stdout, done.stderr


def test_without_a_display_an_error_says_what_to_do():
    done = run(SCRIPT, SDL_VIDEODRIVER="x11")
    assert "needs a display" in done.stderr
    assert "use render_mode='rgb_array'" in done.stderr


def test_without_pygame_an_error_says_what_to_install(monkeypatch):
    with made("FrozenLake") as env:
        monkeypatch.delitem(sys.modules, "gymnasium_gsp.envs.picture", raising=False)
        monkeypatch.setitem(sys.modules, "pygame", None)
        with pytest.raises(DependencyNotInstalled, match=r"gymnasium-gsp\[rendering\]"):
            env.render()


def test_the_command_writes_a_film_of_each_environment(tmp_path, monkeypatch):
    from PIL import Image

    from benchmarks import pictures

    monkeypatch.setattr(pictures, "FRAMES", 4)
    monkeypatch.setattr(pictures, "screenshot", lambda path: None)  # that needs a browser
    pictures.main(tmp_path)
    for benchmark in BENCHMARKS:
        with Image.open(tmp_path / f"{benchmark.name}.gif") as film:
            assert film.n_frames > 1
            assert film.size[0] == pictures.PIXELS


def test_pictures_go_on_when_another_environment_has_ended_pygame():
    import pygame

    with made("SysAdminRing") as env:
        env.render()
        pygame.quit()
        assert env.render().any()
