import json
import shlex
import sys
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace

import pytest

from gymnasium_gsp import PlanningError, RecipeError
from gymnasium_gsp.agents.seeding import episode_seeds
from gymnasium_gsp.bench import executors
from gymnasium_gsp.bench.benchmark import Batch, Benchmark, check_origins, compile_all, missing
from gymnasium_gsp.bench.cell import Cell
from gymnasium_gsp.bench.episode import Episode, play
from gymnasium_gsp.bench.executors import Workers, start_workers
from gymnasium_gsp.bench.grid import Grid, Run, runs_of
from gymnasium_gsp.bench.store import Store, StoreError, read

OWN = """
import contextlib, multiprocessing, os, pathlib, signal
import gymnasium as gym
from gymnasium_gsp.algorithms.registry import algorithm
from gymnasium_gsp.algorithms.uct import uct
from gymnasium_gsp.envs.frozen_lake import FrozenLakeEnv

DEADLY = pathlib.Path({deadly!r})


class Lake(FrozenLakeEnv):
    def step(self, action):
        with contextlib.suppress(FileNotFoundError):
            DEADLY.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action)


class BrokenLake(FrozenLakeEnv):
    def reset(self, *, seed=None, options=None):
        if seed is not None and seed % 2:
            raise ZeroDivisionError("the ice is broken")
        return super().reset(seed=seed, options=options)


class DeadlyLake(FrozenLakeEnv):
    def reset(self, *, seed=None, options=None):
        if multiprocessing.current_process().name != "MainProcess":
            os._exit(3)
        return super().reset(seed=seed, options=options)


class ExitingLake(FrozenLakeEnv):
    def step(self, action):
        raise SystemExit(0)


class Mute(Exception):
    def __init__(self, path, other):
        self.file = open(os.devnull)

    def __str__(self):
        raise RuntimeError


class MuteLake(FrozenLakeEnv):
    def step(self, action):
        raise Mute(1, 2)


for kind in (BrokenLake, DeadlyLake, ExitingLake, MuteLake):
    gym.register(f"{{kind.__name__}}-v0", kind, max_episode_steps=6)
gym.register("OwnedLake-v0", Lake, max_episode_steps=6)


@algorithm("own-uct", "nobody", {{}})
def own_uct(**options):
    return uct(**options)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module with an environment and an algorithm that only it registers; its file `deadly` ends one worker."""
    from gymnasium_gsp.algorithms.registry import ALGORITHMS

    name, deadly = f"own_{tmp_path.name.replace('-', '_')}", tmp_path / "deadly"
    (tmp_path / f"{name}.py").write_text(OWN.format(deadly=str(deadly)))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *filter(None, sys.path)]))
    __import__(name)
    yield name, deadly
    import gymnasium as gym

    ALGORITHMS.pop("own-uct", None)
    for kind in ("Owned", "Broken", "Deadly", "Exiting", "Mute"):
        gym.registry.pop(f"{kind}Lake-v0", None)


@contextmanager
def pool(backend="local"):
    """Two workers."""
    if backend == "local":
        with start_workers(2) as workers:
            yield workers
        return
    distributed = pytest.importorskip("distributed", reason="needs gymnasium-gsp[dask]")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as there,
        start_workers(dask=there.scheduler_address) as workers,
    ):
        yield workers


def grid(envs, algorithms=("uct",), budgets=(4, 8), episodes=6, seed=0):
    return runs_of([Grid(envs=list(envs), algorithms=list(algorithms), budgets=budgets, episodes=episodes, seed=seed)])


def numbers(path):
    return read(path).drop(columns="seconds").astype(str).to_dict("records")


def counts(path):
    """Episodes by environment and budget."""
    return read(path).groupby(["env", "budget"]).size().to_dict()


def played(path, runs, workers, modules=()):
    with Store(path) as store:
        Benchmark(runs, store, workers, modules).play()
    return numbers(path)


def alone(path, runs, modules=()):
    with start_workers(jobs=1) as workers:
        return played(path, runs, workers, modules)


BACKEND = pytest.mark.parametrize("backend", ["local", pytest.param("dask", marks=pytest.mark.slow)])


@BACKEND
def test_two_workers_play_the_same_even_if_one_is_lost(backend, own, tmp_path):
    """The environment and the algorithm are registered by a module of the user's; the first step ends a worker."""
    module, deadly = own
    runs = grid([f"{module}:OwnedLake-v0"], ["own-uct", "gs-power-uct"])
    assert {run.cell.env for run in runs} == {"OwnedLake-v0"}
    with start_workers(jobs=1) as workers:
        compile_all(runs, workers, [module])
    expected = alone(tmp_path / "alone.sqlite", runs, [module])
    assert len(expected) == 24
    deadly.touch()
    with pool(backend) as workers:
        assert workers.size == 2
        assert played(tmp_path / "together.sqlite", runs, workers, [module]) == expected
    assert not deadly.exists()


@BACKEND
def test_an_episode_that_fails_is_marked_and_ends_no_other(backend, own, tmp_path):
    """Those that fail stand in the store with what was raised; the same command tries them again."""
    module, _ = own
    runs = grid([f"{module}:BrokenLake-v0", f"{module}:OwnedLake-v0"])
    path = tmp_path / "results.sqlite"
    failed = r"episode \d: ZeroDivisionError: the ice is broken; nor could 1 more: BrokenLake-v0, uct, [48] simulations"
    with pool(backend) as workers:
        compile_all(runs, workers, [module])
        with pytest.raises(PlanningError, match=failed) as caught:
            played(path, runs, workers, [module])
    assert str(path) in str(caught.value)
    assert "in reset" in caught.value.__notes__[0]
    (cell, failed), *_ = caught.value.cells.items()
    again = f"To see it fail: {shlex.join(['gsp', 'run', *cell.flags([module]), '--episodes', str(failed.index + 1)])}"
    assert str(caught.value).endswith(again)
    found = counts(path)
    assert {key: count for key, count in found.items() if key[0] == "OwnedLake-v0"} == {
        ("OwnedLake-v0", 4): 6,
        ("OwnedLake-v0", 8): 6,
    }
    broken = read(path)[lambda rows: rows.env == "BrokenLake-v0"]
    seeds = {index: episode_seeds(0, "BrokenLake-v0", index)[0] for index in range(6)}
    expected = [index for index, seed in seeds.items() if seed % 2] * 2
    assert len(broken) == 12
    assert 0 < len(expected) < 12
    assert sorted(broken["index"][broken.failure != ""]) == sorted(expected)
    assert (broken.total_reward.isna() == (broken.failure != "")).all()
    assert (
        broken.failure.str.startswith("ZeroDivisionError: the ice is broken\nTraceback") | (broken.failure == "")
    ).all()
    with Store(path) as store:
        assert sorted(index for indices in missing(runs, store) for index in indices) == sorted(expected)
        check_origins(runs, store)


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_refused(monkeypatch):
    pytest.importorskip("distributed", reason="needs gymnasium-gsp[dask]")
    monkeypatch.setattr(executors, "_PATIENCE", 1.0)
    with pytest.raises(RecipeError, match="answers at"), start_workers(dask="tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize(("place", "module"), [({"dask": "tcp://there:8786"}, "distributed"), ({"jobs": 2}, "loky")])
def test_a_missing_package_is_named(place, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=module), start_workers(**place):
        pass


def test_a_number_of_jobs_that_makes_no_sense_is_refused():
    with pytest.raises(RecipeError, match="jobs"), start_workers(0):
        pass


def test_a_cell_that_ends_its_processes_is_named_and_ends_no_other(own, tmp_path):
    """What was played beside it is tried alone, and played on; the cell is given up at its second such episode."""
    module, _ = own
    runs = grid([f"{module}:DeadlyLake-v0", f"{module}:OwnedLake-v0"], budgets=(4, 8, 16))
    path = tmp_path / "results.sqlite"
    with (
        pool() as workers,
        pytest.raises(PlanningError, match=r"DeadlyLake-v0, uct, \d+ simulations, episode \d: has ended") as caught,
    ):
        played(path, runs, workers, [module])
    assert len(caught.value.cells) == 3
    assert "OwnedLake" not in str(caught.value)
    lost = {("DeadlyLake-v0", budget): 2 for budget in (4, 8, 16)}
    assert counts(path) == lost | {("OwnedLake-v0", budget): 6 for budget in (4, 8, 16)}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_whatever_an_environment_raises_ends_its_cells_and_no_others(own, tmp_path, jobs, seed):
    """SystemExit, a reset that fails, exceptions without text or that cannot be pickled."""
    module, _ = own
    names = [f"{module}:{name}-v0" for name in ("ExitingLake", "MuteLake", "BrokenLake", "OwnedLake")]
    runs = grid(names, budgets=4, seed=seed)
    path = tmp_path / "results.sqlite"
    with start_workers(jobs=jobs) as workers:
        compile_all(runs, workers, [module])
        with pytest.raises(PlanningError, match="2 more"):
            played(path, runs, workers, [module])
    assert counts(path)["OwnedLake-v0", 4] == 6


def test_the_same_episodes_as_a_plain_run(tmp_path):
    """`gsp bench` and `gsp run` share seeds: every cell holds what a run of its own gives."""
    runs = grid(["FrozenLake", "FourRooms"], ["uct", "gs-power-uct"], episodes=5, seed=3)
    path = tmp_path / "results.sqlite"
    alone(path, runs)
    expected = []
    for run in runs:
        expected += [{**dict(run.cell), **vars(episode)} for episode in play(run.cell, 5)]
    key = ("env", "algorithm", "budget", "index", "total_reward", "model_steps", "nodes", "recipe")
    found = read(path).to_dict("records")
    assert sorted([row[name] for name in key] for row in found) == sorted(
        [row[name] for name in key] for row in expected
    )
    assert all(row["model_steps"] > 0 for row in found)
    assert set(json.loads(found[0]["versions"])) == {"gymnasium_gsp", "gymnasium", "numpy", "numba", "llvm", "python"}
    assert set(json.loads(found[0]["machine"])) == {"cpu", "cores", "system"}


def test_what_is_there_is_not_played_again_and_more_episodes_go_on(tmp_path):
    path = tmp_path / "results.sqlite"
    few, more = grid(["FrozenLake"], episodes=3), grid(["FrozenLake"], budgets=(4, 8, 16), episodes=5)
    alone(path, few)
    before, states = read(path).to_dict("records"), []
    with Store(path) as store, start_workers(jobs=1) as workers:
        assert missing(more, store) == [[3, 4], [3, 4], [0, 1, 2, 3, 4]]
        assert Benchmark(more, store, workers, watch=lambda *state: states.append(state)).play() == 9
        assert Benchmark(more, store, workers).play() == 0
    after = read(path).to_dict("records")
    assert all(str(row) in map(str, after) for row in before)
    assert numbers(path) == alone(tmp_path / "at_once.sqlite", more)
    assert states[0] == (7, "GSP/FrozenLake-v0, uct, 4 simulations")
    assert states[-1][0] == 15


def test_episodes_of_another_version_or_recipe_are_not_mixed_in(tmp_path):
    (run,) = runs = grid(["FrozenLake"], budgets=4)
    with Store(tmp_path / "results.sqlite") as store:
        store.add(
            [(run.cell, Episode(0, 0.0, 1, 1, 1, 1, 0.1, recipe=run.recipe, versions='{"gymnasium_gsp": "9.9"}'))]
        )
        with pytest.raises(StoreError, match=r"episodes of gymnasium-gsp 9\.9 for GSP/FrozenLake-v0, uct, 4"):
            check_origins(runs, store)
    with Store(tmp_path / "other.sqlite") as store:
        store.add([(run.cell, replace(episode, recipe="Recipe()")) for episode in play(run.cell, 1)])
        with pytest.raises(StoreError, match=r"episodes of the recipe Recipe\(\) for .*, and this is Recipe\(.+\)"):
            check_origins(runs, store)


class Simulated(Executor):
    """Plays nothing: every episode of a cell takes as many seconds as its budget says, on a clock of its own."""

    def __init__(self):
        self.submitted = []

    def submit(self, function, /, task, indices):
        self.submitted.append((task.cell.budget, len(indices)))
        episodes = tuple(Episode(index, 0.0, 1, 1, 1, 1, 0.1) for index in indices)
        future = Future()
        future.set_result(Batch(episodes, 0.001 * task.cell.budget * len(indices)))
        return future


def test_every_cell_is_measured_first_and_then_batches_take_half_a_second(tmp_path):
    cells = [Cell(env="FrozenLake", algorithm="uct", budget=budget) for budget in (1, 10, 100)]
    runs, executor, states = [Run(cell, 200, "") for cell in cells], Simulated(), []
    with Store(tmp_path / "results.sqlite") as store:
        workers = Workers(1, lambda: executor)
        assert Benchmark(runs, store, workers, watch=lambda done, cell: states.append(done)).play() == 600
    assert sorted(executor.submitted[:3]) == [(1, 1), (10, 1), (100, 1)]
    assert all(budget * count <= 500 for budget, count in executor.submitted)
    assert max(count for budget, count in executor.submitted if budget == 1) > 100
    assert states == sorted(states)
    assert states[-1] == 600
