import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gymnasium_gsp.bench.store import Store

ROOT = Path(__file__).parents[2]
BENCH = ["bench", "--envs", "FrozenLake", "--algorithms", "uct", "--budgets", "2"]
SMALL = ["run", "FrozenLake", "--budget", "8", "--episodes", "3", "--seed", "1"]


def process(*arguments, **options):
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, "-m", "gymnasium_gsp.cli", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **options},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from gymnasium_gsp.cli import main; sys.argv = ['gsp', '--help']\n"
        "try: main()\n"
        "except SystemExit as left: assert not left.code\n"
        "heavy = {'numba', 'pydantic', 'pandas', 'loky', 'scipy', 'matplotlib', 'gymnasium_gsp.search'}\n"
        "print(heavy & set(sys.modules), file=sys.stderr)"
    )
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.stderr.strip() == "set()"


@pytest.mark.parametrize(
    ("absent", "command", "code", "words"),
    [
        ("typer", ["list"], 2, "pip install 'gymnasium-gsp[cli]'"),
        ("rich", ["list"], 2, "pip install 'gymnasium-gsp[cli]'"),
        ("pandas", ["export", "-o", "x.csv"], 2, "this command needs pandas: pip install 'gymnasium-gsp[bench]'"),
        ("matplotlib", ["report"], 2, "this command needs matplotlib: pip install 'gymnasium-gsp[bench]'"),
        ("tabulate", ["report"], 2, "this command needs tabulate: pip install 'gymnasium-gsp[bench]'"),
        ("optuna", ["tune", "FourRooms"], 2, "this command needs optuna: pip install 'gymnasium-gsp[tune]'"),
        (
            "distributed",
            [*BENCH, "--dask", "tcp://there:8786"],
            2,
            "needs distributed: pip install 'gymnasium-gsp[dask]'",
        ),
        ("loky", [*BENCH, "--jobs", "2"], 2, "this command needs loky: pip install 'gymnasium-gsp[cli]'"),
        ("pandas,scipy,loky,optuna", SMALL, 0, ""),
        ("pandas,scipy,loky,optuna", ["list"], 0, ""),
        ("pandas,scipy,loky,optuna", ["check", "FrozenLake"], 0, ""),
    ],
)
def test_without_an_extra_the_command_says_what_to_install(tmp_path, absent, command, code, words):
    """`gsp list`, `gsp run` and `gsp check` need the extra cli alone."""
    Store(tmp_path / "results.sqlite").close()
    script = (
        f"import sys\nsys.modules.update(dict.fromkeys({absent.split(',')!r}))\n"
        f"sys.argv = ['gsp', *{command!r}]\nfrom gymnasium_gsp.cli import main\nmain()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == code, answer.stderr
    if words:
        line = answer.stderr.splitlines()[-1]
        assert "Traceback" not in answer.stderr
        assert line.startswith("gsp: ")
        assert words in line


OWN = """
import gymnasium as gym

gym.register("Mine-v0", "gymnasium_gsp.envs.frozen_lake:FrozenLakeEnv", max_episode_steps=5)
"""


@pytest.mark.parametrize(
    "command",
    [
        [
            "bench",
            "--envs",
            "Mine-v0",
            "--import",
            "mine",
            "--algorithms",
            "uct",
            "--budgets",
            "4",
            "--episodes",
            "3",
            "--jobs",
            "2",
        ],
        ["run", "mine:Mine-v0", "--budget", "4", "--episodes", "1"],
    ],
)
def test_an_installed_command_finds_modules_in_the_current_folder(tmp_path, command):
    """Its own folder is what such a script has on its path, and not the one where it was called."""
    for folder in ("bin", "work"):
        (tmp_path / folder).mkdir()
    script = tmp_path / "bin" / "gsp"
    script.write_text("from gymnasium_gsp.cli import main\n\nif __name__ == '__main__':\n    main()\n")
    (tmp_path / "work" / "mine.py").write_text(OWN)
    answer = subprocess.run(
        [sys.executable, str(script), *command],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr


def test_piped_there_is_no_progress_bar_and_no_escape_code():
    for json_wanted in ([], ["--json"]):
        answer = process(*SMALL, *json_wanted, FORCE_COLOR="", TERM="xterm")
        assert answer.returncode == 0
        assert "playing" not in answer.stdout + answer.stderr
        assert "\x1b" not in answer.stdout + answer.stderr
        assert set(answer.stderr.splitlines()) <= {
            "gymnasium_gsp: compiling the search, up to half a minute, once; later processes start at once"
        }
    assert json.loads(answer.stdout)["env"] == "GSP/FrozenLake-v0"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_terminal_there_is_a_progress_bar_on_standard_error():
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    answer = subprocess.run(
        [sys.executable, "-m", "gymnasium_gsp.cli", *SMALL, "--algorithm", "gs-power-uct", "--json"],
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=120,
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert json.loads(answer.stdout)["env"] == "GSP/FrozenLake-v0"
    assert "playing" in shown
    assert "3/3" in shown


@pytest.mark.parametrize("command", [["list"], ["list", "uct"], SMALL, ["check", "FrozenLake"], ["--help"]])
def test_a_terminal_without_a_letter_shows_another_in_its_place(command):
    answer = process(*command, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.isascii()
    assert "Traceback" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [["list"], ["list", "--json"], SMALL, ["--version"], ["--help"]])
def test_an_output_that_takes_no_more_is_one_line(command, unbuffered):
    with open("/dev/full", "w") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "gymnasium_gsp.cli", *command],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert answer.returncode == 1
    lines = [line for line in answer.stderr.splitlines() if not line.startswith("gymnasium_gsp: compiling")]
    assert lines == ["gsp: the output cannot be written: No space left on device"]


def test_pictures_ask_for_no_display(tmp_path, monkeypatch):
    pytest.importorskip("pygame", reason="pictures need pygame-ce")
    for name in ("XDG_RUNTIME_DIR", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    answer = process("inspect", "CartPole-v1", "--budget", "4", "-o", str(tmp_path / "page.html"))
    assert answer.returncode == 0, answer.stderr
    assert "error" not in answer.stderr
    assert "data:image/png;base64," in (tmp_path / "page.html").read_text()


def test_an_error_in_a_real_process_shows_no_traceback():
    answer = process("run", "FrozenLake", "--budget", "0")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("gsp: budget: simulations")
    assert answer.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_cleanly(jobs, tmp_path):
    marker = tmp_path / "playing"
    module = tmp_path / "marked_lake.py"
    module.write_text(
        "import gymnasium as gym, pathlib\n"
        "from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv\n"
        "class Lake(FrozenLakeEnv):\n"
        "    def step(self, action):\n"
        f"        pathlib.Path({str(marker)!r}).touch()\n"
        "        return super().step(action)\n"
        "gym.register('MarkedLake-v0', 'marked_lake:Lake', max_episode_steps=200)\n"
    )
    command = ["run", "marked_lake:MarkedLake-v0", "--episodes", "5000", "--jobs", jobs]
    running = subprocess.Popen(
        [sys.executable, "-m", "gymnasium_gsp.cli", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        for _ in range(600):
            if marker.exists():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(0.1)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("gsp: interrupted after ")
    assert errors.splitlines()[-1].endswith("of 5000 episodes")
