"""`gsp tune`, killed with SIGKILL while it plays."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from gymnasium_gsp.bench.store import read

ROOT = Path(__file__).parents[2]
GRID = ["--budgets", "64,128", "--runs", "150", "--jobs", "2", "--try", "c=0.25,0.5,1.0", "--try", "p=1,2,inf"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("more", [(), ("--optuna", "12")], ids=["grid", "optuna"])
def test_a_search_that_was_killed_ends_as_an_unbroken_one(tmp_path, more):
    """SIGKILL with all workers, each time when further episodes are in the store: same rows, same preset."""
    pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'gymnasium-gsp[tune]'")

    def begin(name):
        files = ["--store", tmp_path / f"{name}.sqlite", "-o", tmp_path / f"{name}.toml"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [ROOT, os.environ.get("PYTHONPATH", "")]))}
        command = [sys.executable, "-m", "gymnasium_gsp.cli", "tune", "FourRooms", *GRID, *more, *files]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, start_new_session=True)

    def result(name):
        rows = read(tmp_path / f"{name}.sqlite").drop(columns="seconds").astype(str).to_dict("records")
        preset = tomllib.loads((tmp_path / f"{name}.toml").read_text())
        del preset["found"]["command"]
        return rows, preset

    def kept():
        path = tmp_path / "cut.sqlite"
        return len(read(path)) if path.exists() else 0

    assert begin("whole").wait(timeout=300) == 0
    rows, preset = result("whole")
    kills, before = 0, 0
    while kills < 3:
        process = begin("cut")
        while process.poll() is None and kept() <= before:
            time.sleep(0.02)
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        kills, before = kills + 1, kept()
    assert kills >= 1
    assert 0 < before < len(rows)
    assert begin("cut").wait(timeout=300) == 0
    assert result("cut") == (rows, preset)
