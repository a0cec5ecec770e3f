"""Batches played on a cluster: dask.distributed and ray, asked directly.

joblib has backends for both.  But results are wanted as they come, and nothing lost when a worker is, so the
clusters' own interfaces are used, which hand a task of a lost worker to another one.
"""

import socket
from typing import Any

from gymnasium_gsp.bench.workers import RETRIES, Batch, Played, lost_too_often, play_batch
from gymnasium_gsp.errors import RecipeError

_PATIENCE = 15.0  # seconds in which a scheduler must answer


def _missing(package: str) -> RecipeError:
    return RecipeError(f"--backend {package} needs the package {package}: pip install 'gymnasium-gsp[{package}]'")


def _knock(address: str) -> None:
    """Refuse an address `[ray://]host:port` at which nobody answers."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise RecipeError(f"no ray cluster answers at {address}: {error}") from error


class DaskCluster:
    """Workers of dask.distributed.

    Args:
        jobs: number of processes of a cluster on this machine; None for all cores.  With an address, all that it has.
        address: of the scheduler, such as tcp://host:8786; None for a cluster on this machine.

    Raises:
        RecipeError: if the package is missing, or nobody answers at the address.
    """

    def __init__(self, jobs: int | None, address: str | None) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise _missing("dask") from error
        self._cluster: Any = None
        if address is None:
            self._cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
        try:
            self._client = Client(self._cluster or address, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise RecipeError(f"no dask scheduler answers at {address}: {error}") from error
        self.size = max(1, sum(self._client.nthreads().values()))
        self._waiting: dict[Any, Batch] = {}

    def submit(self, batch: Batch) -> None:
        future = self._client.submit(play_batch, batch.parcel, batch.indices, pure=False, retries=0)
        self._waiting[future] = batch

    def first_done(self) -> list[tuple[int, Played]]:
        from distributed import wait
        from distributed.scheduler import KilledWorker

        done, _ = wait(list(self._waiting), return_when="FIRST_COMPLETED")
        found = []
        for future in done:
            batch = self._waiting.pop(future)
            try:
                found.append((batch.number, future.result()))
            except KilledWorker:
                found.append((batch.number, lost_too_often(batch)))
        return found

    def close(self) -> None:
        self._client.cancel(list(self._waiting))
        self._waiting.clear()
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


class RayCluster:
    """Workers of ray.

    Args:
        jobs: number of processes of a cluster on this machine; None for all cores.  With an address, all that it has.
        address: of the cluster, such as host:6379, ray://host:10001 or auto; None for a cluster on this machine.

    Raises:
        RecipeError: if the package is missing, or nobody answers at the address.
    """

    def __init__(self, jobs: int | None, address: str | None) -> None:
        try:
            import ray
        except ImportError as error:
            raise _missing("ray") from error
        self._ray: Any = ray
        limits = {} if address is not None else {"num_cpus": jobs}
        if address is not None and address != "auto":
            _knock(address)  # ray itself goes on trying for minutes
        try:
            ray.init(address=address or "local", include_dashboard=False, log_to_driver=False, **limits)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise RecipeError(f"no ray cluster answers at {address}: {error}") from error
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._play = ray.remote(num_cpus=1, max_retries=RETRIES)(play_batch)
        self._waiting: dict[Any, Batch] = {}

    def submit(self, batch: Batch) -> None:
        self._waiting[self._play.remote(batch.parcel, batch.indices)] = batch

    def first_done(self) -> list[tuple[int, Played]]:
        done, _ = self._ray.wait(list(self._waiting), num_returns=1)
        found = []
        for reference in done:
            batch = self._waiting.pop(reference)
            try:
                found.append((batch.number, self._ray.get(reference)))
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except self._ray.exceptions.RayError:
                found.append((batch.number, lost_too_often(batch)))
        return found

    def close(self) -> None:
        for reference in self._waiting:
            self._ray.cancel(reference, force=True)
        self._waiting.clear()
        self._ray.shutdown()
