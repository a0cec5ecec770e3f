import contextlib
import sys
from dataclasses import replace

import pytest

from gymnasium_gsp import PlanningError, RecipeError
from gymnasium_gsp.bench.benchmark import missing, play_missing, warm_up
from gymnasium_gsp.bench.grid import Grid, series_of
from gymnasium_gsp.bench.protocol import Run
from gymnasium_gsp.bench.runner import play
from gymnasium_gsp.bench.store import Store
from gymnasium_gsp.bench.workers import BACKENDS, start_workers

OWN = """
import contextlib, multiprocessing, os, pathlib, signal
import gymnasium as gym
from gymnasium_gsp.agents.registry import algorithm
from gymnasium_gsp.agents.uct import uct
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
    def __init__(self, one, other):
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
    from gymnasium_gsp.agents.registry import ALGORITHMS

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


@contextlib.contextmanager
def cluster(backend, address=None):
    """Two workers."""
    if backend != "local":
        pytest.importorskip({"dask": "distributed"}.get(backend, backend), reason=f"needs gymnasium-gsp[{backend}]")
    workers = start_workers(backend, None if address else 2, address)
    try:
        yield workers
    finally:
        workers.close()


def numbers(rows):
    return [(row.cell, replace(row.episode, seconds=0.0), row.recipe) for row in rows]


def played(path, series, workers, modules=()):
    with Store(path) as store:
        play_missing(series, store, workers, modules)
        return numbers(store.rows())


def alone(path, series, modules=()):
    with contextlib.closing(start_workers(jobs=1)) as workers:
        return played(path, series, workers, modules)


@pytest.mark.parametrize(
    "backend", ["local", pytest.param("dask", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]
)
def test_two_workers_play_the_same_even_if_one_is_lost(backend, own, tmp_path):
    """The environment and the algorithm are registered by a module of the user's; the first step ends a worker."""
    module, deadly = own
    grid = Grid([f"{module}:OwnedLake-v0"], ["own-uct", "gs-power-uct"], (4, 8), {"*": 6})
    series = series_of([grid])
    assert {one.cell.env for one in series} == {"OwnedLake-v0"}
    warm_up(series)
    expected = alone(tmp_path / "alone.sqlite", series, [module])
    assert len(expected) == 24
    deadly.touch()
    with cluster(backend) as workers:
        assert workers.size == 2
        assert played(tmp_path / "together.sqlite", series, workers, [module]) == expected
    assert not deadly.exists()


@pytest.mark.parametrize(
    "backend", ["local", pytest.param("dask", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]
)
def test_what_fails_in_one_environment_ends_its_cells_and_no_others(backend, own, tmp_path):
    module, _ = own
    series = series_of([Grid([f"{module}:BrokenLake-v0", f"{module}:OwnedLake-v0"], ["uct"], (4, 8), {"*": 6})])
    warm_up(series)
    path = tmp_path / "results.sqlite"
    failed = r"episode \d: ZeroDivisionError: the ice is broken; nor could 1 more: BrokenLake-v0, uct, [48] simulations"
    with cluster(backend) as workers, pytest.raises(PlanningError, match=failed) as caught:
        played(path, series, workers, [module])
    assert str(path) in str(caught.value)
    assert "in reset" in caught.value.__cause__.__notes__[0]
    with Store(path, read_only=True) as store:
        cells = store.cells()
    assert {cell.budget: count for cell, count in cells.items() if cell.env == "OwnedLake-v0"} == {4: 6, 8: 6}
    assert all(count < 6 for cell, count in cells.items() if cell.env == "BrokenLake-v0")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_is_found_at_its_address(backend, tmp_path):
    series = series_of([Grid(["FrozenLake"], ["uct"], (4,), {"*": 6})])
    warm_up(series)
    with contextlib.ExitStack() as stack:
        if backend == "dask":
            distributed = pytest.importorskip("distributed", reason="needs gymnasium-gsp[dask]")
            there = stack.enter_context(
                distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
            )
            address = there.scheduler_address
        else:
            pytest.importorskip("ray", reason="needs gymnasium-gsp[ray]")
            from ray.cluster_utils import Cluster

            there = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
            stack.callback(there.shutdown)
            address = there.address
        with cluster(backend, address) as workers:
            assert workers.size == 2
            found = played(tmp_path / "there.sqlite", series, workers)
    assert found == alone(tmp_path / "alone.sqlite", series)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_an_address_where_nobody_answers_is_refused(backend, monkeypatch):
    pytest.importorskip({"dask": "distributed"}.get(backend, backend), reason=f"needs gymnasium-gsp[{backend}]")
    monkeypatch.setattr("gymnasium_gsp.bench.clusters._PATIENCE", 1.0)
    address = {"dask": "tcp://127.0.0.1:9", "ray": "127.0.0.1:9"}[backend]
    with pytest.raises(RecipeError, match="answers at"):
        start_workers(backend, address=address)


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_missing_package_is_named(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, {"dask": "distributed"}.get(backend, backend), None)
    with pytest.raises(RecipeError, match=rf"pip install 'gymnasium-gsp\[{backend}\]'"):
        start_workers(backend)


def test_bad_words_for_workers_are_refused():
    with pytest.raises(RecipeError, match="'dask'"):
        start_workers("dsk")
    with pytest.raises(RecipeError, match="jobs"):
        start_workers(jobs=0)
    with pytest.raises(RecipeError, match="--backend"):
        start_workers(address="tcp://there:8786")
    assert BACKENDS == ("local", "dask", "ray")


def test_a_cell_that_ends_every_worker_is_named_and_ends_no_other(own, tmp_path):
    """Batches that were played beside it are tried alone, and found innocent."""
    module, _ = own
    grid = Grid([f"{module}:DeadlyLake-v0", f"{module}:OwnedLake-v0"], ["uct"], (4, 8, 16), {"*": 6})
    series = series_of([grid])
    with (
        cluster("local") as workers,
        pytest.raises(PlanningError, match=r"DeadlyLake-v0, uct, \d+ simulations, epis") as caught,
    ):
        played(tmp_path / "results.sqlite", series, workers, [module])
    assert "has ended its worker 4 times" in str(caught.value)
    assert str(caught.value).count("OwnedLake") == 0
    with Store(tmp_path / "results.sqlite", read_only=True) as store:
        assert sum(store.cells().values()) == 18


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_whatever_an_environment_raises_ends_its_cells_and_no_others(own, tmp_path, jobs, seed):
    """SystemExit, a constructor that fails, exceptions that cannot be told or pickled: none is taken for an end."""
    module, _ = own
    names = [f"{module}:{name}-v0" for name in ("ExitingLake", "MuteLake", "BrokenLake", "OwnedLake")]
    series = series_of([Grid(names, ["uct"], (4,), {"*": 6}, seed=seed)])
    warm_up(series)
    path = tmp_path / "results.sqlite"
    with contextlib.closing(start_workers(jobs=jobs)) as workers, pytest.raises(PlanningError, match="2 more"):
        played(path, series, workers, [module])
    with Store(path, read_only=True) as store:
        assert {cell.env: count for cell, count in store.cells().items()}["OwnedLake-v0"] == 6


def test_the_same_episodes_as_a_plain_run(tmp_path):
    """`gsp bench` and `gsp run` share seeds: every cell holds what a run of its own gives."""
    series = series_of([Grid(["FrozenLake", "FourRooms"], ["uct", "gs-power-uct"], (4, 8), {"*": 5}, seed=3)])
    alone(tmp_path / "results.sqlite", series)
    with Store(tmp_path / "results.sqlite", read_only=True) as store:
        for one in series:
            run = Run(one.run.env, one.cell.algorithm, one.cell.budget, episodes=5, seed=3)
            expected = [replace(episode, seconds=0.0) for episode in play(run)]
            found = [replace(row.episode, seconds=0.0) for row in store.rows(**vars(one.cell))]
            assert found == expected
            assert all(row.episode.model_steps > 0 for row in store.rows(**vars(one.cell)))


def test_what_is_there_is_not_played_again_and_more_episodes_go_on(tmp_path):
    path = tmp_path / "results.sqlite"
    few = series_of([Grid(["FrozenLake"], ["uct"], (4, 8), {"*": 3})])
    more = series_of([Grid(["FrozenLake"], ["uct"], (4, 8, 16), {"*": 5})])
    alone(path, few)
    with Store(path) as store:
        before = store.rows()
        assert missing(more, store) == [[3, 4], [3, 4], [0, 1, 2, 3, 4]]
        states = []
        with contextlib.closing(start_workers(jobs=1)) as workers:
            assert play_missing(more, store, workers, watch=states.append) == 9
            assert play_missing(more, store, workers) == 0
        assert [row for row in store.rows() if row in before] == before
        assert numbers(store.rows()) == alone(tmp_path / "at_once.sqlite", more)
    assert (states[0].done, states[0].total, states[0].remaining) == (6, 15, None)
    assert (states[-1].done, states[-1].remaining) == (15, 0.0)
