import contextlib
import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gymnasium_gsp.bench.store import read
from gymnasium_gsp.cli.commands import app

ROOT = Path(__file__).parents[2]
GRID = ["--envs", "FrozenLake,FourRooms", "--algorithms", "uct,gs-power-uct", "--budgets", "4,8"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")


def gsp(*arguments):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


def said(answer):
    """What a refused command said, in its one line."""
    assert answer.exit_code == 2, answer.output
    (line,) = answer.stderr.splitlines()
    return line


def start(*arguments, **more):
    """`gsp bench` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gymnasium_gsp.cli", "bench", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def rows(path):
    """All columns but time."""
    return read(path).drop(columns="seconds").astype({"optimum": str, "regret": str}).to_dict("records")


def test_the_rows_are_the_episodes_of_gsp_run(tmp_path):
    path = tmp_path / "results.sqlite"
    answer = gsp(*GRID, "--episodes", 4, "--seed", 5, "--store", path, "--jobs", 1)
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines()[0] == f"8 cells, 32 episodes, 0 of them in {path}"
    command = [
        "run",
        "FourRooms",
        "--algorithm",
        "gs-power-uct",
        "--budget",
        "8",
        "--episodes",
        "4",
        "--seed",
        "5",
        "--json",
    ]
    summary = json.loads(CliRunner().invoke(app, command).stdout)
    wanted = ("GSP/FourRooms-v0", "gs-power-uct", 8)
    cell = [row for row in rows(path) if (row["env"], row["algorithm"], row["budget"]) == wanted]
    assert sum(row["total_reward"] for row in cell) / 4 == pytest.approx(summary["mean_return"], abs=1e-12)
    assert sum(row["model_steps"] for row in cell) == summary["model_steps"]
    assert {row["recipe"] for row in cell} == {summary["recipe"]}
    assert gsp(*GRID, "--episodes", 4, "--seed", 5, "--store", path).stdout == (
        f"8 cells, 32 episodes, 32 of them in {path}\n"
    )


def test_results_of_another_version_or_recipe_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "results.sqlite"
    one = ["--envs", "FrozenLake", "--algorithms", "uct", "--budgets", "4", "--store", path, "--jobs", 1]
    assert gsp(*one, "--episodes", 2).exit_code == 0
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("gymnasium_gsp.bench.benchmark.versions", lambda: '{"gymnasium_gsp": "9.9"}')
        line = said(gsp(*one, "--episodes", 5))
    assert "episodes of gymnasium-gsp" in line
    assert "this is 9.9" in line
    assert "give another --store" in line
    from gymnasium_gsp.algorithms.registry import ALGORITHMS

    changed = dataclasses.replace(ALGORITHMS["uct"], recipe=lambda **slots: ALGORITHMS["gs-power-uct"].recipe(**slots))
    with monkeypatch.context() as patch:
        patch.setitem(ALGORITHMS, "uct", changed)
        assert "episodes of the recipe" in said(gsp(*one, "--episodes", 5))
    assert path.read_bytes() == before


def test_bad_input_is_one_line_and_makes_no_file(tmp_path):
    path = tmp_path / "results.sqlite"
    for words, arguments in {
        "unknown algorithm of paper 'utc'. Did you mean 'uct'?": ["paper", "--algorithms", "utc"],
        "The benchmarks are GSP/FrozenLake-v0, ": ["paper", "--envs", "FrozenLak"],
        "budget: simulations must be": ["paper", "--budgets", "64,0"],
        "give --jobs or --dask, not both": [*GRID, "--jobs", "2", "--dask", "tcp://there:8786"],
        "Invalid value for '--jobs'": [*GRID, "--jobs", "0"],
        "unknown option of uct 'discont'. Did you mean 'discount'?": [*GRID, "--set", "discont=1"],
        "unknown preset of uct 'papre'. Did you mean 'paper'?": [*GRID, "--preset", "papre"],
        "nowhere cannot be imported": [*GRID, "--import", "nowhere"],
        "a seed must be a whole number": ["paper", "--seed", "-1"],
    }.items():
        assert words in said(gsp(*arguments, "--store", path))
        assert not path.exists()
    assert "is a folder" in said(gsp(*GRID, "--store", tmp_path))
    path.write_text("results" * 1000)
    assert "no SQLite file" in said(gsp(*GRID, "--store", path))


def test_an_environment_that_fails_keeps_what_was_played(tmp_path, monkeypatch):
    (tmp_path / "frail_lake.py").write_text(
        "import gymnasium as gym\n"
        "from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv\n"
        "class Lake(FrozenLakeEnv):\n"
        "    steps = 0\n"
        "    def step(self, action):\n"
        "        Lake.steps += 1\n"
        "        if Lake.steps > 20: raise ZeroDivisionError('the ice is broken')\n"
        "        return super().step(action)\n"
        "gym.register('FrailLake-v0', 'frail_lake:Lake', max_episode_steps=3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "results.sqlite"
    command = ["--envs", "frail_lake:FrailLake-v0", "--algorithms", "uct", "--budgets", "4", "--episodes", "50"]
    answer = gsp(*command, "--store", path, "--jobs", 1)
    assert answer.exit_code == 1
    assert "FrailLake-v0, uct, 4 simulations" in answer.stderr
    assert "ZeroDivisionError: the ice is broken" in answer.stderr
    assert "gsp run FrailLake-v0 --algorithm uct --budget 4 --seed 0 --import frail_lake --episodes " in answer.stderr
    assert len(rows(path)) == 50
    assert 1 <= sum(row["failure"] == "" for row in rows(path)) <= 20


@posix
def test_an_environment_that_ends_its_process_ends_no_other_cell(tmp_path):
    """Nothing is stepped in the process of the command itself, not even with one job."""
    (tmp_path / "dead_end.py").write_text(
        "import os, gymnasium as gym\n"
        "class Dead(gym.Env):\n"
        "    observation_space, action_space = gym.spaces.Discrete(30), gym.spaces.Discrete(2)\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        super().reset(seed=seed); self.x = 0; return 0, {}\n"
        "    def step(self, action):\n"
        "        self.x += 1\n"
        "        if self.x == 3: os._exit(7)\n"
        "        return self.x, 0.0, False, False, {}\n"
        "gym.register('Dead-v0', 'dead_end:Dead', max_episode_steps=30)\n"
    )
    path = tmp_path / "results.sqlite"
    command = ["--envs", "dead_end:Dead-v0,FrozenLake", "--algorithms", "uct", "--budgets", "4", "--episodes", "3"]
    running = start(*command, "--store", path, "--jobs", 1, PYTHONPATH=os.pathsep.join([str(ROOT), str(tmp_path)]))
    _, errors = running.communicate(timeout=300)
    assert running.returncode == 1
    assert "Dead-v0, uct, 4 simulations, episode 0: has ended its process" in errors
    assert sum(row["failure"] == "" for row in rows(path)) == 3


def test_progress_has_no_colours_where_nobody_looks_at_a_terminal(tmp_path):
    running = start(*GRID, "--episodes", 3, "--store", tmp_path / "results.sqlite", "--jobs", 1, TERM="xterm")
    output, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert "\x1b" not in output + errors
    assert "24/24" in errors


@posix
def test_ctrl_c_keeps_the_rows_and_says_how_to_go_on(tmp_path):
    path = tmp_path / "results.sqlite"
    running = start(*GRID, "--episodes", 100_000, "--store", path, "--jobs", 2)
    try:
        wait_for_rows(running, path)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 130
    assert "Traceback" not in errors
    kept = len(rows(path))
    assert errors.splitlines()[-1] == (
        f"gsp: interrupted: {kept} of 800000 episodes are in {path}; the same command goes on"
    )


def wait_for_rows(running, path):
    """Wait until some episodes are in the store."""
    for _ in range(600):
        assert running.poll() is None, running.communicate()
        if path.exists() and rows(path):
            return
        time.sleep(0.1)
    raise AssertionError("no episode in a minute")


def found(path):
    """What is in the store, if there is one yet."""
    return rows(path) if path.exists() else []


def kill_again_and_again(folder, times, episodes, longest):
    """Kill the command, with and without its workers, then let it finish; how often it was cut short.

    The first time as soon as something is in the store, then at random moments.
    What was in the store before a kill must be there after it, and at the end every row of an unbroken run, once.
    """
    rng = random.Random(6)
    broken, unbroken = folder / "broken.sqlite", folder / "unbroken.sqlite"
    command = [*GRID, "--episodes", episodes, "--jobs", 2, "--store"]
    cut_short = 0
    for turn in range(times):
        before = found(broken)
        running = start(*command, broken)
        if turn == 0:
            wait_for_rows(running, broken)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(0.0 if turn == 0 else rng.uniform(0.3, longest))
        cut_short += running.poll() is None
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if turn % 2 else os.kill)(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)  # until workers that outlive their parent have noticed
        after = found(broken)
        assert [row for row in after if row in before] == before
    for path in (broken, unbroken):
        finished = start(*command, path)
        _, errors = finished.communicate(timeout=300)
        assert finished.returncode == 0, errors
    assert rows(broken) == rows(unbroken)
    assert len(rows(broken)) == 8 * episodes
    return cut_short


@posix
@pytest.mark.slow
def test_killed_twenty_times_at_random_moments_nothing_is_lost_and_nothing_doubled(tmp_path):
    assert kill_again_and_again(tmp_path, times=20, episodes=2000, longest=4.5) > 10
