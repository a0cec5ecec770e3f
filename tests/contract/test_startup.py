"""What a process waits for: nothing heavy on import, a line before compiling, one warning without a cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

import gymnasium_gsp as gsp

PACKAGE = str(Path(gsp.__file__).parents[1])
HEAVY = ("numba", "llvmlite", "scipy", "matplotlib", "pygame", "torch", "pandas", "joblib", "rich", "typer")

DECIDE = """
import json, sys, warnings
import gymnasium as gym
import gymnasium_gsp as gsp

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    env = gym.make("GSP/FrozenLake-v0")
    observation, _ = env.reset(seed=0)
    results = []
    for name in sys.argv[1:]:
        agent = gsp.make_agent(env, name, budget=64, seed=0)
        agent.act(observation)
        results.append([agent.result.action, agent.result.value.hex(), agent.result.model_steps])
from gymnasium_gsp.abi import compilation
from gymnasium_gsp.search import decide, loop
entries = [compilation.compiled_entry(entry, True) for entry in (loop.run_simulations, decide.decide)]
misses = sum(sum(entry.stats.cache_misses.values()) for entry in entries)
ours = [str(w.message) for w in caught if "gymnasium" in str(w.filename) or "numba" in str(w.filename).lower()]
print(json.dumps({"results": results, "warnings": ours, "misses": misses}))
"""

REFUSE = """
import gymnasium as gym
import gymnasium_gsp as gsp
from gymnasium_gsp.abi import compilation

env = gym.make("GSP/FrozenLake-v0")
env.reset(seed=0)
for options in ({"p": 0.5}, {"preset": "papper"}, {"expansion": "leef"}, {"budget": 0}, {"discount": 2.0}, {"c": -1.0}):
    try:
        gsp.make_agent(env, "gs-power-uct", **options)
    except gsp.RecipeError:
        continue
    raise AssertionError(options)
counts = compilation.compiled_entry, compilation.compiled_pointer, compilation.user_pointer
assert sum(count.cache_info().misses for count in counts) == 0
"""

FOLDER = """
import json, warnings
from gymnasium_gsp.abi import compilation

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    folders = [compilation.cache_folder() for _ in range(3)]
print(json.dumps([folders[0] and str(folders[0]), [str(w.message) for w in caught]]))
"""

UNCOMPILED = """
import gymnasium as gym
import gymnasium_gsp as gsp

env = gym.make("GSP/FrozenLake-v0")
observation, _ = env.reset(seed=0)
try:
    gsp.make_agent(env, "uct", budget=4, seed=0).act(observation)
except gsp.RecipeError as error:
    print(error)
"""

HURRY = """
import gymnasium as gym
import gymnasium_gsp as gsp

env = gym.make("GSP/FrozenLake-v0")
observation, _ = env.reset(seed=0)
agent = gsp.make_agent(env, "gs-power-uct", budget=gsp.Budget(seconds=0.3), seed=0)
agent.act(observation)
print(agent.result.simulations)
"""


def run(code, *arguments, flags=(), without=(), **environment):
    """A fresh interpreter's standard output and error."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    surroundings = {**kept, "PYTHONPATH": PACKAGE, **environment}
    command = [sys.executable, *flags, "-c", code, *arguments]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def cold_and_warm(tmp_path_factory):
    """What the first and the second process with one empty cache folder say."""
    folder = str(tmp_path_factory.mktemp("cache"))
    return [run(DECIDE, "gs-power-uct", NUMBA_CACHE_DIR=folder) for _ in range(2)], folder


def test_importing_loads_nothing_heavy():
    """Beyond what importing Gymnasium itself loads."""
    code = "import json, sys; import {}; print(json.dumps(sorted(sys.modules)))"
    ours, gymnasiums = (set(json.loads(run(code.format(name))[0])) for name in ("gymnasium_gsp", "gymnasium"))
    roots = {name.partition(".")[0] for name in ours - gymnasiums}
    assert not roots & set(HEAVY)
    assert gymnasium.__name__ in ours


def test_importing_warns_of_nothing():
    assert run("import gymnasium_gsp", flags=("-W", "error")) == ("", "")


def test_public_names_are_there_and_found_by_dir():
    for name in gsp.__all__:
        assert getattr(gsp, name) is not None
        assert name in dir(gsp)
    with pytest.raises(AttributeError, match="no attribute 'make_agnet'"):
        gsp.make_agnet  # noqa: B018


@pytest.mark.slow
def test_a_cold_process_says_what_it_waits_for_and_a_warm_one_nothing(cold_and_warm):
    """One line, however many algorithms are compiled, and on standard error, where it spoils no `--json`."""
    (cold, warm), _ = cold_and_warm
    assert cold[1].count("\n") == 1
    assert "compiling" in cold[1]
    assert "once" in cold[1]
    assert warm[1] == ""


@pytest.mark.slow
def test_a_warm_process_compiles_nothing_and_finds_the_same(cold_and_warm):
    (cold, warm), _ = cold_and_warm
    first, second = json.loads(cold[0]), json.loads(warm[0])
    assert first["results"] == second["results"]
    assert first["warnings"] == second["warnings"] == []
    assert (first["misses"], second["misses"]) == (2, 0)


@pytest.mark.slow
@pytest.mark.slow
def test_without_a_cache_everything_works_after_one_warning(cold_and_warm, tmp_path):
    """A regular file stands where the folder should be, which also keeps root from writing there."""
    (tmp_path / "file").write_text("no folder")
    output, said = run(DECIDE, "gs-power-uct", NUMBA_CACHE_DIR=str(tmp_path / "file"))
    answer, (cold, _) = json.loads(output), cold_and_warm[0]
    assert answer["results"] == json.loads(cold[0])["results"]
    assert len(answer["warnings"]) == 1
    assert "NUMBA_CACHE_DIR" in answer["warnings"][0]
    assert said.count("\n") == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="caches are elsewhere on these systems")
def test_a_home_for_caches_that_cannot_be_written_is_warned_of(tmp_path):
    (tmp_path / "file").write_text("no folder")
    output, _ = run(FOLDER, without=("NUMBA_CACHE_DIR",), XDG_CACHE_HOME=str(tmp_path / "file"))
    folder, messages = json.loads(output)
    assert folder is None
    assert len(messages) == 1
    assert "NUMBA_CACHE_DIR" in messages[0]


@pytest.mark.slow
def test_the_first_decision_of_a_warm_process_has_its_seconds_for_searching(cold_and_warm):
    """Loading compiled code is not the search's time: 0.3 s are some 10,000 simulations, and one if they are not."""
    _, folder = cold_and_warm
    assert int(run(HURRY, NUMBA_CACHE_DIR=folder)[0]) > 100


def test_bad_recipes_are_refused_before_anything_is_compiled():
    run(REFUSE)


@pytest.mark.slow
def test_a_damaged_cache_is_made_anew_after_one_warning(tmp_path):
    for damaged in (".nbi", ".nbc"):
        run(DECIDE, "uct", NUMBA_CACHE_DIR=str(tmp_path))
        for file in tmp_path.rglob(f"*run_simulations*{damaged}"):
            file.write_bytes(b"")
        told = json.loads(run(DECIDE, "uct", NUMBA_CACHE_DIR=str(tmp_path))[0])
        assert [text for text in told["warnings"] if "made anew" in text] == told["warnings"]
        assert len(told["warnings"]) == 1
        assert json.loads(run(DECIDE, "uct", NUMBA_CACHE_DIR=str(tmp_path))[0])["misses"] == 0


def test_without_a_compiler_one_sentence_says_so():
    assert "unset it" in run(UNCOMPILED, NUMBA_DISABLE_JIT="1")[0]
